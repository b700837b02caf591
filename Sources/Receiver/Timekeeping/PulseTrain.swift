// SPDX-License-Identifier: Apache-2.0
import MonotonicTime

/// Detects pulses at one per second. Edges between them, such as noise, are ignored; pulses of another rate never
/// settle.
///
///     none ──edge──▶ settling ──three intervals of whole seconds──▶ settled
///       ▲               ▲                                             │
///       │               └──────────edges at other times───────────────┤
///       └──────────────────no edge for ten seconds────────────────────┘
struct PulseTrain: Sendable {
  enum Verdict: Equatable, Sendable { case settled, settling, implausible }

  static let intervalsToSettle = 3
  /// The accepted error of an interval, nanoseconds: an adapter on USB reports its lines each millisecond.
  static let jitter: Int64 = 2_000_000
  private static let longestGap: Int64 = 10

  private var reference: Instant?
  private var intervals = 0
  /// Increases by two at an implausible edge and decreases by one at a good one, so that a rate of 2 Hz is not accepted
  /// as 1 Hz.
  private var misses = 0

  init() {}

  mutating func receive(at raw: Instant) -> Verdict {
    guard let reference else { return restart(at: raw) }
    let interval = nanoseconds(from: reference, to: raw)
    let whole = (interval + second / 2) / second
    guard whole <= Self.longestGap else { return restart(at: raw) }
    let error = abs(interval - whole * second)
    if whole >= 1, error <= Self.jitter + interval / 1_000_000 * TimeAnchor.drift {
      self.reference = raw
      intervals += 1
      misses = max(0, misses - 1)
      return intervals >= Self.intervalsToSettle ? .settled : .settling
    }
    misses += 2
    if misses > 2 { _ = restart(at: raw) }
    return .implausible
  }

  private mutating func restart(at raw: Instant) -> Verdict {
    (reference, intervals, misses) = (raw, 0, 0)
    return .settling
  }
}

/// The on-time edge of a pulse with both edges stamped: a receiver's pulse is shorter than the pause after it (u-blox:
/// 100 ms by default, CFG-TP-LEN_LOCK_TP1), so it is the edge that begins the shorter phase.
package struct PulseShape: Sendable {
  package enum Edge: Equatable, Sendable { case rising, falling }

  private var lastEdge: (edge: Edge, nanoseconds: Int64)?
  private var high: Int64?
  private var low: Int64?

  package init() {}

  /// Handles an edge. Returns whether it is the on-time edge: the rising one until the phases are known.
  package mutating func take(_ edge: Edge, atNanoseconds time: Int64) -> Bool {
    if let last = lastEdge, last.edge != edge {
      let length = time &- last.nanoseconds
      if edge == .falling { high = length } else { low = length }
    }
    lastEdge = (edge, time)
    guard let high, let low else { return edge == .rising }
    return edge == (high <= low ? .rising : .falling)
  }
}
