// SPDX-License-Identifier: Apache-2.0
import MonotonicTime

/// Performs tasks on a receiver of another maker, one after the other.
///
///     read:  poll ─▶ value;   without a poll: wait ─▶ the value that the sentences show
///     set:   read ─▶ as wanted? ── yes ──▶ next
///                      └─ no ─▶ commands ─▶ read again ─▶ next, or the commands again
///     act:   commands ─▶ next
///
/// A value that was changed is kept as it was found.
struct FamilyWork: Sendable {
  /// Who wants the tasks.
  enum Mode {
    /// The session: a value that is unknown could not be restored, and is not changed.
    case session
    /// A person: all of it or nothing.
    case permanent
    /// The end: values are written without reading them.
    case restoring
  }

  private enum Step { case reading, observing, writing, verifying, observingAgain, over }

  /// How often a value is written.
  private static let mostWritings = 3

  private let language: any FamilyLanguage
  private let receiver: ReceiverDescription
  private let mode: Mode
  private var tasks: [ReceiverTask]
  private var undone: [ReceiverTask] = []

  private var index = 0
  private var step = Step.reading
  private var commands: [Command] = []
  private var replies: [[UInt8]?] = []
  private var present: ReceiverValue?
  private var writings = 0
  private var isDoubtful = false

  /// The values that were changed, as they were found.
  private(set) var found: [ReceiverValue] = []
  private(set) var results: [ReceiverTask.Result] = []
  /// A command whose last outcome is the result of an action.
  let ticket: SessionTicket?

  init?(_ tasks: [ReceiverTask], on receiver: ReceiverDescription, _ mode: Mode, ticket: SessionTicket? = nil) {
    guard let language = receiver.family?.language else { return nil }
    (self.language, self.receiver, self.mode, self.tasks, self.ticket) = (language, receiver, mode, tasks, ticket)
    let isPossible = tasks.map { Self.isPossible($0, language, receiver) }
    if mode == .permanent, isPossible.contains(false) {
      results = isPossible.map { $0 ? .silent : .unsupported }
      self.tasks = []
    }
    begin()
  }

  private static func isPossible(
    _ task: ReceiverTask, _ language: any FamilyLanguage, _ receiver: ReceiverDescription
  ) -> Bool {
    switch task {
    case .read: true
    case .set(let value): language.commands(setting: value, from: nil, on: receiver) != nil
    case .act(let action): language.commands(for: action, on: receiver) != nil
    }
  }

  /// The tasks that the receiver did not accept.
  var failures: Int { results.count { !$0.isDone } }

  // MARK: Commands

  /// Returns the next command; nil when finished. One without bytes is a time in which the sentences are observed.
  func next() -> Command? {
    switch step {
    case .reading, .verifying, .writing: commands.first
    case .observing, .observingAgain: observation
    case .over: nil
    }
  }

  /// A command without bytes, which ends without a reply after the time.
  private var observation: Command {
    var command = Command.raw([])
    command.answer = .family(FamilyAnswer(nil))
    command.attempts = 1
    command.patience = observingTime
    return command
  }

  /// Long enough for three epochs, and for the rarest sentence.
  private var observingTime: Milliseconds {
    var epoch: UInt64 = 1000
    if index < tasks.count, case .set(.period(let wanted)) = tasks[index] { epoch = max(epoch, UInt64(wanted)) }
    var rarest: UInt64 = 1
    if index < tasks.count, case .set(.messages(let wanted)) = tasks[index] {
      rarest = max(rarest, UInt64(wanted.map(\.rate).max() ?? 1))
    }
    return Milliseconds(epoch * (2 * rarest + 2) + 500)
  }

  private mutating func begin() {
    (commands, replies, present, writings, isDoubtful) = ([], [], nil, 0, false)
    guard index < tasks.count else { return step = .over }
    guard Self.isPossible(tasks[index], language, receiver) else { return finish(.unsupported) }
    switch tasks[index] {
    case .act: write()
    case .set where mode == .restoring: write()
    case .read(let kind): read(kind)
    case .set(let value): read(value.kind)
    }
  }

