// SPDX-License-Identifier: Apache-2.0
import GPSD
import NMEA
import Receiver
import ReceiverStream
import UBX
import WireBytes

/// The statistics of a recording.
struct Summary: ~Copyable {
  private var assembler = EpochAssembler()
  private var ubx: [UInt16: Int] = [:]
  private var nmea: [SentenceName: Int] = [:]
  private var rtcm3: [Int: Int] = [:]
  /// Counts by type and subtype.
  private var spartn: [[Int]: Int] = [:]
  private var epochs = Epochs()
  /// The fixes from the receiver's memory.
  private var stored = Epochs()

  /// Statistics of epochs.
  private struct Epochs {
    var count = 0
    var withPosition = 0
    var first: UTCTime?
    var last: UTCTime?

    mutating func add(_ report: borrowing EpochAssembler.Report) {
      add(report.fix, isNew: !report.isUpdate)
    }

    mutating func add(_ fix: Fix, isNew: Bool = true) {
      if isNew {
        count += 1
        if fix.hasPosition { withPosition += 1 }
      }
      guard let time = fix.time else { return }
      first = min(first ?? time, time)
      last = max(last ?? time, time)
    }
  }

  mutating func receive(_ frame: borrowing Frame) {
    if let frame = frame.ubx {
      ubx[frame.identity.key, default: 0] += 1
      if let batched = BatchedFix(frame) { stored.add(batched.fix) }
    }
    if let sentence = frame.nmea {
      nmea[sentence.name, default: 0] += 1
    }
    if let frame = frame.rtcm3 { rtcm3[frame.messageNumber ?? -1, default: 0] += 1 }
    if let frame = frame.spartn { spartn[[frame.messageType, frame.subtype], default: 0] += 1 }
    assembler.receive(frame) { report, _ in epochs.add(report) }
  }

  /// Returns the summary for the user.
  consuming func text(_ counters: StreamCounters, bytes: UInt64) -> String {
    var epochs = epochs
    assembler.finish { report, _ in epochs.add(report) }
    var text = "\(bytes) bytes, \(counters.frames) frames\n"
    text += rows("UBX", ubx.map { (Self.name(ofUBX: $0.key), $0.value) })
    text += rows("NMEA", nmea.map { ($0.key.text, $0.value) })
    text += rows("RTCM3", rtcm3.map { ($0.key < 0 ? "empty" : String($0.key), $0.value) })
    text += rows("SPARTN", spartn.map { ("\($0.key[0])-\($0.key[1])", $0.value) })
    text += Self.rows("epochs", epochs)
    if stored.count > 0 { text += Self.rows("kept", stored) }
    text += "skipped    \(counters.skippedBytes) bytes"
    text += " (wrong checksums \(counters.badChecksums), too long \(counters.tooLong),"
    text += " broken sentences \(counters.brokenSentences), without checksum \(counters.withoutChecksum),"
    text += " cut at the end \(counters.cutFrames))\n"
    text += "rejected   \(assembler.rejectedFields) fields out of range or unreadable\n"
    return text
  }

  private static func rows(_ title: String, _ epochs: Epochs) -> String {
    let indent = String(repeating: " ", count: 11 - title.utf8.count)
    var text = "\(title)\(indent)\(epochs.count), with a position \(epochs.withPosition)\n"
    if let first = epochs.first, let last = epochs.last {
      text += "time       \(Self.timestamp(first)) to \(Self.timestamp(last))\n"
    }
    return text
  }

  private func rows(_ title: String, _ counts: [(String, Int)]) -> String {
    guard !counts.isEmpty else { return "" }
    let total = counts.reduce(0) { $0 + $1.1 }
    let list = counts.sorted { ($1.1, $0.0) < ($0.1, $1.0) }.map { "\($0.0) \($0.1)" }.joined(separator: ", ")
    return title + String(repeating: " ", count: 11 - title.utf8.count) + "\(total): \(list)\n"
  }

  private static func name(ofUBX key: UInt16) -> String {
    let identity = MessageIdentity(UInt8(key >> 8), UInt8(key & 0xFF))
    if let layout = MessageLayout.candidates(for: identity).first { return "\(layout.name)" }
    return "0x" + String(key, radix: 16)
  }

  private static func timestamp(_ time: UTCTime) -> String {
    var line = JSONLine()
    line.timestamp(time)
    return line.text
  }
}
