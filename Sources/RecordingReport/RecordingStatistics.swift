// SPDX-License-Identifier: Apache-2.0
import NMEA
import ReceiverStream
import UBX
import WireBytes

/// All that a report shows of a recording. The memory does not depend on the length of the recording.
package struct RecordingStatistics: ~Copyable {
  /// A copy that stays when the recording was read.
  package struct Result: Sendable {
    package var name: String
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
  private var counts: [UInt64: Int] = [:]
  private let truth: Truth?

  /// - Parameter truth: the place of the antenna; nil for the mean of the positions.
  package init(truth: Truth? = nil) {
    self.truth = truth
    epochs = EpochStatistics(truth: truth)
  }

  /// Takes the next frame of the recording.
  package mutating func receive(_ frame: borrowing Frame) {
    let key = Self.key(frame)
    if counts[key] != nil || counts.count < Self.mostMessages { counts[key, default: 0] += 1 }
    if let ubx = frame.ubx {
      remarks.add(ubx)
      if let message = ubx.message(NavSIG.self) { satellites.add(message) }
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
    let messages = counts.map { (name: Self.name($0.key), count: $0.value) }
      .sorted { ($1.count, $0.name) < ($0.count, $1.name) }
    return Result(
      name: name, bytes: bytes, counters: counters, rejectedFields: assembler.rejectedFields, truth: truth,
      epochs: epochs, satellites: satellites, remarks: remarks, messages: messages)
  }

  /// The protocol in the high byte, and what distinguishes its messages.
  package static func key(_ frame: borrowing Frame) -> UInt64 {
    let kind = UInt64(frame.kind.rawValue) << 56
    if let ubx = frame.ubx { return kind | UInt64(ubx.identity.key) }
    if let sentence = frame.nmea {
      return kind | UInt64(sentence.talker.code) << 32 | UInt64(sentence.formatter.code)
    }
    guard let rtcm3 = frame.rtcm3 else { return kind }
    return kind | UInt64(rtcm3.messageNumber ?? 0xFFFF)
  }

  /// The name of messages with the same key, such as `UBX NAV-PVT`.
  package static func name(_ key: UInt64) -> String {
    switch Frame.Kind(rawValue: UInt8(key >> 56)) {
    case .ubx:
      let identity = MessageIdentity(UInt8(key >> 8 & 0xFF), UInt8(key & 0xFF))
      let name = MessageLayout.candidates(for: identity).first.map { "\($0.name)" }
      return "UBX " + (name ?? "0x" + String(key & 0xFFFF, radix: 16))
    case .nmea:
      var name = "NMEA "
      for shift in stride(from: 40, through: 0, by: -8) {
        let byte = UInt8(truncatingIfNeeded: key >> UInt64(shift))
        if byte != 0 { name.unicodeScalars.append(Unicode.Scalar(byte)) }
      }
      return name
    case .rtcm3: return "RTCM \(key & 0xFFFF)"
    default: return "SPARTN"
    }
  }
}
