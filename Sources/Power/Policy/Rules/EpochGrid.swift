// SPDX-License-Identifier: Apache-2.0
import MonotonicTime

/// The position of a receiver's epochs in the second, by the host's clock, and the time before an epoch at which to
/// wake it.
///
/// Receivers measure at whole seconds of GPS time. After a wake-up at an arbitrary moment the receiver waits half a
/// second for the next epoch on average, at the full current. If its start ends just before an epoch, it does not wait.
/// Both are learned from the fixes of position checks. A source whose fixes come at any moment has no grid.
struct EpochGrid: Sendable {
  /// Seconds from the wake-up command to the epoch with the first fix.
  private(set) var leadSeconds: Double
  /// The time of the last epoch.
  private var anchor: Instant?
  /// First fixes that came where the grid predicted them, less those that did not.
  private var agreements = 0
  /// Position checks in a row whose fix came an epoch late.
  private var misses = 0

  private static let periodNanoseconds: UInt64 = 1_000_000_000
  /// The jitter of a line and of a host, and the drift between two clocks in a quarter of an hour.
  private static let toleranceSeconds = 0.06
  private static let fewestAgreements = 4
  private static let mostAgreements = 8
  /// Each hit shortens the lead by this, and a miss lengthens it by so much: a miss costs a second, and one check in
  /// twenty misses.
  private static let hitSeconds = 0.005
  private static let missSeconds = 0.1
  private static let longestMissSeconds = 0.4

  /// - Parameter usualSeconds: the usual duration of a start.
  init(usualSeconds: Double) { leadSeconds = usualSeconds }

  /// Whether epochs have come on a grid.
  var isKnown: Bool { agreements >= Self.fewestAgreements }

  /// Takes an epoch.
  ///
  /// - Parameter isFirstFix: the epoch has the first fix after a wake-up. Only such epochs confirm the grid.
  mutating func came(at now: Instant, isFirstFix: Bool) {
    guard let anchor else { return self.anchor = now }
    let off = (now.nanoseconds &- anchor.nanoseconds) % Self.periodNanoseconds
    let seconds = Double(min(off, Self.periodNanoseconds - off)) / 1e9
    if seconds <= Self.toleranceSeconds {
      self.anchor = now
      if isFirstFix { agreements = min(agreements + 1, Self.mostAgreements) }
    } else if isFirstFix {
      agreements = max(agreements - 2, 0)
      if agreements == 0 { self.anchor = now }
    }
  }

  /// Takes the duration of a start with usable orbits.
  mutating func started(in seconds: Double) {
    let epochs = (seconds - leadSeconds).rounded()
    // The wake-up was not for an epoch, but for a hint or a new client.
    guard isKnown, abs(seconds - leadSeconds - epochs) < 2 * Self.toleranceSeconds else { return }
    switch epochs {
    case ..<0:
      // The fix came with an earlier epoch: the lead is shortened by as much.
      leadSeconds = max(leadSeconds + epochs, 0.5)
      misses = 0
    case 0:
      leadSeconds = max(leadSeconds - Self.hitSeconds, 0.5)
      misses = 0
    default:
      misses += 1
      leadSeconds += min(Self.missSeconds * Double(misses), Self.longestMissSeconds)
    }
  }

  /// The latest epoch no later than `instant`; nil without a known grid.
  func latest(notAfter instant: Instant) -> Instant? {
    guard isKnown, let anchor else { return nil }
    guard instant >= anchor else {
      let back = (anchor.nanoseconds - instant.nanoseconds + Self.periodNanoseconds - 1) / Self.periodNanoseconds
      let nanoseconds = back * Self.periodNanoseconds
      return anchor.nanoseconds >= nanoseconds ? Instant(nanoseconds: anchor.nanoseconds - nanoseconds) : nil
    }
    let whole = (instant.nanoseconds - anchor.nanoseconds) / Self.periodNanoseconds
    return Instant(nanoseconds: anchor.nanoseconds + whole * Self.periodNanoseconds)
  }
}
