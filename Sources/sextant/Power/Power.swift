// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import LinuxIO
import MonotonicTime
import Receiver
import ReceiverRuntime
import SerialPort
import WireBytes

/// `sextant power`: shows and changes the power state of a receiver.
struct Power: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "power",
    abstract: "Show and change the power state of a receiver.",
    discussion: """
      status         print capabilities and mode; a sleeping receiver is woken
      sleep SECONDS  sleep (backup mode) for 5 s to 12 days; 0 sleeps until the
                     receiver is woken
      wake           wake a sleeping receiver
      mode MODE      continuous, cyclic:N (a fix every N seconds, 1 to 10) or
                     onoff:N (from 11 on), until ^C or --seconds; then the mode
                     is restored
      off SECONDS    switch the supply off for this time, then on; 0 switches it
                     off until ^C
      on             switch the supply on

      off and on need --supply or SEXTANT_SUPPLY, such as gpio:gpiochip0/17 or \
      file:/sys/…/state=enabled/disabled.

      A receiver that does not reply is given up after 30 s, or after --seconds.

      Each change of the state is one line: time in UTC, seconds since the start, state. --log appends these lines to a \
      file, to compare with the log of a current meter. docs/guides/power-at-the-bench.md describes the actions and the \
      receivers.
      """)

  @OptionGroup var receiver: ReceiverOptions

  @Option(help: "The switch of the receiver's supply.")
  var supply: String?

  @Option(help: "Append the states to this file.")
  var log: String?

  @Option(help: "End after this many seconds.")
  var seconds: Double?

  @Argument(help: "status (default), sleep SECONDS, wake, mode MODE, off SECONDS or on.")
  var action: [String] = []

  func validate() throws {
    try ReceiverOptions.check(seconds: seconds)
    if let problem = PowerRequest.sleepProblem(action) { throw ValidationError(problem) }
    if PowerRequest(action) == nil {
      throw ValidationError(
        "The action must be status, sleep SECONDS, wake, mode continuous, mode cyclic:N, mode onoff:N, off SECONDS or on."
      )
    }
  }

  func run() throws {
    guard let request = PowerRequest(action) else { return }
    if request.concernsSupply { return try PowerSupply(named: supply, log: log).perform(request) }
    let choice = try receiver.choose(for: .sending)
    try CrashRecovery.restore(choice)
    var settings = SessionSettings(intent: .identify, line: .serial)
    settings.desired = { description in
      var desired = DesiredConfiguration.nothing
      // A mode that the receiver lacks is not sent at all: it would store other parts of the message.
      if case .mode(let mode) = request, mode.isPossible(on: description) { desired.powerSave = mode }
      return desired
    }
    let end: Double? =
      switch request {
      case .status, .wake: seconds ?? 30
      case .sleep, .mode, .off, .on: seconds
      }
    let client = try PowerClient(choice.source, request, log: log, seconds: end)
    var loop = try ReceiverLoop(choice, settings, seconds: end, client: client)
    try loop.run()
    if !loop.client.hasSentRequest {
      throw CommandFailure(
        .unavailable,
        loop.isInterrupted
          ? "interrupted before a receiver had replied"
          : "no u-blox receiver replied; \(choice.source.adviceOnSilence)")
    }
  }
}

/// The action of `sextant power`.
enum PowerRequest: Equatable, Sendable {
  case status
  /// Sleep for this number of seconds; nil until the receiver is woken.
  case sleep(seconds: Double?)
  case wake
  case mode(PowerSave)
  /// Switch the supply off for this number of seconds; nil until the command is interrupted.
  case off(seconds: Double?)
  case on

  /// Whether the request concerns the switch of the supply, for which no line is opened.
  var concernsSupply: Bool {
    switch self {
    case .off, .on: true
    case .status, .sleep, .wake, .mode: false
    }
  }

  /// Reads the words of the command line; nil if they are not a request.
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

