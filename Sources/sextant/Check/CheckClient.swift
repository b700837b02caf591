// SPDX-License-Identifier: Apache-2.0
import LinuxIO
import MonotonicTime
import Receiver
import ReceiverRuntime
import ReceiverStream
import SerialPort
import WireBytes

/// One part of `sextant check`, in a session of its own: the session's end restores the receiver, and after a kill its
/// crash-recovery record does.
struct CheckClient: ReceiverClient, ~Copyable {
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

  private(set) var failure: CommandFailure?
  private(set) var state: CheckState
  /// When the part was over, and the end began that restores the receiver.
  private(set) var endedAt: Instant?
  /// Whether the part asked for a change.
  private(set) var hasChanged = false

  private let part: Part
  private let path: String
  private let hasBoundRate: Bool
  private let dialogue: PublishedDialogue
  private var stage = Stage.waiting
  private let started: Instant
  private var limit: Instant
  private var firstFrame: Instant?
  private var identifiedAt: Instant?
  private var replies: [CheckReply] = []
  private var silentPolls = 0
  private var observed = CheckObservation()
  private var receivedBytes = 0
  private var bytesPerSecond = 0.0
  private var wantedMilliseconds: UInt16 = 0
  private var message = CheckedMessage.navDOP
  private var switchesOn = true
  private var readValues: [ReceiverValue] = []
  private var outputList: [String]?
  private var isRepaired = false
  private var batchEpochs = 0
  private var batchFixes = 0
  private var rateBeforeSleep: UInt32?
  /// Whether a signal has requested the end.
  private var isStopping = false

  init(_ part: Part, _ choice: Source.Choice, _ dialogue: PublishedDialogue, _ state: CheckState) {
    self.part = part
    self.dialogue = dialogue
    self.state = state
    path = choice.source.name
    hasBoundRate = choice.baud != nil
    started = SystemClock.monotonic
    limit = started + Self.searchTimeout
  }

  var deadline: Instant? {
    switch stage {
    case .observing(let until), .verifying(_, let until), .asleep(let until), .storing(let until):
      .earlier(until, limit)
    case .over: .zero
    default: limit
    }
  }

  private var isOver: Bool { if case .over = stage { true } else { false } }

  // MARK: Events

  mutating func receive(bytes: RawSpan, at now: Instant) {
    receivedBytes += bytes.byteCount
    for name in dialogue.receive(bytes, at: now) where name != DialogueFilter.noFrame {
      observed.receive(name)
      firstFrame = firstFrame ?? now
      guard case .waking(let since) = stage, let assumed = state.assumed else { continue }
      if isStopping { return end(at: now) }
      state.report.judgeWake(now.seconds(since: since), period: state.periodSeconds, assumed)
      enter(.findingFix(.hot, since: since), at: now, for: fixTimeout(.hot))
    }
  }

  mutating func receive(_ epoch: borrowing EpochAssembler.Report, _ sky: borrowing Sky, at now: Instant) {
    guard !epoch.isUpdate, !mayPrecedeRestart(at: now) else { return }
    let seconds = epoch.fix.time.map { Double($0.nanosecondsSince1970) / 1e9 }
    observed.endEpoch(at: seconds ?? Double(now.nanoseconds) / 1e9)
    if case .findingFix(let start, let since) = stage {
      if epoch.fix.hasPosition { endStart(start, now.seconds(since: since), at: now) }
    } else if !isOver {
      state.hasFix = epoch.fix.hasPosition
    }
  }

  /// Whether an epoch that is over may have begun before the restart.
  private func mayPrecedeRestart(at now: Instant) -> Bool {
    guard part != .sleep, case .findingFix(_, let since) = stage else { return false }
    return now < since + Milliseconds(seconds: state.periodSeconds) + Milliseconds(500)
  }

  mutating func receive(
    _ event: ReceiverConnection.Event, _ connection: ReceiverConnection, _ poller: inout Poller, at now: Instant
  ) {
    switch event {
    case .opened(_, let rate):
      dialogue.open(rate: rate, at: now)
      let dialogue = dialogue
      connection.onSend = { dialogue.send($0, at: SystemClock.monotonic) }
    case .rate(let rate):
      dialogue.setRate(rate, at: now)
      // Settings of the step before are restored first.
      if case .changingRate(rate, _) = stage { enter(.changingRate(to: rate, since: now), at: now) }
    case .session(.notRestored):
      state.lost.append("some settings could not be restored (sextant configure show lists them)")
    case .lost: fail(Reason.disconnected + ". The next command restores it")
    case .ended: fail(Reason.file)
    case .session(.rateFound(let rate)): findRate(rate, at: now)
    default: break
    }
    guard !isOver else { return }
    receiveOfStage(event, connection, &poller, at: now)
    if case .waiting = stage, part == .settings, let text = event.notice(path: path, baud: nil) { printNotice(text) }
  }

