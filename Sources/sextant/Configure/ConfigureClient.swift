// SPDX-License-Identifier: Apache-2.0

import LinuxIO
import MonotonicTime
import Receiver
import ReceiverRuntime
import ReceiverStream
import SerialPort

/// The line of a script.
struct ConfiguredLine {
  /// The receiver's port at the line, as far as it is known.
  var port: ReceiverPortNumber?
  var hasRate: Bool
  /// The rate of the line while the script runs, if it is raised.
  var raisedRate: RaisedRate?
  /// The measured load of the line; nil if it was not requested.
  var measured: MeasuredLine?
}

/// The change of a line with a rate before a script runs.
enum LinePreparation: Equatable {
  /// No change.
  case none
  /// Raise the rate of a full line while the script runs: a full line would lose the replies.
  case raisedIfFull
  /// Raise the rate to at least this value, baud. The script needs it, and does not run otherwise.
  case raised(to: UInt32)
}

/// Runs a script on a receiver: identifies the receiver, sends the commands of the script, and changes the rate of the
/// line at the end if the script requests it.
struct ConfigureClient<Script: ReceiverScript>: ReceiverClient, ~Copyable {
  /// Makes the script for an identified receiver.
  typealias Making = (ReceiverDescription, ConfiguredLine) throws(SettingProblem) -> Script

  /// Makes the request for a receiver of another maker.
  typealias FamilyMaking = (ReceiverDescription, UInt32?) -> FamilySettings.Request

  private enum Stage {
    case waiting, raising, measuring, running, changingRate(UInt32), over
    /// The tasks of a receiver of another maker, and those that undo them.
    case performing, undoing([ReceiverTask])
  }

  /// The time limits: to find the receiver, to identify it (on a full line replies are lost), and between two replies.
  private static var searchTimeout: Milliseconds { Milliseconds(15_000) }
  private static var identificationTimeout: Milliseconds { Milliseconds(30_000) }
  private static var identificationTimeoutOnFullLine: Milliseconds { Milliseconds(60_000) }
  private static var replyTimeout: Milliseconds { Milliseconds(30_000) }
  /// For tasks that are verified by what the receiver sends; and for the return of a receiver after a restart.
  private static var taskTimeout: Milliseconds { Milliseconds(180_000) }
  private static var returnTimeout: Milliseconds { Milliseconds(60_000) }

  let path: String
  private static var noReply: String {
    "the receiver does not reply any more; check the cable, or use a higher baud rate or fewer messages on a full line"
  }

  private let making: Making
  private let familyMaking: FamilyMaking
  /// The request for a receiver of another maker, and its results in the order of its tasks.
  private(set) var request: FamilySettings.Request?
  private(set) var performed: [ReceiverTask.Result] = []
  /// The rate of the line after the request, if the request reads it.
  private(set) var readRate: UInt32?
  /// The rate to set back after a failure.
  private var rateBefore: UInt32?
  /// The rate that the line of a receiver of another maker did not get.
  private(set) var failedRate: UInt32?
  private let portRate: (Script) -> UInt32?
  private let showsProgress: Bool
  private let toleratesSilence: Bool
  private let preparation: LinePreparation
  private let measures: Bool
  private var load = LineLoad()
  private var wasFull = false
  private var stage = Stage.waiting
  private var ticket: SessionTicket?
  private var lastProgress: Instant
  private(set) var deadline: Instant?
  private var dialogue: ScriptDialogue<Script>?
  /// Why the script ended early.
  private(set) var failure: CommandFailure?
  private(set) var description: ReceiverDescription?
  /// The new rate of the line.
  private(set) var changedRate: UInt32?

  /// - Parameters:
  ///   - path: the name of the receiver in messages.
  ///   - toleratesSilence: whether the receiver may be away for some time, as after a reset.
  ///   - returns: whether the receiver is away at first, after a restart.
  ///   - preparation: the change of the line before the script.
  ///   - measures: whether the load of the line is measured before the script.
  ///   - portRate: returns the rate of the line after the script.
  ///   - family: returns the request for a receiver of another maker on a line of a rate, which gets no script.
  init(
    _ path: String, toleratesSilence: Bool = false, returns: Bool = false, preparation: LinePreparation = .none,
    measures: Bool = false,
    portRate: @escaping (Script) -> UInt32? = { _ in nil }, family: @escaping FamilyMaking, making: @escaping Making
  ) {
    familyMaking = family
    self.preparation = preparation
    self.measures = measures
    self.path = path
    self.making = making
    self.portRate = portRate
    self.toleratesSilence = toleratesSilence
    showsProgress = sextant.showsProgress()
    lastProgress = SystemClock.monotonic
    deadline = lastProgress + (returns ? Self.returnTimeout : Self.searchTimeout)
  }

