import MonotonicTime

/// Whether fixes have stayed around one place, and since when.
struct Stillness: Sendable {
  private(set) var anchor: FixFacts
  private(set) var since: Instant

  init(at fix: FixFacts, _ now: Instant) {
    anchor = fix
    since = now
  }

  /// Takes a fix: one that is beyond `radiusMetres`, also when both errors are allowed for, starts anew.
  mutating func observe(_ fix: FixFacts, radiusMetres: Double, at now: Instant) {
    if metres(to: fix) > radiusMetres + fix.errorMetres + anchor.errorMetres {
      self = Stillness(at: fix, now)
    } else if fix.errorMetres < anchor.errorMetres / 2 {
      // The first fix of a rest may be a poor one: a far better one is the place, and the rest goes on.
      anchor = fix
    }
  }

  func metres(to fix: FixFacts) -> Double { groundMetres(anchor, fix) }
}
