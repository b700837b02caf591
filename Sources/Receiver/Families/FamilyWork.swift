// SPDX-License-Identifier: Apache-2.0
import MonotonicTime

/// Performs tasks on a receiver of another maker, one after the other.
///
///     read:  poll ─▶ value;   without a poll: wait ─▶ the value that the sentences show
///     set:   read ─▶ as wanted? ── yes ──▶ next
///                      └─ no ─▶ (read what the receiver changes with it) ─▶ commands ─▶ read again ─▶ next, or the commands again
///            without a poll: acknowledged commands are enough, but for sentences that a user switches off
///     act:   commands ─▶ next;   refused: the other commands of the family, if it has some
///
/// A value that was changed is kept as it was found.
struct FamilyWork: Sendable {
  /// The origin of the tasks.
  enum Mode {
    /// The session: a value that is unknown could not be restored, and is not changed.
    case session
    /// A command of the user: all tasks or none.
    case permanent
    /// The end: values are written without reading them, except what other ports share.
    case restoring
  }

  private enum Step: Equatable {
    case reading, observing, keeping(ReceiverValue.Kind), writing, verifying, observingAgain, over
    /// The receiver restarts after the last command of a user, and would not hear the next program.
    case settling
  }

  /// How often a value is written.
  private static let mostWritings = 3
  /// The sentences that are switched on at a receiver without any.
  static let usualOutput = ["GGA", "GSA", "GSV", "RMC"].map { SentenceRate($0, 1) }
  /// The largest rates of sentences that a longer observation shows: where a sentence was seen once, and where all are written.
  private static let rareSentence = UInt64(SentenceRate.rarestObserved)
  private static let rarestSentence = UInt64(SentenceRate.rarestVerified)
  /// The time between two epochs until one is observed, and the longest one for which a longer observation follows; milliseconds.
  private static let usualEpoch: UInt64 = 1000
  private static let longestEpoch: UInt64 = 5000

  private let language: any FamilyLanguage
  private let receiver: ReceiverDescription
  private let mode: Mode
  private var tasks: [ReceiverTask]
  /// The number of tasks without those that undo others.
  private let requested: Int
  private var undone: [ReceiverTask] = []

  private var index = 0
  private var step = Step.reading
  /// The value to set: the task's value, or the sentences that stand for it.
  private var wanted: ReceiverValue?
  private var commands: [Command] = []
  private var replies: [[UInt8]?] = []
  private var present: ReceiverValue?
  /// The value that restores the present one.
  private var before: ReceiverValue?
  private var toKeep: [ReceiverValue.Kind] = []
  private var writings = 0
  private var isDoubtful = false
  /// The largest rate of a sentence that the observation before a change shows.
  private var rarestObserved: UInt64 = 1
  /// The time between two epochs for which it is long enough, and the one that it shows, in milliseconds.
  private var epoch = Self.usualEpoch
  private var observedEpoch = Self.usualEpoch
  /// The sentences that can be set and whose observed rates are not certain.
  private var uncertain: [String] = []
  /// The sentences that come at fractions of a second, where the commands have whole seconds.
  private var fractions: [String] = []
  /// Whether the receiver accepted a command of the value.
  private var isPartlyWritten = false
  /// An action: whether a command was refused, and whether the other commands were tried.
  private var isRefused = false
  private var isSecondTry = false
  /// Whether the last start of a user's log was not acknowledged.
  private var isLogUncertain = false

  /// The values that were changed, as they were found.
  private(set) var found: [ReceiverValue] = []
  private(set) var results: [ReceiverTask.Result] = []
  /// The logger before it was written, and as it was read last.
  private(set) var loggerBefore: LoggerState?
  private(set) var logger: LoggerState?
  /// Whether the logger was to run and does not.
  private(set) var isWithoutLogger = false
  /// Whether sentences with a position were to be on and are not.
  private(set) var isWithoutOutput = false
  /// A command whose last outcome is the result of an action.
  let ticket: SessionTicket?

  init?(_ tasks: [ReceiverTask], on receiver: ReceiverDescription, _ mode: Mode, ticket: SessionTicket? = nil) {
    guard let language = receiver.family?.language else { return nil }
    (self.language, self.receiver, self.mode, self.tasks, self.ticket) = (language, receiver, mode, tasks, ticket)
    requested = tasks.count
    let isPossible = tasks.map(isPossible)
    if mode == .permanent, isPossible.contains(false) {
      results = isPossible.map { $0 ? .withdrawn : .unsupported }
      self.tasks = []
    }
    begin()
  }

