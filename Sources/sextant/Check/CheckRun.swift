// SPDX-License-Identifier: Apache-2.0
import Messages
import MonotonicTime
import Receiver
import ReceiverRuntime
import ReceiverStream
import WireBytes

/// The receiver and its line, as the session has them at an event.
struct CheckedLine {
  /// Whether the line is there. The requests of a lost one end without a reply before its loss is an event.
  var isOpen = false
  /// Whether its rate is given.
  var isBound = false
  var description: ReceiverDescription?
  var port: ReceiverPortNumber?
  /// The rate, baud; nil for a line without one.
  var rate: UInt32?
  /// The rate that the line has without the one that the session raised it to.
  var configuredRate: UInt32?
}

/// One part of `sextant check` in a session of its own, as a value: bytes, epochs, events of the session and the time in, actions and
/// findings out.
///
///     waiting ─▶ polling, reading, observing ─▶ changing ─▶ verifying ─▶ changing … ─▶ over     (settings)
///        │         reading ─▶ observing ─▶ repairing ─▶ reading …                               (powerLoss, restored)
///        ├──────▶ fallingAsleep ─▶ asleep ─▶ waking ─▶ findingFix                               (sleep)
///        ├──────▶ restarting ─▶ findingFix                                                      (hotStart, warmStart)
///        └──────▶ readingBatch ─▶ startingBatch ─▶ storing ─▶ retrieving                        (batch)
struct CheckRun {
  /// An action of the session, or a line for the user.
  enum Action: Equatable {
    /// The outcome is the next event `finished`.
    case submit(Command)
    case perform([ReceiverTask], restoring: [ReceiverValue])
    case set(DesiredConfiguration)
    case sleep(Milliseconds?)
    case wakeUp
    case retrieveBatch
    case notify(String)
  }

  /// The event that the part waits for.
  enum Stage {
    /// Until the receiver is identified, since the start or the first frame.
    case waiting(since: Instant, hasFrames: Bool, identified: Instant?)
    /// The replies so far; nil for none.
    case polling([CheckReply?], since: Instant)
    case reading(Reading)
    /// Epochs are observed before a change.
    case observing(Reading, until: Instant)
    case changing(CheckTrial, since: Instant)
    /// Epochs are observed after it.
    case verifying(CheckTrial, until: Instant)
    case fallingAsleep
    case asleep(until: Instant)
    case waking(since: Instant)
    case restarting
    case findingFix(since: Instant)
    case readingBatch
    case startingBatch
    case storing(epochs: Int, until: Instant)
    case retrieving(epochs: Int, fixes: Int)
    case repairing
    /// The session ends, which restores the receiver: since this time, or with a failure.
    case over(since: Instant?, CommandFailure?)

    /// The name of the finding that the stage belongs to; nil for the part's.
    var name: String? {
      switch self {
      case .polling, .reading: "replies"
      case .changing(let trial, _), .verifying(let trial, _): trial.kind.rawValue
      case .waking: "wake"
      default: nil
      }
    }
  }

  /// The settings that were read.
  struct Reading {
    var values: [ReceiverValue] = []
    var outputList: [String]?
    /// The time between two measurements of a u-blox receiver.
    var milliseconds: UInt16?
    /// Whether values that were not as found were written again.
    var isRepaired = false
  }

  private static let polls = 8
  private static var searchTimeout: Milliseconds { SearchLimit.length + Milliseconds(15_000) }
  private static var stageTimeout: Milliseconds { Milliseconds(60_000) }
  /// Rare sentences are observed for a minute before a command that sets all, also before they are restored.
  private static var messagesTimeout: Milliseconds { Milliseconds(120_000) }
  /// Enough for four epochs at one a second.
  private static var observation: Milliseconds { Milliseconds(4500) }
  /// The longest queue of a receiver on a full line (recorded: 5.9 s), and some epochs.
  private static var verification: Milliseconds { Milliseconds(9000) }
  /// Sentences of every tenth fix are observed, also of slow fixes.
  private static var readingTimeout: Milliseconds { Milliseconds(180_000) }
  private static let wantedEpochs = 4

