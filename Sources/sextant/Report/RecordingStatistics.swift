// SPDX-License-Identifier: Apache-2.0
import NMEA
import Receiver
import ReceiverStream
import UBX

/// The data of a report about a recording. The memory does not depend on the length of the recording.
package struct RecordingStatistics: ~Copyable {
  /// A copy that remains valid after the recording was read.
  package struct Result: Sendable {
    /// The file, as given by the user.
    package var name: String
    /// The receiver's model and firmware, such as "ZED-F9P, HPG 1.32"; nil if the recording does not have them.
    package var receiver: String?
    package var bytes: UInt64
    package var counters: StreamCounters
    package var rejectedFields: Int
    package var truth: Truth?
    package var epochs: EpochStatistics
    package var satellites: SatelliteStatistics
    package var remarks: ReceiverRemarks
    /// Names and numbers of messages, the most frequent first.
    package var messages: [(name: String, count: Int)]
  }

  static var mostMessages: Int { 512 }

  private var assembler = EpochAssembler()
  private var epochs: EpochStatistics
  private var satellites = SatelliteStatistics()
  private var remarks = ReceiverRemarks()
  private var counts: [MessageKey: Int] = [:]
  private var identity = RecordedIdentity()
  private let truth: Truth?

  /// - Parameter truth: the place of the antenna; nil for the mean of the positions.
  package init(truth: Truth? = nil) {
    self.truth = truth
    epochs = EpochStatistics(truth: truth)
  }

  /// Handles the next frame of the recording.
  package mutating func receive(_ frame: borrowing Frame) {
    let key = MessageKey(frame)
    if counts[key] != nil || counts.count < Self.mostMessages { counts[key, default: 0] += 1 }
    if let ubx = frame.ubx {
      remarks.add(ubx)
      identity.add(ubx)
      if let message = ubx.message(NavSIG.self) { satellites.add(message) }
    } else if let sentence = frame.nmea {
      identity.add(sentence)
    }
    assembler.receive(frame) { report, sky in
      epochs.add(report.fix, isUpdate: report.isUpdate)
      if report.skyChanged { satellites.add(sky) }
    }
  }

  /// The results.
  package consuming func finish(name: String, bytes: UInt64, _ counters: StreamCounters) -> Result {
    var epochs = epochs
    var satellites = satellites
    assembler.finish { report, sky in
      epochs.add(report.fix, isUpdate: report.isUpdate)
      if report.skyChanged { satellites.add(sky) }
    }
    epochs.end()
    let messages = counts.map { (name: $0.key.name, count: $0.value) }
      .sorted { ($1.count, $0.name) < ($0.count, $1.name) }
    return Result(
      name: name, receiver: identity.text, bytes: bytes, counters: counters, rejectedFields: assembler.rejectedFields,
      truth: truth,
      epochs: epochs, satellites: satellites, remarks: remarks, messages: messages)
  }
}
