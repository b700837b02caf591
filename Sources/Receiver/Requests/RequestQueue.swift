// SPDX-License-Identifier: Apache-2.0
import MonotonicTime

/// The requests of a session: the one in flight with its owner, and the submitted ones in their order.
struct RequestQueue {
  /// The part of the session that gets a reply. The stage may change while a request of another owner is in flight.
  enum Owner: Equatable { case stage, ticket(SessionTicket), assistance, retrieval, orbits, sleep }

  private var current: (request: RequestInFlight, owner: Owner)?
  private var submitted: [(ticket: SessionTicket, command: Command)] = []
  private var tickets = 0
  /// When the next request can be sent.
  private var earliest: Instant

  init(from now: Instant) { earliest = now }

  var inFlight: RequestInFlight? { current?.request }
  var owner: Owner? { current?.owner }
  var isBusy: Bool { current != nil }
  /// When the request in flight is due. Reading it copies no request.
  var deadline: Instant? { current?.request.deadline }
  /// Whether the reply comes from a receiver of another maker.
  var expectsFamily: Bool { current?.request.isOfFamily ?? false }
  /// Whether it sends nothing and only waits, while the sentences are observed.
  var isWait: Bool { current?.request.command.bytes.isEmpty ?? false }
  var isEmpty: Bool { current == nil && submitted.isEmpty }
  /// Whether a submitted command is in flight, or waits.
  var hasSubmitted: Bool { if case .ticket? = owner { true } else { !submitted.isEmpty } }
  /// The bytes of the submitted commands.
  var submittedCount: Int { submitted.reduce(0) { $0 + $1.command.bytes.count } }
  /// When the next submitted command can be sent.
  var submittedAt: Instant? { current == nil && !submitted.isEmpty ? earliest : nil }

  // MARK: Submitted commands

  mutating func makeTicket() -> SessionTicket {
    tickets += 1
    return SessionTicket(number: tickets)
  }

  mutating func submit(_ command: Command, _ ticket: SessionTicket) { submitted.append((ticket, command)) }

  /// Returns whether there was a submitted command.
  mutating func beginSubmitted() -> Bool {
    guard !submitted.isEmpty else { return false }
    let (ticket, command) = submitted.removeFirst()
    return begin(command, for: .ticket(ticket))
  }

  mutating func cancelSubmitted() -> [SessionTicket] {
    defer { submitted = [] }
    return submitted.map(\.ticket)
  }

  // MARK: The request in flight

  /// Returns whether there is a command.
  mutating func begin(_ command: Command?, for owner: Owner) -> Bool {
    guard let command else { return false }
    current = (RequestInFlight(command, earliest: earliest), owner)
    return true
  }

  /// Takes the request back with the frames that it received.
  mutating func update(_ request: RequestInFlight?) { if let request { current?.request = request } }

  /// Returns the bytes and the outcome that are due; nil if neither is.
  mutating func wake(
    at now: Instant, backlog: Milliseconds, bitRate: UInt32?, fills: Bool
  ) -> (bytes: [UInt8]?, outcome: Outcome?)? {
    guard let deadline, now >= deadline else { return nil }
    return current?.request.wake(at: now, backlog: backlog, bitRate: bitRate, fills: fills)
  }

  /// Ends the request in flight. Returns its owner.
  mutating func finish(_ outcome: Outcome, at now: Instant) -> Owner? {
    guard let (request, owner) = current else { return nil }
    current = nil
    earliest = now + request.command.pause
    // A repeated command may have reached the receiver each time. ACK-ACK has no sequence number: the other replies
    // must not be taken for the next command's.
    if request.isOverdue, outcome == .acknowledged { earliest = now + max(request.command.pause, LineRate.staleBytes) }
    return owner
  }

  /// Drops the request in flight. Returns its ticket, if it was a submitted one.
  mutating func interrupt() -> SessionTicket? {
    defer { current = nil }
    if case .ticket(let ticket)? = current?.owner { return ticket }
    return nil
  }

  mutating func stopRepeating() { current?.request.stopRepeating() }

  /// The next request is not sent before `instant`.
  mutating func wait(until instant: Instant) { earliest = instant }
  mutating func waitAtLeast(until instant: Instant) { earliest = max(earliest, instant) }
}
