// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import GPSD
import LinuxIO
import MonotonicTime
import NMEA
import Receiver
import ReceiverRuntime
import ReceiverStream
import UBX
import WireBytes

/// `sextant decode`: fixes, messages, or a summary of recorded bytes; and fixes in the formats of other programs.
struct Decode: ParsableCommand {
  enum Format: String, ExpressibleByArgument, CaseIterable {
    case tpv, messages, summary, gpx, kml, csv, geojson, nmea, rinex
    case rinexNavigation = "rinex-nav"
  }

  static let configuration = CommandConfiguration(
    commandName: "decode",
    abstract: "Decode a recording.",
    discussion: """
      Decodes a recording, or plain bytes of NMEA, UBX and RTCM 3 in any mixture. gpx, kml, csv, geojson and nmea are files \
      of its fixes for other programs. rinex is a file of its raw measurements, for PPK and PPP, and rinex-nav of the orbits \
      that the satellites sent.
      """)

  @Option(
    help: """
      tpv: gpsd's TPV and SKY objects, one a line. messages: every frame with its fields, one a line. \
      summary: a summary of the file. gpx, kml, geojson: the track. csv: a table of the fixes. nmea: sentences of the fixes. \
      rinex: RINEX 3.05 observations of UBX-RXM-RAWX and RTCM 3 MSM4 to MSM7. rinex-nav: RINEX 3.05 navigation data of \
      UBX-RXM-SFRBX and AID-EPH, and RTCM 3 1019, 1020, 1042 and 1044 to 1046.
      """)
  var format = Format.tpv

  @OptionGroup var selection: SelectionOptions
  @OptionGroup var table: TableOptions
  @OptionGroup var rinex: RINEXOptions

  @Flag(
    help: """
      Also search SPARTN frames. They begin with the character s, so the option is for recordings of corrections only; \
      messages and summary print them.
      """)
  var spartn = false

  @Argument(help: "A recording, or plain bytes; - for standard input.")
  var file = "-"

  func validate() throws {
    try selection.check()
    try table.check(isTable: format == .csv)
    try rinex.check(format)
  }

  func run() throws {
    var input = try StreamInput(opening: file, printsMeanwhile: ![.summary, .rinex, .rinexNavigation].contains(format))
    switch format {
    case .tpv: try decodeFixes(&input)
    case .messages: try decodeMessages(&input)
    case .summary: try summarise(&input)
    case .gpx: try decodeTrack(&input, .gpx)
    case .kml: try decodeTrack(&input, .kml)
    case .csv: try decodeTrack(&input, .csv)
    case .geojson: try decodeTrack(&input, .geojson)
    case .nmea: try decodeTrack(&input, .nmea)
    case .rinex: try decodeObservations(&input)
    case .rinexNavigation: try decodeNavigation(&input)
    }
  }

  private var protocols: Frame.Protocols { spartn ? .ofReceiversAndSPARTN : .ofReceivers }

  private func decodeFixes(_ input: inout StreamInput) throws {
    let messages = try selection.messageSelection()
    let range = try selection.timeRange()
    var assembler = EpochAssembler()
    var datum = LocalDatum()
    var line = JSONLine()
    var isEmpty = true
    func take(_ frame: borrowing Frame) {
      datum.receive(frame)
      guard messages?.contains(frame) ?? true else { return }
      assembler.receive(frame) { report, sky in line.report(report, sky, within: range) }
      line.batched(frame, within: range)
    }
    let counters = try input.read(protocols, pauses: { assembler.pauses(milliseconds: $0) }, frame: take) {
      if !line.bytes.isEmpty { isEmpty = false }
      try Output.write(line.bytes)
      line.removeAll()
    }
    assembler.finish { report, sky in line.report(report, sky, within: range) }
    try Output.write(line.bytes)
    try input.check(counters)
    report(datum)
    if isEmpty, line.bytes.isEmpty { reportEmptySelection("fix") }
  }

