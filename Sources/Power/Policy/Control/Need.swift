// SPDX-License-Identifier: Apache-2.0
import MonotonicTime

/// The combined need of all clients at one moment.
struct Need: Sendable {
  /// Fixes are delivered live.
  var live: Live?
  /// Fixes are collected for later.
  var collect: Collect?
  /// The time by which the next fix must be there; `Instant.zero` means at once.
  var due: Instant?
  /// A client waits for a movement: the sleep has no end of its own.
  var waitsForHint = false
  /// Every client accepts ``PowerPolicy/reducedFromMetres``.
  var isCoarse = true
  /// At least one client has a demand.
  var isAny = false

  struct Live: Sendable {
    /// Cyclic tracking is good enough for every client.
    var cyclic: Bool
    var periodSeconds: Int
  }

  struct Collect: Sendable {
    var cyclic: Bool
    /// The time by which clients need the read; nil: when the buffer is full.
    var by: Instant?
  }

  mutating func addLive(cyclic: Bool, periodSeconds: Int) {
    let others = live ?? Live(cyclic: true, periodSeconds: periodSeconds)
    live = Live(
      cyclic: others.cyclic && cyclic, periodSeconds: min(others.periodSeconds, periodSeconds))
  }

  mutating func addDue(_ instant: Instant) { due = Instant.earlier(due, instant) }
}