  private mutating func receiveOfStage(
    _ event: ReceiverConnection.Event, _ connection: ReceiverConnection, _ poller: inout Poller, at now: Instant
  ) {
    switch (stage, event) {
    case (.waiting, .session(.identified)): identifiedAt = now
    case (.waiting, .session(.configured)), (.waiting, .session(.configurationFailed)):
      begin(connection, &poller, at: now)
    case (.waiting, .session(.notIdentified)):
      fail("the receiver does not identify itself; nothing is known about its commands")
    case (.polling(let ticket, let since), .finished(let finished, let outcome)) where finished == ticket:
      if case .silent = outcome {
        silentPolls += 1
      } else {
        let secondsOnLine = connection.rate.map { Double(receivedBytes) * 10 / Double(max($0, 1)) } ?? 0
        replies.append(CheckReply(seconds: now.seconds(since: since), secondsOnLine: secondsOnLine))
      }
      poll(connection, &poller, at: now)
    case (.reading(let ticket), .finished(let finished, let outcome)) where finished == ticket:
      take(outcome)
      if case .performed = outcome, state.comparesOutput, let list = state.description?.outputList,
        let ticket = connection.submit(list, &poller, at: now)
      {
        return enter(.reading(ticket), at: now)
      }
      observe(connection, at: now)
    case (.changing(let trial, let since), .session(.configured(let refused))):
      endChange(trial, now.seconds(since: since), isRefused: refused > 0, connection, &poller, at: now)
    case (.changing(let trial, let since), .session(.configurationFailed)):
      endChange(trial, now.seconds(since: since), isRefused: true, connection, &poller, at: now)
    case (.changingRate(let rate, _), .session(.rateNotChanged)):
      if let assumed = state.assumed { state.report.judgeBaud(rate, nil, assumed) }
      end(at: now)
    case (.restarting(let start, let ticket), .finished(let finished, let outcome)) where finished == ticket:
      guard outcome == .sent || outcome == .performed([.written]) || outcome == .acknowledged else {
        state.report.add(
          start.rawValue, ["done": false], assumed: ["done": true],
          deviation: "the receiver refused the restart, or did not reply")
        return end(at: now)
      }
      observed = CheckObservation()
      enter(.findingFix(start, since: now), at: now, for: fixTimeout(start))
    case (.readingBatch(let ticket), .finished(let finished, let outcome)) where finished == ticket:
      startBatch(outcome, connection, &poller, at: now)
    case (.startingBatch, .session(.batching(let epochs))):
      batchEpochs = epochs
      if epochs == 0 { return endBatch(at: now) }
      enter(.storing(until: now + Self.observation), at: now)
    case (.startingBatch, .session(.configurationFailed)): endBatch(at: now)
    case (.retrieving, .batch(.fix)): batchFixes += 1
    case (.retrieving, .batch(.finished)), (.retrieving, .batch(.cut)): endBatch(at: now)
    case (.repairing(let ticket), .finished(let finished, _)) where finished == ticket:
      read(connection, &poller, at: now)
    default: receiveOfSleep(event, at: now)
    }
  }