  let part: CheckPart
  private(set) var state: CheckState
  /// Whether the part asked for a change.
  private(set) var hasChanged = false
  private let path: String
  private(set) var stage: Stage
  /// When the stage ends without its event, and its length.
  private var limit: (at: Instant, length: Milliseconds)
  /// The output since the stage began.
  private var observed = CheckObservation()
  private var actions: [Action] = []
  /// Whether a signal has requested the end.
  private var isStopping = false

  /// - Parameter state: the state after the part before.
  init(_ part: CheckPart, _ state: CheckState, path: String, at now: Instant) {
    (self.part, self.state, self.path) = (part, state, path)
    stage = .waiting(since: now, hasFrames: false, identified: nil)
    limit = (now + Self.searchTimeout, Self.searchTimeout)
  }

  var isOver: Bool { if case .over = stage { true } else { false } }
  var failure: CommandFailure? { if case .over(_, let failure) = stage { failure } else { nil } }
  /// When the part was over, and the end began that restores the receiver.
  var endedAt: Instant? { if case .over(let since, _) = stage { since } else { nil } }

  /// When `endRound` is due.
  var deadline: Instant? {
    switch stage {
    // A receiver that only its timer wakes is awaited.
    case .asleep where state.assumed?.isWokenByHost != true: limit.at
    case .observing(_, let until), .verifying(_, let until), .asleep(let until), .storing(_, let until):
      .earlier(until, limit.at)
    case .over: .zero
    default: limit.at
    }
  }

  mutating func nextAction() -> Action? { actions.isEmpty ? nil : actions.removeFirst() }

  mutating func takeFindings() -> ArraySlice<CheckFinding> { state.takeFindings() }

  // MARK: Events

  /// The session sent bytes.
  mutating func send(_ bytes: [UInt8], at now: Instant) { state.dialogue.send(bytes, at: now) }

  mutating func receive(_ bytes: RawSpan, at now: Instant) {
    observed.bytes += bytes.byteCount
    for name in state.dialogue.receive(bytes, at: now) where name != DialogueFilter.noFrame {
      observed.receive(name)
      switch stage {
      case .waiting(_, hasFrames: false, let identified):
        stage = .waiting(since: now, hasFrames: true, identified: identified)
      case .waking where isStopping: end(at: now)
      case .waking(let since):
        let seconds = now.seconds(since: since)
        if let assumed = state.assumed { state.report.judgeWake(seconds, period: state.periodSeconds, assumed) }
        findFix(since: since, at: now)
      default: break
      }
    }
  }

  mutating func receive(_ epoch: borrowing EpochAssembler.Report, at now: Instant) {
    guard !epoch.isUpdate else { return }
    // An epoch that is over may have begun before the restart.
    let earlier = Milliseconds(seconds: state.periodSeconds) + Milliseconds(500)
    if case .findingFix(let since) = stage, part != .sleep, now < since + earlier { return }
    let seconds = epoch.fix.time.map { Double($0.nanosecondsSince1970) / 1e9 }
    observed.endEpoch(at: seconds ?? Double(now.nanoseconds) / 1e9)
    if case .findingFix(let since) = stage {
      if epoch.fix.hasPosition { endStart(now.seconds(since: since), at: now) }
    } else if !isOver {
      state.hasFix = epoch.fix.hasPosition
    }
  }

