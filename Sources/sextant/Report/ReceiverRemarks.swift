// SPDX-License-Identifier: Apache-2.0
import ReceiverStream
import UBX

/// A receiver's reports of jamming, its antenna and its starts: MON-RF, MON-HW and NAV-STATUS.
package struct ReceiverRemarks: Sendable {
  /// The states of an input stage, and its values.
  package struct Stage: Sendable {
    /// Counts for each jammingState: unknown, ok, warning, critical.
    package var jamming = [Int](repeating: 0, count: 4)
    /// Counts for each state of the antenna supervisor: init, unknown, ok, short, open, other.
    package var antenna = [Int](repeating: 0, count: 6)
    package var noise = Series.Bucket()
    package var gain = Series.Bucket()
    package var indicator = Series.Bucket()

    mutating func add(jamming state: UInt8, antenna status: UInt8, noise: UInt16, gain: UInt16, indicator: UInt8) {
      jamming[Int(state & 3)] += 1
      antenna[min(5, Int(status))] += 1
      for (value, place) in [
        (Double(noise), \Stage.noise), (Double(gain), \Stage.gain), (Double(indicator), \Stage.indicator),
      ] {
        self[keyPath: place].add(Series.Bucket(minimum: value, maximum: value, sum: value, count: 1))
      }
    }
  }

  /// A start of the receiver, from NAV-STATUS.
  package struct Start: Equatable, Sendable {
    /// Time to first fix, seconds; nil before the first fix.
    package var firstFixSeconds: Double?
    var sinceStart: UInt32
  }

  /// The texts of jammingState.
  static let jammingNames = ["unknown", "ok", "warning", "critical"]
  static var mostStages: Int { 8 }
  static var mostStarts: Int { 32 }
  package private(set) var stages: [UInt8: Stage] = [:]
  package private(set) var starts: [Start] = []
  /// The number of starts that did not fit in `starts`.
  package private(set) var furtherStarts = 0

  mutating func add(_ frame: borrowing UBXFrame) {
    if let message = frame.message(MonRF.self) {
      for index in 0..<message.rFBlockCount {
        let block = message.rFBlock(index)
        guard stages[block.blockId] != nil || stages.count < Self.mostStages else { continue }
        stages[block.blockId, default: Stage()].add(
          jamming: block.flags_jammingState, antenna: block.antStatus, noise: block.noisePerMS, gain: block.agcCnt,
          indicator: block.jamInd)
      }
    } else if let message = frame.message(MonHW.self) {
      stages[0, default: Stage()].add(
        jamming: message.flags_jammingState, antenna: message.aStatus, noise: message.noisePerMS,
        gain: message.agcCnt, indicator: message.jamInd)
    } else if let message = frame.message(NavSTATUS.self) {
      add(message)
    }
  }

  private mutating func add(_ message: borrowing NavSTATUS) {
    let (ttff, now) = (message.ttff, message.msss)
    if starts.isEmpty || now < starts[starts.count - 1].sinceStart {
      if starts.count == Self.mostStarts {
        furtherStarts += 1
        starts.removeLast()
      }
      starts.append(Start(firstFixSeconds: nil, sinceStart: now))
    }
    starts[starts.count - 1].sinceStart = now
    // The value is 0 until the first fix.
    if ttff > 0 { starts[starts.count - 1].firstFixSeconds = Double(ttff) / 1000 }
  }
}
