import ArgumentParser
import GPSDJSON
import Receiver
import ReceiverStream

/// `sextant decode`: fixes, messages, or a summary, from recorded bytes.
struct Decode: ParsableCommand {
  enum Format: String, ExpressibleByArgument, CaseIterable {
    case tpv, messages, summary
  }

  static let configuration = CommandConfiguration(
    commandName: "decode",
    abstract: "Decode a recording: NMEA, UBX and RTCM 3, mixed as the receiver wrote them.")

  @Option(
    help: """
      tpv: gpsd's TPV and SKY objects, one a line. messages: each frame with its fields, one a line. \
      summary: what is in the recording.
      """)
  var format = Format.tpv

  @Flag(
    help: """
      Look for SPARTN frames too. They begin with the letter s, so this is for recordings of corrections; \
      messages and summary show them.
      """)
  var spartn = false

  @Argument(help: "What sextant record wrote, or plain bytes; - or nothing for standard input.")
  var file = "-"

  func run() throws {
    var input = try StreamInput(opening: file)
    switch format {
    case .tpv: try decodeFixes(&input)
    case .messages: try decodeMessages(&input)
    case .summary: try summarise(&input)
    }
  }

  private var protocols: Frame.Protocols { spartn ? .ofReceiversAndSPARTN : .ofReceivers }

  private func decodeFixes(_ input: inout StreamInput) throws {
    var stream = FrameStream(protocols: protocols)
    var assembler = EpochAssembler()
    var line = JSONLine()
    while try input.next({ bytes in
      stream.receive(bytes) { frame in
        assembler.receive(frame) { report, sky in line.report(report, sky) }
        line.kept(frame)
      }
    }) {
      try Output.write(line.bytes)
      line.removeAll()
    }
    stream.finish { frame in
      assembler.receive(frame) { report, sky in line.report(report, sky) }
      line.kept(frame)
    }
    assembler.finish { report, sky in line.report(report, sky) }
    try Output.write(line.bytes)
    reportIfNothing(stream.counters, bytes: input.bytes)
  }

  private func decodeMessages(_ input: inout StreamInput) throws {
    var stream = FrameStream(protocols: protocols)
    var line = JSONLine()
    while try input.next({ bytes in stream.receive(bytes) { line.message($0) } }) {
      try Output.write(line.bytes)
      line.removeAll()
    }
    stream.finish { line.message($0) }
    try Output.write(line.bytes)
    reportIfNothing(stream.counters, bytes: input.bytes)
  }

  /// What is no recording of a receiver is not passed over in silence.
  private func reportIfNothing(_ counters: StreamCounters, bytes: UInt64) {
    if let reason = NoRecording.reason(counters, bytes: bytes) {
      printNotice("\(file == "-" ? "standard input" : file): \(reason)")
    }
  }

  private func summarise(_ input: inout StreamInput) throws {
    var stream = FrameStream(protocols: protocols)
    var summary = Summary()
    while try input.next({ bytes in stream.receive(bytes) { summary.receive($0) } }) {}
    stream.finish { summary.receive($0) }
    try Output.write(summary.text(stream.counters, bytes: input.bytes))
  }
}

extension JSONLine {
  /// The lines of a report: TPV where the fix changed, and SKY where the satellites did, or what is known of their geometry.
  mutating func report(_ report: borrowing EpochAssembler.Report, _ sky: borrowing Sky, device: String? = nil) {
    if report.fixChanged { tpv(report.fix, device: device) }
    if report.skyChanged {
      self.sky(sky, report.fix, device: device)
    } else if report.hasDilutionsAlone {
      dilutions(report.fix, device: device)
    }
  }

  /// The TPV of a fix that the receiver had kept in its memory, where the frame tells one. It is older than what is around it.
  mutating func kept(_ frame: borrowing Frame) {
    if let frame = frame.ubx, let kept = BatchedFix(frame) { tpv(kept.fix) }
  }
}