  private func isPossible(_ task: ReceiverTask) -> Bool {
    switch task {
    case .read, .observe: return true
    case .set(.output): return language.commands(setting: .messages(Self.usualOutput), from: nil, on: receiver) != nil
    case .set(let value):
      if mode != .permanent, !language.canTakeBack(value.kind) { return false }
      return language.commands(setting: value, from: nil, on: receiver) != nil
    case .act(let action): return language.commands(for: action, on: receiver) != nil
    }
  }

  /// The tasks that restore the values that were changed.
  var undoing: [ReceiverTask] { found.reversed().map { .set($0) } }

  /// The tasks that the receiver did not accept.
  var failures: Int { results.count { !$0.isDone } }

  // MARK: Commands

  /// Returns the next command; nil when finished. One without bytes is a time in which the sentences are observed.
  func next() -> Command? {
    switch step {
    case .reading, .verifying, .writing: commands.first
    case .keeping: commands.first ?? observation
    case .observing, .observingAgain: observation
    case .settling: Self.waiting(Milliseconds(1))
    case .over: nil
    }
  }

  /// A command without bytes, which ends without a reply after the time.
  private var observation: Command { Self.waiting(observingTime) }

  private static func waiting(_ time: Milliseconds) -> Command {
    var command = Command.raw([])
    command.answer = .family(FamilyAnswer(nil))
    return command.with(attempts: 1, timeout: time)
  }

  /// Long enough for ephemerides once a minute.
  private static var observingMeasurements: Milliseconds { Milliseconds(65_000) }

  /// Long enough for three epochs, and for the rarest sentence.
  private var observingTime: Milliseconds {
    if kind == .measurements { return Self.observingMeasurements }
    var epoch = epoch
    if case .period(let wanted)? = wanted { epoch = max(epoch, UInt64(wanted)) }
    var rarest: UInt64 = if case .observing = step { rarestObserved } else { 1 }
    if case .messages(let wanted)? = wanted { rarest = max(rarest, UInt64(wanted.map(\.rate).max() ?? 1)) }
    return Milliseconds(epoch * (2 * rarest + 2) + 500)
  }

  private mutating func begin() {
    (commands, replies, present, before, toKeep, writings) = ([], [], nil, nil, [], 0)
    (isDoubtful, isRefused, isSecondTry, isPartlyWritten) = (false, false, false, false)
    (rarestObserved, uncertain, fractions) = (1, [], [])
    (epoch, observedEpoch) = (Self.usualEpoch, Self.usualEpoch)
    guard index < tasks.count else { return step = .over }
    guard isPossible(tasks[index]) else { return finish(.unsupported) }
    wanted = nil
    // A receiver whose logger does not run goes on to send.
    if mode == .session, isWithoutLogger, case .set(.output(false)) = tasks[index] { return finish(.withdrawn) }
    switch tasks[index] {
    case .act: write()
    case .read(let kind): read(kind)
    case .observe(let kind):
      rarestObserved = Self.rareSentence
      read(kind)
    case .set(let value):
      wanted = value
      let isShared = value.kind == .messages && language.sharesStreams
      if mode == .restoring, !isShared { write() } else { read(value.kind) }
    }
  }

  private mutating func read(_ kind: ReceiverValue.Kind) {
    commands = language.polls(of: kind.stored)
    replies = []
    step = commands.isEmpty ? .observing : .reading
  }

  /// Reads a value that the receiver changes with the wanted one, or writes that.
  private mutating func keepNext() {
    guard let kind = toKeep.first else {
      // It is restored first: values are restored in the reverse order.
      if let before { found.append(before) }
      return write()
    }
    commands = language.polls(of: kind)
    replies = []
    step = .keeping(kind)
  }

  private mutating func write() {
    writings += 1
    isDoubtful = false
    switch tasks[index] {
    case .set:
      if case .logger(let state)? = wanted, state.isOn, case .logger(let there)? = present, !there.hasRoom(for: state) {
        return finish(.unsupported)
      }
      guard let all = wanted.flatMap({ language.commands(setting: $0, from: present, on: receiver) }) else {
        return finish(.unsupported)
      }
      commands = all
      // It has records again when it is verified.
      if case .logger(var state)? = wanted, state.isOn {
        state.erases = false
        wanted = .logger(state)
      }
    case .act(let action):
      commands =
        (isSecondTry
          ? language.commandsAfterRefusal(of: action, on: receiver) : language.commands(for: action, on: receiver))
        ?? []
    case .read, .observe: commands = []
    }
    step = .writing
    if commands.isEmpty { finish(.written) }
  }