  /// Takes another event; one that a request has finished only for the last request.
  mutating func receive(_ event: ReceiverConnection.Event, on line: CheckedLine, at now: Instant) {
    if case .opened(_, let rate) = event { state.dialogue.open(rate: rate, at: now) }
    if case .rate(let rate) = event { state.dialogue.setRate(rate, at: now) }
    if event == .session(.notRestored) {
      state.lost.append("some settings could not be restored (sextant configure show lists them)")
    }
    switch (stage, event) {
    case (.over, _): return
    case (_, .lost): fail(Reason.disconnected + ". The next command restores it")
    case (_, .ended): fail(Reason.file)
    case (_, _) where !line.isOpen: break
    case (.waiting(let since, let hasFrames, _), .session(.identified)):
      stage = .waiting(since: since, hasFrames: hasFrames, identified: now)
    case (.waiting(let since, _, let identified), .session(.configured)),
      (.waiting(let since, _, let identified), .session(.configurationFailed)):
      begin(identifiedAfter: identified.map { $0 > since ? $0.seconds(since: since) : 0 } ?? 0, on: line, at: now)
    case (.waiting, .session(.notIdentified)):
      fail("the receiver does not identify itself; nothing is known about its commands")
    case (.polling(let replies, let since), .finished(_, let outcome)):
      let secondsOnLine = line.rate.map { Double(observed.bytes) * 10 / Double(max($0, 1)) } ?? 0
      let reply = CheckReply(seconds: now.seconds(since: since), secondsOnLine: secondsOnLine)
      poll(after: replies + [outcome == .silent ? nil : reply], on: line, at: now)
    case (.reading(let reading), .finished(_, let outcome)): take(outcome, reading, at: now)
    case (.repairing, .finished): read(isRepaired: true, at: now)
    case (.changing(.baud(let wanted), let since), .session(.rateFound(let rate))) where rate == wanted:
      if let assumed = state.assumed { state.report.judgeBaud(rate, now.seconds(since: since), assumed) }
      end(at: now)
    // Settings of the step before are restored first. A search for a silent receiver sets the rate again and again.
    case (.changing(.baud(let wanted), _), .rate(let rate)) where rate == wanted:
      stage = .changing(.baud(rate), since: now)
    case (.changing(.baud(let rate), _), .session(.rateNotChanged)):
      if let assumed = state.assumed { state.report.judgeBaud(rate, nil, assumed) }
      end(at: now)
    case (.changing(let trial, let since), .session(.configured(let refused))):
      endChange(trial, now.seconds(since: since), isRefused: refused > 0, on: line, at: now)
    case (.changing(let trial, let since), .session(.configurationFailed)):
      endChange(trial, now.seconds(since: since), isRefused: true, on: line, at: now)
    case (.fallingAsleep, .session(.asleep(let until))):
      let settling = SessionTimes.settling + Milliseconds(seconds: 2 * state.periodSeconds)
      enter(.asleep(until: until ?? (isStopping ? now : now + settling)), at: now)
    case (.fallingAsleep, .session(.cannotSleep)):
      state.report.skip("sleep", because: "it cannot sleep by a command at this port")
      end(at: now)
    case (.fallingAsleep, .session(.refusesSaving)):
      state.report.skip("sleep", because: "it refuses to save settings that a sleep would lose")
      end(at: now)
    case (.fallingAsleep, .session(.doesNotSleep)), (.asleep, .session(.doesNotSleep)),
      (.waking, .session(.doesNotSleep)):
      end(with: "the receiver goes on sending after the request", "sleep", "asleep", at: now)
    case (.asleep, .session(.awake(.unrequested))):
      end(with: "it woke without a request", "sleep", "asleep", at: now)
    case (.asleep, .session(.awake(.time))) where isStopping: end(at: now)
    case (.asleep(let until), .session(.awake(.time))):
      addSleep()
      let late = now >= until ? now.seconds(since: until) : -until.seconds(since: now)
      if let assumed = state.assumed { state.report.judgeTimedWake(late, period: state.periodSeconds, assumed) }
      findFix(since: now, at: now)
    case (.waking, .session(.doesNotWake)), (.asleep, .session(.doesNotWake)):
      state.lost.append("the receiver is asleep; switch its supply off and on")
      end(with: "the receiver does not wake", "wake", "awake", at: now)
    case (.findingFix, .session(.resetToWake)), (.waking, .session(.resetToWake)):
      end(with: "it woke after a reset only", "wake by a byte", "reset", is: true, at: now)
    case (.asleep, .session(.rateFound(let rate))), (.waking, .session(.rateFound(let rate))),
      (.findingFix, .session(.rateFound(let rate))):
      compareRate(rate)
    case (.restarting, .finished(_, .sent)), (.restarting, .finished(_, .acknowledged)),
      (.restarting, .finished(_, .performed([.written]))):
      findFix(since: now, at: now)
    case (.restarting, .finished):
      end(with: "the receiver refused the restart, or did not reply", part.rawValue, "done", at: now)
    case (.readingBatch, .finished(_, let outcome)): startBatch(outcome, at: now)
    case (.startingBatch, .session(.batching(0))), (.startingBatch, .session(.configurationFailed)):
      endBatch(epochs: 0, fixes: 0, at: now)
    case (.startingBatch, .session(.batching(let epochs))):
      enter(.storing(epochs: epochs, until: now + Self.observation), at: now)
    case (.retrieving(let epochs, let fixes), .batch(.fix)): stage = .retrieving(epochs: epochs, fixes: fixes + 1)
    case (.retrieving(let epochs, let fixes), .batch(.finished)), (.retrieving(let epochs, let fixes), .batch(.cut)):
      endBatch(epochs: epochs, fixes: fixes, at: now)
    default: break
    }
    if case .waiting = stage, part == .settings, let text = event.notice(path: path, baud: nil) {
      actions.append(.notify(text))
    }
  }

