// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import LinuxIO
import MonotonicTime
import Receiver
import ReceiverRuntime
import SerialPort

/// `sextant check`: tries what Sextant does with a receiver, and compares what it measures with what it assumes.
struct Check: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "check",
    abstract: "Compare a receiver with what Sextant assumes of it, and leave it as it was.",
    discussion: """
      Identifies the receiver, measures its replies, changes fix rate, messages, constellations and baud rate for a moment, \
      puts it to sleep, wakes it, measures the time to a fix, and stores a few fixes in its memory, where it can. Nothing is \
      saved. The receiver is restored, also after ^C; after a kill or an unplug the next command restores it. The command takes \
      one to three minutes. Give the receiver an open sky, and let it have a fix first.

      --out writes the dialogue and the measurements to a file that you can post in an issue. It has no position and no serial \
      number: only messages that are on a list are in it, others by name.

      Standard output has a line for each difference, standard error the progress. The exit code is 0 if everything is as assumed, \
      1 if something differs.
      """)

  @OptionGroup var receiver: ReceiverOptions

  @Option(help: "Write the dialogue without positions, and the measurements, to this file.")
  var out: String?

  @Flag(
    help: """
      Restart the receiver too: warm, after which it needs half a minute for a fix, and hot where it cannot sleep. A receiver of \
      another maker may lose settings that were not saved, and gets those that it reports again.
      """)
  var yes = false

  func run() throws {
    let choice = try receiver.choose(for: .sending)
    let dialogue = PublishedDialogue()
    var state = CheckState()
    // A file that cannot be written is reported before the receiver is used.
    try write(dialogue, state, isComplete: false)
    try CrashRecovery.restore(choice)
    var isInterrupted = false
    for part in CheckClient.Part.allCases {
      if part == .powerLoss, !askForPowerLoss(&state) {
        try state.printFindings()
        continue
      }
      if let reason = reasonToSkip(part, state) {
        if !reason.isEmpty { state.report.skip(Self.name(of: part), because: reason) }
        if part == .restored { try complete(&state, dialogue) }
        try state.printFindings()
        continue
      }
      let failure: (any Error)?
      (state, isInterrupted, failure) = try run(part, choice, dialogue, state)
      if part == .restored, failure == nil {
        try complete(&state, dialogue)
      } else {
        try write(dialogue, state, isComplete: false)
      }
      if let failure { throw failure }
      if isInterrupted { break }
    }
    if isInterrupted {
      throw CommandFailure(
        .unavailable,
        "\(choice.source.name): interrupted; "
          + (state.lost.isEmpty ? "the receiver is restored" : "the next command restores the receiver"))
    }
    guard state.report.deviations.isEmpty else {
      let names = state.report.deviations.map(\.name).joined(separator: ", ")
      throw CommandFailure(
        exitCode: 1,
        description: "\(choice.source.name): not as Sextant assumes: \(names); post the file of --out in an issue")
    }
  }

  private static func name(of part: CheckClient.Part) -> String {
    switch part {
    case .settings: "settings"
    case .sleep: "sleep"
    case .batch: "batch"
    case .hotStart: CheckReport.Start.hot.rawValue
    case .warmStart: CheckReport.Start.warm.rawValue
    case .powerLoss: "power loss"
    case .restored: "restoring"
    }
  }

  /// Why a part is left out; empty if it needs no line, nil if it is made.
  private func reasonToSkip(_ part: CheckClient.Part, _ state: CheckState) -> String? {
    guard let receiver = state.description else { return nil }
    switch part {
    case .settings, .powerLoss: return nil
    // The rest of a reply to the session before would hide a silent receiver from the search.
    case .restored: return state.found?.names.isEmpty == true && state.values.isEmpty ? "" : nil
    case .sleep:
      let canSleep = receiver.family == nil ? receiver.can(.backup) : !receiver.cannotSleep
      return canSleep ? nil : "no command puts it to sleep; Sextant uses a switch in its supply"
    case .batch:
      if receiver.can(.batching), receiver.family == nil { return nil }
      if receiver.can(.flashLog) || receiver.can(.logger) {
        return "its log survives the check, so that none is started; sextant batch start and retrieve show it"
      }
      return "it stores no fixes"
    case .hotStart:
      if state.report.has(CheckReport.Start.hot.rawValue) { return "" }
      return receiver.family != nil && !yes ? "a restart may lose settings that were not saved; --yes makes it" : nil
    case .warmStart: return yes ? nil : "the receiver would need half a minute for a fix; --yes makes it"
    }
  }

  /// Asks the person to interrupt the supply. Returns whether that was done.
  private func askForPowerLoss(_ state: inout CheckState) -> Bool {
    guard isInputTerminal() else {
      state.report.skip("power loss", because: "standard input is no terminal; nobody can interrupt the supply")
      return false
    }
    printRaw(
      "Interrupt the receiver's supply for ten seconds, then press Enter; settings that were not saved may be lost. "
        + "To leave this out, type n and press Enter: ")
    guard let line = readLine(), !line.lowercased().hasPrefix("n") else {
      state.report.skip("power loss", because: "the person left it out")
      return false
    }
    return true
  }

  private func run(
    _ part: CheckClient.Part, _ choice: Source.Choice, _ dialogue: PublishedDialogue, _ before: CheckState
  ) throws -> (CheckState, isInterrupted: Bool, (any Error)?) {
    var settings = SessionSettings(intent: .identify, line: .serial)
    // What a sleep or a restart loses is written again. The last part changes what differs, permanently.
    let desired: DesiredConfiguration =
      switch part {
      case .settings, .powerLoss: .nothing
      case .sleep, .batch, .hotStart, .warmStart: before.foundConfiguration
      case .restored: before.foundRate
      }
    settings.desired = { _ in desired }
    settings.restoresAtEnd = part != .restored
    var loop = try ReceiverLoop(
      choice, settings, seconds: nil, client: CheckClient(part, choice, dialogue, before))
    var failure: (any Error)?
    do { try loop.run() } catch { failure = error }
    let isInterrupted = loop.isInterrupted
    let client = loop.takeClient()
    var state = client.state
    if client.hasChanged, let endedAt = client.endedAt {
      state.restoringSeconds = max(state.restoringSeconds, SystemClock.monotonic.seconds(since: endedAt))
    }
    try state.printFindings()
    return (state, isInterrupted, failure)
  }

  private func complete(_ state: inout CheckState, _ dialogue: PublishedDialogue) throws {
    if let assumed = state.assumed {
      state.report.judgeRestoring(state.restoringSeconds, lost: state.lost, assumed)
      try state.printFindings()
    }
    try write(dialogue, state, isComplete: true)
  }

  private func write(_ dialogue: PublishedDialogue, _ state: CheckState, isComplete: Bool) throws {
    guard let out else { return }
    let text = dialogue.text(state.report.json(isComplete: isComplete))
    do throws(FileError) { try UserFile.replace(out, with: text) } catch {
      throw CommandFailure(error.isForbidden ? .noPermission : .cannotCreate, error.description)
    }
  }
}