  // MARK: Outcomes

  /// - Parameter observed: the values that the sentences since the last command without bytes show.
  mutating func receive(_ outcome: Outcome, observed: ObservedOutput) {
    switch step {
    case .reading, .verifying:
      takeReply(outcome)
      guard commands.isEmpty, let kind else { return }
      take(language.value(kind.stored, from: replies, on: receiver), isRead: true)
    case .observing, .observingAgain:
      guard let kind else { return }
      var value = observed.value(kind.stored, inSeconds: language.countsSeconds)
      if kind == .measurements {
        value = language.measurements(observed: observed.correctionRates).map { .measurements($0) }
      }
      if case .period(let shown)? = observed.value(.period) { observedEpoch = min(UInt64(shown), Self.longestEpoch) }
      if kind == .mode { value = observed.mode(sentences: language.sentenceMode) }
      if language.namesTalkers { value = value.map(observed.naming) }
      // A receiver without output has no sentences to observe, and one that sends only satellites no epochs.
      if value == nil, kind == .output { value = observed.sentencesWithoutRates }
      if value == nil, kind == .messages, language.polls(of: kind).isEmpty { value = observed.messagesWithoutSentences }
      uncertain = observed.sentencesSeenOnce.filter { canSet($0) }
      fractions = language.countsSeconds ? observed.sentencesOfFractions : []
      take(value, isRead: false)
    case .keeping(let kind):
      let isObserved = commands.isEmpty
      if !isObserved {
        takeReply(outcome)
        guard commands.isEmpty else { return }
      }
      keep(
        isObserved
          ? observed.value(kind, inSeconds: language.countsSeconds) : language.value(kind, from: replies, on: receiver))
    case .writing: receiveOfWriting(outcome)
    case .settling: finish(.written)
    case .over: break
    }
  }

  private mutating func takeReply(_ outcome: Outcome) {
    switch outcome {
    case .answered(let reply): replies.append(reply)
    case .listed(let lines): replies.append(Array(lines.joined(separator: [UInt8(ascii: "\n")])))
    default: replies.append(nil)
    }
    commands.removeFirst()
  }

  private mutating func keep(_ value: ReceiverValue?) {
    toKeep.removeFirst()
    guard let value else {
      if mode == .session { return finish(.silent) }
      return keepNext()
    }
    found.append(value)
    keepNext()
  }

  /// Whether a command of the family sets the sentence.
  private func canSet(_ formatter: String) -> Bool {
    language.commands(setting: .messages([SentenceRate(formatter, 1)]), from: nil, on: receiver) != nil
  }

  /// Observes the sentences again, for longer, where their rates are not known well enough. Returns false if they are, or if it was done.
  private mutating func observesLonger() -> Bool {
    // The values that the work itself found are known.
    guard index < requested else { return false }
    // A session that finds no sentence may be between two slow epochs.
    let isSlow = mode == .session && present == .messages([]) && !language.isSilentAsFound
    var rarest: UInt64 = uncertain.isEmpty && !isSlow ? 1 : Self.rareSentence
    if language.setsAllSentences, !isReading { rarest = Self.rarestSentence }
    if case .observe = tasks[index], observedEpoch > epoch {
      epoch = observedEpoch
      return true
    }
    guard rarestObserved < rarest else { return false }
    rarestObserved = rarest
    return true
  }

  /// Whether `value` restores the sentences exactly: a command sets their rates, which are certain.
  private func restores(_ value: ReceiverValue) -> Bool {
    guard case .messages(let list) = value else { return true }
    if (uncertain + fractions).contains(where: { name in list.contains { $0.formatter == name } }) { return false }
    return language.commands(setting: value, from: nil, on: receiver) != nil
  }

  private var isReading: Bool {
    guard index < tasks.count else { return false }
    return switch tasks[index] {
    case .read, .observe: true
    case .set, .act: false
    }
  }

  /// Whether the last of the commands under way takes back the first: a user's log or the engine is stopped meanwhile. An end waits
  /// for it.
  var takesBack: Bool { isResumingLog || isSecondTry && step == .writing }

