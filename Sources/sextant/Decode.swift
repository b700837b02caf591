// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import GPSDJSON
import Receiver
import ReceiverRuntime
import ReceiverStream

/// `sextant decode`: fixes, messages, or a summary of recorded bytes.
struct Decode: ParsableCommand {
  enum Format: String, ExpressibleByArgument, CaseIterable {
    case tpv, messages, summary
  }

  static let configuration = CommandConfiguration(
    commandName: "decode",
    abstract: "Decode a recording.",
    discussion: "Decodes a recording, or plain bytes of NMEA, UBX and RTCM 3 in any mixture.")

  @Option(
    help: """
      tpv: gpsd's TPV and SKY objects, one a line. messages: every frame with its fields, one a line. \
      summary: a summary of the file.
      """)
  var format = Format.tpv

  @Flag(
    help: """
      Also search SPARTN frames. They begin with the character s, so the option is for recordings of corrections only; \
      messages and summary print them.
      """)
  var spartn = false

  @Argument(help: "A recording, or plain bytes; - for standard input.")
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
        line.batched(frame)
      }
    }) {
      try Output.write(line.bytes)
      line.removeAll()
    }
    stream.finish { frame in
      assembler.receive(frame) { report, sky in line.report(report, sky) }
      line.batched(frame)
    }
    assembler.finish { report, sky in line.report(report, sky) }
    try Output.write(line.bytes)
    try check(stream.counters, bytes: input.bytes)
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
    try check(stream.counters, bytes: input.bytes)
  }

  /// Refuses a file without any frame, which is not a recording of a receiver.
  private func check(_ counters: StreamCounters, bytes: UInt64) throws {
    if let reason = NoRecording.reason(counters, bytes: bytes) {
      throw CommandFailure(.badData, "\(file == "-" ? "standard input" : file): \(reason)")
    }
  }

  private func summarise(_ input: inout StreamInput) throws {
    var stream = FrameStream(protocols: protocols)
    var summary = Summary()
    while try input.next({ bytes in stream.receive(bytes) { summary.receive($0) } }) {}
    stream.finish { summary.receive($0) }
    try Output.write(summary.text(stream.counters, bytes: input.bytes))
    try check(stream.counters, bytes: input.bytes)
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

  /// Writes the TPV of a fix from the receiver's memory. It is older than the messages around it.
  mutating func batched(_ frame: borrowing Frame) {
    if let frame = frame.ubx, let batched = BatchedFix(frame) { tpv(batched.fix) }
  }
}
