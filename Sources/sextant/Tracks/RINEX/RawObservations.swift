// SPDX-License-Identifier: Apache-2.0
import RTCM3
import Receiver
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
