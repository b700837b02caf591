// SPDX-License-Identifier: Apache-2.0
import Messages
import MonotonicTime
import Positioning
import Receiver
import ReceiverStream

// The trust in the receiver's signals.
extension ReceiverSource {
  /// The longest time between two epochs that are compared.
  private static let sameEpoch = Milliseconds(2000)
  /// The time between two questions whether the computer's clock is synchronised.
  private static let clockInterval = Milliseconds(10_000)

  /// The origin of a fix of this receiver, with the trust in its signals.
  func source(at now: Instant) -> Location.Source {
    var source = origin
    source.trust = trust.trust(at: now)
    return source
  }

  /// Handles an epoch, and logs a change of the trust.
  func assess(_ fix: Fix, _ sky: borrowing Sky, at now: Instant) {
    trust.receive(fix, sky, computerTime: synchronizedTime(at: now), sinceBoot: SystemClock.sinceBoot, at: now)
    if fix.hasPosition { newestFix = (fix, now, false) }
    logTrust(at: now)
  }

  /// Compares the newest epochs of two receivers, each once.
  func compare(with other: ReceiverSource, at now: Instant) {
    guard let own = newestFix, let their = other.newestFix, !own.isCompared,
      // A recording and a simulation are elsewhere.
      origin.isSimulatedBySoftware == other.origin.isSimulatedBySoftware,
      now.milliseconds(since: own.at) <= Self.sameEpoch.count, now.milliseconds(since: their.at) <= Self.sameEpoch.count
    else { return }
    newestFix?.isCompared = true
    trust.compare(own.fix, with: their.fix, at: now)
    other.trust.compare(their.fix, with: own.fix, at: now)
    logTrust(at: now)
    other.logTrust(at: now)
  }

  /// Returns the computer's time if its clock is synchronised. A recording and a simulation may have another time.
  private func synchronizedTime(at now: Instant) -> UTCTime? {
    if origin.isSimulatedBySoftware { return nil }
    if clock.map({ now.milliseconds(since: $0.at) >= Self.clockInterval.count }) ?? true {
      // Something keeps the clock within a second of UTC.
      clock = (SystemClock.utcErrorSeconds.map { $0 < 1 } ?? false, now)
    }
    return clock?.isSynchronized == true ? System.referenceTime() : nil
  }

  private func logTrust(at now: Instant) {
    guard let change = trust.takeChange(at: now) else { return }
    log(number == 0 ? change : "\(connection?.path ?? "a standby receiver"): \(change)")
  }
}