  /// The script with its results; nil until the receiver is identified.
  var script: Script? { dialogue?.script }

  var isOver: Bool { if case .over = stage { true } else { false } }

  mutating func receive(bytes: RawSpan, at now: Instant) { load.receive(bytes: bytes.byteCount, at: now) }

  mutating func receive(
    _ event: ReceiverConnection.Event, _ connection: ReceiverConnection, _ poller: inout Poller, at now: Instant
  ) {
    if case .waiting = stage, showsProgress, let text = Self.progress(of: event) { putProgress(text) }
    switch event {
    case .rate, .session(.rateFound): load.restart()
    // On a full line the identification takes long; the script has its own time limit.
    case .session(.identified): lastProgress = now
    default: break
    }
    switch (stage, event) {
    case (.waiting, .session(.configured)) where connection.description?.family != nil:
      startTasks(connection, &poller, at: now)
    case (.changingRate(let wanted), .session(.configured)) where request != nil && connection.rate == wanted:
      changedRate = wanted
      finishChangingRate(connection, &poller, at: now)
    case (.changingRate, .session(.rateFound)) where request != nil: break
    case (.waiting, .session(.rateNotChanged(let wanted))) where isNeeded(wanted):
      fail("the receiver was not found at \(wanted) baud; nothing was changed")
    case (.waiting, .session(.configured)), (.raising, .session(.configured)): prepare(connection, &poller, at: now)
    case (.waiting, .session(.notIdentified)):
      load.measure(at: now)
      fail(
        load.isFull(at: connection.rate)
          ? Self.fullLine(connection.rate)
          : "the receiver does not identify itself; only a receiver that replies can be configured")
    case (.changingRate(let wanted), .session(.rateFound(let rate))) where rate == wanted:
      changedRate = rate
      stage = .over
    // The line already has the rate: it was raised to it, and keeps it now.
    case (.changingRate(let wanted), .session(.configured)) where connection.rate == wanted:
      changedRate = wanted
      stage = .over
    case (.changingRate, .session(.rateNotChanged)) where request == nil:
      dialogue?.abandonPortRate()
      stage = .running
      sendNext(connection, &poller, at: now)
    case (.changingRate, .session(.rateNotChanged(let wanted))):
      failedRate = wanted
      undoTasks(connection, &poller, at: now)
    case (_, .finished(let finished, let outcome)) where finished == ticket:
      ticket = nil
      take(outcome, connection, &poller, at: now)
    case (.over, _): break
    case (_, .lost): fail(Reason.disconnected)
    case (_, .ended): fail("a file cannot be configured; name the device of a receiver")
    case (_, .session(.adviseOnSilence)):
      if showsProgress { clearProgress() }
      if let text = event.notice(path: path, baud: nil) { printNotice(text) }
    default: break
    }
  }

  mutating func finishRound(
    _ connection: ReceiverConnection, _ poller: inout Poller, at now: Instant
  ) throws -> Bool {
    if case .over = stage { return true }
    if load.isFull(at: connection.rate) { wasFull = true }
    if let deadline, now >= deadline {
      if case .measuring = stage, ticket == nil {
        if request != nil {
          readPeriod(connection, &poller, at: now)
        } else {
          start(connection, &poller, at: now)
        }
        return isOver
      }
      if case .waiting = stage, connection.counters.frames > 0, now < lastProgress + identificationTimeout {
        self.deadline = lastProgress + identificationTimeout
        return false
      }
      if case .waiting = stage {
        fail(
          connection.counters.frames > 0
            ? "the receiver does not reply; check that its input is enabled, and the wiring (RX to TX)"
            : "no receiver was found; \(Source.adviceOnSilence(of: path))")
      } else {
        fail(Self.noReply)
      }
      return true
    }
    return false
  }

  // MARK: The line

  private var identificationTimeout: Milliseconds {
    wasFull ? Self.identificationTimeoutOnFullLine : Self.identificationTimeout
  }

  private func isNeeded(_ rate: UInt32) -> Bool { preparation == .raised(to: rate) }

  /// The message for a full line, on which replies are lost.
  private static func fullLine(_ rate: UInt32?) -> String {
    "the receiver's own messages fill the line at \(rate ?? 0) baud, and its replies are lost; try again, reduce its "
      + "messages over another port, or switch it off and on to discard unsaved settings"
  }

  /// Prepares the line for the script, and measures its load.
  private mutating func prepare(_ connection: ReceiverConnection, _ poller: inout Poller, at now: Instant) {
    load.measure(at: now)
    if case .waiting = stage, preparation == .raisedIfFull, connection.raisedRate == nil,
      load.isFull(at: connection.rate)
    {
      stage = .raising
      lastProgress = now
      deadline = now + Self.identificationTimeoutOnFullLine
      var desired = DesiredConfiguration.nothing
      desired.portRate = Configure.dialogueRate
      return connection.set(desired, &poller, at: now)
    }
    guard measures, connection.rate != nil else { return start(connection, &poller, at: now) }
    startMeasuring(at: now)
  }

