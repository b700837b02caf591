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
  private var queue = OutgoingMessages()
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
