// SPDX-License-Identifier: Apache-2.0
import MonotonicTime
import Positioning
import ReceiverStream

/// The newest location of this program on its way to memory and to the disk.
///
///     none ──fix──▶ pending ──an event with it, or no deferral──▶ unstored ──store──▶ stored
///                      ▲                                                                 │
///                      └───────────────────────────── fix ───────────────────────────────┘
///
/// A deferral can delay a fix: a later run gets that fix from the deferral, in order, and must not start with it.
/// Therefore a fix is published (state `unstored`) only when an event contains it or when no deferral waits.
struct NewestLocation: Sendable {
  /// The shortest time between two writes while the location changes, to limit wear of flash memory.
  static var storeInterval: Milliseconds { Milliseconds(60_000) }

  private enum Published: Sendable { case none, unstored(Location), stored(Location) }

  private var published = Published.none
  /// A fix that is newer than the published one and not published yet.
  private var pending: Location?
  /// The earliest time of the next write; nil while the disk has no location.
  private var nextStore: Instant?
  private let restored: Location?

  /// - Parameter restored: the location on the disk; nil if there is none.
  init(restored: Location? = nil) {
    self.restored = restored
    nextStore = restored == nil ? nil : .zero
  }

  /// The newest published location, of this process or an earlier one.
  var known: Location? {
    switch published {
    case .none: restored
    case .unstored(let location), .stored(let location): location
    }
  }

  /// Whether a fix of this time is at least as new as every known one.
  func isNewest(_ time: UTCTime) -> Bool {
    let known: Location? =
      switch published {
      case .none: pending
      case .unstored(let location), .stored(let location): pending ?? location
      }
    return known.map { $0.timestamp <= time } ?? true
  }

  /// Handles a fix. Its time is not compared: a fix from before the receiver had a date has the computer's time.
  mutating func receive(_ location: Location) { pending = location }

  /// Publishes the pending location if that is permitted. Returns the location to remember now.
  ///
  /// - Parameter delivered: the time of the newest location in this round's events; nil if there is none.
  mutating func publish(delivered: UTCTime?, isDeferring: Bool) -> Location? {
    guard let location = pending, !isDeferring || delivered.map({ $0 >= location.timestamp }) ?? false else {
      return nil
    }
    pending = nil
    published = .unstored(location)
    return location
  }

  /// Returns the very first location, which is stored before its event is delivered; nil if the disk has one.
  mutating func storeFirst(at now: Instant) -> Location? { nextStore == nil ? store(at: now) : nil }

  /// Returns the location to store if a write is due, or if the program ends.
  mutating func storeDue(isEnd: Bool, at now: Instant) -> Location? {
    guard isEnd || nextStore.map({ now >= $0 }) ?? true else { return nil }
    return store(at: now)
  }

  /// Returns the location to store regardless of the time; it does not delay the next regular write.
  mutating func storeNow() -> Location? {
    guard case .unstored(let location) = published else { return nil }
    published = .stored(location)
    nextStore = nextStore ?? .zero
    return location
  }

  private mutating func store(at now: Instant) -> Location? {
    guard let location = storeNow() else { return nil }
    nextStore = now + Self.storeInterval
    return location
  }
}

/// The instants at which fixes were measured, in the order of their times.
struct MeasurementClock: Sendable {
  private var newest: (measured: Instant, timestamp: UTCTime)?

  /// Whether a fix of this time belongs to another epoch than the newest one.
  func isNewEpoch(_ timestamp: UTCTime) -> Bool { timestamp != newest?.timestamp }

  /// Records the time of a fix received at an instant, and returns when it was measured.
  ///
  /// Epochs that are read together, as after a stall, keep their order: each counts as measured later than the previous
  /// one. A repeated epoch keeps its instant.
  mutating func measured(_ timestamp: UTCTime, receivedAt now: Instant) -> Instant {
    var instant = now
    if let newest, instant <= newest.measured {
      guard timestamp > newest.timestamp else { return newest.measured }
      instant = Instant(nanoseconds: newest.measured.nanoseconds + 1)
    }
    newest = (instant, timestamp)
    return instant
  }

  /// Returns the instant of a time, derived from the newest fix that arrived live, otherwise from the computer's clock.
  func instant(of time: UTCTime, at now: Moment) -> Instant {
    let (instant, utc) = newest.map { ($0.measured, $0.timestamp) } ?? (now.instant, now.utc)
    let later = time.nanosecondsSince1970 - utc.nanosecondsSince1970
    let nanoseconds = Int64(clamping: instant.nanoseconds) + later
    return min(Instant(nanoseconds: UInt64(max(nanoseconds, 0))), now.instant)
  }
}
