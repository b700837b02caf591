// SPDX-License-Identifier: Apache-2.0

/// The server's side of a connection. The owner passes received bytes to `receive`, takes events from `nextEvent` until it
/// returns nil (again after `receive`, `reply` and `didWrite`), and writes `output`.
///
/// A call becomes an event when the previous call has its last reply. Until then it is kept as bytes: order of replies,
/// pipelining and an upgrade need no other state. If a client does not read its replies, its further calls are not
/// served.
package struct VarlinkServerConnection: Sendable {
  /// The identifier of a call on its connection.
  package struct CallID: Hashable, Sendable {
    fileprivate let number: UInt64
  }

  package enum Event: Equatable, Sendable {
    /// A call that the owner answers, now or later. A `oneway` call has no reply.
    case call(CallID, VarlinkCall)
    /// A message after an upgrade.
    case message(JSON)
    /// The last event. The owner closes the connection after the pending output is written.
    case failed(VarlinkProtocolError)
  }

  package struct Limits: Sendable {
    /// The size of the largest message from a client.
    package var messageBytes = 65_536
    /// The number of pending output bytes above which calls and messages are not served, and only a last reply is
    /// accepted.
    package var outputBytes = 262_144

    package init(messageBytes: Int = 65_536, outputBytes: Int = 262_144) {
      self.messageBytes = messageBytes
      self.outputBytes = outputBytes
    }
  }

  /// The result of queueing a reply or message.
  package enum Acceptance: Equatable, Sendable {
    case queued
    /// The client reads too slowly. The reply is dropped; the owner may send a newer one later.
    case full
    /// The call is already answered, was `oneway`, or the connection has failed.
    case notExpected
  }

  private enum State: Sendable {
    case idle
    case serving(CallID, VarlinkCall.Kind)
    case upgraded
    case failed(reported: Bool, VarlinkProtocolError)
  }

  private let service: VarlinkService
  private let limits: Limits
  private var input: MessageSplitter
  private var queue = OutputQueue()
  private var state = State.idle
  private var lastCall: UInt64 = 0

  package init(service: VarlinkService, limits: Limits = Limits()) {
    self.service = service
    self.limits = limits
    input = MessageSplitter(maximumBytes: limits.messageBytes)
  }

  /// Whether to read from the connection. False while the input of the largest message waits for a reply to an earlier
  /// one.
  package var wantsInput: Bool {
    if case .failed = state { false } else { input.count <= limits.messageBytes }
  }

  package mutating func receive(_ bytes: Span<UInt8>) {
    if case .failed = state { return }
    guard wantsInput else { return fail(.tooMuchInput) }
    input.append(bytes)
  }

  /// The next event; nil until there are more bytes, a reply or a write.
  package mutating func nextEvent() -> Event? {
    while true {
      switch state {
      case .serving, .failed(reported: true, _): return nil
      case .failed(reported: false, let error):
        state = .failed(reported: true, error)
        return .failed(error)
      case .upgraded:
        // Otherwise a peer that does not read could cause an unlimited number of replies.
        guard outputBytesWaiting < limits.outputBytes else { return nil }
        return nextMessage().map(Event.message) ?? failure
      case .idle:
        guard outputBytesWaiting < limits.outputBytes else { return nil }
        guard let message = nextMessage() else { return failure }
        guard let call = VarlinkCall(message) else {
          fail(.invalidCall)
          continue
        }
        if let reply = service.reply(to: call) {
          if call.kind != .oneway { try? queue.append(reply.write) }
          continue
        }
        lastCall += 1
        let id = CallID(number: lastCall)
        if call.kind != .oneway { state = .serving(id, call.kind) }
        return .call(id, call)
      }
    }
  }

  /// The failure that was found during the search for a message.
  private var failure: Event? {
    mutating get {
      guard case .failed(reported: false, let error) = state else { return nil }
      state = .failed(reported: true, error)
      return .failed(error)
    }
  }

  private mutating func nextMessage() -> JSON? {
    do throws(VarlinkProtocolError) { return try input.nextJSON() } catch {
      fail(error)
      return nil
    }
  }

  private mutating func fail(_ error: VarlinkProtocolError) {
    if case .failed = state { return }
    state = .failed(reported: false, error)
  }

  /// Queues a reply. `continues` has an effect only if the call has `more`; otherwise the reply is the last one. A
  /// reply that continues is refused while too many bytes are pending.
  package mutating func reply(to id: CallID, _ reply: VarlinkReply) throws(JSONWriteError) -> Acceptance {
    guard case .serving(id, let kind) = state else { return .notExpected }
    switch reply {
    case .success(let parameters, continues: true) where kind == .more:
      return try append { text throws(JSONWriteError) in
        try VarlinkReply.success(parameters, continues: true).write(to: &text)
      }
    case .success(let parameters, _):
      try queue.append(VarlinkReply.success(parameters).write)
      state = kind == .upgrade ? .upgraded : .idle
    case .failure:
      try queue.append(reply.write)
      state = .idle
    }
    return .queued
  }

  /// Queues a reply that continues, which was encoded once for many connections, to a call with `more`. It is refused
  /// while too many bytes are pending.
  ///
  /// - Parameter text: ``VarlinkReply/text()``.
  package mutating func continueReply(to id: CallID, _ text: [UInt8]) -> Acceptance {
    guard case .serving(id, .more) = state else { return .notExpected }
    return append { $0.append(contentsOf: text) }
  }

  /// Queues the text of a message after an upgrade. It is refused while too many bytes are pending.
  package mutating func send(text: [UInt8]) -> Acceptance {
    guard case .upgraded = state else { return .notExpected }
    return append { $0.append(contentsOf: text) }
  }

  private mutating func append<Failure>(
    _ write: (inout [UInt8]) throws(Failure) -> Void
  ) throws(Failure) -> Acceptance {
    guard outputBytesWaiting < limits.outputBytes else { return .full }
    try queue.append(write)
    return .queued
  }

  /// The number of received bytes that are not served yet.
  package var inputBytesWaiting: Int { input.count }

  /// The number of bytes to be written.
  package var outputBytesWaiting: Int { queue.count }

  /// The bytes to be written.
  package var output: Span<UInt8> {
    @_lifetime(borrow self) get { queue.waiting }
  }

  /// Removes the first bytes of `output`.
  package mutating func didWrite(_ count: Int) { queue.remove(count) }
}

extension MessageSplitter {
  /// The value of the next message, or nil if none is complete.
  mutating func nextJSON() throws(VarlinkProtocolError) -> JSON? {
    let result: Result<JSON, JSONSyntaxError>?
    do {
      result = try next { text in Result { () throws(JSONSyntaxError) in try JSON(parsing: text) } }
    } catch { throw .messageTooLong(maximumBytes: maximumBytes) }
    switch result {
    case nil: return nil
    case .success(let value): return value
    case .failure(let error): throw .invalidJSON(error)
    }
  }
}