  private mutating func startMeasuring(at now: Instant) {
    load.restartAtBurst()
    stage = .measuring
    // The window of the measurement begins with the first burst.
    deadline = now + LineLoad.window + Milliseconds(2200)
  }

  // MARK: A receiver of another maker

  private mutating func startTasks(_ connection: ReceiverConnection, _ poller: inout Poller, at now: Instant) {
    guard let description = connection.description else { return }
    self.description = description
    let request = familyMaking(description, connection.rate)
    self.request = request
    guard request.missing.isEmpty || request.isPartial else {
      return fail("\(description.summary) does not have \(NameList.text(request.missing)); nothing was changed")
    }
    if measures, request.period != nil, connection.rate != nil { return startMeasuring(at: now) }
    changeLine(connection, &poller, at: now)
  }

  /// Reads the present time between fixes, once the load of the line is measured.
  private mutating func readPeriod(_ connection: ReceiverConnection, _ poller: inout Poller, at now: Instant) {
    deadline = now + Self.taskTimeout
    ticket = connection.perform([.read(.period)], &poller, at: now)
    if ticket == nil { fail(Reason.disconnected) }
  }

  /// Refuses what the line cannot carry, or begins the request.
  private mutating func judge(
    _ results: [ReceiverTask.Result], _ connection: ReceiverConnection, _ poller: inout Poller, at now: Instant
  ) {
    if case .value(.period(let present))? = results.first, let line = measured(connection, at: now),
      let problem = request?.problem(present: present, line)
    {
      failure = CommandFailure(.usage, problem.description)
      stage = .over
      return
    }
    changeLine(connection, &poller, at: now)
  }

  private mutating func changeLine(_ connection: ReceiverConnection, _ poller: inout Poller, at now: Instant) {
    // A higher rate comes before what needs it.
    if let baud = request?.baud, let rate = connection.rate, baud > rate {
      rateBefore = rate
      return changeRate(to: baud, connection, &poller, at: now)
    }
    perform(connection, &poller, at: now)
  }

  private mutating func perform(_ connection: ReceiverConnection, _ poller: inout Poller, at now: Instant) {
    guard let request, !request.tasks.isEmpty else { return finishTasks([], connection, &poller, at: now) }
    stage = .performing
    deadline = now + Self.taskTimeout
    // The tasks of one call are done all or not at all.
    let tasks = request.isPartial ? [request.tasks[performed.count]] : request.tasks
    ticket = connection.perform(tasks, &poller, at: now)
    if ticket == nil { fail(Reason.disconnected) }
  }

  private mutating func changeRate(
    to rate: UInt32, _ connection: ReceiverConnection, _ poller: inout Poller, at now: Instant
  ) {
    stage = .changingRate(rate)
    deadline = now + Self.replyTimeout
    var desired = DesiredConfiguration()
    desired.portRate = rate
    desired.keepsPortRate = true
    connection.set(desired, &poller, at: now)
  }

  private mutating func finishTasks(
    _ results: [ReceiverTask.Result], _ connection: ReceiverConnection, _ poller: inout Poller, at now: Instant
  ) {
    performed += results
    let isPartial = request?.isPartial == true
    if isPartial, performed.count < request?.tasks.count ?? 0 { return perform(connection, &poller, at: now) }
    let isDone = isPartial || performed.allSatisfy(\.isDone)
    if !isDone, let rateBefore {
      self.rateBefore = nil
      return changeRate(to: rateBefore, connection, &poller, at: now)
    }
    if isDone, let baud = request?.baud, connection.rate != nil, connection.rate != baud {
      return changeRate(to: baud, connection, &poller, at: now)
    }
    finishRequest(connection)
  }

  private mutating func finishChangingRate(
    _ connection: ReceiverConnection, _ poller: inout Poller, at now: Instant
  ) {
    // The tasks follow a higher rate; after a failure, or after the tasks, this is the end.
    if rateBefore != nil, performed.isEmpty, request?.tasks.isEmpty == false {
      perform(connection, &poller, at: now)
    } else {
      finishRequest(connection)
    }
  }

  /// The line did not get the last rate of the request: all or nothing is undone.
  private mutating func undoTasks(_ connection: ReceiverConnection, _ poller: inout Poller, at now: Instant) {
    let undoing = connection.undoingTasks
    guard request?.isPartial == false, !undoing.isEmpty else { return finishRequest(connection) }
    stage = .undoing(undoing)
    deadline = now + Self.taskTimeout
    ticket = connection.perform(undoing, &poller, at: now)
    if ticket == nil { fail(Reason.disconnected) }
  }

