// SPDX-License-Identifier: Apache-2.0
import MonotonicTime

/// The answers of a server in memory, and the time of the next request: at most one per second, and no request twice
/// (Nominatim Usage Policy of the OpenStreetMap Foundation, "Requirements").
package struct RequestPacing<Answer: Sendable>: Sendable {
  /// The time between the starts of two requests.
  package static var interval: Milliseconds { Milliseconds(1000) }
  /// The number of answers that are kept; the oldest ones are dropped.
  package static var capacity: Int { 256 }

  private var answers: [String: Answer] = [:]
  /// The requests of the kept answers, oldest first.
  private var order: [String] = []
  private var next: Instant?

  package init() {}

  /// The answer of an earlier request.
  package func answer(of request: String) -> Answer? { answers[request] }

  /// Returns the time at which the next request may start.
  package func nextStart(at now: Instant) -> Instant { max(next ?? now, now) }

  /// Records the start of a request.
  package mutating func noteStart(at now: Instant) { next = now + Self.interval }

  /// Stores an answer.
  package mutating func keep(_ answer: Answer, of request: String) {
    if answers.updateValue(answer, forKey: request) == nil { order.append(request) }
    if order.count > Self.capacity { answers[order.removeFirst()] = nil }
  }
}
