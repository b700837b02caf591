import MonotonicTime

/// Whether fixes have stayed around one place, and since when.
struct StationaryDetector: Sendable {
  private(set) var anchor: FixObservation
  private(set) var since: Instant

  init(at fix: FixObservation, _ now: Instant) {
    anchor = fix
    since = now
  }

  /// Takes a fix: one that is beyond `radiusMetres`, also when both errors are allowed for, starts anew.
  mutating func observe(_ fix: FixObservation, radiusMetres: Double, at now: Instant) {
    if metres(to: fix) > radiusMetres + fix.errorMetres + anchor.errorMetres {
      self = StationaryDetector(at: fix, now)
    } else if fix.errorMetres < anchor.errorMetres / 2 {
      // The first fix of a rest may be a poor one: a far better one is the place, and the rest goes on.
      anchor = fix
    }
  }

  func metres(to fix: FixObservation) -> Double { groundMetres(anchor, fix) }
}