  private mutating func finishUndoing(
    _ tasks: [ReceiverTask], _ results: [ReceiverTask.Result], _ connection: ReceiverConnection
  ) {
    let undone = zip(tasks, results).filter(\.1.isDone).compactMap { Self.kind(of: $0.0) }
    for (index, task) in (request?.tasks ?? []).enumerated() where performed[index] == .written {
      if let kind = Self.kind(of: task), undone.contains(kind) { performed[index] = .withdrawn }
    }
    finishRequest(connection)
  }

  private static func kind(of task: ReceiverTask) -> ReceiverValue.Kind? {
    if case .set(let value) = task { value.kind.stored } else { nil }
  }

  private mutating func finishRequest(_ connection: ReceiverConnection) {
    if showsProgress { clearProgress() }
    readRate = connection.rate
    stage = .over
  }

  // MARK: The script

  private mutating func start(_ connection: ReceiverConnection, _ poller: inout Poller, at now: Instant) {
    guard let description = connection.description else { return }
    self.description = description
    do throws(SettingProblem) {
      let line = ConfiguredLine(
        port: connection.port, hasRate: connection.rate != nil, raisedRate: connection.raisedRate,
        measured: measured(connection, at: now))
      dialogue = ScriptDialogue(try making(description, line), toleratesSilence: toleratesSilence, at: now)
    } catch {
      failure = CommandFailure(.usage, error.description)
      stage = .over
      return
    }
    stage = .running
    sendNext(connection, &poller, at: now)
  }

  private mutating func measured(_ connection: ReceiverConnection, at now: Instant) -> MeasuredLine? {
    load.measure(at: now)
    guard measures, let rate = connection.rate, let bytesPerSecond = load.bytesPerSecond else { return nil }
    return MeasuredLine(rate: rate, restoredRate: connection.configuredRate, bytesPerSecond: bytesPerSecond)
  }

  private mutating func take(
    _ outcome: Outcome, _ connection: ReceiverConnection, _ poller: inout Poller, at now: Instant
  ) {
    switch (stage, outcome) {
    case (.measuring, .performed(let results)): return judge(results, connection, &poller, at: now)
    case (.performing, .performed(let results)): return finishTasks(results, connection, &poller, at: now)
    case (.undoing(let tasks), .performed(let results)): return finishUndoing(tasks, results, connection)
    default: break
    }
    guard case .running = stage else { return }
    dialogue?.receive(outcome)
    sendNext(connection, &poller, at: now)
  }

  private mutating func sendNext(_ connection: ReceiverConnection, _ poller: inout Poller, at now: Instant) {
    lastProgress = now
    deadline = now + Self.replyTimeout
    switch dialogue?.next(at: now) {
    case .send(let command):
      showProgress()
      ticket = connection.submit(command, &poller, at: now)
      if ticket == nil { fail(Reason.disconnected) }
      return
    case .noReply: return fail(Self.noReply)
    case .endless:
      return fail(
        "the receiver has replied for \(ScriptDialogue<Script>.timeLimit.count / 1000) s and the dialogue has no end; "
          + "it does not behave as a u-blox receiver, or its line is too slow")
    case .over, nil: break
    }
    if showsProgress { clearProgress() }
    // A raised rate is restored by the session.
    guard let script, let rate = portRate(script), rate != connection.configuredRate else {
      stage = .over
      return
    }
    stage = .changingRate(rate)
    var desired = DesiredConfiguration()
    desired.portRate = rate
    desired.keepsPortRate = true
    connection.set(desired, &poller, at: now)
  }

  private mutating func fail(_ reason: String) {
    if showsProgress { clearProgress() }
    failure = CommandFailure(.unavailable, "\(path): \(reason)")
    stage = .over
  }

  // MARK: Progress

  /// The progress until the receiver is identified and the line prepared, which takes seconds on a slow, full line.
  private static func progress(of event: ReceiverConnection.Event) -> String? {
    switch event {
    case .opened: "searching for the receiver"
    case .rate(let rate): "at \(rate) baud"
    case .session(.rateFound(let rate)): "found at \(rate) baud, identifying the receiver"
    case .session(.identified): "preparing"
    default: nil
    }
  }

  private func showProgress() {
    guard showsProgress, let progress = script?.progress, progress.of > 4 else { return }
    putProgress("\(progress.done) of \(progress.of)")
  }
}

/// Names of settings in one line: the first ones, and the number of the others.
enum NameList {
  private static let most = 8

  static func text(_ names: [String]) -> String {
    names.count <= most
      ? names.joined(separator: ", ") : names.prefix(most).joined(separator: ", ") + " and \(names.count - most) more"
  }
}
