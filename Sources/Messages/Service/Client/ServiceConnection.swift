// SPDX-License-Identifier: Apache-2.0

import LinuxIO
import SystemPackage

/// A connection to the daemon.
struct ServiceConnection: ~Copyable {
  /// The reason why the daemon does not serve the program, with the next step.
  struct Refusal: Error {
    var text: String
  }

  private let socket: UnixSocket
  private var varlink: VarlinkClientConnection
  private var buffer: [UInt8]
  private(set) var hasEnded: Bool

  var descriptor: Int32 { socket.descriptor }
  /// Whether there are bytes to be written.
  var waitsToWrite: Bool { varlink.outputBytesWaiting > 0 }

  /// Connects, and queues the call that opens the connection.
  init(path: String, _ request: OpenRequest) throws {
    var varlink = VarlinkClientConnection()
    _ = try varlink.call(VarlinkCall("org.sextant.CoreLocation.Open", JSON(encoding: request), .upgrade))
    let socket = try UnixSocket(connectingTo: path)
    self.varlink = varlink
    self.socket = socket
    buffer = [UInt8](repeating: 0, count: 16_384)
    hasEnded = false
  }

  mutating func send(_ message: ClientMessage) {
    guard let json = try? JSON(encoding: message) else { return }
    _ = try? varlink.send(json)
  }

  /// Writes the pending bytes, without blocking.
  mutating func write() {
    while varlink.outputBytesWaiting > 0, !hasEnded {
      switch socket.write(varlink.output) {
      case .bytes(let count): varlink.didWrite(count)
      case .wouldWait: return
      case .ended: hasEnded = true
      }
    }
  }

  /// Reads the available bytes, without blocking.
  mutating func read() {
    switch socket.read(into: &buffer) {
    case .bytes(let count):
      let bytes = buffer
      varlink.receive(bytes.span.extracting(0..<count))
    case .wouldWait: break
    case .ended: hasEnded = true
    }
  }

  enum Event {
    case opened(OpenReply)
    case message(ServiceMessage)
  }

  /// Returns the next event; nil if there is none.
  mutating func nextEvent() throws(Refusal) -> Event? {
    if let message = varlink.nextMessage({ ServiceMessage(locationText: $0) }) { return .message(message) }
    guard let event = varlink.nextEvent() else { return nil }
    do {
      switch event {
      case .reply(_, .success(let parameters, _)): return .opened(try parameters.decode())
      case .reply(_, .failure(let error)):
        let reason = error.parameters["reason"]?.string ?? error.name
        throw Refusal(text: "the location service refuses this program: \(reason)")
      case .message(let message): return .message(try message.decode())
      case .failed(let error): throw Refusal(text: "the location service sent what cannot be read: \(error)")
      }
    } catch let refusal as Refusal {
      hasEnded = true
      throw refusal
    } catch {
      hasEnded = true
      throw Refusal(text: ServiceVersion.problem(error, of: "sextantd", version: ServiceVersion.current))
    }
  }
}
