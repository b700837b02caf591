// SPDX-License-Identifier: Apache-2.0

/// The client's side of a connection. The owner passes received bytes to `receive`, takes events from `nextEvent` until it
/// returns nil, and writes `output`.
package struct VarlinkClientConnection: Sendable {
  /// The identifier of a call on its connection.
  package struct CallID: Hashable, Sendable {
    fileprivate let number: UInt64
  }

  package enum Event: Equatable, Sendable {
    case reply(CallID, VarlinkReply)
    /// A message after an upgrade.
    case message(JSON)
    /// The last event. The owner closes the connection.
    case failed(VarlinkProtocolError)
  }

  private enum State: Sendable {
    /// The calls without a last reply, the oldest first, and whether the newest of them is an upgrade.
    case calling([(id: CallID, kind: VarlinkCall.Kind)], upgrading: Bool)
    case upgraded
    case failed
  }

  private var input: MessageSplitter
  private var queue = OutputQueue()
  private var state = State.calling([], upgrading: false)
  private var lastCall: UInt64 = 0

  /// `maximumMessageBytes` is the size of the largest message from the server.
  package init(maximumMessageBytes: Int = 4 << 20) { input = MessageSplitter(maximumBytes: maximumMessageBytes) }

  /// Queues a call. Returns nil after an upgrade, after the call for one, and after a failure.
  package mutating func call(_ call: VarlinkCall) throws(JSONWriteError) -> CallID? {
    guard case .calling(var pending, upgrading: false) = state else { return nil }
    try queue.append(call.write)
    lastCall += 1
    let id = CallID(number: lastCall)
    if call.kind != .oneway { pending.append((id, call.kind)) }
    state = .calling(pending, upgrading: call.kind == .upgrade)
    return id
  }

  /// Queues a message. Returns false before an upgrade and after a failure.
  package mutating func send(_ message: JSON) throws(JSONWriteError) -> Bool {
    guard case .upgraded = state else { return false }
    try queue.append { text throws(JSONWriteError) in try message.write(to: &text) }
    return true
  }

  package mutating func receive(_ bytes: Span<UInt8>) {
    if case .failed = state { return }
    input.append(bytes)
  }

  /// The next event; nil until more bytes arrive.
  package mutating func nextEvent() -> Event? {
    if case .failed = state { return nil }
    do throws(VarlinkProtocolError) {
      guard let message = try input.nextJSON() else { return nil }
      guard case .calling(let pending, _) = state else { return .message(message) }
      return try reply(message, pending)
    } catch {
      state = .failed
      return .failed(error)
    }
  }

  /// The value that `body` returns for the next message's text after an upgrade. If it is nil, the message remains the
  /// next event.
  package mutating func nextMessage<Value>(_ body: (Span<UInt8>) -> Value?) -> Value? {
    guard case .upgraded = state else { return nil }
    // An error also remains.
    return try? input.next(ifAny: body)
  }

  private mutating func reply(
    _ message: JSON, _ pending: [(id: CallID, kind: VarlinkCall.Kind)]
  ) throws(VarlinkProtocolError) -> Event {
    guard let reply = VarlinkReply(message) else { throw .invalidReply }
    guard let (id, kind) = pending.first else { throw .unexpectedReply }
    switch reply {
    case .success(_, continues: true):
      guard kind == .more else { throw .unexpectedReply }
    case .success where kind == .upgrade: state = .upgraded
    case .success, .failure:
      let rest = Array(pending.dropFirst())
      state = .calling(rest, upgrading: rest.last?.kind == .upgrade)
    }
    return .reply(id, reply)
  }

  /// The number of bytes to be written.
  package var outputBytesWaiting: Int { queue.count }

  /// The bytes to be written.
  package var output: Span<UInt8> {
    @_lifetime(borrow self) get { queue.waiting }
  }

  /// Removes the first bytes of `output`.
  package mutating func didWrite(_ count: Int) { queue.remove(count) }
}

/// Splits a stream of bytes into messages, each of which ends with a NUL (varlink.org, "Method Call"). Bytes are kept
/// until their message is requested. Each byte is searched once and moved a bounded number of times.
package struct MessageSplitter: Sendable {
  /// A message that is longer than allowed.
  package struct TooLong: Error, Equatable {}

  /// The size of the largest message without its NUL.
  package let maximumBytes: Int
  private var buffer: [UInt8] = []
  /// The start of the first message in the buffer.
  private var start = 0
  /// The bytes before this offset have been searched for a NUL.
  private var searched = 0

  package init(maximumBytes: Int) { self.maximumBytes = maximumBytes }

  /// The number of pending bytes.
  package var count: Int { buffer.count - start }

  package mutating func append(_ bytes: Span<UInt8>) {
    if start > 0, start >= buffer.count / 2 {
      buffer.removeFirst(start)
      searched -= start
      start = 0
    }
    buffer.append(copying: bytes)
  }

  /// Calls `body` with the next whole message, without its NUL, and removes it. Returns nil if none is complete.
  package mutating func next<Value>(_ body: (Span<UInt8>) -> Value) throws(TooLong) -> Value? {
    guard let end = try nextEnd() else { return nil }
    let value = body(buffer.span.extracting(start..<end))
    remove(end)
    return value
  }

  /// The same for a `body` that may return nil to refuse the message: then it remains the next one.
  mutating func next<Value>(ifAny body: (Span<UInt8>) -> Value?) throws(TooLong) -> Value? {
    guard let end = try nextEnd(), let value = body(buffer.span.extracting(start..<end)) else { return nil }
    remove(end)
    return value
  }

  /// The position of the NUL after the next message.
  private mutating func nextEnd() throws(TooLong) -> Int? {
    while searched < buffer.count, buffer[searched] != 0 { searched += 1 }
    guard searched - start <= maximumBytes else { throw TooLong() }
    return searched < buffer.count ? searched : nil
  }

  private mutating func remove(_ end: Int) {
    searched = end + 1
    start = searched
    // Keeps the memory of an idle connection small.
    if start == buffer.count { self = MessageSplitter(maximumBytes: maximumBytes, reusing: buffer) }
  }

  private init(maximumBytes: Int, reusing buffer: consuming [UInt8]) {
    self.maximumBytes = maximumBytes
    if buffer.capacity <= 4096 {
      buffer.removeAll(keepingCapacity: true)
      self.buffer = buffer
    }
  }
}

/// Bytes to be written.
struct OutputQueue: Sendable {
  private(set) var bytes: [UInt8] = []
  private var start = 0

  var count: Int { bytes.count - start }
  var waiting: Span<UInt8> {
    @_lifetime(borrow self) get { bytes.span.extracting(start...) }
  }

  /// Appends a message and its terminating NUL. After an error, nothing is appended.
  mutating func append<Failure>(_ write: (inout [UInt8]) throws(Failure) -> Void) throws(Failure) {
    let end = bytes.count
    do {
      try write(&bytes)
    } catch {
      bytes.removeLast(bytes.count - end)
      throw error
    }
    bytes.append(0)
  }

  /// Removes the last bytes, so that `count` bytes are left.
  mutating func truncate(to count: Int) { bytes.removeLast(self.count - count) }

  mutating func remove(_ count: Int) {
    start += count
    precondition(start <= bytes.count, "more bytes written than there were")
    if start == bytes.count {
      bytes.removeAll(keepingCapacity: bytes.capacity <= 4096)
      start = 0
    } else if start >= bytes.count / 2 {
      bytes.removeFirst(start)
      start = 0
    }
  }
}

extension [UInt8] {
  mutating func append(copying source: Span<UInt8>) {
    for index in source.indices { append(source[index]) }
  }
}