  private mutating func receiveOfSleep(_ event: ReceiverConnection.Event, at now: Instant) {
    guard let assumed = state.assumed else { return }
    switch (stage, event) {
    case (.fallingAsleep, .session(.asleep(let until))):
      let settling = SessionTimes.settling + Milliseconds(seconds: 2 * state.periodSeconds)
      enter(.asleep(until: until ?? (isStopping ? now : now + settling)), at: now)
    case (.fallingAsleep, .session(.cannotSleep)):
      state.report.skip("sleep", because: "it cannot sleep by a command at this port")
      end(at: now)
    case (.fallingAsleep, .session(.doesNotSleep)), (.asleep, .session(.doesNotSleep)),
      (.waking, .session(.doesNotSleep)):
      state.report.add(
        "sleep", ["asleep": false], assumed: ["asleep": true],
        deviation: "the receiver goes on sending after the request")
      end(at: now)
    case (.asleep, .session(.awake(.unrequested))):
      state.report.add(
        "sleep", ["asleep": false], assumed: ["asleep": true], deviation: "it woke without a request")
      end(at: now)
    case (.asleep(let until), .session(.awake(.time))):
      if isStopping { return end(at: now) }
      addSleep()
      let late = now >= until ? now.seconds(since: until) : -until.seconds(since: now)
      state.report.judgeTimedWake(late, period: state.periodSeconds, assumed)
      enter(.findingFix(.hot, since: now), at: now, for: fixTimeout(.hot))
    case (.waking, .session(.doesNotWake)), (.asleep, .session(.doesNotWake)):
      state.report.add("wake", ["awake": false], assumed: ["awake": true], deviation: "the receiver does not wake")
      state.lost.append("the receiver is asleep; switch its supply off and on")
      end(at: now)
    case (.findingFix, .session(.resetToWake)), (.waking, .session(.resetToWake)):
      state.report.add(
        "wake by a byte", ["reset": true], assumed: ["reset": false], deviation: "it woke after a reset only")
      end(at: now)
    default: break
    }
  }

  /// The end of a part, which restores the receiver, is not the end that the user requests; and a receiver that was put
  /// to sleep is woken first.
  mutating func interrupt(_ connection: ReceiverConnection, _ poller: inout Poller, at now: Instant) -> Bool {
    isStopping = true
    switch stage {
    case .over, .fallingAsleep, .waking: return true
    case .asleep:
      if state.assumed?.isWokenByHost == true { wake(connection, &poller, at: now) }
      return true
    default: return false
    }
  }

  private mutating func wake(_ connection: ReceiverConnection, _ poller: inout Poller, at now: Instant) {
    rateBeforeSleep = connection.rate
    enter(.waking(since: now), at: now)
    connection.wakeUp(&poller, at: now)
  }

  mutating func reportSlowEnd(_ text: String) {}

  mutating func finishRound(
    _ connection: ReceiverConnection, _ poller: inout Poller, at now: Instant
  ) throws -> Bool {
    switch stage {
    case .observing(let until) where now >= until || observed.epochs.count >= Self.wantedEpochs:
      endObservation(connection, &poller, at: now)
    case .verifying(let trial, let until): verify(trial, isLate: now >= until, connection, &poller, at: now)
    case .asleep(let until) where now >= until && state.assumed?.isWokenByHost == true:
      addSleep()
      wake(connection, &poller, at: now)
    case .storing(let until) where now >= until:
      enter(.retrieving, at: now)
      connection.retrieveBatch(BatchJournal(), &poller, at: now)
    case .findingFix(let start, _) where now >= limit: endStart(start, nil, at: now)
    default: if !isOver, now >= limit { giveUp(connection, at: now) }
    }
    try state.printFindings()
    return isOver
  }

  // MARK: Stages

  private mutating func enter(_ stage: Stage, at now: Instant, for time: Milliseconds = Self.stageTimeout) {
    self.stage = stage
    limit = now + time
  }

  private mutating func end(at now: Instant) {
    stage = .over
    endedAt = endedAt ?? now
  }

  private mutating func fail(_ reason: String) {
    guard !isOver else { return }
    failure = failure ?? CommandFailure(.unavailable, "\(path): \(reason)")
    stage = .over
  }

  private mutating func begin(_ connection: ReceiverConnection, _ poller: inout Poller, at now: Instant) {
    guard let description = connection.description else { return }
    let poll = description.familyPoll ?? Command.identityPoll
    let assumed = CheckAssumptions(description, port: connection.port, poll: poll)
    state.description = description
    state.assumed = assumed
    switch part {
    case .settings:
      state.report.identify(description)
      if description.runningLog != nil {
        printNotice("\(path): its logger runs; it is off during each restart of the check, and keeps its records")
      }
      let seconds = identifiedAt?.seconds(since: firstFrame ?? started) ?? 0
      state.report.judgeIdentification(max(seconds, 0), assumed)
      read(connection, &poller, at: now)
    case .restored, .powerLoss: read(connection, &poller, at: now)
    case .sleep:
      hasChanged = true
      enter(.fallingAsleep, at: now)
      connection.sleep(
        for: assumed.isWokenByHost ? nil : SessionTimes.shortestSleep(of: description), &poller, at: now)
    case .batch:
      guard let ticket = connection.submit(BatchStatus.poll, &poller, at: now) else { return fail(Reason.disconnected) }
      enter(.readingBatch(ticket), at: now)
    case .hotStart, .warmStart: restart(description, connection, &poller, at: now)
    }
  }

