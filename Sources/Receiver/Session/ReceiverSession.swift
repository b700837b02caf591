// SPDX-License-Identifier: Apache-2.0

import MonotonicTime
import NMEA
import ReceiverStream
import UBX

/// A session with one receiver on one line: finds the rate, identifies the receiver, brings it to the desired
/// configuration and keeps it there, reports its fixes, and restores its settings at the end.
///
///     searching ─▶ listening ─▶ identifying ─▶ configuring ─▶ steady ─▶ changingRate, storing, asleep ─▶ waking ─▶ steady
///         ▲            └──────────────┴── silence, garbage ───────┴───────────┴────────────────────────────┘     │
///         └───────────────────────────────────────────────────────────────────────────────────────────────────┘
///     any ─ finish ─▶ (the request in flight) ─▶ readingDatabase ─▶ restoring ─▶ restoringRate ─▶ restoringBackup ─▶ ended
///
/// All transitions, each with its cause (`StageTransition.targets` is the same table, and `enter` checks it in debug
/// builds):
///
///     searching: frames listening, poll identifying, finish restoring, finish ended, lineLost ended
///     listening: poll identifying, silence searching, garbage searching, finish readingDatabase, finish restoring,
///         finish ended, timeout ended, lineLost ended
///     identifying: identified configuring, noReply listening, noReply searching, noRoom changingRate,
///         silence searching, garbage searching, finish readingDatabase, finish restoring, finish ended, timeout ended,
///         lineLost ended
///     configuring: configured steady, silence searching, garbage searching, finish readingDatabase, finish restoring,
///         finish ended, timeout ended, lineLost ended
///     changingRate: rateDone steady, rateDone listening, timeout ended, lineLost ended
///     steady: reconfigure configuring, raiseRate changingRate, store storing, sleep asleep, silence searching,
///         garbage searching, finish readingDatabase, finish restoring, finish ended, timeout ended, lineLost ended
///     storing: stored steady, silence searching, garbage searching, finish readingDatabase, finish restoring,
///         finish ended, timeout ended, lineLost ended
///     asleep: wake waking, awake steady, doesNotSleep steady, garbage searching, finish waking, finish ended,
///         lineLost ended
///     waking: awake steady, doesNotWake searching, garbage searching, finish readingDatabase, finish restoring,
///         finish ended, timeout ended, lineLost ended
///     readingDatabase: finish restoring, finish ended, timeout ended, lineLost ended
///     restoring: restored restoringRate, restored restoringBackup, timeout ended, lineLost ended
///     restoringRate: restored restoringBackup, timeout ended, lineLost ended
///     restoringBackup: restored ended, timeout ended, lineLost ended
///
/// Each event is legal in each stage. The session has no clock and no file: bytes and the time go in; fixes and actions
/// (`nextAction`) come out. `wake` is due at `deadline`.
public struct ReceiverSession: ~Copyable {
  var settings: SessionSettings
  /// The results for the next session with the same receiver.
  public internal(set) var memory: SessionMemory
  /// The port of the receiver that the line is connected to, once it is known.
  public internal(set) var port: ReceiverPortNumber?
  var listener: Listener
  private(set) var stage = SessionStage.searching
  var actions: [SessionAction] = []
  var lineEndInsertion = LineEndInsertion()
  var sent = SentBytes()

  // Each cluster of state has a type with its own transitions.

  var requests: RequestQueue
  var line: LineRate
  var health: LineHealth
  var identity = IdentityPolling()
  var configuration = ConfigurationState()
  var watch: ConfigurationWatch?
  var retry: RetrySchedule
  var sleepPlan = SleepPlan()
  var assistance: AssistanceDelivery
  var batch = BatchReading()
  var orbits = OrbitPolling()
  /// The replies of a receiver of another maker, and what its sentences show.
  var replies = ReplyScanner()
  var observed = ObservedOutput()
  /// The periodic messages of UBX that the receiver sent until it was configured.
  var arriving: Set<MessageIdentity> = []
  var work = FamilyWorkQueue()
  var logger = LoggerUse()
  /// Whether what the receiver sends is as it was configured; nil where nothing was.
  var familyWatch: FamilyWatch?
  var falseAlarms = 0
  /// Whether the session ended at a receiver of another maker that a user put to sleep: the record stays, as it names
  /// the family that wakes it.
  var leavesAsleep = false
  var end = EndPhase()
  /// Gets each transition, for tests.
  var onTransition: ((StageTransition) -> Void)?