  private func decodeTrack(_ input: inout StreamInput, _ format: TrackWriter.Format) throws {
    let messages = try selection.messageSelection()
    var writer = TrackWriter(format, columns: table.chosen, range: try selection.timeRange())
    var assembler = EpochAssembler()
    var datum = LocalDatum()
    var text = JSONLine()
    writer.begin(&text)
    func take(_ frame: borrowing Frame) {
      datum.receive(frame)
      guard messages?.contains(frame) ?? true else { return }
      assembler.receive(frame) { report, sky in writer.add(report, sky, &text) }
      if let frame = frame.ubx, let stored = BatchedFix(frame) { writer.add(stored: stored.fix, &text) }
    }
    let counters = try input.read(pauses: { assembler.pauses(milliseconds: $0) }, frame: take) {
      try Output.write(text.bytes)
      text.removeAll()
    }
    assembler.finish { report, sky in writer.add(report, sky, &text) }
    writer.finish(&text)
    try Output.write(text.bytes)
    try input.check(counters)
    report(datum)
    if writer.positions == 0 {
      printNotice("\(name): no fix with a position\(selection.isAny ? "" : " is selected"); the output has none")
    }
  }

  /// Reads the selected frames to the end: each goes to `frame`, and before it the fix that it ends to `fix`.
  private func readFrames(
    _ input: inout StreamInput, fix: (Fix) -> Void, frame: (borrowing Frame) -> Void
  ) throws {
    let messages = try selection.messageSelection()
    var assembler = EpochAssembler()
    let counters = try input.read(frame: { one in
      guard messages?.contains(one) ?? true else { return }
      assembler.receive(one) { report, _ in fix(report.fix) }
      frame(one)
    })
    try input.check(counters)
  }

  private func decodeObservations(_ input: inout StreamInput) throws {
    let range = try selection.timeRange()
    var observations = RINEXObservations(date: try rinex.day(), station: rinex.station, range: range)
    try readFrames(&input, fix: { observations.receive($0) }, frame: { observations.receive($0) })
    if observations.isEmpty {
      let reason =
        observations.undated > 0
        ? "its RTCM 3 observations have no date; state the day of the recording, as in --date 2026-11-24"
        : "no raw measurements (UBX-RXM-RAWX, RTCM 3 MSM4 to MSM7)\(selection.isAny ? "" : " are selected")"
      throw CommandFailure(.badData, "\(name): \(reason)")
    }
    var text = JSONLine()
    let file = RINEXObservationFile(observations, rinex.header)
    file.writeHeader(&text)
    for index in 0..<file.epochs {
      file.writeEpoch(index, &text)
      try Output.write(text.bytes)
      text.removeAll()
    }
    if observations.otherStations > 0 {
      printNotice(
        "\(name): \(observations.otherStations) observations of other reference stations than "
          + "\(observations.station ?? 0) are left out; --station selects one")
    }
    if observations.undated > 0 {
      printNotice(
        "\(name): \(observations.undated) RTCM 3 observations before the first date are left out; --date states it")
    }
  }

  private func decodeNavigation(_ input: inout StreamInput) throws {
    var navigation = RINEXNavigation(date: try rinex.day())
    try readFrames(&input, fix: { navigation.receive($0) }, frame: { navigation.receive($0) })
    if navigation.isEmpty {
      let reason =
        navigation.undated > 0
        ? "its orbits have no date; state the day of the recording, as in --date 2026-11-24"
        : "no orbits of satellites (UBX-RXM-SFRBX, AID-EPH, RTCM 3 1019, 1020, 1042, 1044 to 1046)"
          + (selection.isAny ? "" : " are selected")
      throw CommandFailure(.badData, "\(name): \(reason)")
    }
    var text = JSONLine()
    RINEXNavigationFile(navigation, rinex.header).write(&text)
    try Output.write(text.bytes)
    if navigation.undated > 0 {
      printNotice(
        "\(name): \(navigation.undated) messages with orbits before the first date are left out; --date states it")
    }
  }