  private mutating func poll(_ connection: ReceiverConnection, _ poller: inout Poller, at now: Instant) {
    guard replies.count + silentPolls < Self.polls else {
      if let assumed = state.assumed { state.report.judgeReplies(replies, of: Self.polls, assumed) }
      return startNext(after: nil, connection, &poller, at: now)
    }
    var command = state.description?.familyPoll ?? Command.identityPoll
    // One request, and more than the time of all: a reply to the first is not taken for one to the second.
    (command.attempts, command.timeout) = (1, command.longestWait * 2)
    guard let ticket = connection.submit(command, &poller, at: now) else { return fail(Reason.disconnected) }
    receivedBytes = 0
    enter(.polling(ticket, since: now), at: now)
  }

  /// Whether a restart may lose settings that the receiver's output alone shows.
  private var showsOutputAlone: Bool {
    (part == .hotStart || part == .warmStart) && state.description?.isObserved(.messages) == true
  }

  /// Reads the settings that the receiver reports or that its output shows.
  private mutating func read(_ connection: ReceiverConnection, _ poller: inout Poller, at now: Instant) {
    guard let description = state.description else { return }
    (readValues, outputList) = ([], nil)
    let ticket: SessionTicket?
    if description.family != nil {
      var kinds = [.period, .messages, .constellations].filter { description.reports($0) }
      if state.comparesOutput { kinds += [.period, .messages].filter { description.isObserved($0) } }
      let tasks: [ReceiverTask] = kinds.map { $0 == .messages ? .observe($0) : .read($0) }
      if tasks.isEmpty { return observe(connection, at: now) }
      ticket = connection.perform(tasks, &poller, at: now)
    } else {
      ticket = connection.submit(Command.measurementPeriod(of: description), &poller, at: now)
    }
    guard let ticket else { return fail(Reason.disconnected) }
    enter(.reading(ticket), at: now, for: Self.readingTimeout)
  }

  private mutating func take(_ outcome: Outcome) {
    switch outcome {
    case .performed(let results): for case .value(let value) in results { readValues.append(value) }
    case .listed(let lines):
      outputList = CheckState.messages(inList: lines)
      readValues = readValues.map { CheckState.naming($0, by: outputList ?? []) }
    case .answered(let payload):
      guard part == .settings, let description = state.description else { return }
      state.measurementMilliseconds = Command.measurementPeriod(in: payload, of: description)
    default: break
    }
  }

  private mutating func observe(_ connection: ReceiverConnection, at now: Instant) {
    observed = CheckObservation()
    receivedBytes = 0
    var time = Self.observation
    if case .period(let milliseconds)? = readValues.first(where: { $0.kind == .period }) {
      time = max(time, Milliseconds(UInt64(milliseconds) * UInt64(Self.wantedEpochs)))
    }
    enter(.observing(until: now + time), at: now)
  }

  private mutating func endObservation(_ connection: ReceiverConnection, _ poller: inout Poller, at now: Instant) {
    let found = CheckState.Found(
      rate: hasBoundRate ? nil : connection.configuredRate, periodSeconds: observed.periodSeconds,
      names: observed.names, steadyNames: observed.steadyNames)
    switch part {
    case .settings:
      state.setFound(found, readValues, outputList: outputList)
      state.judgeState(reported: readValues, sent: observed.periodSeconds)
      bytesPerSecond = Double(receivedBytes) / (state.periodSeconds * Double(max(observed.epochs.count, 1)))
      // Late replies to the requests so far have come.
      poll(connection, &poller, at: now)
    case .powerLoss:
      let lost = state.differences(now: found, values: readValues, outputList: outputList)
      let isFixed = state.hasFix
      state.report.add(
        "power loss", ["lost": .array(lost.map { .string($0) }), "fixAfterObservation": .bool(isFixed)],
        assumed: ["settings": "may be lost"])
      end(at: now)
    default:
      if repair(connection, &poller, at: now) { return }
      state.lost += state.differences(now: found, values: readValues, outputList: outputList)
      end(at: now)
    }
  }

