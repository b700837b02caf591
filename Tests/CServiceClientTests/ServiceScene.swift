// SPDX-License-Identifier: Apache-2.0
import CInterface
import CSextant
import Glibc
import TestSupport

/// A C program with a client, and the other end of its connection.
final class ServiceScene {
  private(set) var locations: [sextant_location] = []
  private(set) var statuses: [Status] = []

  struct Status: Equatable {
    var version: String
    var uptime: Double
    var programs: Int
    var receivers: [[String?]]
  }

  let client: OpaquePointer
  private let memory: UnsafeMutableRawPointer
  private let folder: TemporaryFolder
  private var listener: Int32 = -1
  private var service: Int32 = -1

  /// An unconnected client.
  init(message: Int = 4096) throws {
    folder = try TemporaryFolder()
    let size = Int(SEXTANT_CLIENT_BASE_BYTES) + message
    memory = .allocate(byteCount: size, alignment: 16)
    memory.initializeMemory(as: UInt8.self, repeating: 0xA5, count: size)
    var handlers = sextant_client_handlers()
    handlers.on_location = { context, location in
      Unmanaged<ServiceScene>.fromOpaque(context!).takeUnretainedValue().locations.append(location!.pointee)
    }
    handlers.on_status = { context, status in
      Unmanaged<ServiceScene>.fromOpaque(context!).takeUnretainedValue().statuses.append(Status(status!.pointee))
    }
    // The context is set below, when this object is complete: the handlers are copied.
    client = OpaquePointer(memory)
    handlers.context = Unmanaged.passUnretained(self).toOpaque()
    precondition(sextant_client_init(memory, size, &handlers) == client)
  }

  deinit {
    sextant_client_disconnect(client)
    if service >= 0 { close(service) }
    if listener >= 0 { close(listener) }
    memory.deallocate()
  }

  var path: String { "\(folder.path)/s" }

  /// Listens, connects the client and accepts it.
  func connect() -> sextant_client_result {
    listener = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
    let bound = withUnsafeBytes(of: &address) {
      bind(listener, $0.baseAddress!.assumingMemoryBound(to: sockaddr.self), socklen_t($0.count))
    }
    precondition(bound == 0 && listen(listener, 1) == 0, "\(path), descriptor \(listener): errno \(errno)")
    let result = sextant_client_connect(client, path)
    if result == SEXTANT_CLIENT_OK { service = accept(listener, nil, nil) }
    return result
  }

  /// The bytes that the client has sent, without the NUL.
  func request() -> String {
    var bytes = [UInt8](repeating: 0, count: 512)
    let count = recv(service, &bytes, bytes.count, Int32(MSG_DONTWAIT))
    guard count > 0, bytes[count - 1] == 0 else { return "" }
    return String(decoding: bytes[..<(count - 1)], as: UTF8.self)
  }

  func send(_ bytes: [UInt8]) {
    precondition(Glibc.send(service, bytes, bytes.count, Int32(MSG_NOSIGNAL)) == bytes.count)
  }

  /// Sends messages and lets the client read them once.
  func receive(_ messages: String...) -> sextant_client_result {
    send(messages.flatMap { Array($0.utf8) + [0] })
    return sextant_client_receive(client)
  }

  func end() {
    close(service)
    service = -1
  }
}

extension ServiceScene.Status {
  init(_ status: sextant_status) {
    let receivers = UnsafeBufferPointer(start: status.receivers, count: status.receiver_count)
    self.init(
      version: String(cString: status.version), uptime: status.uptime_seconds, programs: status.program_count,
      receivers: receivers.map { receiver in
        let texts = [receiver.device, receiver.model, receiver.state, receiver.reason, receiver.fix]
        return texts.map { $0.map { String(cString: $0) } }
      })
  }
}