  private func decodeMessages(_ input: inout StreamInput) throws {
    var frames = FrameSelection(messages: try selection.messageSelection(), range: try selection.timeRange())
    var line = JSONLine()
    var isEmpty = true
    let counters = try input.read(protocols, frame: { frame in frames.receive(frame) { line.message($0) } }) {
      if !line.bytes.isEmpty { isEmpty = false }
      try Output.write(line.bytes)
      line.removeAll()
    }
    frames.finish { line.message($0) }
    try Output.write(line.bytes)
    try input.check(counters)
    if isEmpty, line.bytes.isEmpty { reportEmptySelection("message") }
  }

  /// Prints that the selection excluded everything, because the output is empty. Without a selection the recording has none.
  private func reportEmptySelection(_ noun: String) {
    if !selection.isAny { printNotice("\(name): no \(noun) is selected; the output has none") }
  }

  private func report(_ datum: LocalDatum) { if let notice = datum.notice { printNotice("\(name): \(notice)") } }

  private var name: String { file == "-" ? "standard input" : file }

  private func summarise(_ input: inout StreamInput) throws {
    var frames = FrameSelection(messages: try selection.messageSelection(), range: try selection.timeRange())
    var summary = Summary()
    let counters = try input.read(protocols, frame: { frame in frames.receive(frame) { summary.receive($0) } })
    frames.finish { summary.receive($0) }
    try Output.write(summary.text(counters, bytes: input.bytes))
    try input.check(counters)
  }
}

extension JSONLine {
  /// Writes the lines of a report: TPV if the fix changed, and SKY if the satellites or the dilutions did.
  mutating func report(_ report: borrowing EpochAssembler.Report, _ sky: borrowing Sky, device: String? = nil) {
    let geometry = report.fix.hasAllDilutions ? nil : Dilutions(of: sky.satellites)
    if report.fixChanged { tpv(report.fix, geometry: geometry, device: device) }
    if report.skyChanged {
      self.sky(sky, report.fix, geometry: geometry, device: device)
    } else if report.hasDilutionsAlone {
      dilutions(report.fix, device: device)
    }
  }

  /// Writes the lines of a report whose time is in a range.
  mutating func report(_ report: borrowing EpochAssembler.Report, _ sky: borrowing Sky, within range: TimeRange) {
    if range.contains(report.fix.time) { self.report(report, sky) }
  }

  /// Writes the TPV of a fix from the receiver's memory. It is older than the messages around it.
  mutating func batched(_ frame: borrowing Frame, within range: TimeRange = TimeRange()) {
    if let frame = frame.ubx, let batched = BatchedFix(frame), range.contains(batched.fix.time) { tpv(batched.fix) }
  }
}

/// The options that select a part of a recording.
struct SelectionOptions: ParsableArguments {
  @Option(
    help: """
      Only these messages, such as NAV-PVT,MON-RF,GGA,GNRMC,1077. Fixes are made of these messages alone.
      """)
  var messages: String?

  @Option(help: "Only epochs from this time on, UTC, such as 2026-11-24T12:00:00Z.")
  var from: String?

  @Option(help: "Only epochs until this time, UTC.")
  var to: String?

  /// Whether nothing is excluded.
  var isAny: Bool { messages == nil && from == nil && to == nil }

  /// Checks the values.
  func check() throws {
    _ = try messageSelection()
    let range = try timeRange()
    if let from = range.from, let to = range.to, to < from { throw ValidationError("--to is before --from.") }
  }

  /// The requested messages; nil for all.
  func messageSelection() throws -> MessageSelection? {
    guard let messages else { return nil }
    do { return try MessageSelection(messages) } catch {
      let near = NameMatching.nearest(to: error.name, among: MessageSelection.declaredNames)
      throw ValidationError(
        "--messages: \(error.name): no such message"
          + NameMatching.suggestion(near, otherwise: "`sextant decode --format summary` lists those of a recording"))
    }
  }

  func timeRange() throws -> TimeRange { TimeRange(from: try time(from, "--from"), to: try time(to, "--to")) }

  private func time(_ text: String?, _ option: String) throws -> UTCTime? {
    guard let text else { return nil }
    guard let time = UTCTime(iso8601: text) else {
      throw ValidationError("\(option) must be a time in UTC such as 2026-11-24 or 2026-11-24T12:00:00Z.")
    }
    return time
  }
}