  /// Whether the commands under way restart the receiver and start a user's log again.
  private var isResumingLog: Bool {
    guard case .writing = step, receiver.runningLog != nil else { return false }
    return if case .act(let action) = tasks[index] { action != .save } else { kind == .constellations }
  }

  /// The log of a user that is stopped, or may be; nil otherwise.
  var stoppedLog: LoggerState? {
    guard let log = receiver.runningLog, isResumingLog || isLogUncertain else { return nil }
    // Afterwards the logger has the settings of the firmware.
    if index < tasks.count, tasks[index] == .act(.factoryReset) { return nil }
    return .resuming(interval: log.interval)
  }

  private mutating func noteLogStart(_ outcome: Outcome) {
    guard isResumingLog, stoppedLog != nil else { return }
    // The rest after a refusal is not sent.
    if case .refused = outcome {
      isLogUncertain = true
    } else if commands.count == 1 {
      isLogUncertain = outcome != .acknowledged
    }
  }

  /// Whether what the receiver sends can show the value.
  private var isObservable: Bool { kind != .measurements || language.measurements(observed: []) != nil }

  private var kind: ReceiverValue.Kind? {
    guard index < tasks.count else { return nil }
    return switch tasks[index] {
    case .read(let kind), .observe(let kind): kind
    case .set(let value): value.kind
    case .act: nil
    }
  }

  private mutating func receiveOfWriting(_ outcome: Outcome) {
    noteLogStart(outcome)
    if case .act(let action) = tasks[index] { return receive(outcome, of: action) }
    switch outcome {
    case .acknowledged, .answered: isPartlyWritten = true
    case .refused:
      // A value that was accepted before the refusal has to be restored.
      if writings == 1, !isPartlyWritten, let wanted { found.removeAll { $0.kind == wanted.kind } }
      return finish(.refused)
    default: isDoubtful = true
    }
    let pause = commands.removeFirst().pause
    guard commands.isEmpty, let wanted else { return }
    // The end does not read what was acknowledged, as the user waits; what has no acknowledgement is sent several times.
    if mode == .restoring {
      if outcome == .sent, writings < Self.mostWritings { return write() }
      return finish(outcome == .silent ? .silent : .written)
    }
    commands = language.polls(of: wanted.kind)
    replies = []
    step = commands.isEmpty ? .observingAgain : .verifying
    guard commands.isEmpty, !isDoubtful, !isCheckedAfterAcknowledgement(wanted) else { return }
    if mode == .permanent, pause.count > 0 { step = .settling } else { finish(.written) }
  }

  private func isAcknowledged(_ value: ReceiverValue) -> Bool {
    language.commands(setting: value, from: nil, on: receiver)?.contains { command in
      if case .family(let answer) = command.answer { answer.acknowledgement != nil } else { false }
    } ?? true
  }

  /// Whether sentences are to be off permanently: an acknowledgement of a sentence in another form does not mean that they are.
  private func isCheckedAfterAcknowledgement(_ wanted: ReceiverValue) -> Bool {
    mode == .permanent && wanted.switchedOff != nil
  }

  /// All commands of an action are sent, also after a refusal. Of the other commands, the last takes back the first.
  private mutating func receive(_ outcome: Outcome, of action: ReceiverAction) {
    if case .refused = outcome { isRefused = true }
    if outcome == .silent { isDoubtful = true }
    commands.removeFirst()
    if isSecondTry, outcome != .acknowledged { commands = commands.suffix(1) }
    guard commands.isEmpty else { return }
    if isRefused, !isSecondTry, language.commandsAfterRefusal(of: action, on: receiver) != nil {
      (isRefused, isSecondTry) = (false, true)
      return write()
    }
    finish(isRefused ? .refused : isDoubtful ? .silent : .written)
  }

