// SPDX-License-Identifier: Apache-2.0

import LinuxIO
import Messages
import MonotonicTime
import Receiver
import ReceiverRuntime
import SerialPort
import SystemPackage
import WireBytes

/// A receiver of the location service, for a command.
struct ServiceReceiver: Equatable {
  /// The line of the receiver: its bytes, or the line itself.
  let provider: any LineProvider
  /// Whether the service passes on the bytes, and nothing can be sent.
  let isServed: Bool
  /// The crash-recovery record of the line, which the service stores.
  var recovery: CrashRecoveryFile?

  static func == (one: ServiceReceiver, other: ServiceReceiver) -> Bool { one.provider === other.provider }

  /// Chooses the service's receiver for a command; nil if the command opens its device itself.
  ///
  /// - Parameters:
  ///   - named: the device of the command line.
  ///   - isDemo: whether the built-in simulator may be used.
  static func chosen(named: String?, isDemo: Bool, for use: Source.Use) throws -> Source.Choice? {
    if isDemo || named.map(isOutsideService) == true { return nil }
    let choice = ServiceChoice(
      // `--device` has precedence over GNSS_DEVICE.
      { $0 == "GNSS_DEVICE" && named != nil ? nil : environment($0) },
      isServed: accepts)
    guard case .daemon(let path) = choice else { return nil }
    if use == .sending { try Source.refuseReadOnly() }
    // The service may run in another folder.
    let device = named.map { FileLookup.resolved($0) ?? $0 }
    let found = try connect(to: path, device, isNamed: named != nil, for: use)
    guard let found else { return nil }
    let name = named ?? found.device
    if named == nil { printNotice("receiver of the location service: \(name.isEmpty ? "none yet" : name)") }
    var source = Source.Choice(source: .device(name), note: nil)
    source.service = found.receiver
    return source
  }

  /// Whether a device never is one of the service.
  private static func isOutsideService(_ name: String) -> Bool {
    if name == "-" { return true }
    return switch try? LineAddress(name) {
    case .replay?, .simulator?, nil: true
    case .port?, .i2c?, .network?: false
    }
  }

  private static func accepts(_ path: String) -> Bool { (try? UnixSocket(connectingTo: path)) != nil }

  /// Waits for a service that starts again. A connection to one that does not reports the reason.
  private static func wait(for path: String) throws {
    if accepts(path) { return }
    printNotice("\(path): waiting for the location service")
    var poller = try Poller()
    let limit = SystemClock.monotonic + ServiceClient.timeout
    while !accepts(path), SystemClock.monotonic < limit {
      _ = try poller.wait(deadline: (SystemClock.monotonic + Milliseconds(100)).nanoseconds)
    }
  }

  /// Returns nil if the service does not have the device that the user named, or does not run.
  private static func connect(
    to path: String, _ device: String?, isNamed: Bool, for use: Source.Use
  ) throws -> (receiver: ServiceReceiver, device: String)? {
    if isNamed {
      guard accepts(path) else { return nil }
    } else {
      try wait(for: path)
    }
    switch use {
    case .listening:
      let line = ServedLine(socket: path, device: device)
      guard try line.connect(isNamed: isNamed) else { return nil }
      return (ServiceReceiver(provider: line, isServed: true), line.device)
    case .sending:
      guard let lent = try LentReceiver.wait(socket: path, device: device) else { return nil }
      return (ServiceReceiver(provider: lent, isServed: false, recovery: lent.recovery), lent.device)
    }
  }
}

/// The bytes of a receiver of the location service as a line: `Stream` of org.sextant.Location.
final class ServedLine: PolledLine, LineProvider {
  let isWritable = false
  let receiverPort: ReceiverPortNumber? = nil
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

  // MARK: PolledLine

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

/// The line of a receiver of the location service, lent to this command: `Lease` of org.sextant.Receivers. The service takes
/// it back at the end of the connection.
final class LentReceiver: LineProvider {
  /// The longest wait for the end of the service's own session, which restores the receiver.
  private static let timeout = Milliseconds(20_000)

  /// The device, as the service calls it.
  let device: String
  /// The crash-recovery record of the line, which the service stores.
  private(set) var recovery: CrashRecoveryFile?
  private let connection: Connection
  /// The open device; nil after its loss, when the command opens its path.
  private var descriptor: OwnedDescriptor?

  /// The connection to the service, which the record uses too.
  private final class Connection {
    var client: ServiceClient
    init(_ client: consuming ServiceClient) { self.client = client }
  }