  /// Sets values again, once, that are not as they were found. Returns whether there are some: they are read again then.
  private mutating func repair(_ connection: ReceiverConnection, _ poller: inout Poller, at now: Instant) -> Bool {
    let tasks = isRepaired ? [] : state.repairs(of: readValues)
    guard !tasks.isEmpty, let ticket = connection.perform(tasks, &poller, at: now) else { return false }
    isRepaired = true
    enter(.repairing(ticket), at: now, for: Self.messagesTimeout)
    return true
  }

  // MARK: Settings

  private mutating func startNext(
    after trial: Trial?, _ connection: ReceiverConnection, _ poller: inout Poller, at now: Instant
  ) {
    switch trial {
    case nil: startRate(connection, &poller, at: now)
    case .rate: startMessages(connection, &poller, at: now)
    case .messages: startConstellations(connection, &poller, at: now)
    case .constellations: startBaud(connection, &poller, at: now)
    }
  }

  private mutating func change(
    _ trial: Trial, _ connection: ReceiverConnection, _ poller: inout Poller, at now: Instant,
    _ edit: (inout DesiredConfiguration) -> Void
  ) {
    var desired = DesiredConfiguration()
    edit(&desired)
    hasChanged = true
    dialogue.countsRequests = true
    enter(.changing(trial, since: now), at: now, for: trial == .messages ? Self.messagesTimeout : Self.stageTimeout)
    connection.set(desired, &poller, at: now)
  }

  private mutating func startRate(_ connection: ReceiverConnection, _ poller: inout Poller, at now: Instant) {
    guard let description = state.description, let period = state.found?.periodSeconds else {
      state.report.skip("rate", because: "the receiver sends no fixes")
      return startNext(after: .rate, connection, &poller, at: now)
    }
    // A faster rate needs room on the line.
    let isRoomy = connection.rate.map { bytesPerSecond * 2 < Double($0) / 10 * 0.6 } ?? true
    wantedMilliseconds = abs(period - 0.5) < 0.1 ? 1000 : isRoomy || period > 1.5 ? 500 : 2000
    var reason: String?
    if description.family != nil, !description.takesForATime(.period(wantedMilliseconds)) {
      reason =
        description.takesForATime(.period(500))
        ? "the line is too full for a faster rate, and a slower one is not possible"
        : description.takes(.period(500)) ? "it is in force after a save and a restart" : "the family has no command"
    } else if description.family == nil, let set = state.measurementMilliseconds,
      abs(Double(set) / 1000 - period) > period * CheckAssumptions.Tolerance.period
    {
      reason = "the receiver does not send a fix for each measurement"
    }
    if let reason {
      state.report.skip("rate", because: reason)
      return startNext(after: .rate, connection, &poller, at: now)
    }
    let wanted = wantedMilliseconds
    change(.rate, connection, &poller, at: now) { $0.measurementPeriodMilliseconds = wanted }
  }

  private mutating func startMessages(_ connection: ReceiverConnection, _ poller: inout Poller, at now: Instant) {
    guard let description = state.description else { return }
    var candidates: [CheckedMessage] = [.navDOP]
    if description.family != nil {
      // A position sentence last: without it nothing shows the epochs.
      candidates = ["GLL", "VTG", "ZDA", "GSA", "GGA"].map { .sentence($0) }
        .filter { description.takesForATime(.messages([SentenceRate($0.name, 0), SentenceRate($0.name, 1)])) }
    }
    let names = state.found?.names ?? []
    func isThere(_ one: CheckedMessage) -> Bool { names.contains { one.matches($0) } }
    // Less on the line is possible on a full line too.
    let off = candidates.first { isThere($0) && $0 != .sentence("GGA") }
    guard !names.isEmpty || description.reports(.messages) else {
      state.report.skip(
        "messages", because: "the receiver sends none and reports none, so that they could not be restored")
      return startNext(after: .messages, connection, &poller, at: now)
    }
    guard let chosen = off ?? candidates.last(where: { $0 == .sentence("GGA") && names.isEmpty }) ?? candidates.first
    else {
      state.report.skip("messages", because: "the family has no command for a time")
      return startNext(after: .messages, connection, &poller, at: now)
    }
    (message, switchesOn) = (chosen, off == nil)
    let isOn = switchesOn
    change(.messages, connection, &poller, at: now) { desired in
      switch chosen {
      case .sentence(let formatter): desired.sentences = [SentenceRate(formatter, isOn ? 1 : 0)]
      case .navDOP: desired.messages = [DesiredConfiguration.MessageRate(.navDOP, isOn ? 1 : 0)]
      }
    }
  }

