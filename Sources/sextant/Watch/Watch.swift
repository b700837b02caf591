import ArgumentParser
import Corrections
import GPSDJSON
import Hotplug
import Receiver
import ReceiverRuntime

/// `sextant watch`: what a receiver says, live.
struct Watch: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "watch",
    abstract: "Watch a receiver live.",
    discussion: """
      Without --device, GNSS_DEVICE is watched, else what ~/.config/sextant/config names, else the first receiver that is plugged in, else the built-in simulator. \
      The baud rate is found. A u-blox receiver is set to write what a fix is made of, in UBX; at the end it is as it \
      was found. Nothing is sent to other receivers. Press ^C to end.
      """)

  @Option(help: "A tty, pseudo-terminal, FIFO or file, or sim:SCENARIO for the built-in simulator.")
  var device: String?

  @Option(help: "The line's rate, in baud; no other is tried.")
  var baud: UInt32?

  @Flag(help: "Print gpsd's TPV and SKY objects, one a line.")
  var json = false

  @Option(help: "End after this many epochs with a fix.")
  var count: Int?

  @Option(help: "End after this many seconds.")
  var seconds: Double?

  @Flag(help: "Send not one byte to the receiver.")
  var readOnly = false

  @Option(
    help: """
      Give the receiver RTCM 3 corrections, from file:PATH, fifo:PATH, tcp:HOST:PORT or \
      ntrip://USER:PASSWORD@HOST:PORT/MOUNT.
      """)
  var corrections: String?

  func validate() throws {
    if let count, count < 1 { throw ValidationError("--count is a number from 1 on.") }
    if let seconds, !(seconds > 0 && seconds < 1e9) { throw ValidationError("--seconds is a time above 0.") }
    if let corrections {
      if readOnly { throw ValidationError("--corrections are sent to the receiver: leave --read-only out.") }
      if CorrectionSource(corrections) == nil {
        throw ValidationError(
          "--corrections is file:PATH, fifo:PATH, tcp:HOST:PORT or ntrip://USER:PASSWORD@HOST:PORT/MOUNT.")
      }
    }
    if baud == 0 { throw ValidationError("--baud is a rate such as 9600; leave it out to have it found.") }
  }

  func run() throws {
    let choice = try Source.chosen(named: device, for: .listening)
    let source = choice.source
    let isReadOnly = readOnly || choice.isReadOnly
    var settings = SessionSettings(intent: isReadOnly ? .readOnly : .serve, line: .serial)
    // The built-in simulator is a new receiver each time.
    let store = isReadOnly || source.isSimulator ? nil : AssistanceStore(stateFolder())
    if let store {
      settings.assistance = AssistanceSettings(
        records: store.records(), clockAccuracySeconds: clockAccuracySeconds(), readsDatabaseAtEnd: true)
    }
    var recoveryFile: CrashRecoveryFile?
    if case .device(let path) = source, !isReadOnly, let folder = stateFolder() {
      recoveryFile = CrashRecoveryFile(stateFolder: folder, line: path)
      settings.recovery = recoveryFile?.recovery
      settings.recoverySettings = recoveryFile?.settings
    }
    if choice.isReadOnly, corrections != nil {
      throw CommandFailure(
        exitCode: CommandFailure.configuration,
        description: "the configuration file says read-only; name the receiver with --device to send it corrections")
    }
    let correctionSource = corrections.flatMap { CorrectionSource($0) }
    if correctionSource != nil {
      settings.desired = { receiver in
        var desired = DesiredConfiguration.navigation(for: receiver)
        if receiver.can(.rtcmInput) { desired.readsRTCM3 = true }
        return desired
      }
    }
    let client = WatchClient(
      json ? .json : isScreen() ? .screen : .lines, source: source, baud: baud ?? choice.baud, epochs: count,
      corrections: correctionSource)
    var loop = try ReceiverLoop(source, settings, baud: baud ?? choice.baud, seconds: seconds, client: client)
    loop.recoveryFile = recoveryFile
    do {
      try loop.run()
    } catch {
      loop.client.close()
      throw error
    }
    loop.client.close()
    if let record = loop.client.record, let time = systemTime() { store?.keep(record, at: time) }
    if loop.client.fixes == 0 {
      throw CommandFailure(exitCode: CommandFailure.unavailable, description: loop.client.noFix.text)
    }
  }
}