  /// Requests the end, which restores the receiver. Returns whether the part goes on until it is over: a receiver that was put to sleep is
  /// woken first.
  mutating func interrupt(at now: Instant) -> Bool {
    isStopping = true
    switch stage {
    case .asleep where state.assumed?.isWokenByHost == true: enter(.waking(since: now), .wakeUp, at: now)
    case .over, .fallingAsleep, .asleep, .waking: break
    default:
      end(at: now)
      return false
    }
    return true
  }

  /// Takes the time, after the events of a round.
  mutating func endRound(on line: CheckedLine, at now: Instant) {
    switch stage {
    case .observing(let reading, let until) where now >= until || observed.epochs.count >= Self.wantedEpochs:
      endObservation(reading, on: line, at: now)
    case .verifying(let trial, let until): verify(trial, isLate: now >= until, on: line, at: now)
    case .asleep(let until) where now >= until && state.assumed?.isWokenByHost == true:
      addSleep()
      enter(.waking(since: now), .wakeUp, at: now)
    case .storing(let epochs, let until) where now >= until:
      enter(.retrieving(epochs: epochs, fixes: 0), .retrieveBatch, at: now)
    case .findingFix where now >= limit.at: endStart(nil, at: now)
    case .waiting(_, let hasFrames, _) where now >= limit.at:
      fail(
        hasFrames
          ? "the receiver does not reply; check that its input is enabled, and the wiring (RX to TX)"
          : "no receiver was found; \(Source.adviceOnSilence(of: path))")
    case .over: break
    default:
      guard now >= limit.at else { return }
      end(with: "it did not end within \(limit.length.count / 1000) s", stage.name ?? part.rawValue, "ended", at: now)
    }
  }

  // MARK: Stages

  private mutating func enter(
    _ stage: Stage, _ action: Action? = nil, at now: Instant, for time: Milliseconds = Self.stageTimeout
  ) {
    (self.stage, limit, observed) = (stage, (now + time, time), CheckObservation())
    if let action { actions.append(action) }
  }

  private mutating func end(at now: Instant) { stage = .over(since: now, nil) }

  /// Ends the part with a deviation: a state that is not the assumed one.
  private mutating func end(
    with deviation: String, _ name: String, _ key: String, is measured: Bool = false, at now: Instant
  ) {
    let (measured, assumed) = (JSON.object([.init(key, .bool(measured))]), JSON.object([.init(key, .bool(!measured))]))
    state.report.add(name, measured, assumed: assumed, deviation: deviation)
    end(at: now)
  }

