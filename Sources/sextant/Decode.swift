// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import GPSD
import Receiver
import ReceiverRuntime
import ReceiverStream

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
    var stream = FrameStream(protocols: protocols)
    var assembler = EpochAssembler()
    var line = JSONLine()
    func take(_ frame: borrowing Frame) {
      guard messages?.contains(frame) ?? true else { return }
      assembler.receive(frame) { report, sky in line.report(report, sky, within: range) }
      line.batched(frame, within: range)
    }
    while try input.next({ stream.receive($0, take) }) {
      input.skipFalseStarts(in: &stream, take)
      try Output.write(line.bytes)
      line.removeAll()
      try input.check(stream.counters)
    }
    stream.finish(take)
    assembler.finish { report, sky in line.report(report, sky, within: range) }
    try Output.write(line.bytes)
    try check(stream.counters, input)
  }

  private func decodeTrack(_ input: inout StreamInput, _ format: TrackWriter.Format) throws {
    let messages = try selection.messageSelection()
    var writer = TrackWriter(format, columns: table.chosen, range: try selection.timeRange())
    var stream = FrameStream()
    var assembler = EpochAssembler()
    var text = JSONLine()
    writer.begin(&text)
    func take(_ frame: borrowing Frame) {
      guard messages?.contains(frame) ?? true else { return }
      assembler.receive(frame) { report, sky in writer.add(report, sky, &text) }
      if let frame = frame.ubx, let stored = BatchedFix(frame) { writer.add(stored: stored.fix, &text) }
    }
    while try input.next({ stream.receive($0, take) }) {
      input.skipFalseStarts(in: &stream, take)
      try Output.write(text.bytes)
      text.removeAll()
      try input.check(stream.counters)
    }
    stream.finish(take)
    assembler.finish { report, sky in writer.add(report, sky, &text) }
    writer.finish(&text)
    try Output.write(text.bytes)
    try check(stream.counters, input)
    if writer.positions == 0 {
      printNotice("\(name): no fix with a position\(selection.isAny ? "" : " is selected"); the output has none")
    }
  }

  /// Reads the selected frames to the end: each goes to `frame`, and before it the fix that it ends to `fix`.
  private func readFrames(
    _ input: inout StreamInput, fix: (Fix) -> Void, frame: (borrowing Frame) -> Void
  ) throws {
    let messages = try selection.messageSelection()
    var stream = FrameStream()
    var assembler = EpochAssembler()
    func take(_ one: borrowing Frame) {
      guard messages?.contains(one) ?? true else { return }
      assembler.receive(one) { report, _ in fix(report.fix) }
      frame(one)
    }
    while try input.next({ stream.receive($0, take) }) {
      input.skipFalseStarts(in: &stream, take)
      try input.check(stream.counters)
    }
    stream.finish(take)
    try check(stream.counters, input)
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
    var stream = FrameStream(protocols: protocols)
    var frames = FrameSelection(messages: try selection.messageSelection(), range: try selection.timeRange())
    var line = JSONLine()
    while try input.next({ bytes in
      stream.receive(bytes) { frame in frames.receive(frame) { line.message($0) } }
    }) {
      input.skipFalseStarts(in: &stream) { frame in frames.receive(frame) { line.message($0) } }
      try Output.write(line.bytes)
      line.removeAll()
      try input.check(stream.counters)
    }
    stream.finish { frame in frames.receive(frame) { line.message($0) } }
    frames.finish { line.message($0) }
    try Output.write(line.bytes)
    try check(stream.counters, input)
  }

  private var name: String { file == "-" ? "standard input" : file }

  /// Refuses a file without any frame, which is not a recording of a receiver.
  private func check(_ counters: StreamCounters, _ input: borrowing StreamInput) throws {
    if let reason = NoRecording.reason(counters, bytes: input.bytes, isUTF16: input.isUTF16) {
      throw CommandFailure(.badData, "\(name): \(reason)")
    }
  }

  private func summarise(_ input: inout StreamInput) throws {
    var stream = FrameStream(protocols: protocols)
    var frames = FrameSelection(messages: try selection.messageSelection(), range: try selection.timeRange())
    var summary = Summary()
    while try input.next({ bytes in
      stream.receive(bytes) { frame in frames.receive(frame) { summary.receive($0) } }
    }) {
      try input.check(stream.counters)
    }
    stream.finish { frame in frames.receive(frame) { summary.receive($0) } }
    frames.finish { summary.receive($0) }
    try Output.write(summary.text(stream.counters, bytes: input.bytes))
    try check(stream.counters, input)
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
