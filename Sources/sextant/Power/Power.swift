import ArgumentParser
import Receiver

/// `sextant power`: a receiver's power states by hand.
struct Power: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "power",
    abstract: "Show and change a receiver's power state, with the times.",
    discussion: """
      status            what the receiver can do, and its mode; one that sleeps is woken by the question
      sleep SECONDS     backup for that time, silent, 5 s at the least and 12 days at the most; 0 for until it is woken
      wake              wake a receiver that sleeps
      mode MODE         continuous, cyclic:N (a fix every N seconds, 1…10) or onoff:N (a fix every N seconds, 11 and \
      more) until ^C or --seconds; then it is put back

      off SECONDS       the supply's switch off for that time, then on; 0 for until ^C
      on                the supply's switch on

      off and on need --supply, or SEXTANT_SUPPLY, such as gpio:gpiochip0/17 or file:/sys/…/state=enabled/disabled; \
      docs/power.md has more.

      A receiver that does not answer is given up after 30 s, or after --seconds.

      Each change of state is a line: the time in UTC, seconds since the start, the state. --log appends the same lines to \
      a file, to be laid beside a current meter's trace. docs/power.md says what each receiver can do.
      """)

  @Option(help: "The receiver's device; without it GNSS_DEVICE, or the first receiver that is plugged in.")
  var device: String?

  @Option(help: "The line's rate, in baud; no other is tried.")
  var baud: UInt32?

  @Option(help: "The switch in the receiver's supply.")
  var supply: String?

  @Option(help: "Append the states to this file.")
  var log: String?

  @Option(help: "End after this many seconds.")
  var seconds: Double?

  @Argument(help: "status, sleep SECONDS, wake, mode MODE, off SECONDS or on; status without it.")
  var action: [String] = []

  func validate() throws {
    if let seconds, !(seconds > 0 && seconds < 1e9) { throw ValidationError("--seconds is a time above 0.") }
    if baud == 0 { throw ValidationError("--baud is a rate such as 9600; leave it out to have it found.") }
    if let problem = PowerRequest.sleepProblem(action) { throw ValidationError(problem) }
    if PowerRequest(action) == nil {
      throw ValidationError(
        "say status, sleep SECONDS, wake, mode continuous, mode cyclic:N, mode onoff:N, off SECONDS or on.")
    }
  }

  func run() throws {
    guard let request = PowerRequest(action) else { return }
    if let remark = request.remark { printNotice(remark) }
    if request.isOfSupply { return try PowerSupply(named: supply, log: log).carryOut(request) }
    let choice = try Source.chosen(named: device, for: .sending)
    let source = choice.source
    var settings = SessionSettings(intent: .identify, line: .serial)
    settings.desired = { description in
      var desired = DesiredConfiguration.nothing
      // Who has no such mode is not told: the rest of it would be stored.
      if case .mode(let mode) = request, mode.isPossible(on: description) { desired.powerSave = mode }
      return desired
    }
    let end: Double? =
      switch request {
      case .status, .wake: seconds ?? 30
      case .sleep, .mode, .off, .on: seconds
      }
    let client = try PowerClient(source, request, log: log, seconds: end)
    var loop = try ReceiverLoop(source, settings, baud: baud ?? choice.baud, seconds: end, client: client)
    try loop.run()
    if let failure = loop.client.failure { throw failure }
    if !loop.client.hasAsked {
      throw CommandFailure(
        exitCode: CommandFailure.unavailable,
        description: loop.isInterrupted
          ? "interrupted before a receiver had answered"
          : "no u-blox receiver answered; check power, wiring (RX to TX) and the device's name")
    }
  }
}

/// What is asked of a receiver.
enum PowerRequest: Equatable, Sendable {
  case status
  /// For so many seconds; nil for until it is woken.
  case sleep(seconds: Double?)
  case wake
  case mode(PowerSave)
  /// The supply for so many seconds; nil for until the command is interrupted.
  case off(seconds: Double?)
  case on

  /// Whether it is about the switch in the supply, for which no line is opened.
  var isOfSupply: Bool {
    switch self {
    case .off, .on: true
    case .status, .sleep, .wake, .mode: false
    }
  }

  /// Reads the command line's words; nil when they are no request.
  init?(_ words: [String]) {
    switch (words.first ?? "status", words.count) {
    case ("status", 0...1): self = .status
    case ("wake", 1): self = .wake
    case ("sleep", 2):
      guard let seconds = Double(words[1]), seconds >= 0, seconds <= SleepRequest.longest.seconds else { return nil }
      self = .sleep(seconds: seconds == 0 ? nil : seconds)
    case ("off", 2):
      guard let seconds = Double(words[1]), seconds >= 0, seconds < 1e9 else { return nil }
      self = .off(seconds: seconds == 0 ? nil : seconds)
    case ("on", 1): self = .on
    case ("mode", 2):
      guard let mode = Self.mode(words[1]) else { return nil }
      self = .mode(mode)
    default: return nil
    }
  }

  /// Why such words are no sleep, with what would be; nil for all others.
  static func sleepProblem(_ words: [String]) -> String? {
    guard words.count == 2, words[0] == "sleep", PowerRequest(words) == nil else { return nil }
    return "sleep takes seconds, \(Int(SleepRequest.longest.seconds)) (12 days) at the most; 0 is until it is woken."
  }

  /// What is done otherwise than it was asked for.
  var remark: String? {
    guard case .sleep(let seconds?) = self, seconds < SleepRequest.shortest.seconds else { return nil }
    return
      "it sleeps \(Int(SleepRequest.shortest.seconds)) s: a shorter sleep cannot be told from a request that was not heeded"
  }

  private static func mode(_ word: String) -> PowerSave? {
    let parts = word.split(separator: ":", omittingEmptySubsequences: false)
    if parts.count == 1, parts[0] == "continuous" { return .continuous }
    guard parts.count == 2, let seconds = Int(parts[1]) else { return nil }
    switch parts[0] {
    case "cyclic": return 1...10 ~= seconds ? .cyclic(everySeconds: seconds) : nil
    case "onoff": return 11...604_800 ~= seconds ? .onOff(periodSeconds: seconds) : nil
    default: return nil
    }
  }
}
