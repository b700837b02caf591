import ArgumentParser
import GPSDJSON
import MonotonicTime
import Receiver
import Recording

/// `sextant record`: what a receiver says, kept byte by byte.
struct Record: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "record",
    abstract: "Record what a receiver says, with the times.",
    discussion: """
      The bytes are kept as they come, with the times of their arrival; decode and watch read the file, docs/recording.md \
      describes it. A loss of power takes at most the last second. A recording that is there is gone on with. Nothing is \
      sent to the receiver, unless --configure says so. Press ^C to end.
      """)

  @Option(help: "The receiver's device; without it GNSS_DEVICE, or the first receiver that is plugged in.")
  var device: String?

  @Option(help: "The line's rate, in baud; no other is tried.")
  var baud: UInt32?

  @Option(help: "End after this many seconds.")
  var seconds: Double?

  @Option(help: "Begin a new file at this size or after this time, such as 100M or 1h; FILE becomes FILE.1, FILE.2 …")
  var rotate: String?

  @Option(help: "Keep this many finished files and remove older ones.")
  var keep: Int?

  @Flag(help: "Write plain bytes, without times, for other programs.")
  var raw = false

  @Flag(help: "Set a u-blox receiver to write what a fix is made of, as watch does.")
  var configure = false

  @Flag(help: "Send not one byte to the receiver; so it is without --configure.")
  var readOnly = false

  @Flag(help: "Print a JSON object of what was recorded, at the end.")
  var json = false

  @Argument(help: "The file; - for standard output.")
  var file: String

  func validate() throws {
    if let seconds, !(seconds > 0 && seconds < 1e9) { throw ValidationError("--seconds is a time above 0.") }
    if baud == 0 { throw ValidationError("--baud is a rate such as 9600; leave it out to have it found.") }
    if configure, readOnly { throw ValidationError("--configure and --read-only exclude each other.") }
    if let rotate, RecordingPlan.Rotation(rotate) == nil {
      throw ValidationError("--rotate is a size such as 500k, 100M or 2G, or a time such as 90s, 15m, 1h or 1d.")
    }
    if let keep, keep < 1 { throw ValidationError("--keep is a number from 1 on.") }
    if keep != nil, rotate == nil { throw ValidationError("--keep needs --rotate.") }
    if file == "-", rotate != nil || json {
      throw ValidationError("standard output takes the recording alone: leave --rotate and --json out.")
    }
  }

  func run() throws {
    let choice = try Source.chosen(named: device, for: configure ? .sending : .listening)
    let source = choice.source
    let rotation = rotate.flatMap { RecordingPlan.Rotation($0) }
    let target = try RecordingFile(path: file, isRaw: raw, rotates: rotation != nil, keep: keep)
    if let found = target.found {
      let cut = found.torn > 0 ? "; \(found.torn) bytes of a torn record were cut" : ""
      printNotice("\(file): going on with a recording of \(found.streamBytes) bytes\(cut)")
    }
    let settings = SessionSettings(intent: configure ? .serve : .readOnly, line: .serial)
    let client = RecordClient(
      source, baud: baud ?? choice.baud, plan: RecordingPlan(rotation: rotation), isRaw: raw, into: target)
    var loop = try ReceiverLoop(source, settings, baud: baud ?? choice.baud, seconds: seconds, client: client)
    var failure: (any Error)?
    do { try loop.run() } catch { failure = error }
    do { try loop.client.close() } catch { failure = failure ?? error }
    if json { try Output.write(loop.client.json(file)) }
    if let failure { throw failure }
    if loop.client.bytes == 0 {
      throw CommandFailure(
        exitCode: CommandFailure.unavailable,
        description: loop.isInterrupted
          ? "interrupted before anything was received"
          : "nothing was received; check power, wiring (RX to TX) and the device's name")
    }
  }
}
