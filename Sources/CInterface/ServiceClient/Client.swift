// SPDX-License-Identifier: Apache-2.0
import CClientSocket
import CSextant

/// A client in memory of a C program: this value at its start, followed by the memory for a message.
///
/// `unsafe` because C passes pointers. `sextant.h` states what the caller guarantees: the memory of a client is not
/// used for anything else, and only by one call at a time.
@safe struct Client {
  /// The reply that a call waits for.
  enum Expected {
    case status
    case location
    case subscription
  }

  enum State {
    case disconnected
    case idle(descriptor: Int32)
    case calling(descriptor: Int32, Expected)
  }

  private(set) var state = State.disconnected
  private let handlers: sextant_client_handlers
  /// The bytes of an incomplete message.
  private var filled = 0
  private let message: UnsafeMutableRawBufferPointer

  /// Makes a client in memory of a C program; nil if `sextant.h` does not allow the arguments.
  static func make(
    _ memory: UnsafeMutableRawPointer?, _ size: Int, _ handlers: UnsafePointer<sextant_client_handlers>?
  ) -> OpaquePointer? {
    let base = Int(SEXTANT_CLIENT_BASE_BYTES)
    precondition(MemoryLayout<Client>.size <= base)
    guard let memory = unsafe memory, let handlers = unsafe handlers?.pointee,
      UInt(bitPattern: memory) % UInt(MemoryLayout<Client>.alignment) == 0,
      size >= base + Int(SEXTANT_SHORTEST_MESSAGE_BYTES)
    else { return nil }
    let message = unsafe UnsafeMutableRawBufferPointer(start: memory + base, count: size - base)
    let client = unsafe memory.bindMemory(to: Client.self, capacity: 1)
    unsafe client.initialize(to: Client(handlers: handlers, message: message))
    return OpaquePointer(client)
  }

  private init(handlers: sextant_client_handlers, message: UnsafeMutableRawBufferPointer) {
    unsafe self.handlers = handlers
    unsafe self.message = message
  }

  /// The client at a C pointer.
  static func at(_ pointer: OpaquePointer?) -> UnsafeMutablePointer<Client>? {
    unsafe pointer.map { unsafe UnsafeMutablePointer<Client>($0) }
  }

  // MARK: The connection

  mutating func connect(_ path: UnsafePointer<CChar>) -> sextant_client_result {
    disconnect()
    let descriptor = unsafe client_socket_connect(path)
    guard descriptor >= 0 else { return Client.result(Int(descriptor)) }
    state = .idle(descriptor: descriptor)
    return SEXTANT_CLIENT_OK
  }

  var descriptor: Int32 {
    switch state {
    case .disconnected: -1
    case .idle(let descriptor), .calling(let descriptor, _): descriptor
    }
  }

  mutating func disconnect() {
    if descriptor >= 0 { client_socket_close(descriptor) }
    state = .disconnected
    filled = 0
  }

  /// Ends the connection for a reason.
  private mutating func fail(_ reason: sextant_client_result) -> sextant_client_result {
    disconnect()
    return reason
  }

  /// The result that a function of `client_socket.h` returned with its sign changed.
  private static func result(_ value: Int) -> sextant_client_result { sextant_client_result(rawValue: UInt32(-value)) }

  // MARK: Calls

  mutating func send(_ call: ServiceCall) -> sextant_client_result {
    guard case .idle(let descriptor) = state else {
      if case .calling = state { return SEXTANT_CLIENT_BUSY }
      return SEXTANT_CLIENT_NOT_CONNECTED
    }
    var output = unsafe MutableSpan<UInt8>(_unsafeElements: message.bindMemory(to: UInt8.self))
    let count = call.write(&output)
    let result = unsafe client_socket_send(descriptor, message.baseAddress, count)
    guard result == 0 else { return fail(Client.result(Int(result))) }
    switch call {
    case .status: state = .calling(descriptor: descriptor, .status)
    case .location: state = .calling(descriptor: descriptor, .location)
    case .subscription: state = .calling(descriptor: descriptor, .subscription)
    }
    return SEXTANT_CLIENT_OK
  }

