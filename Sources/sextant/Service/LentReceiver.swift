// SPDX-License-Identifier: Apache-2.0
import LinuxIO
import Messages
import MonotonicTime
import Receiver
import ReceiverRuntime
import SerialPort
import SystemPackage
import WireBytes

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
