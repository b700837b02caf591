// SPDX-License-Identifier: Apache-2.0

import NMEA
import Receiver
import ReceiverStream
import UBX
import WireBytes

import func Glibc.cos
import func Glibc.sin

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
    /// Whether the epochs are the fixes from the receiver's memory.
    package var isStored = false
    package var satellites: SatelliteStatistics
    package var remarks: ReceiverRemarks
    /// Names and numbers of messages, the most frequent first.
    package var messages: [(name: String, count: Int)]
  }

  static var mostMessages: Int { 512 }

  /// With an assumed date, so that a recording without one has the times between its epochs.
  private var assembler = EpochAssembler(reference: RecordingAxis.assumedDate, isLive: true)
  private var epochs: EpochStatistics
  /// The fixes from the receiver's memory: older than the epochs around them.
  private var stored: EpochStatistics
  private var satellites = SatelliteStatistics()
  private var remarks = ReceiverRemarks()
  private var counts: [MessageKey: Int] = [:]
  private var identity = RecordedIdentity()
  private let truth: Truth?

  /// - Parameter truth: the place of the antenna; nil for the mean of the positions.
  package init(truth: Truth? = nil) {
    self.truth = truth
    (epochs, stored) = (EpochStatistics(truth: truth), EpochStatistics(truth: truth))
  }

  /// Handles the next frame of the recording.
  package mutating func receive(_ frame: borrowing Frame) {
    let key = MessageKey(frame)
    if counts[key] != nil || counts.count < Self.mostMessages { counts[key, default: 0] += 1 }
    if let ubx = frame.ubx {
      remarks.add(ubx)
      identity.add(ubx)
      if let message = ubx.message(NavSIG.self) { satellites.add(message) }
      if let batched = BatchedFix(ubx) { stored.add(batched.fix, isUpdate: false) }
    } else if let sentence = frame.nmea {
      identity.add(sentence)
    }
    assembler.receive(frame) { report, sky in
      epochs.add(report.fix, isUpdate: report.isUpdate)
      if report.skyChanged { satellites.add(sky) }
    }
  }

  /// Records a pause on the line between the previous and the following frames.
  package mutating func pauses(milliseconds: UInt32) { assembler.pauses(milliseconds: milliseconds) }

  /// The results.
  package consuming func finish(name: String, bytes: UInt64, _ counters: StreamCounters) -> Result {
    var epochs = epochs
    var satellites = satellites
    assembler.finish { report, sky in
      epochs.add(report.fix, isUpdate: report.isUpdate)
      if report.skyChanged { satellites.add(sky) }
    }
    epochs.end()
    var stored = stored
    stored.end()
    let isStored = epochs.positions == 0 && stored.positions > 0
    let messages = counts.map { (name: $0.key.name, count: $0.value) }
      .sorted { ($1.count, $0.name) < ($0.count, $1.name) }
    return Result(
      name: name, receiver: identity.text, bytes: bytes, counters: counters, rejectedFields: assembler.rejectedFields,
      truth: truth, epochs: isStored ? stored : epochs, isStored: isStored, satellites: satellites, remarks: remarks,
      messages: messages)
  }
}

/// The identity of a receiver in a recording: MON-VER, or the TXT sentences of its start.
struct RecordedIdentity: Sendable {
  private static var mostStrings: Int { 32 }

  private var description: ReceiverDescription?
  private var texts: [String] = []

  mutating func add(_ frame: borrowing UBXFrame) {
    guard description == nil, frame.message(MonVER.self) != nil else { return }
    description = ReceiverDescription(monVER: [UInt8](copying: frame.payload))
  }

  mutating func add(_ sentence: borrowing Sentence) {
    guard texts.count < Self.mostStrings else { return }
    var rejected = 0
    guard let content = sentence.content(TXT.self, rejected: &rejected), let range = content.text else { return }
    var decoder = CodedCharacters(sentence.text(range))
    var characters: [UInt8] = []
    while let character = decoder.next() { characters.append(character >= 0x20 && character < 0x7F ? character : 0x3F) }
    let text = String(decoding: characters, as: UTF8.self)
    if text.hasPrefix("MOD=") || text.hasPrefix("FWVER=") || text.hasPrefix("PROTVER=") { texts.append(text) }
  }

  /// Model and firmware; nil if they are unknown.
  var text: String? {
    let found = description ?? ReceiverDescription(strings: ["", ""] + texts)
    let parts = [found?.model, found?.firmware].compactMap { $0 }
    return parts.isEmpty ? nil : parts.joined(separator: ", ")
  }
}

/// The key of a message in a stream: messages with the same key have the same name.
package enum MessageKey: Hashable, Sendable {
  case ubx(UInt16)
  case nmea(SentenceName)
  case rtcm3(UInt16)
  case spartn

  package init(_ frame: borrowing Frame) {
    if let ubx = frame.ubx {
      self = .ubx(ubx.identity.key)
    } else if let sentence = frame.nmea {
      self = .nmea(sentence.name)
    } else if let rtcm3 = frame.rtcm3 {
      self = .rtcm3(rtcm3.messageNumber.map { UInt16(truncatingIfNeeded: $0) } ?? 0xFFFF)
    } else {
      self = .spartn
    }
  }

  /// Such as `UBX NAV-PVT`.
  package var name: String {
    switch self {
    case .ubx(let key):
      let identity = MessageIdentity(UInt8(key >> 8), UInt8(key & 0xFF))
      let name = MessageLayout.candidates(for: identity).first.map { "\($0.name)" }
      return "UBX " + (name ?? "0x" + String(key, radix: 16))
    case .nmea(let name): return "NMEA " + name.text
    case .rtcm3(let number): return "RTCM \(number)"
    case .spartn: return "SPARTN"
    }
  }
}

extension SentenceName {
  /// The characters, all of which are printable (see `Sentence.scan`).
  package var text: String { String(decoding: (0..<count).map { self[$0] }, as: UTF8.self) }
}

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