  private mutating func fail(_ reason: String) {
    stage = .over(since: nil, CommandFailure(.unavailable, "\(path): \(reason)"))
  }

  private mutating func begin(identifiedAfter seconds: Double, on line: CheckedLine, at now: Instant) {
    guard let description = line.description else { return }
    let assumed = CheckAssumptions(description, port: line.port, poll: Self.poll(description))
    (state.description, state.assumed) = (description, assumed)
    switch part {
    case .settings:
      state.report.identify(description)
      let notice = "\(path): its logger runs; it is off during each restart of the check, and keeps its records"
      if description.runningLog != nil { actions.append(.notify(notice)) }
      state.report.judgeIdentification(seconds, assumed)
      read(at: now)
    case .restored, .powerLoss: read(at: now)
    case .sleep:
      hasChanged = true
      if description.family != nil { actions.append(.perform([], restoring: state.valuesToRestore)) }
      let time = assumed.isWokenByHost ? nil : SessionTimes.shortestSleep(of: description)
      enter(.fallingAsleep, .sleep(time), at: now)
    case .batch: enter(.readingBatch, .submit(BatchStatus.poll), at: now)
    case .hotStart, .warmStart: restart(description, at: now)
    }
  }

  // MARK: Settings

  /// Reads the settings that the receiver reports or that its output shows.
  private mutating func read(isRepaired: Bool = false, at now: Instant) {
    guard let description = state.description else { return }
    let reading = Reading(isRepaired: isRepaired)
    guard description.family != nil else {
      return enter(
        .reading(reading), .submit(.measurementPeriod(of: description)), at: now, for: Self.readingTimeout)
    }
    var kinds = [.period, .messages, .constellations].filter { description.reports($0) }
    if state.comparesOutput { kinds += [.period, .messages].filter { description.isObserved($0) } }
    if kinds.isEmpty { return observe(reading, at: now) }
    let tasks: [ReceiverTask] = kinds.map { $0 == .messages ? .observe($0) : .read($0) }
    enter(.reading(reading), .perform(tasks, restoring: []), at: now, for: Self.readingTimeout)
  }

  private mutating func take(_ outcome: Outcome, _ reading: Reading, at now: Instant) {
    var reading = reading
    switch outcome {
    case .performed(let results):
      for case .value(let value) in results { reading.values.append(value) }
      if state.comparesOutput, let list = state.description?.outputList {
        return enter(.reading(reading), .submit(list), at: now)
      }
    case .listed(let lines):
      reading.outputList = CheckState.messages(inList: lines)
      reading.values = reading.values.map { CheckState.naming($0, by: reading.outputList ?? []) }
    case .answered(let payload):
      guard let description = state.description else { break }
      reading.milliseconds = Command.measurementPeriod(in: payload, of: description)
    default: break
    }
    observe(reading, at: now)
  }

  private mutating func observe(_ reading: Reading, at now: Instant) {
    var milliseconds = reading.milliseconds ?? 0
    for case .period(let reported) in reading.values { milliseconds = reported }
    let time = max(Self.observation, Milliseconds(UInt64(milliseconds) * UInt64(Self.wantedEpochs)))
    enter(.observing(reading, until: now + time), at: now, for: time + Self.stageTimeout)
  }

