// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import GPSD
import MonotonicTime
import Receiver

/// `sextant record`: records the bytes of a receiver.
struct Record: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "record",
    abstract: "Record the bytes of a receiver.",
    discussion: """
      Stores the bytes with the times of their arrival. `decode` and `watch --device replay:FILE` read the recording. A loss \
      of power loses at most the last second. An existing recording is continued. Nothing is sent to the receiver without \
      --configure or --raw-measurements. Press ^C to end. docs/guides/recording.md describes rotation and durability.
      """)

  @OptionGroup var receiver: ReceiverOptions

  @Option(help: "End after this many seconds.")
  var seconds: Double?

  @Option(
    help: "Begin a new file at this size or after this time, such as 100M or 1h. FILE is renamed FILE.1, FILE.2 …")
  var rotate: String?

  @Option(help: "Keep this number of finished files, and remove older ones.")
  var keep: Int?

  @Flag(help: "Write plain bytes without times, for other programs.")
  var raw = false

  @Flag(help: "Configure a u-blox receiver to send the messages for a fix, as watch does.")
  var configure = false

  @Flag(
    help: """
      Switch on the raw measurements and the orbits of a receiver that has them, for PPK and PPP: RXM-RAWX and RXM-SFRBX \
      (u-blox), RTCM 3 MSM and ephemerides (LG290P, UM980, LC29H); at the end its settings are as they were found.
      """)
  var rawMeasurements = false

  @Flag(help: "Send no byte to the receiver, which is the default.")
  var readOnly = false

  @Flag(help: "At the end, print a JSON object with a summary of the recording.")
  var json = false

  @Argument(help: "The file; - for standard output.")
  var file: String

  func validate() throws {
    try ReceiverOptions.check(seconds: seconds)
    if rawMeasurements, readOnly {
      throw ValidationError("--raw-measurements and --read-only exclude each other.")
    }
    if configure, readOnly { throw ValidationError("--configure and --read-only exclude each other.") }
    if let rotate, RecordingPlan.Rotation(rotate) == nil {
      throw ValidationError("--rotate must be a size such as 500k, 100M or 2G, or a time such as 90s, 15m, 1h or 1d.")
    }
    if let keep, keep < 1 { throw ValidationError("--keep must be a number from 1 on.") }
    if keep != nil, rotate == nil { throw ValidationError("--keep needs --rotate.") }
    if file == "-", rotate != nil || json {
      throw ValidationError("Standard output takes only the recording; omit --rotate and --json.")
    }
  }

  func run() throws {
    let choice = try receiver.choose(for: configure || rawMeasurements ? .sending : .listening)
    let rotation = rotate.flatMap { RecordingPlan.Rotation($0) }
    let target = try RecordingFile(path: file, isRaw: raw, rotates: rotation != nil, keep: keep)
    if let found = target.found {
      let cut = found.torn > 0 ? "; an incomplete record of \(found.torn) bytes was removed" : ""
      printNotice("\(file): continuing a recording of \(found.streamBytes) bytes\(cut)")
    }
    var settings = SessionSettings(intent: configure || rawMeasurements ? .serve : .readOnly, line: .serial)
    if rawMeasurements {
      settings.desired = { [configure] receiver in
        var desired: DesiredConfiguration = configure ? .navigation(for: receiver) : .nothing
        desired.addRawMeasurements(for: receiver)
        return desired
      }
    }
    let client = RecordClient(
      choice.source, baud: choice.baud, plan: RecordingPlan(rotation: rotation), isRaw: raw,
      wantsMeasurements: rawMeasurements, into: target)
    var loop = try ReceiverLoop(choice, settings, seconds: seconds, client: client)
    var failure: (any Error)?
    do { try loop.run() } catch { failure = error }
    do { try loop.client.close() } catch { failure = failure ?? error }
    if loop.client.bytes > 0 { printNotice(loop.client.summary(file)) }
    if let refusal = loop.client.refusal { failure = failure ?? refusal }
    if json { try Output.write(loop.client.json(file)) }
    if let failure { throw failure }
    if loop.client.bytes == 0 {
      throw CommandFailure(
        .unavailable,
        loop.isInterrupted
          ? "interrupted before a byte was received"
          : "no byte was received; \(choice.source.adviceOnSilence)")
    }
  }
}
