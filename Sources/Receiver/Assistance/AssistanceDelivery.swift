// SPDX-License-Identifier: Apache-2.0
import MonotonicTime
import ReceiverStream

/// The assistance that a receiver is given after its start, at times without other requests.
struct AssistanceDelivery {
  /// The computer's time at an instant; nil if its clock is not set.
  private var reference: UTCTime?
  private var referenceAt: Instant
  private var assisting: Assisting?
  /// When the receiver was last given ephemerides.
  private var givenAt: UTCTime?

  /// The ephemerides of GPS, Galileo and BeiDou are usable for more than an hour.
  private static let renewalNanoseconds: Int64 = 3600 * 1_000_000_000

  init(reference: UTCTime?, openedAt: Instant) {
    self.reference = reference
    referenceAt = openedAt
  }

  private func time(at now: Instant) -> UTCTime? {
    reference.map {
      UTCTime(nanosecondsSince1970: $0.nanosecondsSince1970 + Int64(now.nanoseconds - referenceAt.nanoseconds))
    }
  }

  /// Sets the computer's time: the clock was set, or has continued while `Instant` did not count.
  mutating func setTime(_ time: UTCTime?, at now: Instant) { (reference, referenceAt) = (time, now) }

  /// The receiver has woken with its memory: ephemerides replace its old ones, if the last delivery is not recent.
  mutating func wake(_ settings: AssistanceSettings?, for receiver: ReceiverDescription?, at now: Instant) {
    guard let time = time(at: now) else { return }
    if let givenAt, (0..<Self.renewalNanoseconds).contains(time.nanosecondsSince1970 - givenAt.nanosecondsSince1970) {
      return
    }
    if settings?.ephemerides.count(at: time) ?? 0 > 0 { prepare(settings, for: receiver, at: now) }
  }

  /// The receiver has started; the delivery begins once it is configured.
  mutating func prepare(_ settings: AssistanceSettings?, for receiver: ReceiverDescription?, at now: Instant) {
    guard let settings, let receiver else { return }
    let time = time(at: now)
    if let time, settings.ephemerides.count(at: time) > 0 { givenAt = time }
    assisting = Assisting(settings, to: receiver, at: time)
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
