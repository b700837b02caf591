// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import Receiver
import ReceiverRuntime

/// `sextant reset`: starts a receiver anew.
struct ResetReceiver: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "reset",
    abstract: "Start a receiver anew: hot, warm or cold.",
    discussion: """
      hot   the receiver keeps all of its data
      warm  it loses the ephemerides
      cold  it loses all: ephemerides, almanac, position, time, clock, orbits of
            AssistNow, and all assistance that it was sent

      The command sends UBX-CFG-RST, waits until the receiver replies again, and reports what it saw. With warm and cold \
      the orbits that this computer has stored for the receiver are removed too, with cold also its position: they would \
      be sent at the next start of `watch`. Data in the flash of a receiver (AssistNow Offline, saved settings) remain.

      --mode gnss (default) keeps the configuration. software, hardware and shutdown also reset port and configuration: \
      settings that were not saved are lost, and a receiver on USB is disconnected for a moment.

      A receiver of another maker gets the restart of its family, if it has one (docs/receivers); --mode does not apply.

      The exit code is 69 if the receiver does not reply any more.
      """)

  @OptionGroup var receiver: ReceiverOptions

  @Option(help: "What is reset: gnss, software, hardware at once, or hardware after a shutdown.")
  var mode = ResetMode.gnss

  @Flag(help: "Print one JSON object.")
  var json = false

  @Option(help: "End without a reply after this many seconds.")
  var seconds = 30.0

  @Flag(help: "Refused: the command sends to the receiver.")
  var readOnly = false

  @Argument(help: "hot, warm or cold.")
  var start: StartKind

  func validate() throws {
    if readOnly { throw ValidationError("reset sends to the receiver; omit --read-only.") }
    try ReceiverOptions.check(seconds: seconds, below: 1e6)
  }

  func run() throws {
    let choice = try receiver.choose(for: .sending)
    try CrashRecovery.restore(choice)
    var settings = SessionSettings(intent: .identify, line: .serial)
    settings.desired = { _ in .nothing }
    var loop = try ReceiverLoop(choice, settings, seconds: seconds, client: ResetClient(choice, start, mode))
    try loop.run()
    let path = choice.source.name
    if loop.client.isSent, start != .hot, !choice.source.isSimulated, let key = loop.client.key,
      AssistanceStore(stateFolder())?.remove(key, keepsPlace: start == .warm) == true
    {
      loop.client.removedAssistance()
    }
    guard loop.client.isOver else {
      throw CommandFailure(
        .unavailable,
        "\(path): "
          + (!loop.client.isSent
            ? loop.isInterrupted
              ? "interrupted before the reset"
              : "no receiver was found; check power, wiring (RX to TX) and the name of the device"
            : "\(start.rawValue) start sent, and no reply after it; `sextant probe` finds the receiver at another rate")
      )
    }
    try Output.write(json ? loop.client.result.json(path) : loop.client.result.lines(path))
  }
}
