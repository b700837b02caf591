// SPDX-License-Identifier: Apache-2.0
import MonotonicTime
import ReceiverStream

/// The assistance that a receiver is given after its start, at times without other requests.
struct AssistanceDelivery {
  /// The computer's time when the line was opened; nil if its clock is not set.
  private let reference: UTCTime?
  private let openedAt: Instant
  private var assisting: Assisting?

  init(reference: UTCTime?, openedAt: Instant) {
    self.reference = reference
    self.openedAt = openedAt
  }

  private func time(at now: Instant) -> UTCTime? {
    reference.map {
      UTCTime(nanosecondsSince1970: $0.nanosecondsSince1970 + Int64(now.nanoseconds - openedAt.nanoseconds))
    }
  }

  /// The receiver has started; the delivery begins once it is configured.
  mutating func prepare(_ settings: AssistanceSettings?, for receiver: ReceiverDescription?, at now: Instant) {
    guard let settings, let receiver else { return }
    assisting = Assisting(settings, to: receiver, at: time(at: now))
  }

  func next(at now: Instant) -> Command? {
    guard let time = time(at: now) else { return nil }
    return assisting?.next(at: time)
  }

  mutating func receive(_ outcome: Outcome) { assisting?.receive(outcome) }

  /// The setting that was changed for the delivery, as it was found.
  var found: [Setting] { assisting?.found ?? [] }

  /// Ends the delivery. Returns the delivery as it was; nil if none was under way.
  mutating func finish() -> Assisting? {
    defer { assisting = nil }
    return assisting
  }
}
