import MonotonicTime
import NMEA
import ReceiverStream
import UBX
import WireBytes

/// A session with one receiver on one line: finds its rate, asks who it is, brings it to the wished state and keeps it
/// there, hands out its fixes, and puts everything back at the end.
///
///     searching ─ frame ─▶ listening ─ may be asked ─▶ identifying ─▶ configuring ─▶ changing rate ─▶ steady ◀┐
///         ▲                    │ (another make, or      │ silent            │                        │  │       │
///         │                    ▼  unknown: stays)       ▼                   ▼                        │  └ command
///         └── garbage, silence ◀────────────────────────┴───────────────────┴── was reset ───────────┘
///     steady ─ sleep ─▶ storing ─▶ asleep ─ time, wakeUp ─▶ waking ─ answer ─▶ configuring
///     any ─ finish ─▶ (what is under way) ─▶ (keeping the orbits) ─▶ restoring ─▶ ended
///
/// Each event is legal in each state. It has no clock and no file: bytes and the time go in; fixes, and what to do
/// (`nextAction`), come out. `deadline` says when `wake` is due.
public struct ReceiverSession: ~Copyable {
  enum Stage {
    case searching
    case listening(askAt: Instant?)
    case identifying(Identification)
    case configuring(Configuration)
    case changingRate(PortRateChange)
    case steady
    case keeping(DatabaseReading, until: Instant)
    case storing(BackupStore)
    case asleep(SleepWatch)
    case waking(WakeUp)
    case restoring(Configuration)
    case restoringBackup(BackupStore)
    case restoringRate(PortRateChange)
    case ended
  }

  /// What the receiver said of itself.
  public var description: ReceiverDescription? { memory.description }
  /// The wished state of the receiver; `set(_:)` changes it.
  public internal(set) var desired: DesiredConfiguration?
  /// The port of the receiver that is talked over, once it is known.
  public internal(set) var port: ReceiverPortNumber?
  /// The rate of the line; nil where there is none.
  public internal(set) var rate: UInt32?

  /// The rate that the line was found at and gets back at the end; nil where it is at that.
  public var raisedRate: RaisedRate? {
    guard let settingsRate, let rate, settingsRate != rate else { return nil }
    return RaisedRate(found: settingsRate, used: rate, port: port)
  }

  /// What the next program has to know should this one not come to its end; nil while the receiver can be found by itself.
  public var recovery: CrashRecoveryRecord? {
    guard hasRateSearch, description != nil, let rate else { return nil }
    let isRaised = settingsRate.map { $0 != rate } ?? false
    let without = constellationsLeftOut
    // At the end the time may not do: what is left then is for the next program too.
    let isEnding = endBy != nil && putsBack
    guard isRaised || expectsSilence || !without.isEmpty || isEnding else { return nil }
    return CrashRecoveryRecord(rate: rate, foundRate: settingsRate ?? rate, without: without)
  }

  /// What this session has changed, for that program; nil where there is no need for it, as with `recovery`.
  public var recoverySettings: CrashRecoverySettings? {
    guard recovery != nil, settings.restoresAtEnd, let description else { return nil }
    return CrashRecoverySettings(memory, of: description)
  }

  /// Whether the end was asked for and nothing is left to do.
  public var isEnded: Bool { if case .ended = stage { true } else { false } }
  /// Whether the receiver is in the wished state, or as near as it lets itself be brought, and listens to commands.
  public var isSteady: Bool { if case .steady = stage { rateChangeAt == nil } else { false } }

  /// Whether the receiver sleeps because it was asked to.
  public var isAsleep: Bool { if case .asleep = stage { true } else { false } }

  /// Whether nothing is being looked for, said or waited for: only epochs are to come.
  var isAtRest: Bool {
    guard isHeard, !listener.isSearching, request == nil, submitted.isEmpty, endBy == nil, retrieval == nil
    else { return false }
    return switch stage {
    case .steady: true
    case .listening(let askAt): askAt == nil
    default: false
    }
  }

  /// What the line is listened to for.
  public var expectation: ReadScheduler.Expectation {
    if isAtRest { return .epochs }
    let isOverdue = request.map { $0.isOverdue || isUnanswered } ?? false
    return isOverdue && isHeard && endBy == nil && !listener.isSearching ? .overdueAnswer : .answer
  }

  /// For the next session with the same receiver.
  public internal(set) var memory: SessionMemory

  public var counters: StreamCounters { listener.counters }
  public var rejectedFields: Int { listener.rejectedFields }
  /// Whether frames are heard, and the rate is therefore right.
  public internal(set) var isHeard = false

  // The rest is for the extensions of this type, a file for each of its tasks.

