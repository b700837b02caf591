import ConfigurationEditing
import MonotonicTime
import Receiver
import ReceiverRuntime
import ReceiverStream
import SerialPort

/// What a script has to know of the line.
struct ConfiguredLine {
  /// The receiver's port, as far as it is known.
  var port: ReceiverPortNumber?
  var hasRate: Bool
  /// The rate that the line has for as long as the script runs.
  var raisedRate: RaisedRate?
  /// What it carries by itself; nil where that was not asked for.
  var measured: MeasuredLine?
}

/// What is done to a line with a rate for a script.
enum LineCare: Equatable {
  /// Nothing.
  case none
  /// A line that is full is made faster for as long as the script lasts: it would lose the answers.
  case raisedIfFull
  /// A line that is slower than this is, or the script is not begun: what it sets needs that.
  case raised(to: UInt32)
}

/// Carries a script out on a receiver: waits until it is known, says what the script says, and changes the line's rate at
/// the end where that is asked for. It decides nothing of what is said.
struct ConfigureClient<Script: ReceiverScript>: ReceiverClient, ~Copyable {
  /// Makes the script once it is known who the receiver is.
  typealias Making = (ReceiverDescription, ConfiguredLine) throws(SettingProblem) -> Script

  private enum Stage { case waiting, raising, measuring, talking, changingRate(UInt32), over }

  /// How long it may take to find the receiver, and to get through to one that is heard: on a line that is full answers are
  /// lost with all else. How long it may then say nothing that helps.
  private static var longestSearch: Milliseconds { Milliseconds(15_000) }
  private static var longestAsking: Milliseconds { Milliseconds(30_000) }
  private static var longestAskingOnFullLine: Milliseconds { Milliseconds(60_000) }
  private static var longestPause: Milliseconds { Milliseconds(30_000) }

  let path: String
  private static var noAnswer: String {
    "the receiver does not answer any more (cable? or a line that is full: a higher baud, or fewer messages)"
  }

  private let making: Making
  private let portRate: (Script) -> UInt32?
  private let showsProgress: Bool
  private let survivesSilence: Bool
  private let care: LineCare
  private let measures: Bool
  private var load = LineLoad()
  private var wasFull = false
  private var stage = Stage.waiting
  private var ticket: SessionTicket?
  private var lastProgress: Instant
  private(set) var deadline: Instant?
  private var dialogue: ScriptDialogue<Script>?
  /// Why it ended before its time.
  private(set) var failure: CommandFailure?
  private(set) var description: ReceiverDescription?
  /// The rate that the line was changed to.
  private(set) var changedRate: UInt32?

  /// - Parameters:
  ///   - path: what the receiver is called in messages.
  ///   - survivesSilence: whether the receiver may be gone for some time: after a reset.
  ///   - care: what is done to the line for the script.
  ///   - measures: whether what the line carries is measured before.
  ///   - portRate: the rate that the line is to have after the script.
  init(
    _ path: String, survivesSilence: Bool = false, care: LineCare = .none, measures: Bool = false,
    portRate: @escaping (Script) -> UInt32? = { _ in nil }, making: @escaping Making
  ) {
    self.care = care
    self.measures = measures
    self.path = path
    self.making = making
    self.portRate = portRate
    self.survivesSilence = survivesSilence
    showsProgress = sextant.showsProgress()
    lastProgress = SystemClock.monotonic
    deadline = lastProgress + Self.longestSearch
  }

  /// The script, with what it found; nil until the receiver is known.
  var script: Script? { dialogue?.script }

  var isOver: Bool { if case .over = stage { true } else { false } }

  mutating func receive(_ report: borrowing EpochAssembler.Report, _ sky: borrowing Sky, at now: Instant) {}

  mutating func receive(bytes: RawSpan, at now: Instant) { load.receive(bytes: bytes.byteCount, at: now) }

  mutating func receive(
    _ event: ReceiverConnection.Event, _ connection: ReceiverConnection, _ poller: inout Poller, at now: Instant
  ) {
    if case .waiting = stage, showsProgress, let text = Self.progress(of: event) { putProgress(text) }
    switch event {
    case .rate, .session(.rateFound): load.restart()
    // Who it is took its time on a line that is full; what follows has its own.
    case .session(.identified): lastProgress = now
    default: break
    }
    switch (stage, event) {
    case (.waiting, .session(.rateNotChanged(let wanted))) where isNeeded(wanted):
      fail("the receiver was not heard at \(wanted) baud; nothing was changed")
    case (.waiting, .session(.configured)), (.raising, .session(.configured)): prepare(connection, &poller, at: now)
    case (.waiting, .session(.notIdentified)):
      load.measure(at: now)
      fail(
        load.isFull(at: connection.rate)
          ? Self.fullLine(connection.rate)
          : "the receiver does not say who it is; only u-blox receivers can be configured")
    case (.changingRate(let wanted), .session(.rateFound(let rate))) where rate == wanted:
      changedRate = rate
      stage = .over
    // The line has it already: it was raised to that, and now keeps it.
    case (.changingRate(let wanted), .session(.configured)) where connection.rate == wanted:
      changedRate = wanted
      stage = .over
    case (.changingRate, .session(.rateNotChanged(let wanted))):
      fail("the receiver was not heard at \(wanted) baud; the line is at \(connection.rate ?? 0) baud as before")
    case (_, .finished(let finished, let outcome)) where finished == ticket:
      ticket = nil
      take(outcome, connection, &poller, at: now)
    case (.over, _): break
    case (_, .lost): fail("the receiver is gone; check the cable")
    case (_, .ended): fail("a file cannot be configured; name a receiver's device")
    case (_, .session(.adviseOnSilence)):
      if showsProgress { clearProgress() }
      if let text = text(of: event, path: path, baud: nil) { printNotice(text) }
    default: break
    }
  }

