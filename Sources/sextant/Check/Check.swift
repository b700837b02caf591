// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import LinuxIO
import Messages
import MonotonicTime
import Receiver
import ReceiverRuntime
import SerialPort
import WireBytes

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
      another maker may lose settings that were not saved, and gets those again that it reports or that its output shows.
      """)
  var yes = false

  func run() throws {
    let choice = try receiver.choose(for: .sending)
    let dialogue = PublishedDialogue()
    var state = CheckState()
    state.comparesOutput = yes || isInputTerminal()
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
        if part == .restored {
          state.uncompared = ["output"]
          try complete(&state, dialogue)
        }
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
    case .restored:
      let isSilent = state.found?.names.isEmpty == true && state.values.allSatisfy { $0 == .messages([]) }
      return isSilent ? "" : nil
    case .sleep:
      if receiver.runningLog != nil { return "its logger runs, and would miss the time of the sleep" }
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
      if receiver.family != nil, !yes { return "a restart may lose settings that were not saved; --yes makes it" }
      return state.obstacleToRestart
    case .warmStart:
      return yes ? state.obstacleToRestart : "the receiver would need half a minute for a fix; --yes makes it"
    }
  }

  /// Asks the user to interrupt the supply. Returns whether that was done.
  private func askForPowerLoss(_ state: inout CheckState) -> Bool {
    guard isInputTerminal() else {
      state.report.skip("power loss", because: "standard input is not a terminal; nobody can interrupt the supply")
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
    // Settings that a sleep or a restart loses are written again. The last part permanently changes the settings that
    // differ.
    let desired: DesiredConfiguration =
      switch part {
      case .settings, .powerLoss: .nothing
      case .sleep, .batch, .hotStart, .warmStart: before.foundConfiguration
      case .restored: before.foundRate
      }
    settings.desired = { _ in desired }
    settings.restoresAtEnd = part != .restored
    // A receiver that sends nothing after a restart or a loss of its supply is found by the polls of its own family.
    let isAfterLoss = [.hotStart, .warmStart, .powerLoss, .restored].contains(part)
    if isAfterLoss, let known = before.description, known.family != nil {
      settings.memory = SessionMemory(of: known, rate: before.found?.rate)
    }
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
      state.report.judgeRestoring(state.restoringSeconds, lost: state.lost, uncompared: state.uncompared, assumed)
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

/// The state that the parts of `sextant check` share: the findings, and the receiver as it was found.
struct CheckState {
  /// The receiver's settings, as far as they are reported or seen.
  struct Found {
    /// The rate of the line, in baud; nil without one.
    var rate: UInt32?
    /// Measured; nil for a receiver that sends no epochs.
    var periodSeconds: Double?
    /// The messages of its epochs, and the messages in every epoch.
    var names: Set<String> = []
    var steadyNames: Set<String> = []

    /// Whether sentences of satellites name a constellation: GN stands for several.
    var showsConstellations: Bool {
      names.contains { ($0.hasSuffix("GSV") || $0.hasSuffix("GSA")) && !$0.hasPrefix("GN") }
    }
  }

  var report = CheckReport()
  /// The number of findings that were printed.
  private var printed = 0
  var description: ReceiverDescription?
  var assumed: CheckAssumptions?
  var found: Found?
  /// The values of another maker's receiver: the time between its fixes and its sentences are observed if it does not report them.
  var values: [ReceiverValue] = []
  /// Whether the check makes a restart or an interruption of the supply, which may lose settings that the output alone shows.
  var comparesOutput = false
  /// The messages of another maker's receiver with their ports and intervals; nil if it does not list them.
  var outputList: [String]?
  /// The reported time between two measurements of a u-blox receiver, in milliseconds.
  var measurementMilliseconds: UInt16?
  var hasFix = false
  /// The longest end of a session that restored something, seconds.
  var restoringSeconds = 0.0
  /// The settings and states that could not be restored, in words.
  var lost: [String] = []
  /// The settings and sentences that neither a reply nor the output shows exactly: nothing proves that they are as before.
  var uncompared: [String] = []

  var periodSeconds: Double { found?.periodSeconds ?? 1 }

  /// Prints new findings: a difference on standard output, others on standard error.
  mutating func printFindings() throws {
    while printed < report.findings.count {
      let finding = report.findings[printed]
      printed += 1
      if finding.deviation == nil { printNotice(finding.text) } else { try Output.write(finding.text + "\n") }
    }
  }

  /// The found settings that a sleep or a restart may lose: the session writes them again.
  var foundConfiguration: DesiredConfiguration {
    var desired = DesiredConfiguration()
    guard let description, let found else { return desired }
    if description.family == nil {
      desired.measurementPeriodMilliseconds = measurementMilliseconds
      desired.messages = found.steadyNames.sorted().filter { $0.contains("-") }
        .compactMap { MessageNames.message($0) }.map { DesiredConfiguration.MessageRate($0, 1) }
    }
    for value in values where description.reports(value.kind) && description.takesForATime(value) {
      switch value {
      case .period(let milliseconds): desired.measurementPeriodMilliseconds = milliseconds
      case .messages(let list): desired.sentences = list
      // They outlive a sleep; the last part compares them.
      case .constellations, .output, .logger, .mode, .measurements: break
      }
    }
    if let rate = found.rate {
      desired.portRate = rate
      desired.keepsPortRate = true
    }
    return desired
  }

  /// The found rate of the line alone, for the last part.
  var foundRate: DesiredConfiguration {
    var desired = DesiredConfiguration()
    desired.portRate = found?.rate
    desired.keepsPortRate = desired.portRate != nil
    return desired
  }
}

/// The dialogue with the receiver, as JSON lines without positions: the form of the recorded dialogues.
final class PublishedDialogue {
  private var start: Instant?
  /// The time of the last line, seconds.
  private var seconds = 0.0
  private var filter = DialogueFilter()
  private var rate: UInt32?
  /// Whether requests are counted.
  var countsRequests = false {
    didSet { if countsRequests { runs.append(([], 0)) } }
  }
  /// The counted requests, and how often each was sent in a row.
  private var runs: [(bytes: [UInt8], count: Int)] = []
  private(set) var lines: [JSON] = []

  /// The line was opened at a rate, in baud; nil without one.
  func open(rate: UInt32?, at now: Instant) {
    if lines.isEmpty {
      start = now
      // 0 is a line without a rate.
      lines.append(line("in", [], at: now, rate: rate ?? 0))
    } else if let rate, rate != self.rate {
      lines.append(line("out", [], at: now, rate: rate))
    }
    self.rate = rate
  }

  /// Returns the names of the messages that the bytes complete.
  func receive(_ bytes: RawSpan, at now: Instant) -> [String] {
    let parts = filter.receive(bytes)
    add("in", parts, at: now)
    return parts.map(\.name)
  }

  func send(_ bytes: [UInt8], at now: Instant) {
    guard !bytes.isEmpty else { return }
    // Single bytes wake a receiver.
    if countsRequests, bytes.count > 4 {
      if runs.last?.bytes == bytes { runs[runs.count - 1].count += 1 } else { runs.append((bytes, 1)) }
    }
    add("out", DialogueFilter.parts(ofWrite: bytes), at: now)
  }

  /// The number of counted requests that change something, and of those that were sent again. A session reads a setting before and
  /// after a change, so that queries are sent on several occasions, and a change on one.
  var changes: (requests: Int, repeated: Int) {
    var counts: [[UInt8]: [Int]] = [:]
    for run in runs where !run.bytes.isEmpty { counts[run.bytes, default: []].append(run.count) }
    let changes = counts.values.filter { $0.count == 1 }
    return (changes.count, changes.count { $0[0] > 1 })
  }

  /// The line has another rate from now on, in baud.
  func setRate(_ rate: UInt32, at now: Instant) {
    self.rate = rate
    // A frame that the change of the rate cuts cannot be completed at the new rate.
    defer { add("in", filter.finish(), at: now) }
    // The recorded dialogues have the rate of the last request.
    guard lines.last?["dir"]?.string == "out", lines.last?["rate"] == nil, case .object(var members)? = lines.last
    else { return lines.append(line("out", [], at: now, rate: rate)) }
    members.append(JSON.Member("rate", .integer(Int64(rate))))
    lines[lines.count - 1] = .object(members)
  }

  /// The file, with the last line.
  func text(_ end: JSON) -> String {
    (lines + [end]).compactMap { try? $0.text() }.map { String(decoding: $0, as: UTF8.self) + "\n" }.joined()
  }

  private func add(_ direction: String, _ parts: [DialogueFilter.Part], at now: Instant) {
    var kept: [UInt8] = []
    func flush() {
      if !kept.isEmpty { lines.append(line(direction, kept, at: now)) }
      kept = []
    }
    for part in parts {
      switch part {
      case .kept(_, let bytes): kept += bytes
      case .leftOut(let name, let count):
        flush()
        lines.append(line(direction, [], at: now, leftOut: (name, count)))
      }
    }
    flush()
  }

  private func line(
    _ direction: String, _ bytes: [UInt8], at now: Instant, rate: UInt32? = nil, leftOut: (String, Int)? = nil
  ) -> JSON {
    let elapsed = start.map { (now.seconds(since: $0) * 1_000_000).rounded() / 1_000_000 } ?? 0
    // A request is sent after the instant of the loop's round.
    seconds = max(seconds, elapsed)
    return JSON(omittingNil: [
      "t": seconds, "dir": direction, "hex": bytes.hexadecimalDigits, "left_out": leftOut?.0, "bytes": leftOut?.1,
      "rate": rate,
    ])
  }
}