  /// - Parameters:
  ///   - settings: what may be sent.
  ///   - lineRate: the rate of the line, in baud; nil for a line without a rate.
  ///   - reference: the computer's time, if its clock is set.
  ///   - now: when the line was opened.
  public init(_ settings: SessionSettings, lineRate: UInt32?, reference: UTCTime?, now: Instant) {
    self.settings = settings
    // A local copy: an operator's autoclosure that captured the unfinished `self` would make the compiler destroy the
    // listener before it has a value.
    let known = settings.memory ?? SessionMemory()
    memory = known
    let isReadOnly = settings.intent == .readOnly
    let polling: BaudRateSearch.Polling =
      switch settings.intent {
      case .readOnly: .never
      case .identify: .soon
      case .serve: settings.isKnownUBlox || settings.memory?.description != nil ? .soon : .afterListening
      }
    let hasRate = settings.line == .serial && lineRate != nil
    let recovery = hasRate && !isReadOnly && settings.recovery?.rate != nil ? settings.recovery : nil
    let searches = hasRate && recovery == nil
    var likely = settings.likelyRates
    if let rate = settings.memory?.rate { likely.insert(rate, at: 0) }
    // A FIFO may bring a recording.
    let isLive = !settings.isRecording && settings.line != .withoutRate(nil)
    listener = Listener(
      searchingFrom: searches ? lineRate : nil, likely: likely, polling: polling,
      pollsOthers: !settings.isKnownUBlox, isKnown: known.description != nil || settings.isKnownUBlox,
      replyTime: known.description?.family == nil ? BaudRateSearch.replyTime : BaudRateSearch.otherReplyTime,
      unfinishedFrame: settings.unfinishedFrame,
      reference: reference, isLive: isLive, now: now)
    if known.isUnanswering { identity.keepUnanswered() }
    requests = RequestQueue(from: now)
    health = LineHealth(at: now)
    assistance = AssistanceDelivery(reference: reference, openedAt: now)
    switch settings.line {
    case .serial, .bound:
      let raised = searches && known.foundRate != nil ? known.rate : nil
      line = LineRate(lineRate, raised.map(LineRate.Origin.inherited) ?? .own)
    case .usb:
      line = LineRate(nil, .own)
      port = .usb
    case .withoutRate(let number):
      line = LineRate(nil, .own)
      port = number
    }
    if let recovery, let rate = recovery.rate {
      line = LineRate(rate, .recovered)
      if rate != lineRate { actions.append(.setRate(rate)) }
      memory.foundRate = recovery.foundRate == rate ? nil : recovery.foundRate
      memory.raisedPort = recovery.port
      retry = RetrySchedule(at: now)
    } else {
      // Without a search no poll finds the rate: a quiet receiver is polled after the time of an epoch.
      // A receiver of another maker may be asleep since a program was killed.
      let isLeftAsleep = settings.recovery?.family != nil && !isReadOnly && !searches
      let silence = polling == .soon ? Milliseconds(1500) : Self.firstSilence
      retry = RetrySchedule(at: isLeftAsleep ? now : searches || isReadOnly ? nil : now + silence)
    }
  }

  /// The silence after which a serving session polls an unknown receiver without a search of the rate: as long as the first round of one.
  private static let firstSilence = Milliseconds(9000)

  /// The description of the receiver, once it is identified.
  public var description: ReceiverDescription? { memory.description }
  /// The desired configuration; `set` changes it.
  public var desired: DesiredConfiguration? { configuration.desired }
  /// The rate of the line, in baud; nil for a line without a rate.
  public var rate: UInt32? { line.current }
  /// Whether frames are received, and the rate is therefore right.
  public var isReceiving: Bool { health.isReceiving }
  public var counters: StreamCounters { listener.counters }
  public var rejectedFields: Int { listener.rejectedFields }
  /// Whether the end was requested and is over.
  public var isEnded: Bool { if case .ended = stage { true } else { false } }
  /// Whether the receiver has as much of the desired configuration as it accepts, and takes commands.
  public var isSteady: Bool { if case .steady = stage { !line.isRaiseDue } else { false } }
  /// Whether the receiver sleeps on request.
  public var isAsleep: Bool { if case .asleep = stage { true } else { false } }

  /// The rate that the line was found at and gets back at the end; nil if it has that rate.
  public var raisedRate: RaisedRate? {
    guard let found = memory.foundRate, let used = line.inherited ?? rate, found != used, !isPortWithoutRate else {
      return nil
    }
    return RaisedRate(found: found, used: used, port: port)
  }

  /// Replaces the stage by another one.
  mutating func enter(_ next: SessionStage, on cause: StageTransition.Cause) {
    let transition = StageTransition(from: stage.name, cause: cause, to: next.name)
    stage = next
    if transition.from == transition.to { return }
    assert(transition.isLegal, "\(transition) is not in the diagram")
    onTransition?(transition)
  }

  /// Replaces the machine of the stage by its next state.
  mutating func update(_ next: SessionStage) {
    assert(next.name == stage.name)
    stage = next
  }

  mutating func report(_ report: SessionReport) { actions.append(.report(report)) }
}

/// When a receiver that refused, or did not reply, is tried again: after a time that doubles with each attempt.
struct RetrySchedule {
  private static let first = Milliseconds(5000)
  /// The first time for a receiver that only looks like a u-blox one.
  private static let firstOfUnsure = Milliseconds(60_000)
  private static let longest = Milliseconds(1_800_000)

  private(set) var at: Instant?
  private var delay = RetrySchedule.first

  init(at first: Instant? = nil) { at = first }

  func isDue(at now: Instant) -> Bool { at.map { now >= $0 } ?? false }

  mutating func schedule(from now: Instant, isUnsure: Bool = false) {
    if isUnsure { delay = max(delay, Self.firstOfUnsure) }
    at = now + nextDelay()
  }

  /// Moves a scheduled attempt to `now`.
  mutating func advance(to now: Instant) { if at != nil { at = now } }

  mutating func cancel() { at = nil }

  /// The present delay; the next one is twice as long.
  mutating func nextDelay() -> Milliseconds {
    defer { delay = min(delay * 2, Self.longest) }
    return delay
  }

  mutating func restart() { delay = Self.first }
}
