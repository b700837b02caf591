// SPDX-License-Identifier: Apache-2.0
import LinuxIO
import MonotonicTime
import Receiver

/// The parts of the check, in the order of the report. Each has a session of its own.
///
/// The raw values are the names of their findings.
enum CheckPart: String, CaseIterable {
  /// Identity and replies; rate, messages, constellations and baud, in this order.
  case settings
  case sleep, batch
  case hotStart = "hot start"
  case warmStart = "warm start"
  /// After the user has interrupted the supply.
  case powerLoss = "power loss"
  /// The receiver is as it was found.
  case restored = "restoring"

  /// The settings of the session. Settings that a sleep or a restart loses are written again. The last part permanently changes the
  /// settings that differ.
  func settings(of state: CheckState) -> SessionSettings {
    var settings = SessionSettings(intent: .identify, line: .serial)
    let isBare = self == .settings || self == .powerLoss
    let desired = isBare ? .nothing : self == .restored ? state.foundRate : state.foundConfiguration
    settings.desired = { _ in desired }
    settings.restoresAtEnd = self != .restored
    // A receiver that sends nothing after a restart or a loss of its supply is found by the polls of its own family.
    let isAfterLoss = [.hotStart, .warmStart, .powerLoss, .restored].contains(self)
    if isAfterLoss, let known = state.description, known.family != nil {
      settings.memory = SessionMemory(of: known, rate: state.found?.rate)
    }
    return settings
  }

  /// Why the part is left out; empty if it needs no line, nil if it is made.
  ///
  /// - Parameters:
  ///   - restarts: whether the receiver may be restarted.
  ///   - isAtTerminal: whether a user can be asked.
  func reasonToSkip(_ state: CheckState, restarts: Bool, isAtTerminal: Bool) -> String? {
    guard let receiver = state.description else { return nil }
    switch self {
    case .settings: return nil
    case .powerLoss:
      return isAtTerminal ? nil : "standard input is not a terminal; nobody can interrupt the supply"
    // The rest of a reply to the session before would hide a silent receiver from the search.
    case .restored:
      return state.found?.names.isEmpty == true && state.values.allSatisfy { $0 == .messages([]) } ? "" : nil
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
      if state.report.has(rawValue) { return "" }
      if receiver.family != nil, !restarts { return "a restart may lose settings that were not saved; --yes makes it" }
      return state.obstacleToRestart
    case .warmStart:
      return restarts ? state.obstacleToRestart : "the receiver would need half a minute for a fix; --yes makes it"
    }
  }
}

/// The sequence of the parts, as a value: which part is next, and how the command ends.
struct CheckSequence {
  private(set) var state = CheckState()
  /// Whether all parts were made.
  private(set) var isComplete = false
  private var parts = CheckPart.allCases[...]
  private var isInterrupted = false
  /// Whether the session of the last part ended in order.
  private var isOrderly = true
  private let path: String
  /// Whether the receiver may be restarted, and whether a user can be asked.
  private let restarts, isAtTerminal: Bool

  init(path: String, restarts: Bool, isAtTerminal: Bool) {
    (self.path, self.restarts, self.isAtTerminal) = (path, restarts, isAtTerminal)
    state.comparesOutput = restarts || isAtTerminal
  }

  /// The lines of the file.
  var text: String { state.dialogue.text(state.report.json(isComplete: isComplete)) }

  /// Returns the next part; nil at the end. The user is asked to interrupt the supply before that part.
  mutating func next() -> CheckPart? {
    while !isInterrupted, let part = parts.popFirst() {
      guard let reason = part.reasonToSkip(state, restarts: restarts, isAtTerminal: isAtTerminal) else { return part }
      if !reason.isEmpty { state.report.skip(part.rawValue, because: reason) }
      if part == .restored {
        state.uncompared = ["output"]
        complete()
      }
    }
    return nil
  }

  /// The user did not interrupt the supply.
  mutating func leaveOutPowerLoss() {
    state.report.skip(CheckPart.powerLoss.rawValue, because: "the person left it out")
  }

  /// Takes a part whose session is over: in order, or by an error or a second signal.
  mutating func receive(_ run: CheckRun, isInterrupted: Bool, isOrderly: Bool, at now: Instant) {
    (state, self.isInterrupted, self.isOrderly) = (run.state, isInterrupted, isOrderly)
    if run.hasChanged, let endedAt = run.endedAt {
      state.restoringSeconds = max(state.restoringSeconds, now.seconds(since: endedAt))
    }
    if run.part == .restored, isOrderly, !isInterrupted { complete() }
  }

  mutating func takeFindings() -> ArraySlice<CheckFinding> { state.takeFindings() }

  private mutating func complete() {
    isComplete = true
    guard let assumed = state.assumed else { return }
    state.report.judgeRestoring(state.restoringSeconds, lost: state.lost, uncompared: state.uncompared, assumed)
  }

  /// Why the command fails, after the last part.
  var failure: CommandFailure? {
    if isInterrupted {
      let isRestored = isOrderly && state.lost.isEmpty
      let text = isRestored ? "the receiver is restored" : "the next command restores the receiver"
      return CommandFailure(.unavailable, "\(path): interrupted; \(text)")
    }
    guard !state.report.deviations.isEmpty else { return nil }
    let names = state.report.deviations.map(\.name).joined(separator: ", ")
    return CommandFailure(
      exitCode: 1, description: "\(path): not as Sextant assumes: \(names); post the file of --out in an issue")
  }
}
