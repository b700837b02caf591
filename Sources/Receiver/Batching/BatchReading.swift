// SPDX-License-Identifier: Apache-2.0
import MonotonicTime

/// The retrieval of a receiver's batch or flash log, and entries that arrive without one.
struct BatchReading {
  /// More than any receiver stores.
  private static let mostUnrequested = 1024

  private var retrieval: (any Retrieval)?
  /// LOG-BATCH payloads without a retrieval: the receiver goes on to send what a killed reader requested.
  private var unrequested: [[UInt8]] = []

  var isActive: Bool { retrieval != nil }
  var deadline: Instant? { retrieval?.deadline }

  mutating func start(_ retrieval: any Retrieval, at now: Instant) {
    self.retrieval = retrieval
    for payload in unrequested { self.retrieval?.receive(logBATCH: payload, at: now) }
    unrequested = []
  }

  /// - Parameter keeps: whether an entry is kept for a later retrieval.
  mutating func receive(logBATCH payload: [UInt8], keeps: Bool, at now: Instant) {
    if retrieval != nil {
      retrieval?.receive(logBATCH: payload, at: now)
    } else if keeps, unrequested.count < Self.mostUnrequested {
      unrequested.append(payload)
    }
  }

  mutating func next(at now: Instant) -> Command? {
    retrieval?.wake(at: now)
    return retrieval?.next()
  }

  mutating func receive(_ outcome: Outcome, at now: Instant) { retrieval?.receive(outcome, at: now) }

  mutating func cut() { retrieval?.cut() }

  mutating func takeEvents() -> [BatchEvent] {
    var events: [BatchEvent] = []
    while let event = retrieval?.nextEvent() { events.append(event) }
    if retrieval?.isOver == true { retrieval = nil }
    return events
  }
}