  /// Reads what has arrived, once, and reports each whole message.
  mutating func receive() -> sextant_client_result {
    guard descriptor >= 0 else { return SEXTANT_CLIENT_NOT_CONNECTED }
    guard unsafe filled < message.count else { return fail(SEXTANT_CLIENT_MESSAGE_TOO_LONG) }
    let received = unsafe client_socket_receive(descriptor, message.baseAddress! + filled, message.count - filled)
    guard received >= 0 else { return fail(Client.result(received)) }
    let end = filled + received
    var start = 0
    for at in filled..<end where unsafe message[at] == 0 {
      let result = report(start..<at)
      start = at + 1
      guard result == SEXTANT_CLIENT_OK else {
        // The reply was the last one of the call.
        if case .idle = state, start < end { return fail(SEXTANT_CLIENT_BAD_MESSAGE) }
        filled = 0
        return result
      }
    }
    if start > 0 {
      unsafe message.baseAddress!.copyMemory(from: message.baseAddress! + start, byteCount: end - start)
    }
    filled = end - start
    return SEXTANT_CLIENT_OK
  }

  /// Reports the message in these bytes, which a NUL follows.
  private mutating func report(_ bytes: Range<Int>) -> sextant_client_result {
    guard case .calling(let descriptor, let expected) = state else { return fail(SEXTANT_CLIENT_BAD_MESSAGE) }
    let text = unsafe UnsafeMutableRawBufferPointer(rebasing: message[bytes])
    var reader = unsafe MessageReader(MutableSpan<UInt8>(_unsafeElements: text.bindMemory(to: UInt8.self)))
    switch Reply(&reader) {
    case .malformed: return fail(SEXTANT_CLIENT_BAD_MESSAGE)
    case .failure(let reason):
      state = .idle(descriptor: descriptor)
      return reason
    case .parameters(let position, let continues):
      reader.position = position
      if !continues { state = .idle(descriptor: descriptor) }
      switch expected {
      case .status:
        guard let status = ServiceStatus(&reader) else { return fail(SEXTANT_CLIENT_BAD_MESSAGE) }
        unsafe report(status, UnsafeRawPointer(text.baseAddress!))
      case .location, .subscription:
        guard var location = sextant_location(&reader) else { return fail(SEXTANT_CLIENT_BAD_MESSAGE) }
        if let body = unsafe handlers.on_location { unsafe body(handlers.context, &location) }
      }
      return SEXTANT_CLIENT_OK
    }
  }

  private func report(_ status: borrowing ServiceStatus, _ message: UnsafeRawPointer) {
    guard let body = unsafe handlers.on_status else { return }
    // The reader has appended a NUL to each text.
    func pointer(_ text: MessageReader.Text?) -> UnsafePointer<CChar>? {
      unsafe text.map { unsafe (message + $0.start).assumingMemoryBound(to: CChar.self) }
    }
    var receivers = unsafe InlineArray<16, sextant_receiver>(repeating: sextant_receiver())
    precondition(unsafe receivers.count == Int(SEXTANT_MOST_RECEIVERS))
    for index in 0..<status.receiverCount {
      let receiver = status.receivers[index]
      unsafe receivers[index].device = pointer(receiver.device)
      unsafe receivers[index].model = pointer(receiver.model)
      unsafe receivers[index].state = pointer(receiver.state)
      unsafe receivers[index].reason = pointer(receiver.reason)
      unsafe receivers[index].fix = pointer(receiver.fix)
    }
    var lent = unsafe sextant_status()
    unsafe lent.version = pointer(status.version)
    unsafe lent.uptime_seconds = status.uptimeSeconds
    unsafe lent.program_count = status.programCount
    unsafe lent.receiver_count = status.receiverCount
    let listed = unsafe receivers.span
    unsafe listed.withUnsafeBufferPointer {
      unsafe lent.receivers = $0.baseAddress
      unsafe body(handlers.context, &lent)
    }
  }
}