  /// Waits for the line.
  ///
  /// - Parameters:
  ///   - socket: the path of the service's socket.
  ///   - wanted: the device; nil for the receiver in use.
  /// - Returns: nil if the user named a device that the service does not have.
  static func wait(socket: String, device wanted: String?) throws -> LentReceiver? {
    var client = try ServiceClient(path: socket)
    let parameters: JSON = wanted.map { ["device": .string($0)] } ?? .empty
    let reply = try client.ask(VarlinkCall("org.sextant.Receivers.Lease", parameters), within: timeout) {
      printNotice("waiting for the location service, which restores the receiver first")
    }
    switch reply {
    case .success(let message, _):
      let device = message["device"]?.string
      let descriptor = client.takeDescriptor()
      // The command connects to a source of the network itself.
      let isOpenedHere = device.map { (try? LineAddress($0))?.networkSource != nil } ?? false
      switch consume descriptor {
      case .some(let descriptor) where device != nil:
        return LentReceiver(client, device ?? "", descriptor, recovery: message["recovery"]?.string)
      case nil where isOpenedHere:
        return LentReceiver(client, device ?? "", nil, recovery: message["recovery"]?.string)
      default: throw CommandFailure(.badData, "\(socket): the location service sent no device; update sextantd")
      }
    case .failure(let error) where wanted != nil && error.name == "org.sextant.Receivers.NoReceiver": return nil
    case .failure(let error): throw ServiceRefusal.failure(error, path: socket)
    }
  }

  private init(
    _ client: consuming ServiceClient, _ device: String, _ descriptor: consuming OwnedDescriptor?, recovery: String?
  ) {
    let (connection, path) = (Connection(client), "the record of \(device)")
    self.device = device
    self.connection = connection
    self.descriptor = consume descriptor
    self.recovery = CrashRecoveryFile(text: recovery) { text throws(FileError) in
      let parameters: JSON = ["recovery": text.map { .string($0) } ?? .null]
      guard connection.client.sendOneway("org.sextant.Receivers.KeepRecovery", parameters) else {
        throw FileError(path, .brokenPipe)
      }
    }
  }

  func line(at now: Instant) throws(SerialPortError) -> ProvidedLine? {
    switch descriptor {
    // A command opens the line more than once: to restore it, and for its own session.
    case .some(let descriptor):
      guard let copy = try? Syscalls.duplicate(descriptor.number) else { throw SerialPortError(gone: device) }
      return .lent(copy)
    case nil: return nil
    }
  }

  func lost() { descriptor = nil }
}

/// An error of the service as the failure of a command.
enum ServiceRefusal {
  static func failure(_ error: VarlinkError, path: String) -> CommandFailure {
    let device = error.parameters["device"]?.string ?? path
    switch error.name {
    case "org.sextant.Receivers.NotPermitted":
      return CommandFailure(
        .noPermission,
        "\(device): no permission for the receiver of the location service; "
          + (error.parameters["group"]?.string.map {
            "join its group with `sudo usermod -aG \($0) $USER`, then log in again"
          } ?? "run as root"))
    case "org.sextant.Receivers.Lent":
      return CommandFailure(
        .held, "\(device): the location service has lent it to \(holder(of: error)); try again after its end")
    case "org.sextant.Receivers.Unavailable":
      return CommandFailure(exitCode: code(of: error), description: error.parameters["reason"]?.string ?? device)
    case "org.sextant.Receivers.ReadOnly":
      return CommandFailure(
        .configuration, "\(path): the location service is read-only (`sextantd --read-only`), and the command sends")
    case "org.sextant.Location.NoReceiver", "org.sextant.Receivers.NoReceiver":
      return CommandFailure(.unavailable, "\(path): the location service has no receiver; see `sextant status`")
    case "org.sextant.Location.Denied", "org.sextant.Location.NotDetermined":
      return CommandFailure(
        .noPermission,
        "\(path): no permission for the receiver; join its group with `sudo usermod -aG gnss $USER` and log in again, or "
          + "have it granted with `sudo sextant authorize grant sextant always --user $UID`")
    case "org.varlink.service.InterfaceNotFound", "org.varlink.service.MethodNotFound":
      return CommandFailure(.unavailable, "\(path): the location service does not know this call; update sextantd")
    default: return CommandFailure(.unavailable, "\(path): the location service answers with \(error.name)")
    }
  }

  private static func holder(of error: VarlinkError) -> String {
    var text = error.parameters["name"]?.string ?? "another program"
    if case .integer(let process)? = error.parameters["pid"] { text += " (pid \(process))" }
    return text
  }

  private static func code(of error: VarlinkError) -> Int32 {
    guard case .integer(let code)? = error.parameters["code"], let code = Int32(exactly: code), 64...78 ~= code else {
      return CommandFailure.ExitCode.unavailable.rawValue
    }
    return code
  }
}
