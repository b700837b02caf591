import MonotonicTime

/// Where a receiver's epochs lie in the second, by the host's clock, and how long before one of them it has to be woken.
///
/// Receivers measure at whole seconds of GPS time. Who wakes one at any moment waits half a second for the next epoch on
/// average, at the full current; who wakes it so that its start ends just before an epoch waits for nothing. Both are learned
/// from the fixes of looks. A source whose fixes come at any moment shows no grid, and none is reckoned with.
struct EpochGrid: Sendable {
  /// Seconds from the order to wake to the epoch that is to have the fix.
  private(set) var leadSeconds: Double
  /// When an epoch came last.
  private var anchor: Instant?
  /// First fixes that came where the grid had them, less those that did not.
  private var agreements = 0
  /// Looks in a row whose fix came an epoch late.
  private var misses = 0

  private static let periodNanoseconds: UInt64 = 1_000_000_000
  /// Jitter of a line and of a host, and what two clocks differ by in a quarter of an hour.
  private static let toleranceSeconds = 0.06
  private static let fewestAgreements = 4
  private static let mostAgreements = 8
  /// Each hit makes the lead shorter by this, and a miss longer by so much: it costs a second, and about one look in twenty
  /// misses.
  private static let hitSeconds = 0.005
  private static let missSeconds = 0.1
  private static let longestMissSeconds = 0.4

  /// - Parameter usualSeconds: what a start takes as far as is known beforehand.
  init(usualSeconds: Double) { leadSeconds = usualSeconds }

  /// Whether epochs were seen to come on a grid.
  var isKnown: Bool { agreements >= Self.fewestAgreements }

  /// An epoch came.
  ///
  /// - Parameter isFirstFix: it has the first fix after a wake-up. The epochs behind it lie where it lies, and prove nothing.
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

  /// A start from orbits that are known took this long.
  mutating func started(in seconds: Double) {
    let epochs = (seconds - leadSeconds).rounded()
    // It was not woken for an epoch, but for a hint or a new client.
    guard isKnown, abs(seconds - leadSeconds - epochs) < 2 * Self.toleranceSeconds else { return }
    switch epochs {
    case ..<0:
      // It came with an earlier epoch: so much less will do.
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

  /// The latest epoch that comes no later than `instant`; nil without a known grid.
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