  private mutating func read(_ kind: ReceiverValue.Kind) {
    commands = language.polls(of: kind)
    replies = []
    step = commands.isEmpty ? .observing : .reading
  }

  private mutating func write() {
    writings += 1
    isDoubtful = false
    switch tasks[index] {
    case .set(let value): commands = language.commands(setting: value, from: present, on: receiver) ?? []
    case .act(let action): commands = language.commands(for: action, on: receiver) ?? []
    case .read: commands = []
    }
    step = .writing
    if commands.isEmpty { finish(.written) }
  }

  // MARK: Outcomes

  /// - Parameter observed: the values that the sentences since the last command without bytes show.
  mutating func receive(_ outcome: Outcome, observed: ObservedOutput) {
    switch step {
    case .reading, .verifying:
      if case .answered(let reply) = outcome { replies.append(reply) } else { replies.append(nil) }
      commands.removeFirst()
      guard commands.isEmpty, let kind else { return }
      take(language.value(kind, from: replies), isRead: true)
    case .observing, .observingAgain:
      if let kind { take(observed.value(kind), isRead: false) }
    case .writing: receiveOfWriting(outcome)
    case .over: break
    }
  }

  private var isReading: Bool { if index < tasks.count, case .read = tasks[index] { true } else { false } }

  private var kind: ReceiverValue.Kind? {
    guard index < tasks.count else { return nil }
    return switch tasks[index] {
    case .read(let kind): kind
    case .set(let value): value.kind
    case .act: nil
    }
  }

  private mutating func receiveOfWriting(_ outcome: Outcome) {
    switch outcome {
    case .acknowledged, .answered: break
    case .refused:
      if writings == 1, case .set(let value) = tasks[index] { found.removeAll { $0.kind == value.kind } }
      return finish(.refused)
    default: isDoubtful = true
    }
    commands.removeFirst()
    guard commands.isEmpty else { return }
    guard case .set(let value) = tasks[index] else { return finish(outcome == .silent ? .silent : .written) }
    // The end does not read what was acknowledged, as the user waits; what has no acknowledgement is sent several times.
    if mode == .restoring {
      if outcome == .sent, writings < Self.mostWritings { return write() }
      return finish(outcome == .silent ? .silent : .written)
    }
    commands = language.polls(of: value.kind)
    replies = []
    step = commands.isEmpty ? .observingAgain : .verifying
    if commands.isEmpty, !isDoubtful { finish(.written) }
  }

  private mutating func take(_ value: ReceiverValue?, isRead: Bool) {
    switch (step, tasks[index]) {
    case (.reading, .read), (.observing, .read):
      if let value { return finish(.value(value)) }
      if isRead { step = .observing } else { finish(.silent) }
    case (.reading, .set(let wanted)), (.observing, .set(let wanted)):
      if value == nil, isRead { return step = .observing }
      present = value
      guard let value else {
        if mode == .session { return finish(.silent) }
        return write()
      }
      if value.covers(wanted) { return finish(.wasThere) }
      found.append(value.undoing(wanted))
      write()
    case (.verifying, .set(let wanted)), (.observingAgain, .set(let wanted)):
      if let value, value.covers(wanted) { return finish(.written) }
      if writings < Self.mostWritings { return write() }
      finish(value == nil ? .silent : .notVerified)
    default: break
    }
  }

  private mutating func finish(_ result: ReceiverTask.Result) {
    results.append(result)
    // All of it or nothing: what was written is undone.
    if mode == .permanent, !result.isDone, undone.isEmpty, !isReading {
      let open = tasks.count - index - 1
      results += repeatElement(.silent, count: open)
      tasks.removeLast(open)
      undone = found.reversed().map { .set($0) }
      tasks += undone
      found = []
    }
    index += 1
    begin()
  }

  /// The results if the work is cut off now.
  var interruptedResults: [ReceiverTask.Result] {
    let open = tasks.count - undone.count - results.count
    return open > 0 ? results + Array(repeating: .silent, count: open) : finalResults
  }

  /// The results of the tasks without those that undid others.
  var finalResults: [ReceiverTask.Result] { Array(results.prefix(max(results.count - undone.count, 0))) }
}
