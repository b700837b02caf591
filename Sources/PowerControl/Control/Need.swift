import MonotonicTime

/// What all clients together need at a moment.
struct Need: Sendable {
  /// Fixes are to come as they are made.
  var live: Live?
  /// Fixes are to be collected for later.
  var collect: Collect?
  /// The next fix has to be there by then; `Instant.zero` is at once.
  var due: Instant?
  /// Somebody waits for something that only a movement can start: sleep has no end of its own.
  var waitsForHint = false
  /// Everybody is content with ``PowerPolicy/reducedFromMetres``.
  var isCoarse = true
  /// Somebody asks for anything at all.
  var isAny = false

  struct Live: Sendable {
    /// Cyclic tracking will do for everybody.
    var cyclic: Bool
    var periodSeconds: Int
  }

  struct Collect: Sendable {
    var cyclic: Bool
    /// Read out by then for the clients' sake; nil: when the buffer is full.
    var by: Instant?
  }

  mutating func addLive(cyclic: Bool, periodSeconds: Int) {
    let others = live ?? Live(cyclic: true, periodSeconds: periodSeconds)
    live = Live(
      cyclic: others.cyclic && cyclic, periodSeconds: min(others.periodSeconds, periodSeconds))
  }

  mutating func addDue(_ instant: Instant) { due = Instant.earlier(due, instant) }
}