  var settings: SessionSettings
  var listener: Listener
  var stage = Stage.searching
  var evidence = VendorEvidence()
  var watch: ConfigurationWatch?
  var request: RequestInFlight?
  var submitted: [(ticket: SessionTicket, command: Command)] = []
  var current: SessionTicket?
  var tickets = 0
  var actions: [SessionAction] = []
  var quietUntil: Instant
  var retryAt: Instant?
  var retryAfter = ReceiverSession.firstRetry
  var endBy: Instant?
  /// Something that was changed could not be put back.
  var hasUnrestoredChanges = false
  /// When what was changed has to be put back at the latest.
  var restoringBy: Instant?
  /// What was told of the line.
  var trouble = LineTrouble()
  var wasLost = false
  /// How often in a row a silent receiver that is known was asked at its rate in vain.
  var failedPolls = 0
  var hasHadEpoch = false
  /// Another make, or one that does not answer: not a byte more, unless it shows itself.
  var isPassive = false
  /// It speaks and was asked who it is in vain.
  var isUnanswered = false
  /// That it does not take its configuration was told, and is so until it does.
  var isFailureReported = false
  /// How many settings it refused when it was configured last.
  var refusedCount = 0
  /// A check of the configuration is under way: what it has to write was lost.
  var isChecking = false
  /// What it was brought to last.
  var appliedConfiguration: DesiredConfiguration?
  var sawBootText = false
  var bytesThisEpoch = 0
  var bytesPerEpoch = 600
  /// What the line carries at its rate.
  var load = LineLoad()
  var lastFrame: Instant
  /// The rate that the line was found at, once it is to have another; kept over an unplug.
  var settingsRate: UInt32? {
    get { memory.foundRate }
    set { memory.foundRate = newValue }
  }
  /// `settingsRate` is of the session before, and it is not known yet whether the receiver has kept its raised rate.
  var inheritsRate = false
  /// The rate is to be raised once the line has been quiet for a moment, or at the latest then: what is on its way, and what
  /// waits in the receiver for a line that was full, would be lost.
  var rateChangeBy: Instant?
  /// A raised rate did not outlive a sleep: it is left as it is.
  var keepsNoRate = false
  /// It is looked for where an earlier program has left it.
  var isTryingRecovery = false
  /// What that program had changed was looked at.
  var hasTakenRecovery = false
  /// When the rate was last changed on purpose.
  var rateSetAt = Instant.zero
  /// The computer's time when the line was opened.
  let reference: UTCTime?
  let openedAt: Instant
  /// What a receiver that has just started is helped with, while it is steady and nothing else is to be said.
  var assisting: Assisting?
  var isAssistingInFlight = false
  /// What is in flight is the retrieval's: a new wish may come before its answer, which is none to the wish's questions.
  var isRetrievalInFlight = false
  /// The sleep that is wished and not yet begun: for how long.
  var pendingSleep: PendingSleep?
  /// The wish that was last told, or is being told.
  var sentConfiguration: DesiredConfiguration?
  /// The settings that battery-backed memory has, as far as is known.
  var stored: [Setting] = []
  /// Bytes that had been skipped when it fell asleep.
  var skippedAsleep: UInt64 = 0
  var retrieval: (any Retrieval)?
  /// LOG-BATCH payloads that nobody asked for yet: a reader that was killed has asked, and the receiver goes on.
  var unaskedBatch: [[UInt8]] = []

  struct PendingSleep { var duration: Milliseconds? }

  /// - Parameters:
  ///   - settings: what may be done.
  ///   - lineRate: the rate the line is set to; nil where it has none.
  ///   - reference: the computer's time, if its clock is set.
  ///   - now: when the line was opened.
  public init(_ settings: SessionSettings, lineRate: UInt32?, reference: UTCTime?, now: Instant) {
    self.settings = settings
    memory = settings.memory ?? SessionMemory()
    let asking: BaudRateSearch.Asking =
      switch settings.intent {
      case .readOnly: .never
      case .identify: .soon
      case .serve: settings.isKnownUBlox || settings.memory?.description != nil ? .soon : .afterListening
      }
    let hasRate = settings.line == .serial && lineRate != nil
    let recovery = hasRate && settings.intent != .readOnly ? settings.recovery : nil
    let searches = hasRate && recovery == nil
    var likely = settings.likelyRates
    if let known = settings.memory?.rate { likely.insert(known, at: 0) }
    listener = Listener(
      searchingFrom: searches ? lineRate : nil, likely: likely, asking: asking,
      unfinishedFrame: settings.unfinishedFrame, reference: reference, now: now)
    rate =
      switch settings.line {
      case .serial, .bound: lineRate
      case .usb, .withoutRate: nil
      }
    switch settings.line {
    case .usb: port = .usb
    case .withoutRate(let number): port = number
    case .serial, .bound: break
    }
    quietUntil = now
    lastFrame = now
    self.reference = reference
    openedAt = now
    inheritsRate = searches && memory.foundRate != nil
    if let recovery {
      isTryingRecovery = true
      rate = recovery.rate
      if recovery.rate != lineRate { actions.append(.setRate(recovery.rate)) }
      settingsRate = recovery.foundRate == recovery.rate ? nil : recovery.foundRate
      retryAt = now
    } else if asking == .soon, !searches, settings.intent != .readOnly {
      // There is no rate to find by asking; a quiet receiver is asked once it had time for an epoch.
      retryAt = now + Milliseconds(1500)
    }
  }
}
