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
    package var satellites: SatelliteStatistics
    package var remarks: ReceiverRemarks
    /// Names and numbers of messages, the most frequent first.
    package var messages: [(name: String, count: Int)]
  }

  static var mostMessages: Int { 512 }

  /// With an assumed date, so that a recording without one has the times between its epochs.
  private var assembler = EpochAssembler(reference: RecordingAxis.assumedDate, isLive: true)
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

/// A number at the top of the page, with a remark and its grade.
struct KeyFigure: Equatable {
  enum Level: String { case good, warn, bad }

  var name: String
  var value: String
  var note = ""
  var level: Level?
}

extension KeyFigure {
  /// The names of the kinds of fix, in the order of `EpochStatistics.kinds`.
  static let kinds = ["no fix", "time only", "2D fix", "3D fix", "corrected fix", "RTK float", "RTK fixed"]

  /// The figures of a recording, the same set for every recording.
  static func all(_ file: RecordingStatistics.Result) -> [KeyFigure] {
    [
      KeyFigure(name: "Receiver", value: file.receiver ?? "not sent", note: file.receiver == nil ? "no MON-VER" : ""),
      KeyFigure(
        name: "Duration", value: Drawing.duration(file.epochs.axis.seconds, on: file.epochs.axis),
        note: ReportPage.time(file.epochs.axis.first, on: file.epochs.axis)),
      availability(file.epochs), deviation(file), signals(file.satellites), firstFix(file), jamming(file.remarks),
      used(file),
    ]
  }

  /// A fraction in per cent. The text shows 0 and 100 only if they are exact.
  static func percent(_ count: Int, of total: Int, digits: Int = 1) -> String {
    guard total > 0 else { return "–" }
    let text = fixed(100 * Double(count) / Double(total), digits)
    let (none, all) = (fixed(0, digits), fixed(100, digits))
    if text == none, count > 0 { return "< \(digits == 1 ? "0.1" : "0.01") %" }
    if text == all, count < total { return "> \(digits == 1 ? "99.9" : "99.99") %" }
    return (text == none ? "0" : text == all ? "100" : text) + " %"
  }

  /// The kinds of fix and their shares, the most frequent first: "3D fix 98.2 %, no fix 1.8 %".
  static func shares(_ epochs: EpochStatistics) -> String {
    epochs.kinds.indices.filter { epochs.kinds[$0] > 0 }.sorted { epochs.kinds[$0] > epochs.kinds[$1] }
      .map { "\(kinds[$0]) \(percent(epochs.kinds[$0], of: epochs.epochs))" }.joined(separator: ", ")
  }

  private static func availability(_ epochs: EpochStatistics) -> KeyFigure {
    let share = epochs.epochs == 0 ? nil : Double(epochs.positions) / Double(epochs.epochs)
    return KeyFigure(
      name: "Availability", value: percent(epochs.positions, of: epochs.epochs, digits: 2), note: shares(epochs),
      level: share.map { $0 >= 0.99 ? .good : $0 >= 0.9 ? .warn : .bad })
  }

  private static func deviation(_ file: RecordingStatistics.Result) -> KeyFigure {
    guard let result = file.epochs.deviation.result else {
      return KeyFigure(name: "CEP50", value: "–", note: "no position")
    }
    return KeyFigure(
      name: "CEP50", value: "\(fixed(result.cep50, 3)) m",
      note: "CEP95 \(fixed(result.cep95, 3)) m" + (file.epochs.isMoving ? "; moved: not its error" : ""))
  }

  private static func signals(_ satellites: SatelliteStatistics) -> KeyFigure {
    let rows = satellites.satellites.values.map(\.signals).filter { $0.count > 0 }
    let count = rows.reduce(0) { $0 + $1.count }
    guard count > 0 else { return KeyFigure(name: "Mean C/N0", value: "–", note: "no signal") }
    let mean = Double(rows.reduce(0) { $0 + $1.sum }) / Double(count)
    return KeyFigure(
      name: "Mean C/N0", value: "\(fixed(mean, 1)) dBHz",
      note: "\(rows.count) satellites, best \(rows.map(\.greatest).max() ?? 0)")
  }

  private static func firstFix(_ file: RecordingStatistics.Result) -> KeyFigure {
    let name = "Time to first fix"
    if let start = file.remarks.starts.first {
      return KeyFigure(
        name: name, value: start.firstFixSeconds.map { Drawing.duration($0) } ?? "none", note: "by the receiver",
        level: start.firstFixSeconds == nil ? .bad : nil)
    }
    return KeyFigure(
      name: name, value: file.epochs.firstFixSeconds.map { Drawing.duration($0, on: file.epochs.axis) } ?? "none",
      note: "from the first epoch", level: file.epochs.firstFixSeconds == nil ? .bad : nil)
  }

  /// The worst state of any input.
  private static func jamming(_ remarks: ReceiverRemarks) -> KeyFigure {
    let stages = remarks.stages.values
    guard !stages.isEmpty else { return KeyFigure(name: "Jamming", value: "not sent", note: "no MON-RF, no MON-HW") }
    let worst = stages.compactMap { stage in stage.jamming.indices.last { stage.jamming[$0] > 0 } }.max() ?? 0
    let indicator = stages.map(\.indicator.maximum).max() ?? 0
    return KeyFigure(
      name: "Jamming", value: ReceiverRemarks.jammingNames[worst],
      note: "CW indicator to \(fixed(indicator, 0)) of 255",
      level: [nil, .good, .warn, .bad][worst])
  }

  private static func used(_ file: RecordingStatistics.Result) -> KeyFigure {
    let used = file.epochs.used.total
    guard used.count > 0 else { return KeyFigure(name: "Satellites used", value: "–") }
    let inView = file.satellites.satellites.count
    return KeyFigure(
      name: "Satellites used", value: fixed(used.mean, 1),
      note: "\(fixed(used.minimum, 0)) to \(fixed(used.maximum, 0))" + (inView > 0 ? ", \(inView) in view" : ""))
  }
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