  private mutating func take(_ value: ReceiverValue?, isRead: Bool) {
    if case .logger(let state)? = value {
      loggerBefore = loggerBefore ?? state
      logger = state
    }
    switch (step, tasks[index]) {
    case (.reading, .read(let kind)), (.observing, .read(let kind)), (.reading, .observe(let kind)),
      (.observing, .observe(let kind)):
      if let value {
        if !isRead, kind == .messages, observesLonger() { return }
        return finish(.value(kind == .output ? value.asOutput : value))
      }
      if isRead, isObservable { step = .observing } else { finish(.silent) }
    case (.reading, .set(let task)), (.observing, .set(let task)):
      if value == nil, isRead, isObservable, mode != .restoring { return step = .observing }
      present = value
      guard let value else {
        // A value that is unknown could not be set back, and without an acknowledgement nothing would show whether it is set.
        if mode != .permanent || language.sharesStreams || !isAcknowledged(task) { return finish(.silent) }
        return write()
      }
      if case .output(let isOn) = task {
        wanted = value.sentences(
          forOutput: isOn, usual: Self.usualOutput, forFixes: mode == .session, canSet: canSet)
        // No command switches off what it sends.
        if !isOn, wanted == nil, value.asOutput == .output(true) { return finish(.unsupported) }
      }
      guard let wanted else { return finish(.wasThere) }
      // Without a sentence its messages can be binary, or off.
      if mode == .session, !isRead, language.setsAllSentences, value == .messages([]) { return finish(.silent) }
      if value.covers(wanted) { return finish(.wasThere) }
      // The end of a session does not stop it again.
      if case .logger(let state) = wanted, state.resumes { return write() }
      if mode == .restoring { return write() }
      if !isRead, wanted.kind == .messages, observesLonger() { return }
      toKeep = language.affected(by: wanted)
      let isWhole = isRead || language.setsAllSentences
      let restored = (isRead ? value : value.filtering(canSet)).undoing(wanted, isWhole: isWhole)
      // A user's command writes the sentences that it does not name, where it sets all.
      let isExact = mode == .session ? restores(restored) : !isWhole || isRead || restores(restored.removing(wanted))
      if !isExact { return finish(.silent) }
      before = restored
      keepNext()
    case (.observingAgain, .set) where !isDoubtful:
      guard let value, let off = wanted?.switchedOff, !value.covers(off) else { return finish(.written) }
      if writings < Self.mostWritings { return write() }
      finish(.notVerified)
    case (.verifying, .set), (.observingAgain, .set):
      if let value, let wanted, value.covers(wanted) { return finish(.written) }
      // Firmware without the poll: the acknowledgement is the proof, or the sentences are.
      if value == nil, isRead {
        if isDoubtful { return step = .observingAgain }
        return finish(.written)
      }
      if writings < Self.mostWritings { return write() }
      finish(value == nil ? .silent : .notVerified)
    default: break
    }
  }

  private mutating func finish(_ result: ReceiverTask.Result) {
    results.append(result)
    if case .set(.logger(let state)) = tasks[index], state.isOn, !result.isDone { isWithoutLogger = true }
    if case .set(.output(true)) = tasks[index], !result.isDone { isWithoutOutput = true }
    // All of it or nothing: what was written is undone.
    if mode == .permanent, !result.isDone, undone.isEmpty, !isReading {
      let open = tasks.count - index - 1
      results += repeatElement(.withdrawn, count: open)
      tasks.removeLast(open)
      undone = undoing
      tasks += undone
      found = []
    }
    index += 1
    begin()
  }

  /// The results if the work is cut off now.
  var interruptedResults: [ReceiverTask.Result] {
    let open = requested - results.count
    // Values that are not undone yet.
    if open <= 0 { return step == .over ? finalResults : finalResults.map { $0 == .written ? .interrupted : $0 } }
    return finalResults + [presentResult] + Array(repeating: .withdrawn, count: open - 1)
  }

  /// The result of the present task if it is cut off now.
  private var presentResult: ReceiverTask.Result {
    switch step {
    case .writing, .verifying, .observingAgain, .settling: .interrupted
    case .reading, .observing, .keeping, .over: isReading ? .silent : .withdrawn
    }
  }

  /// The results of the tasks without those that undid others.
  var finalResults: [ReceiverTask.Result] { Array(results.prefix(requested)) }
}

/// The tasks that a program has requested for a receiver of another maker, in their order.
struct FamilyWorkQueue {
  /// The tasks that undo the last request.
  var undoing: [ReceiverTask] = []
  private var submitted: [(ticket: SessionTicket, tasks: [ReceiverTask])] = []

  var isEmpty: Bool { submitted.isEmpty }

  mutating func submit(_ tasks: [ReceiverTask], _ ticket: SessionTicket) { submitted.append((ticket, tasks)) }

  mutating func next() -> (ticket: SessionTicket, tasks: [ReceiverTask])? {
    submitted.isEmpty ? nil : submitted.removeFirst()
  }

  mutating func cancel() -> [(ticket: SessionTicket, tasks: [ReceiverTask])] {
    defer { submitted = [] }
    return submitted
  }
}
