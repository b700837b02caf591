// SPDX-License-Identifier: Apache-2.0
import MonotonicTime
import Positioning
import ReceiverStream

/// An epoch of the first receiver that is reported before its dilutions arrive. It waits for them, so that clients receive it
/// once and with its accuracy.
///
///     none ──report with an assumed accuracy, the epoch before had one──▶ held
///     held ──update with an accuracy │ next epoch │ 1 s │ the line is lost──▶ none, delivered
///
/// The sentence that ends an epoch changes when the line loses bytes or the receiver pauses within an epoch.
struct EpochCompletion: Sendable {
  /// A report, and when the first report of its epoch arrived.
  struct Epoch: Sendable {
    var fix: Fix
    var received: Moment
  }

  /// The longest time for which an epoch is held, equal to the usual interval of epochs.
  static var limit: Milliseconds { Milliseconds(1000) }

  private var held: Epoch?
  /// Whether the last epoch had an accuracy from the receiver or from its dilutions.
  private var hadAccuracy = false

  /// The time at which the held epoch is to be released; nil if there is none.
  var deadline: Instant? { held.map { $0.received.instant + Self.limit } }

  /// Returns the held epoch, if there is one, which is complete.
  mutating func release() -> Epoch? {
    guard let epoch = held else { return nil }
    held = nil
    hadAccuracy = false
    return epoch
  }

  /// Returns the held epoch if a fix belongs to another epoch.
  mutating func releaseEpoch(before fix: Fix) -> Epoch? { held?.fix.time == fix.time ? nil : release() }

  /// Handles a report, after ``releaseEpoch(before:)``. Returns the arrival of its epoch if it is to be delivered now;
  /// nil if it is held.
  mutating func receive(_ fix: Fix, at now: Moment) -> Moment? {
    guard fix.hasPosition else { return now }
    let received = held?.received ?? now
    let hasAccuracy = fix.accuracySource != .assumed
    if !hasAccuracy, hadAccuracy, fix.time != nil {
      held = Epoch(fix: fix, received: received)
      return nil
    }
    held = nil
    hadAccuracy = hasAccuracy
    return received
  }
}
