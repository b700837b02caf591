// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import GPSD
import LinuxIO
import Receiver
import ReceiverRuntime
import SerialPort

/// `sextant watch`: shows the fixes and satellites of a receiver.
struct Watch: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "watch",
    abstract: "Show a receiver live.",
    discussion: """
      Shows the fixes and satellites of a receiver. Without one, waits for the first that is plugged in. A u-blox receiver \
      is configured to send the messages for a fix in UBX, and restored at the end. Other receivers are used as they are; one \
      that sends nothing as found, a UM980 or a mosaic, is switched to the sentences of a fix, and restored too. Press q or ^C to end; ? lists the keys of the screen.
      """)

  @OptionGroup var receiver: ReceiverOptions

  @Flag(help: "Print gpsd's TPV and SKY objects, one a line.")
  var json = false

  @Flag(
    help: """
      Print the bytes of the receiver as they arrive, such as its sentences, for `sextant decode -` and other programs. No \
      byte is sent to the receiver.
      """)
  var raw = false

  @Option(help: "Print the fixes as gpx, kml, csv, geojson or nmea, as `sextant decode --format` does.")
  var format: TrackWriter.Format?

  @OptionGroup var table: TableOptions

  @Option(help: "End after this many epochs with a fix.")
  var count: Int?

  @Option(help: "End after this many seconds.")
  var seconds: Double?

  @Flag(help: "Send no byte to the receiver.")
  var readOnly = false

  @Option(
    help: """
      Send RTCM 3 or SPARTN corrections to the receiver, from file:PATH, fifo:PATH, serial:PATH@BAUD, tcp://HOST:PORT or \
      ntrip://USER@HOST:PORT/MOUNT (ntrips:// with TLS). Repeat it for further sources, in the order of preference. The \
      password is read from SEXTANT_NTRIP_PASSWORD or from the file SEXTANT_NTRIP_PASSWORD_FILE.
      """)
  var corrections: [String] = []

  @Argument(
    help: "The device of the receiver, as of --device.", completion: .custom { _, _, _ in DeviceCompletion.words })
  var place: String?

  mutating func validate() throws {
    try receiver.use(place: place)
    if let count, count < 1 { throw ValidationError("--count must be a number from 1 on.") }
    try ReceiverOptions.check(seconds: seconds)
    if raw, json { throw ValidationError("--raw and --json exclude each other.") }
    if format != nil, raw || json { throw ValidationError("--format, --raw and --json exclude each other.") }
    try table.check(isTable: format == .csv)
    if raw, !corrections.isEmpty { throw ValidationError("--raw sends nothing to the receiver; omit --corrections.") }
    if !corrections.isEmpty, readOnly {
      throw ValidationError("--corrections are sent to the receiver; omit --read-only.")
    }
    if corrections.contains(where: { CorrectionSource($0) == nil }) {
      throw ValidationError("--corrections must be \(CorrectionSource.forms).")
    }
  }

  func run() throws {
    var seconds = seconds
    let choice = try receiver.chooseOrWait(seconds: &seconds, sends: !corrections.isEmpty)
    let isReadOnly = readOnly || raw || choice.isReadOnly || choice.service?.isServed == true
    if choice.isReadOnly, !corrections.isEmpty {
      throw CommandFailure(
        .configuration,
        "the configuration file or SEXTANT_READ_ONLY sets read-only; without it, corrections can be sent")
    }
    var settings = SessionSettings(intent: isReadOnly ? .readOnly : .serve, line: .serial)
    // The position of a simulated or replayed receiver must not reach a real one.
    let store = isReadOnly || choice.source.isSimulated ? nil : AssistanceStore(stateFolder())
    if let store {
      settings.assistance = AssistanceSettings(
        records: store.records(), clockAccuracySeconds: clockAccuracySeconds(), readsDatabaseAtEnd: true)
    }
    let correctionSources = try corrections.compactMap { CorrectionSource($0) }.map(Self.withPassword)
    if !correctionSources.isEmpty {
      settings.desired = { receiver in
        var desired = DesiredConfiguration.navigation(for: receiver)
        desired.readCorrections(for: receiver)
        return desired
      }
    }
    let client = WatchClient(
      format.map { .track($0, table.chosen) } ?? (raw ? .raw : json ? .json : isScreen() ? .screen : .lines),
      source: choice.source, baud: choice.baud, epochs: count,
      corrections: correctionSources)
    var loop = try ReceiverLoop(choice, settings, seconds: seconds, client: client)
    do {
      try loop.run()
    } catch {
      loop.client.close()
      throw error
    }
    loop.client.close()
    if let record = loop.client.record, let time = systemTime() { store?.save(record, at: time) }
    // Bytes are what --raw asks for; with --count fixes are.
    if raw, count == nil, loop.client.noFix.bytes > 0 { return }
    if loop.client.fixes == 0 { throw CommandFailure(.unavailable, loop.client.noFix.text) }
  }

  private static func withPassword(_ source: CorrectionSource) throws -> CorrectionSource {
    if source.namesPassword { printNotice(CasterPassword.notice) }
    do throws(FileError) {
      return try CasterPassword.complete(source, environment)
    } catch {
      throw CommandFailure(reading: error)
    }
  }
}