  private mutating func startConstellations(
    _ connection: ReceiverConnection, _ poller: inout Poller, at now: Instant
  ) {
    guard let description = state.description else { return }
    var reason: String?
    if description.family != nil {
      if !description.takesForATime(.constellations([.gps])) {
        reason = "the family has no command for a time"
      } else if state.found?.showsConstellations == false, !description.reports(.constellations) {
        reason = "the receiver sends no sentences that show them, so that they could not be restored"
      }
    } else if description.generation == .m6 {
      reason = "GPS alone"
    } else if description.can(.valset), hasBoundRate || connection.rate == nil {
      reason = "at a line whose rate is not searched, no later command would restore them after a kill"
    }
    if let reason {
      state.report.skip("constellations", because: reason)
      return startNext(after: .constellations, connection, &poller, at: now)
    }
    change(.constellations, connection, &poller, at: now) { desired in
      if description.can(.valset) {
        desired.withoutConstellations = [.galileo, .beiDou, .glonass]
      } else {
        desired.constellations = description.family == nil ? [.gps, .qzss, .sbas] : [.gps]
      }
    }
  }

  private mutating func startBaud(_ connection: ReceiverConnection, _ poller: inout Poller, at now: Instant) {
    dialogue.countsRequests = false
    let changes = dialogue.changes
    state.report.judgeAcknowledgements(requests: changes.requests, repeated: changes.repeated)
    guard let description = state.description else { return }
    var reason: String?
    let rate = connection.rate
    let others: [UInt32] = [115_200, 230_400, 57_600, 38_400, 9600].filter { $0 != rate }
    let other = others.first { description.family == nil || description.takesRate($0) }
    if rate == nil || connection.port == .usb || connection.port == .i2c || connection.port == .spi {
      reason = "the line has no rate"
    } else if hasBoundRate {
      reason = "--baud gives the rate"
    } else if other == nil {
      reason = "the family has no command for a time"
    }
    guard reason == nil, let other else {
      state.report.skip("baud", because: reason ?? "")
      return end(at: now)
    }
    hasChanged = true
    var desired = DesiredConfiguration()
    desired.portRate = other
    enter(.changingRate(to: other, since: now), at: now, for: Self.messagesTimeout)
    connection.set(desired, &poller, at: now)
  }

  private mutating func findRate(_ rate: UInt32, at now: Instant) {
    guard let assumed = state.assumed else { return }
    switch stage {
    case .changingRate(let wanted, let since) where wanted == rate:
      state.report.judgeBaud(rate, now.seconds(since: since), assumed)
      end(at: now)
    // A u-blox receiver loses what its volatile memory alone has, in every sleep.
    case .asleep, .waking, .findingFix:
      guard let before = rateBeforeSleep ?? state.found?.rate, before != rate, state.description?.family != nil,
        !state.report.has("baud after sleep")
      else { return }
      state.report.add(
        "baud after sleep", ["rate": .integer(Int64(rate))], assumed: ["rate": .integer(Int64(before))],
        deviation: "after the sleep the receiver sends at \(rate) baud, before it at \(before)")
    default: break
    }
  }

  private mutating func endChange(
    _ trial: Trial, _ seconds: Double, isRefused: Bool, _ connection: ReceiverConnection, _ poller: inout Poller,
    at now: Instant
  ) {
    observed = CheckObservation()
    switch trial {
    case .rate where !isRefused:
      enter(
        .verifying(.rate, until: now + Milliseconds(UInt64(wantedMilliseconds) * 6) + Milliseconds(1500)), at: now)
    case .messages where !isRefused: enter(.verifying(.messages, until: now + Self.verification), at: now)
    case .rate:
      state.report.judgeRate(
        before: state.periodSeconds, wanted: Double(wantedMilliseconds) / 1000, after: nil, isRefused: true)
      startNext(after: .rate, connection, &poller, at: now)
    case .messages:
      state.report.judgeMessages(message, on: switchesOn, isSeen: false, isRefused: true)
      startNext(after: .messages, connection, &poller, at: now)
    case .constellations:
      state.report.judgeConstellations(seconds, isRefused: isRefused)
      startNext(after: .constellations, connection, &poller, at: now)
    }
  }

