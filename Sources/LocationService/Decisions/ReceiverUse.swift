// SPDX-License-Identifier: Apache-2.0
import MonotonicTime

/// The receivers that the service has open, from the first demand to the end of the program.
///
///     unused ──need──▶ inUse ──finish──▶ ending(by) ──read out, or the time is over──▶ released
///        └──────────────────────────finish────────────────────────────────────────────────▲
///
/// Its line may be lent to a program meanwhile, after the receiver's memory was read out:
///
///     served ──lend──▶ readingOut(by) ──read out, or the time is over──▶ lent ──takeBack──▶ served
///
/// The first receiver (number 0) stays open until the program ends and sleeps while no client needs it. Standby receivers
/// (numbers from 1) are open while the first one is in use and not idle.
struct ReceiverUse: Sendable {
  /// The longest time for reading a receiver's memory out when the program ends.
  static var lastRead: Milliseconds { Milliseconds(2000) }

  private enum Stage: Sendable, Equatable { case unused, inUse, ending(by: Instant), released }
  private enum Standby: Sendable { case none, released, open }
  private enum Lending: Sendable, Equatable { case served, readingOut(by: Instant), lent }

  private var stage = Stage.unused
  private var standby = Standby.none
  private var lending = Lending.served

  /// Whether the first receiver is open, also while the program ends.
  var isOpen: Bool { deadline != nil || stage == .inUse }
  /// Whether the program ends.
  var isFinished: Bool { deadline != nil || stage == .released }
  /// The time at which the first receiver is released at the latest.
  var deadline: Instant? { if case .ending(let limit) = stage { limit } else { nil } }

  /// The time at which the line is lent at the latest.
  var lendingDeadline: Instant? { if case .readingOut(let limit) = lending { limit } else { nil } }

  /// Lends the line to a program.
  ///
  /// - Parameter readsOut: whether the receiver's memory has fixes that a client waits for.
  mutating func lend(readsOut: Bool, at now: Instant) {
    if lending == .served { lending = .readingOut(by: readsOut ? now + Self.lastRead : now) }
  }

  /// Handles the return of the line by the program. Returns whether it had the line.
  mutating func takeBack() -> Bool {
    defer { lending = .served }
    return lending == .lent
  }

  /// Lends the line if it is due. Returns whether the program gets it now.
  mutating func lendNow(isReadingOut: Bool, at now: Instant) -> Bool {
    guard let lendingDeadline, now >= lendingDeadline || !isReadingOut else { return false }
    lending = .lent
    return true
  }

  /// Adds a standby receiver, which is opened with the others.
  mutating func standbyFound() { standby = .released }

  /// Ends the use.
  ///
  /// - Parameter readsOut: whether the receiver's memory has fixes that a client waits for.
  mutating func finish(readsOut: Bool, at now: Instant) {
    switch stage {
    case .unused: stage = .released
    case .inUse: stage = .ending(by: readsOut ? now + Self.lastRead : now)
    case .ending, .released: break
    }
  }

  /// Returns the receivers to open.
  mutating func open(isNeeded: Bool, isResting: Bool) -> [ServiceAction] {
    var actions: [ServiceAction] = []
    if stage == .unused, isNeeded {
      stage = .inUse
      actions.append(.openReceiver)
    }
    if standby == .released, needsStandby(isResting: isResting) {
      standby = .open
      actions.append(.openStandby)
    }
    return actions
  }

  /// Returns the receivers to release.
  mutating func release(isReadingOut: Bool, isResting: Bool, at now: Instant) -> [ServiceAction] {
    var actions: [ServiceAction] = []
    if let deadline, now >= deadline || !isReadingOut {
      stage = .released
      actions.append(.releaseReceiver)
    }
    if standby == .open, !needsStandby(isResting: isResting) {
      standby = .released
      actions.append(.releaseStandby)
    }
    return actions
  }

  private func needsStandby(isResting: Bool) -> Bool { stage == .inUse && !isResting }
}