  mutating func finishRound(
    _ connection: ReceiverConnection, _ poller: inout Poller, at now: Instant
  ) throws -> Bool {
    if case .over = stage { return true }
    if load.isFull(at: connection.rate) { wasFull = true }
    if let deadline, now >= deadline {
      if case .measuring = stage {
        start(connection, &poller, at: now)
        return isOver
      }
      if case .waiting = stage, connection.counters.frames > 0, now < lastProgress + longestAsking {
        self.deadline = lastProgress + longestAsking
        return false
      }
      if case .waiting = stage {
        fail(
          connection.counters.frames > 0
            ? "the receiver does not answer; is its UBX input on, and is RX wired to TX?"
            : "no receiver was heard; check power, wiring (RX to TX) and the device's name")
      } else {
        fail(Self.noAnswer)
      }
      return true
    }
    return false
  }

  mutating func resize() {}

  // MARK: The line

  private var longestAsking: Milliseconds { wasFull ? Self.longestAskingOnFullLine : Self.longestAsking }

  private func isNeeded(_ rate: UInt32) -> Bool { care == .raised(to: rate) }

  /// Its answers are dropped with all else that does not fit.
  private static func fullLine(_ rate: UInt32?) -> String {
    "the receiver's own messages fill the line at \(rate ?? 0) baud, and its answers are lost; ask again, have it write "
      + "less over another port, or switch it off and on: what was not saved is then as before"
  }

  /// The line is made ready for the script: with room for answers, and measured.
  private mutating func prepare(_ connection: ReceiverConnection, _ poller: inout Poller, at now: Instant) {
    load.measure(at: now)
    if case .waiting = stage, care == .raisedIfFull, connection.raisedRate == nil, load.isFull(at: connection.rate) {
      stage = .raising
      lastProgress = now
      deadline = now + Self.longestAskingOnFullLine
      var desired = DesiredConfiguration.nothing
      desired.portRate = Configure.dialogueRate
      return connection.set(desired, &poller, at: now)
    }
    guard measures, connection.rate != nil else { return start(connection, &poller, at: now) }
    load.restart()
    stage = .measuring
    // The window begins with the first byte.
    deadline = now + LineLoad.window + Milliseconds(1200)
  }

  // MARK: The script

  private mutating func start(_ connection: ReceiverConnection, _ poller: inout Poller, at now: Instant) {
    guard let description = connection.description else { return }
    self.description = description
    do throws(SettingProblem) {
      let line = ConfiguredLine(
        port: connection.port, hasRate: connection.rate != nil, raisedRate: connection.raisedRate,
        measured: measured(connection, at: now))
      dialogue = ScriptDialogue(try making(description, line), survivesSilence: survivesSilence)
    } catch {
      failure = CommandFailure(exitCode: CommandFailure.usage, description: error.description)
      stage = .over
      return
    }
    stage = .talking
    goOn(connection, &poller, at: now)
  }

  private mutating func measured(_ connection: ReceiverConnection, at now: Instant) -> MeasuredLine? {
    load.measure(at: now)
    guard measures, let rate = connection.rate, let bytesPerSecond = load.bytesPerSecond else { return nil }
    return MeasuredLine(rate: rate, bytesPerSecond: bytesPerSecond)
  }

  private mutating func take(
    _ outcome: Outcome, _ connection: ReceiverConnection, _ poller: inout Poller, at now: Instant
  ) {
    guard case .talking = stage else { return }
    dialogue?.receive(outcome)
    goOn(connection, &poller, at: now)
  }

  private mutating func goOn(_ connection: ReceiverConnection, _ poller: inout Poller, at now: Instant) {
    lastProgress = now
    deadline = now + Self.longestPause
    switch dialogue?.next() {
    case .send(let command):
      showProgress()
      ticket = connection.submit(command, &poller, at: now)
      if ticket == nil { fail("the receiver is gone; check the cable") }
      return
    case .noAnswer: return fail(Self.noAnswer)
    case .over, nil: break
    }
    if showsProgress { clearProgress() }
    // The rate that was raised goes back by itself.
    let present = connection.raisedRate?.found ?? connection.rate
    guard let script, let rate = portRate(script), rate != present else {
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
    failure = CommandFailure(exitCode: CommandFailure.unavailable, description: "\(path): \(reason)")
    stage = .over
  }

  // MARK: Progress

  /// What is told while the receiver is looked for, asked, and its line made faster: on a slow line that is full, seconds.
  private static func progress(of event: ReceiverConnection.Event) -> String? {
    switch event {
    case .opened: "looking for the receiver"
    case .rate(let rate): "at \(rate) baud"
    case .session(.rateFound(let rate)): "found at \(rate) baud, asking who it is"
    case .session(.identified): "getting ready"
    default: nil
    }
  }

  private func showProgress() {
    guard showsProgress, let progress = script?.progress, progress.of > 4 else { return }
    putProgress("\(progress.done) of \(progress.of)")
  }
}