  private mutating func endObservation(_ reading: Reading, on line: CheckedLine, at now: Instant) {
    let found = CheckState.Found(
      rate: line.isBound ? nil : line.configuredRate, periodSeconds: observed.periodSeconds, names: observed.names,
      steadyNames: observed.steadyNames, bytesPerSecond: observed.bytesPerSecond)
    switch part {
    case .settings:
      state.measurementMilliseconds = reading.milliseconds
      state.setFound(found, reading.values, outputList: reading.outputList)
      state.judgeState(reported: reading.values, sent: found.periodSeconds)
      // Late replies to the requests so far have come.
      poll(after: [], on: line, at: now)
    case .powerLoss:
      let lost = state.differences(now: found, values: reading.values, outputList: reading.outputList)
      state.report.add(
        "power loss",
        ["lost": .array(lost.map { .string($0) }), "fixAfterObservation": .bool(state.hasFix)],
        assumed: ["settings": "may be lost"])
      end(at: now)
    default:
      // Values that are not as they were found are set again, once, and read again.
      let tasks = reading.isRepaired ? [] : state.repairs(of: reading.values)
      guard tasks.isEmpty else {
        return enter(.repairing, .perform(tasks, restoring: []), at: now, for: Self.messagesTimeout)
      }
      state.lost += state.differences(now: found, values: reading.values, outputList: reading.outputList)
      end(at: now)
    }
  }

  /// The poll whose replies are measured.
  private static func poll(_ receiver: ReceiverDescription) -> Command { receiver.familyPoll ?? .poll(.monVER) }

  private mutating func poll(after replies: [CheckReply?], on line: CheckedLine, at now: Instant) {
    guard replies.count < Self.polls, var command = state.description.map(Self.poll) else {
      if let assumed = state.assumed { state.report.judgeReplies(replies.compactMap(\.self), of: Self.polls, assumed) }
      return start(CheckTrial.Kind.allCases[...], on: line, at: now)
    }
    // One request, and more than the time of all: a reply to the first is not taken for one to the second.
    (command.attempts, command.timeout) = (1, command.longestWait * 2)
    enter(.polling(replies, since: now), .submit(command), at: now)
  }

  /// Starts the first of these trials that can be made.
  private mutating func start(_ kinds: ArraySlice<CheckTrial.Kind>, on line: CheckedLine, at now: Instant) {
    for kind in kinds {
      if kind == .baud {
        state.dialogue.countsRequests = false
        let changes = state.dialogue.changes
        state.report.judgeAcknowledgements(requests: changes.requests, repeated: changes.repeated)
      }
      guard let description = state.description else { return }
      switch state.plan(kind, description, on: line) {
      case .skip(let reason): state.report.skip(kind.rawValue, because: reason)
      case .make(let trial):
        hasChanged = true
        if kind != .baud { state.dialogue.countsRequests = true }
        let time = kind == .messages || kind == .baud ? Self.messagesTimeout : Self.stageTimeout
        return enter(.changing(trial, since: now), .set(trial.desired(of: description)), at: now, for: time)
      }
    }
    end(at: now)
  }

  private mutating func endChange(
    _ trial: CheckTrial, _ seconds: Double, isRefused: Bool, on line: CheckedLine, at now: Instant
  ) {
    switch trial {
    case .rate(let milliseconds) where !isRefused:
      let time = Milliseconds(UInt64(milliseconds) * 6) + Milliseconds(1500)
      return enter(.verifying(trial, until: now + time), at: now)
    case .messages where !isRefused:
      let time = max(Self.verification, Milliseconds(seconds: Double(Self.wantedEpochs) * state.periodSeconds))
      return enter(.verifying(trial, until: now + time), at: now)
    case .rate(let milliseconds):
      state.report.judgeRate(
        before: state.periodSeconds, wanted: Double(milliseconds) / 1000, after: nil, isRefused: true)
    case .messages(let message, let isOn):
      state.report.judgeMessages(message, on: isOn, isSeen: false, isRefused: true)
    case .constellations: state.report.judgeConstellations(seconds, isRefused: isRefused)
    case .baud: return
    }
    start(trial.kind.later, on: line, at: now)
  }