  /// Returns why `sleep` has an invalid duration, with the valid ones; nil for other words.
  static func sleepProblem(_ words: [String]) -> String? {
    guard words.count == 2, words[0] == "sleep", PowerRequest(words) == nil else { return nil }
    return
      "sleep takes 0 to \(Int(clamping: SleepRequest.longest.seconds)) seconds (12 days); 0 sleeps until the receiver is woken."
  }

  /// The effects of the request on a receiver that have to be stated, for the user.
  func remarks(for receiver: ReceiverDescription) -> [String] {
    guard case .sleep(let seconds) = self else { return [] }
    var remarks: [String] = []
    let shortest = SessionTimes.shortestSleep(of: receiver).seconds
    if let seconds, seconds < shortest {
      remarks.append("the receiver sleeps \(Int(clamping: shortest)) s, the shortest sleep that is requested")
    }
    let longest = SessionTimes.longestSleep(of: receiver).seconds
    if let seconds, seconds > longest {
      remarks.append("the receiver sleeps \(Int(clamping: longest)) s, the longest sleep that is requested")
    }
    if receiver.can(.valset) {
      remarks.append("settings that only RAM has are lost in the sleep; `sextant configure save` keeps them")
    }
    return remarks
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

/// `sextant power off` and `on`: the switch of a receiver's supply.
struct PowerSupply {
  private let address: SupplySwitchAddress
  private let log: String?

  /// - Parameters:
  ///   - name: the switch; nil for the switch in SEXTANT_SUPPLY, else in the configuration file.
  ///   - log: the file that the states are appended to; nil for none.
  init(named name: String?, log: String?) throws {
    let named = try name ?? environment("SEXTANT_SUPPLY") ?? Source.installedConfiguration().supply
    guard let name = named, !name.isEmpty else {
      throw CommandFailure(
        .usage,
        "no supply switch is set; name it with --supply, SEXTANT_SUPPLY or `supply` in the configuration file, such as "
          + "gpio:gpiochip0/17")
    }
    do throws(SupplySwitchError) { address = try SupplySwitchAddress(name) } catch {
      throw CommandFailure(exitCode: error.exitCode, description: error.description)
    }
    self.log = log
  }

  func perform(_ request: PowerRequest) throws {
    let started = SystemClock.monotonic
    // Operations that can fail precede the switch.
    let log: AppendOnlyFile?
    if let path = self.log { log = try AppendOnlyFile(path) } else { log = nil }
    var poller = try Poller(catching: [.interrupt, .terminate, .hangUp])
    let supply = try openSwitch()
    if case .off(let seconds) = request {
      try set(supply, isOn: false)
      do {
        let state = seconds.map { "off for \(Int(clamping: $0.rounded())) s" } ?? "off until it is switched on"
        try write(state, since: started, to: log)
        try wait(seconds, &poller)
      } catch {
        // The supply is switched on after every error.
        try set(supply, isOn: true)
        throw error
      }
      try set(supply, isOn: true)
    }
    try write("on", since: started, to: log)
  }

  private func wait(_ seconds: Double?, _ poller: inout Poller) throws {
    let end = seconds.map { SystemClock.monotonic + Milliseconds(seconds: $0) }
    while end.map({ $0.nanoseconds > SystemClock.monotonic.nanoseconds }) ?? true {
      let events = try poller.wait(deadline: end?.nanoseconds)
      if events.contains(where: { if case .signal = $0 { true } else { false } }) { return }
    }
  }

  private func write(_ state: String, since started: Instant, to log: borrowing AppendOnlyFile?) throws {
    let now = SystemClock.monotonic
    let line = PowerClient.line(state, secondsSinceStart: now.seconds(since: started))
    try Output.write(line)
    try log?.append(line)
  }

  private func openSwitch() throws -> SupplySwitch {
    do throws(SupplySwitchError) { return try SupplySwitch(address) } catch {
      throw CommandFailure(exitCode: error.exitCode, description: error.description)
    }
  }

  private func set(_ supply: borrowing SupplySwitch, isOn: Bool) throws {
    do throws(SupplySwitchError) { try supply.set(isOn: isOn) } catch {
      throw CommandFailure(exitCode: error.exitCode, description: error.description)
    }
  }
}
