// SPDX-License-Identifier: Apache-2.0
import Glibc
import Receiver
import SystemPackage

/// The outputs for the samples of one receiver: chronyd's sockets and ntpd's shared memory, with gpsd's names and
/// permissions.
///
/// - chronyd: /run/chrony.clk.ttyACM0.sock for the time of messages, and /run/chrony.ttyACM0.sock or
///   /run/chrony.pps0.sock for the time of pulses (gpsd(8), 3.25). chronyd creates them. Users other than root also
///   look in /tmp.
/// - ntpd: units 0 and 1, accessible only to root, for messages and pulses; for other users units 2 and 3, accessible
///   to all users (gpsd(8), "Shared Memory Driver").
final class ClockOutputs {
  /// The human-readable state of an output.
  struct State {
    var name: String
    var source: TimeSample.Source
    /// The number of readers; a socket has one or none.
    var readers: Int
  }

  private final class Socket {
    let paths: [String]
    let source: TimeSample.Source
    private var socket: TimeSocket?
    private(set) var path: String

    init(_ name: String, _ source: TimeSample.Source, folders: [String]) {
      paths = folders.map { "\($0)/chrony.\(name).sock" }
      path = paths[0]
      self.source = source
    }

    var isConnected: Bool { socket != nil }

    /// Reconnects whenever it is not connected: chronyd creates its socket when it starts.
    func send(_ message: [UInt8]) {
      if socket == nil {
        for candidate in paths {
          guard let found = try? TimeSocket(path: candidate) else { continue }
          socket = consume found
          path = candidate
          break
        }
      }
      let isSent =
        switch socket {
        case .some(let socket): socket.send(message)
        case nil: false
        }
      if !isSent { socket = nil }
    }
  }

  private let sockets: [Socket]
  private let segments: [(name: String, source: TimeSample.Source, segment: TimeSegment)]

  /// - Parameters:
  ///   - device: the receiver's node.
  ///   - pulseDevice: the node of its pulses; nil if there is none.
  ///   - isRoot: whether root runs the process.
  ///   - log: receives a line for each refused segment.
  init(device: String, pulseDevice: String?, isRoot: Bool, log: (String) -> Void) {
    let folders = isRoot ? ["/run"] : ["/run", "/tmp"]
    func name(_ path: String) -> String { path.split(separator: "/").last.map(String.init) ?? path }
    var sockets = [Socket("clk.\(name(device))", .messages, folders: folders)]
    if let pulseDevice {
      sockets.append(Socket(name(device), .pulse, folders: folders))
      // The port itself, if this process waits for its carrier.
      if name(pulseDevice) != name(device) { sockets.append(Socket(name(pulseDevice), .pulse, folders: folders)) }
    }
    self.sockets = sockets
    let first: Int32 = isRoot ? 0 : 2
    var segments: [(String, TimeSample.Source, TimeSegment)] = []
    for (unit, source) in [(first, TimeSample.Source.messages), (first + 1, .pulse)]
    where source == .messages || pulseDevice != nil {
      do throws(Errno) {
        segments.append(("NTP\(unit)", source, try TimeSegment(unit: unit, permissions: isRoot ? 0o600 : 0o666)))
      } catch {
        log("shared memory NTP\(unit): \(error); ntpd does not get the time (does it belong to another user?)")
      }
    }
    self.segments = segments
  }

  func send(_ sample: TimeSample) {
    let message = sample.sockMessage
    for socket in sockets where socket.source == sample.source { socket.send(message) }
    for (_, source, segment) in segments where source == sample.source { segment.put(sample) }
  }

  var states: [State] {
    sockets.map { State(name: $0.path, source: $0.source, readers: $0.isConnected ? 1 : 0) }
      + segments.map { State(name: $0.name, source: $0.source, readers: $0.segment.readers) }
  }
}