  private mutating func verify(_ trial: CheckTrial, isLate: Bool, on line: CheckedLine, at now: Instant) {
    switch trial {
    case .rate(let milliseconds):
      let (wanted, period) = (Double(milliseconds) / 1000, observed.periodSeconds)
      let isThere = period.map { abs($0 - wanted) <= wanted * CheckAssumptions.Tolerance.period } ?? false
      guard isLate || isThere && observed.epochs.count >= Self.wantedEpochs else { return }
      state.report.judgeRate(before: state.periodSeconds, wanted: wanted, after: period, isRefused: false)
    case .messages(let message, let isOn):
      let isSeen = isOn ? observed.has(message) : observed.epochs.count >= 2 && observed.epochsWithout(message) >= 2
      guard isSeen || isLate else { return }
      state.report.judgeMessages(
        message, on: isOn, isSeen: isSeen, isRefused: false, isSilent: observed.bytes == 0)
    case .constellations, .baud: break
    }
    start(trial.kind.later, on: line, at: now)
  }

  // MARK: Sleep, starts, batch

  private mutating func addSleep() { state.report.add("sleep", ["asleep": true], assumed: ["asleep": true]) }

  /// A u-blox receiver loses what its volatile memory alone has, in every sleep.
  private mutating func compareRate(_ rate: UInt32) {
    guard let before = state.found?.rate, before != rate, state.description?.family != nil,
      !state.report.has("baud after sleep")
    else { return }
    state.report.add(
      "baud after sleep", ["rate": .integer(Int64(rate))], assumed: ["rate": .integer(Int64(before))],
      deviation: "after the sleep the receiver sends at \(rate) baud, before it at \(before)")
  }

  /// The kind of start that follows a restart or a sleep.
  private var start: StartKind { part == .warmStart ? .warm : .hot }

  private mutating func restart(_ description: ReceiverDescription, at now: Instant) {
    if description.family == nil {
      enter(.restarting, .submit(ResetMode.gnss.command(start)), at: now)
    } else if description.takes(start.action) {
      let values = state.valuesToRestore
      hasChanged = !values.isEmpty
      enter(.restarting, .perform([.act(start.action)], restoring: values), at: now)
    } else {
      state.report.skip(part.rawValue, because: "the family has no command")
      end(at: now)
    }
  }

  private mutating func findFix(since: Instant, at now: Instant) {
    guard let assumed = state.assumed else { return }
    // A start of another kind is measured, too.
    let usual = start == .hot ? 5 + assumed.hotStartSeconds : assumed.warmStartSeconds
    let longest = 3 * usual + (part == .sleep ? 0 : assumed.restartSeconds)
    enter(.findingFix(since: since), at: now, for: Milliseconds(seconds: longest))
  }

  private mutating func endStart(_ seconds: Double?, at now: Instant) {
    // A restart may lose settings that the receiver's output alone shows.
    let showsOutputAlone = part != .sleep && state.description?.isObserved(.messages) == true
    if seconds == nil, !state.hasFix {
      state.report.skip("\(start.rawValue) start", because: "the receiver had no fix before")
    } else if observed.epochs.isEmpty, showsOutputAlone {
      state.report.skip(part.rawValue, because: "the receiver lost its sentences in the restart")
    } else if let assumed = state.assumed {
      state.report.judgeStart(start, seconds, period: state.periodSeconds, isRestart: part != .sleep, assumed)
    }
    end(at: now)
  }

  private mutating func startBatch(_ outcome: Outcome, at now: Instant) {
    guard case .answered(let payload) = outcome, let status = BatchStatus(payload), let description = state.description,
      let epochs = state.assumed?.batchEpochs
    else { return end(with: "the receiver does not report the state of its batch", "batch", "reported", at: now) }
    guard status.fillLevel == 0 else {
      state.report.skip(
        "batch", because: "it holds \(status.fillLevel) fixes that were not read; sextant batch retrieve")
      return end(at: now)
    }
    hasChanged = true
    let batch = BatchConfiguration(epochs: epochs, isExtended: false)
    enter(.startingBatch, .set(.batching(batch, for: description)), at: now)
  }

  private mutating func endBatch(epochs: Int, fixes: Int, at now: Instant) {
    if let assumed = state.assumed { state.report.judgeBatch(epochs: epochs, fixes: fixes, assumed) }
    end(at: now)
  }
}
