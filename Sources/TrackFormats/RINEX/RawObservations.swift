// SPDX-License-Identifier: Apache-2.0
import RTCM3
import ReceiverStream
import UBX
import WireBytes

/// What a receiver measured of one signal at one epoch.
struct RawObservation {
  var satellite: RINEXSatellite
  var signal: RINEXSignal
  /// Metres; nil if it is not valid.
  var pseudorange: Double?
  /// Cycles; nil if it is not valid.
  var phase: Double?
  /// Hz, positive when approaching; nil if it is not sent.
  var doppler: Float?
  /// dBHz; nil if it is not sent.
  var strength: Float?
  /// Bit 0: the lock may have been lost since the last phase. Bit 1: half a cycle is not resolved.
  var lossOfLock: UInt8 = 0
}

/// Loss of lock from one written phase of a signal to the next. A loss while no phase is written belongs to the next phase, and the
/// first phase has no predecessor.
struct PhaseContinuity {
  private struct Key: Hashable {
    var satellite: RINEXSatellite
    var signal: RINEXSignal
  }

  private struct State {
    /// The time or the indicator of lock, which grows while the lock lasts.
    var lock = 0
    var isHalfSubtracted = false
    var isLost = true
  }

  private var states: [Key: State] = [:]

  /// Returns the flags of a phase (RINEX 3.05, section 6.7).
  ///
  /// - Parameters:
  ///   - lock: 0 for no lock since the last epoch.
  ///   - isHalfSubtracted: whether half a cycle is subtracted; a change moves the phase.
  mutating func flags(
    _ observation: RawObservation, lock: Int, isHalfSubtracted: Bool = false, isHalfResolved: Bool
  ) -> UInt8 {
    let key = Key(satellite: observation.satellite, signal: observation.signal)
    var state = states[key] ?? State()
    if lock == 0 || lock < state.lock || isHalfSubtracted != state.isHalfSubtracted { state.isLost = true }
    (state.lock, state.isHalfSubtracted) = (lock, isHalfSubtracted)
    defer { states[key] = state }
    guard observation.phase != nil else { return 0 }
    defer { state.isLost = false }
    return (state.isLost ? 1 : 0) | (isHalfResolved ? 0 : 2)
  }
}

/// A time of GPS in units of 100 ns since 1980-01-06, the resolution of RINEX.
struct GPSTicks: Equatable, Comparable {
  static let second: Int64 = 10_000_000
  static let week: Int64 = 604_800 * second
  var count: Int64

  static func < (a: GPSTicks, b: GPSTicks) -> Bool { a.count < b.count }

  /// - Parameters:
  ///   - week: 1 or more, until the year 2190; a receiver without the time sends 0.
  ///   - secondOfWeek: 0 to the length of a week.
  init?(week: UInt16, secondOfWeek: Double) {
    guard (1...11_000).contains(week), secondOfWeek >= 0, secondOfWeek < 604_800 else { return nil }
    count = Int64(week) * Self.week + Int64(clamping: (secondOfWeek * 1e7).rounded())
  }

  init(count: Int64) { self.count = count }

  init(_ time: UTCTime) {
    let leap = Int64(LeapSeconds.on(time.day)) * Self.second
    count = (time.nanosecondsSince1970 - Day.gpsEpoch.since1970 * UTCTime.nanosecondsPerDay) / 100 + leap
  }

  /// The time in UTC.
  var utc: UTCTime {
    let sinceEpoch = UTCTime(day: .gpsEpoch, nanosecondsOfDay: count * 100)
    return UTCTime(
      nanosecondsSince1970: sinceEpoch.nanosecondsSince1970 - Int64(LeapSeconds.on(sinceEpoch.day)) * 1_000_000_000)
  }

  /// The time with this remainder of a period that is nearest to `self`.
  func nearest(_ remainder: Int64, of period: Int64) -> GPSTicks {
    let difference = ((remainder - count) % period + period) % period
    return GPSTicks(count: count + (difference > period / 2 ? difference - period : difference))
  }

  /// The date of GPS time, and the time of the day.
  var date: (day: Day, ticksOfDay: Int64) {
    let ticksOfDay = count % (86_400 * Self.second)
    return (Day(since1970: Day.gpsEpoch.since1970 + count / (86_400 * Self.second)), ticksOfDay)
  }
}
