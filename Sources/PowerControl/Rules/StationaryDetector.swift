// SPDX-License-Identifier: Apache-2.0
import MonotonicTime

/// Detects that fixes stay around one place, and since when.
struct StationaryDetector: Sendable {
  private(set) var anchor: FixObservation
  private(set) var since: Instant

  init(at fix: FixObservation, _ now: Instant) {
    anchor = fix
    since = now
  }

  /// Takes a fix. One that is farther than `radiusMetres`, with both errors allowed for, is the new place.
  mutating func observe(_ fix: FixObservation, radiusMetres: Double, at now: Instant) {
    if metres(to: fix) > radiusMetres + fix.errorMetres + anchor.errorMetres {
      self = StationaryDetector(at: fix, now)
    } else if fix.errorMetres < anchor.errorMetres / 2 {
      // The first fix of a standstill may be a poor one: a far better one replaces its place and keeps its time.
      anchor = fix
    }
  }

  func metres(to fix: FixObservation) -> Double { groundMetres(anchor, fix) }
}