  private mutating func verify(
    _ trial: Trial, isLate: Bool, _ connection: ReceiverConnection, _ poller: inout Poller, at now: Instant
  ) {
    switch trial {
    case .rate:
      let wanted = Double(wantedMilliseconds) / 1000
      let period = observed.periodSeconds
      let isThere =
        period.map { abs($0 - wanted) <= wanted * CheckAssumptions.Tolerance.period } ?? false
      guard isLate || isThere && observed.epochs.count >= Self.wantedEpochs else { return }
      state.report.judgeRate(before: state.periodSeconds, wanted: wanted, after: period, isRefused: false)
    case .messages:
      let isSeen =
        switchesOn ? observed.has(message) : observed.epochs.count >= 2 && observed.epochsWithout(message) >= 2
      guard isSeen || isLate else { return }
      state.report.judgeMessages(message, on: switchesOn, isSeen: isSeen, isRefused: false)
    case .constellations: break
    }
    startNext(after: trial, connection, &poller, at: now)
  }

  // MARK: Sleep, starts, batch

  private mutating func addSleep() { state.report.add("sleep", ["asleep": true], assumed: ["asleep": true]) }

  private func fixTimeout(_ start: CheckReport.Start) -> Milliseconds {
    guard let assumed = state.assumed else { return Self.stageTimeout }
    // A start of another kind is measured, too.
    return Milliseconds(seconds: 3 * (start == .hot ? 5 + assumed.hotStartSeconds : assumed.warmStartSeconds))
  }

  private mutating func endStart(_ start: CheckReport.Start, _ seconds: Double?, at now: Instant) {
    if seconds == nil, part == .sleep, !state.hasFix {
      state.report.skip(start.rawValue, because: "the receiver had no fix before")
    } else if observed.epochs.isEmpty, showsOutputAlone {
      state.report.skip(start.rawValue, because: "the receiver lost its sentences in the restart")
    } else if let assumed = state.assumed {
      state.report.judgeStart(start, seconds, period: state.periodSeconds, assumed)
    }
    end(at: now)
  }

  private mutating func restart(
    _ description: ReceiverDescription, _ connection: ReceiverConnection, _ poller: inout Poller, at now: Instant
  ) {
    let start: CheckReport.Start = part == .hotStart ? .hot : .warm
    let ticket: SessionTicket?
    if description.family == nil {
      ticket = connection.submit(ResetMode.gnss.command(start.kind), &poller, at: now)
    } else if description.takes(start.kind.action) {
      ticket = connection.perform(
        [.act(start.kind.action)], restoring: state.valuesToRestore, &poller, at: now)
      hasChanged = !state.valuesToRestore.isEmpty
    } else {
      state.report.skip(start.rawValue, because: "the family has no command")
      return end(at: now)
    }
    guard let ticket else { return fail(Reason.disconnected) }
    enter(.restarting(start, ticket), at: now)
  }

  private mutating func startBatch(
    _ outcome: Outcome, _ connection: ReceiverConnection, _ poller: inout Poller, at now: Instant
  ) {
    guard case .answered(let payload) = outcome, let status = BatchStatus(payload), let description = state.description,
      let epochs = state.assumed?.batchEpochs
    else {
      state.report.add(
        "batch", ["reported": false], assumed: ["reported": true],
        deviation: "the receiver does not report the state of its batch")
      return end(at: now)
    }
    guard status.fillLevel == 0 else {
      state.report.skip(
        "batch", because: "it holds \(status.fillLevel) fixes that were not read; sextant batch retrieve")
      return end(at: now)
    }
    hasChanged = true
    enter(.startingBatch, at: now)
    connection.set(
      .batching(BatchConfiguration(epochs: epochs, isExtended: false), for: description), &poller, at: now)
  }

  private mutating func endBatch(at now: Instant) {
    if let assumed = state.assumed { state.report.judgeBatch(epochs: batchEpochs, fixes: batchFixes, assumed) }
    end(at: now)
  }

  private mutating func giveUp(_ connection: ReceiverConnection, at now: Instant) {
    if case .waiting = stage {
      return fail(
        connection.counters.frames > 0
          ? "the receiver does not reply; check that its input is enabled, and the wiring (RX to TX)"
          : "no receiver was found; \(Source.adviceOnSilence(of: path))")
    }
    state.report.add(
      stage.name, ["ended": false], assumed: ["ended": true],
      deviation: "it did not end within \(Self.stageTimeout.count / 1000) s")
    end(at: now)
  }
}
