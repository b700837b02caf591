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
  private var queue = OutgoingMessages()
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

  /// Whether `nextEvent` has an event, or a call that it answers itself.
  package var hasEvent: Bool {
    mutating get {
      switch state {
      case .serving, .failed(reported: true, _): false
      case .failed(reported: false, _): true
      case .idle, .upgraded: outputBytesWaiting < limits.outputBytes && input.hasNext
      }
    }
  }

  /// Whether a call waits for its last reply.
  package var isServing: Bool { if case .serving = state { true } else { false } }

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

/// A method call (varlink.org, "Method Call").
package struct VarlinkCall: Equatable, Sendable {
  /// The replies that the caller expects.
  package enum Kind: String, CaseIterable, Sendable {
    /// One reply.
    case single
    /// No reply, not even an error.
    case oneway
    /// Any number of replies, of which all but the last have `continues`.
    case more
    /// One reply, after which the connection carries messages of another protocol.
    case upgrade
  }

  /// Interface and method: `org.varlink.service.GetInfo`.
  package var method: String
  /// An object.
  package var parameters: JSON
  package var kind: Kind

  package init(_ method: String, _ parameters: JSON = .empty, _ kind: Kind = .single) {
    self.method = method
    self.parameters = parameters
    self.kind = kind
  }

  /// The part of the method before the last dot, or all of it.
  package var interface: String { method.lastIndex(of: ".").map { String(method[..<$0]) } ?? method }

  /// Nil if a message is not a call. Unknown members are ignored: vendors may add members.
  init?(_ message: JSON) {
    guard message.isObject, case .string(let method)? = message["method"],
      let parameters = Self.parameters(of: message)
    else { return nil }
    var kind: Kind?
    for flag in [Kind.oneway, .more, .upgrade] {
      switch message[flag.rawValue] {
      case nil, .null?, .bool(false)?: continue
      // The specification does not define a combination of two flags.
      case .bool(true)? where kind == nil: kind = flag
      default: return nil
      }
    }
    self.init(method, parameters, kind ?? .single)
  }

  func write(to text: inout [UInt8]) throws(JSONWriteError) {
    var members = [JSON.Member("method", .string(method))]
    if kind != .single { members.append(JSON.Member(kind.rawValue, .bool(true))) }
    if parameters != .empty { members.append(JSON.Member("parameters", parameters)) }
    try JSON.object(members).write(to: &text)
  }

  /// The parameters of a call or reply: an object, which may be absent or null. Nil if it is something else.
  static func parameters(of message: JSON) -> JSON? {
    switch message["parameters"] {
    case nil, .null?: .empty
    case let parameters? where parameters.isObject: parameters
    default: nil
    }
  }
}

/// A reply to a call.
package enum VarlinkReply: Equatable, Sendable {
  /// `continues`: another reply to the same call follows.
  case success(JSON, continues: Bool = false)
  case failure(VarlinkError)

  /// Nil if a message is not a reply.
  init?(_ message: JSON) {
    guard message.isObject, let parameters = VarlinkCall.parameters(of: message) else { return nil }
    switch (message["error"], message["continues"]) {
    case (nil, nil), (.null?, nil), (nil, .null?), (.null?, .null?): self = .success(parameters)
    case (nil, .bool(let continues)?), (.null?, .bool(let continues)?):
      self = .success(parameters, continues: continues)
    case (.string(let name)?, _): self = .failure(VarlinkError(name, parameters))
    default: return nil
    }
  }

  /// The text of the message.
  package func text() throws(JSONWriteError) -> [UInt8] {
    var text: [UInt8] = []
    try write(to: &text)
    return text
  }

  func write(to text: inout [UInt8]) throws(JSONWriteError) {
    switch self {
    case .success(let parameters, let continues):
      var members = [JSON.Member("parameters", parameters)]
      if continues { members.append(JSON.Member("continues", true)) }
      try JSON.object(members).write(to: &text)
    case .failure(let error):
      try JSON.object([JSON.Member("error", .string(error.name)), JSON.Member("parameters", error.parameters)])
        .write(to: &text)
    }
  }
}

/// An error reply.
package struct VarlinkError: Error, Equatable, Sendable, CustomStringConvertible {
  /// Interface and error: `org.sextant.Location.Denied`.
  package var name: String
  /// An object.
  package var parameters: JSON

  package init(_ name: String, _ parameters: JSON = .empty) {
    self.name = name
    self.parameters = parameters
  }

  package var description: String { name }

  // The errors of every service (varlink.org, "Service").
  package static func interfaceNotFound(_ name: String) -> VarlinkError {
    VarlinkError("org.varlink.service.InterfaceNotFound", ["interface": .string(name)])
  }
  package static func methodNotFound(_ name: String) -> VarlinkError {
    VarlinkError("org.varlink.service.MethodNotFound", ["method": .string(name)])
  }
  package static func methodNotImplemented(_ name: String) -> VarlinkError {
    VarlinkError("org.varlink.service.MethodNotImplemented", ["method": .string(name)])
  }
  package static func invalidParameter(_ name: String) -> VarlinkError {
    VarlinkError("org.varlink.service.InvalidParameter", ["parameter": .string(name)])
  }
  package static let permissionDenied = VarlinkError("org.varlink.service.PermissionDenied")
  package static let expectedMore = VarlinkError("org.varlink.service.ExpectedMore")
}

/// The reason why a connection cannot continue. It is closed after the pending output is written.
package enum VarlinkProtocolError: Error, Equatable, Sendable, CustomStringConvertible {
  case messageTooLong(maximumBytes: Int)
  case invalidJSON(JSONSyntaxError)
  /// A message that is not a call.
  case invalidCall
  /// A message that is not a reply.
  case invalidReply
  /// A reply without a call, or a continuing reply to a call without `more`.
  case unexpectedReply
  /// More bytes were received while `wantsInput` was false.
  case tooMuchInput

  package var description: String {
    switch self {
    case .messageTooLong(let maximum): "a message is longer than \(maximum) bytes"
    case .invalidJSON(let error): "a message is not JSON: \(error)"
    case .invalidCall: "a message is not a Varlink call"
    case .invalidReply: "a message is not a Varlink reply"
    case .unexpectedReply: "a reply without a call"
    case .tooMuchInput: "too many calls wait for their replies"
    }
  }
}
