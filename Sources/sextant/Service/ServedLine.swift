// SPDX-License-Identifier: Apache-2.0
import LinuxIO
import Messages
import MonotonicTime
import Receiver
import ReceiverRuntime
import SerialPort
import SystemPackage
import WireBytes

/// The bytes of a receiver of the location service as a line: `Stream` of org.sextant.Location.
final class ServedLine: ReceiverLine, LineProvider {
  let isWritable = false
  private(set) var givenRate: UInt32?
  private(set) var identity = LineIdentity.unknown
  /// The device, as the service calls it.
  private(set) var device = ""

  private let socket: String
  private let wanted: String?
  private var client: ServiceClient?
  /// Bytes that the reader has not taken.
  private var remainder: ArraySlice<UInt8> = []
  private var notices: [String] = []
  private var isOpen: Bool?

  /// - Parameters:
  ///   - socket: the path of the service's socket.
  ///   - device: the device; nil for the receiver in use.
  init(socket: String, device: String?) {
    self.socket = socket
    wanted = device
  }

  /// Connects to the service. Returns false if the service does not have the device and the user named one.
  func connect(isNamed: Bool) throws -> Bool {
    var client = try ServiceClient(path: socket)
    let parameters: JSON = wanted.map { ["device": .string($0)] } ?? .empty
    let reply = try client.ask(VarlinkCall("org.sextant.Location.Stream", parameters, .more))
    switch reply {
    case .success(let message, _): try take(message)
    case .failure(let error) where isNamed && error.name == "org.sextant.Location.NoReceiver": return false
    case .failure(let error): throw ServiceRefusal.failure(error, path: socket)
    }
    self.client = consume client
    return true
  }

  // MARK: LineProvider

  func line(at now: Instant) throws(SerialPortError) -> ProvidedLine? {
    if client == nil {
      do { _ = try connect(isNamed: false) } catch { throw SerialPortError(gone: device) }
    }
    return .served(self)
  }

  func lost() { client = nil }

  // MARK: ReceiverLine

  var fileDescriptor: Int32? { client?.descriptor }
  var deadline: Instant? { remainder.isEmpty ? nil : .zero }
  func takeNotice() -> String? { notices.isEmpty ? nil : notices.removeFirst() }

  @_lifetime(span: copy span)
  func read(into span: inout MutableRawSpan, at now: Instant) throws(SerialPortError) -> SerialPort.ReadResult {
    while remainder.isEmpty {
      do {
        if let reply = try client?.nextReply() {
          guard case .success(let message, continues: true) = reply else { throw SerialPortError(gone: device) }
          try take(message)
          continue
        }
      } catch {
        throw SerialPortError(gone: device)
      }
      switch client?.read() {
      case .bytes: break
      case .wouldWait: return .wouldBlock
      case .ended, nil: throw SerialPortError(gone: device)
      }
    }
    let count = min(remainder.count, span.byteCount)
    for index in 0..<count {
      span.storeBytes(of: remainder[remainder.startIndex + index], toByteOffset: index, as: UInt8.self)
    }
    remainder = remainder.dropFirst(count)
    return .bytes(count)
  }

  func write(_ bytes: RawSpan, at now: Instant) throws(SerialPortError) -> Int { 0 }

  /// Takes a message of the stream.
  private func take(_ message: JSON) throws {
    guard let text = message["bytes"]?.string, let bytes = Base64.bytes(of: text) else {
      throw CommandFailure(.badData, "\(socket): the location service sends no bytes; update sextantd")
    }
    if case .integer(let count)? = message["lostBytes"], count > 0 {
      notices.append("\(count) bytes were lost, because the command reads too slowly")
    }
    if let device = message["device"]?.string { self.device = device }
    if case .integer(let rate)? = message["baud"] { givenRate = UInt32(exactly: rate) }
    if case .bool(let isOpen)? = message["isOpen"] { noteOpen(isOpen) }
    if let fault = message["fault"]?.string { notices.append("the location service waits for its receiver: \(fault)") }
    if let found = message["identity"] { take(identity: found) }
    remainder = remainder.isEmpty ? bytes[...] : remainder + bytes
  }

  private func noteOpen(_ isOpen: Bool) {
    switch (self.isOpen, isOpen) {
    case (nil, _), (true?, true), (false?, false): break
    case (true?, false): notices.append("\(device): the location service waits for the receiver (see `sextant status`)")
    case (false?, true): notices.append("\(device): the location service has the receiver again")
    }
    self.isOpen = isOpen
  }

  private func take(identity found: JSON) {
    guard case .array(let elements)? = found["strings"] else { return }
    let description = ReceiverDescription(
      strings: elements.compactMap(\.string),
      uniqueID: found["uniqueId"]?.string.flatMap { [UInt8](hexadecimalDigits: $0) })
    identity = description.map { .identified($0) } ?? .unidentified
  }
}