/// The options of a table of fixes.
struct TableOptions: ParsableArguments {
  @Option(
    help: """
      The columns of --format csv, with commas between them: \(CSVColumn.all.map(\.name).joined(separator: ", ")).
      """)
  var columns: String?

  /// The chosen columns.
  var chosen: [CSVColumn] { names.map { $0.compactMap { CSVColumn.named($0) } } ?? CSVColumn.usual }

  private var names: [String]? {
    columns.map { $0.split(separator: ",", omittingEmptySubsequences: false).map(String.init) }
  }

  /// Checks the names of the columns.
  func check(isTable: Bool) throws {
    guard let names else { return }
    if !isTable { throw ValidationError("--columns needs --format csv.") }
    for name in names where CSVColumn.named(name) == nil {
      let near = NameMatching.nearest(to: name, among: CSVColumn.all.map(\.name))
      throw ValidationError(
        "--columns: \(name): no such column"
          + NameMatching.suggestion(near, otherwise: "`sextant help decode` lists them"))
    }
  }
}

extension TrackWriter.Format: ExpressibleByArgument {}

/// The options of a RINEX file: the content of its header, and data that a recording lacks.
struct RINEXOptions: ParsableArguments {
  @Option(help: "RINEX: the name of the marker.")
  var marker: String?

  @Option(help: "RINEX: the observer.")
  var observer: String?

  @Option(help: "RINEX: the agency of the observer.")
  var agency: String?

  @Option(help: "RINEX: the type of the receiver, instead of that in RTCM 3.")
  var receiver: String?

  @Option(help: "RINEX: the type of the antenna, instead of that in RTCM 3.")
  var antenna: String?

  @Option(help: "RINEX: the height of the antenna's reference point above the marker, metres.")
  var antennaHeight: Double?

  @Option(help: "RINEX: the number of the reference station in RTCM 3. Default: the first one.")
  var station: Int?

  @Option(
    help: """
      RINEX: a day of the recording, such as 2026-11-24, for RTCM 3 and orbits without messages that have the date.
      """)
  var date: String?

  /// Checks the values.
  func check(_ format: Decode.Format) throws {
    if format != .rinex {
      let given: [(String, Bool)] = [
        ("--marker", marker != nil), ("--observer", observer != nil), ("--agency", agency != nil),
        ("--receiver", receiver != nil), ("--antenna", antenna != nil), ("--antenna-height", antennaHeight != nil),
        ("--station", station != nil), ("--date", date != nil && format != .rinexNavigation),
      ]
      if let (name, _) = given.first(where: \.1) { throw ValidationError("\(name) is for --format rinex.") }
    }
    _ = try day()
    for text in [marker, observer, agency, receiver, antenna] {
      guard let text else { continue }
      if !text.utf8.allSatisfy({ 0x20..<0x7F ~= $0 }) {
        throw ValidationError("a RINEX header has only printable characters of ASCII, unlike \"\(text)\".")
      }
    }
    if let antennaHeight, !(antennaHeight.isFinite && abs(antennaHeight) < 1000) {
      throw ValidationError("--antenna-height must be between -1000 and 1000 metres.")
    }
    if let station, !(0...4095 ~= station) { throw ValidationError("--station must be 0 to 4095.") }
  }

  func day() throws -> Day? {
    guard let date else { return nil }
    guard let time = UTCTime(iso8601: date), time.isBelieved else {
      throw ValidationError("--date must be a day such as 2026-11-24.")
    }
    return time.day
  }

  /// The header of the file.
  var header: RINEXHeader {
    var header = RINEXHeader()
    header.marker = marker ?? ""
    header.observer = observer ?? ""
    header.agency = agency ?? ""
    header.receiver = receiver
    header.antenna = antenna
    header.antennaHeightMetres = antennaHeight ?? 0
    header.program = "sextant \(SextantVersion.text)"
    if SystemClock.isSet { header.created = UTCTime(nanosecondsSince1970: SystemClock.utcNanoseconds) }
    return header
  }
}

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
