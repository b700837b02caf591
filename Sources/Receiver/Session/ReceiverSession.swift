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
///     any ─ finish ─▶ (keeping the orbits) ─▶ restoring ─▶ ended
///
/// Each event is legal in each state. It has no clock and no file: bytes and the time go in; fixes, and what to do
/// (`nextAction`), come out. `deadline` says when `wake` is due.
public struct ReceiverSession: ~Copyable {
  private enum Trouble { case silent, notUnderstood }

  private enum Stage {
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

  /// Silence after which a receiver that spoke is taken to be gone or asleep, at the least.
  static var silence: Milliseconds { Milliseconds(3000) }
  /// Bytes of no frame after which the rate is taken to have changed, and the time without a frame that has to pass.
  static var garbageBytes: Int { 60 }
  static var garbageTime: Milliseconds { Milliseconds(1500) }
  /// For how long a receiver has to be heard again before that is told: a noisy line comes and goes.
  static var backAfter: Milliseconds { Milliseconds(3000) }
  /// After a refusal or no answer, the receiver is asked again after this time, doubled each time up to the longest.
  static var firstRetry: Milliseconds { Milliseconds(5000) }
  /// The same for one that only looks like a u-blox receiver.
  static var firstRetryOfUnsure: Milliseconds { Milliseconds(60_000) }
  static var longestRetry: Milliseconds { Milliseconds(1_800_000) }
  /// For how long the end may take.
  static var longestEnding: Milliseconds { Milliseconds(4000) }
  /// For how long a receiver may tell what it knows of the orbits, and the rate below which that takes too long: some
  /// hundred messages of 172 bytes at the most.
  static var longestKeeping: Milliseconds { Milliseconds(6000) }
  static var leastKeepingRate: UInt32 { 38_400 }
  /// After a change of the rate, what an adapter still had of the old one may come for so long.
  static var staleBytes: Milliseconds { Milliseconds(150) }
  /// How long a receiver is listened to before it is asked, for another manufacturer's sentences.
  static var listeningBeforeAsking: Milliseconds { Milliseconds(300) }

  /// What the receiver said of itself.
  public var description: ReceiverDescription? { memory.description }
  /// The wished state of the receiver; `set(_:)` changes it.
  public private(set) var wish: ReceiverWish?
  /// The port of the receiver that is talked over, once it is known.
  public private(set) var port: ReceiverPortNumber?
  /// The rate of the line; nil where there is none.
  public private(set) var rate: UInt32?
  /// The rate that the line was found at and gets back at the end; nil where it is at that.
  public var raisedRate: RaisedRate? {
    guard let settingsRate, let rate, settingsRate != rate else { return nil }
    return RaisedRate(found: settingsRate, used: rate, port: port)
  }
  /// What the next program has to know should this one not come to its end; nil while the receiver can be found by itself.
  public var left: LeftReceiver? {
    guard hasRateSearch, description != nil, let rate else { return nil }
    let isRaised = settingsRate.map { $0 != rate } ?? false
    let without = constellationsLeftOut
    guard isRaised || expectsSilence || !without.isEmpty else { return nil }
    return LeftReceiver(rate: rate, foundRate: settingsRate ?? rate, without: without)
  }
  /// Whether the end was asked for and nothing is left to do.
  public var isEnded: Bool { if case .ended = stage { true } else { false } }
  /// Whether the receiver is in the wished state, or as near as it lets itself be brought, and listens to commands.
  public var isSteady: Bool { if case .steady = stage { rateChangeAt == nil } else { false } }
  /// Whether nothing is being looked for, said or waited for: only epochs are to come.
  private var isAtRest: Bool {
    guard isHeard, !listener.isSearching, exchange == nil, submitted.isEmpty, endBy == nil, retrieval == nil
    else { return false }
    return switch stage {
    case .steady: true
    case .listening(let askAt): askAt == nil
    default: false
    }
  }
  /// What the line is listened to for.
  public var attention: ReadPolicy.Attention {
    if isAtRest { return .epochs }
    let isOverdue = exchange.map { $0.isOverdue || isUnanswered } ?? false
    return isOverdue && isHeard && endBy == nil && !listener.isSearching ? .overdueAnswer : .answer
  }
  /// For the next session with the same receiver.
  public private(set) var memory: SessionMemory

  public var counters: StreamCounters { listener.counters }
  public var rejectedFields: Int { listener.rejectedFields }
  /// Whether frames are heard, and the rate is therefore right.
  public private(set) var isHeard = false

  private let settings: SessionSettings
  private var listener: Listener
  private var stage = Stage.searching
  private var evidence = VendorEvidence()
  private var watch: ConfigurationWatch?
  private var exchange: Exchange?
  private var submitted: [(ticket: SessionTicket, command: Command)] = []
  private var current: SessionTicket?
  private var tickets = 0
  private var actions: [SessionAction] = []
  private var quietUntil: Instant
  private var retryAt: Instant?
  private var retryAfter = ReceiverSession.firstRetry
  private var endBy: Instant?
  /// What was told of the line, and is so until the receiver is heard for a while.
  private var trouble: Trouble?
  private var backAt: Instant?
  private var wasLost = false
  /// How often in a row a silent receiver that is known was asked at its rate in vain.
  private var vainQuestions = 0
  /// After so many it is looked for at all rates: a watchdog may have given it another one, at which it says nothing by
  /// itself.
  private static var mostVainQuestions: Int { 3 }
  private var hasHadEpoch = false
  /// Another make, or one that does not answer: not a byte more, unless it shows itself.
  private var isLeftAlone = false
  /// It speaks and was asked who it is in vain.
  private var isUnanswered = false
  /// That it does not take its configuration was told, and is so until it does.
  private var isFailureTold = false
  /// A check of the configuration is under way: what it has to write was lost.
  private var isChecking = false
  private var sawBootText = false
  private var bytesThisEpoch = 0
  private var bytesPerEpoch = 600
  private var lastFrame: Instant
  private var settingsRate: UInt32?
  /// The rate is to be raised once the line has been quiet for a moment, or at the latest then: what is on its way, and what
  /// waits in the receiver for a line that was full, would be lost.
  private var rateChangeBy: Instant?
  static var longestWaitForQuiet: Milliseconds { Milliseconds(5000) }
  static var quietTime: Milliseconds { Milliseconds(150) }
  /// A raised rate did not outlive a sleep: it is left as it is.
  private var keepsNoRate = false
  /// It is looked for where an earlier program has left it.
  private var isTryingLeft = false
  /// When the rate was last changed on purpose.
  private var rateSetAt = Instant.zero
  /// The computer's time when the line was opened.
  private let reference: UTCTime?
  private let openedAt: Instant
  /// What a receiver that has just started is helped with, while it is steady and nothing else is to be said.
  private var assisting: Assisting?
  private var isAssistingInFlight = false
  /// The sleep that is wished and not yet begun: for how long.
  private var sleepWish: SleepWish?
  /// The wish that was last told, or is being told.
  private var toldWish: ReceiverWish?
  /// The settings that battery-backed memory has, as far as is known.
  private var stored: [Setting] = []

  /// Bytes that had been skipped when it fell asleep.
  private var skippedAsleep: UInt64 = 0
  private var retrieval: (any Retrieval)?
  /// LOG-BATCH payloads that nobody asked for yet: a reader that was killed has asked, and the receiver goes on.
  private var unaskedBatch: [[UInt8]] = []
  /// More than any receiver holds.
  static var mostUnasked: Int { 1024 }

  private struct SleepWish { var duration: Milliseconds? }

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
    let left = hasRate && settings.intent != .readOnly ? settings.left : nil
    let searches = hasRate && left == nil
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
    if let left {
      isTryingLeft = true
      rate = left.rate
      if left.rate != lineRate { actions.append(.setRate(left.rate)) }
      settingsRate = left.foundRate == left.rate ? nil : left.foundRate
      retryAt = now
    } else if asking == .soon, !searches, settings.intent != .readOnly {
      // There is no rate to find by asking; a quiet receiver is asked once it had time for an epoch.
      retryAt = now + Milliseconds(1500)
    }
  }

  // MARK: In

  /// Takes bytes from the line; `body` gets each report of an epoch that follows from them.
  public mutating func receive(
    _ bytes: RawSpan, at now: Instant, _ body: (borrowing EpochAssembler.Report, borrowing Sky) -> Void
  ) {
    bytesThisEpoch += bytes.byteCount
    var heard = Heard(evidence: evidence, watch: watch, exchange: exchange, looks: looksAtEvidence)
    let bitRate = rate
    var epochs = 0
    let action = listener.receive(bytes, at: now, frames: { heard.receive($0, at: now, bitRate) }) { report, sky in
      if !report.isUpdate { epochs += 1 }
      body(report, sky)
    }
    take(&heard, epochs: epochs, at: now)
    carryOut(action, at: now)
    noticeGarbage(at: now)
    tellIfBack(at: now)
    proceed(at: now)
  }

  /// The deadline has come, or any other time.
  public mutating func wake(
    at now: Instant, _ body: (borrowing EpochAssembler.Report, borrowing Sky) -> Void
  ) {
    var heard = Heard(evidence: evidence, watch: watch, exchange: exchange, looks: looksAtEvidence)
    let bitRate = rate
    let action = listener.wake(at: now, frames: { heard.receive($0, at: now, bitRate) }, body)
    take(&heard, epochs: 0, at: now)
    carryOut(action, at: now)
    if isAsleep { skippedAsleep = listener.counters.skippedBytes }
    noticeSilence(at: now)
    tellIfBack(at: now)
    proceed(at: now)
  }

  /// The wished state changes: what differs is told to the receiver as soon as it listens.
  public mutating func set(_ wish: ReceiverWish, at now: Instant) {
    self.wish = wish
    watch = nil
    if case .steady = stage { startConfiguring(at: now) }
    proceed(at: now)
  }

  /// The receiver is to sleep, once it is in the wished state and what was submitted is said. Its settings are put where
  /// they outlive that. Told by `SessionReport.asleep`, `.doesNotSleep` or `.cannotSleep`.
  ///
  /// - Parameter duration: for how long; nil for until `wakeUp`.
  public mutating func sleep(for duration: Milliseconds?, at now: Instant) {
    guard endBy == nil else { return }
    let isPossible =
      description.map { SleepRequest.command(duration, for: $0, port: usablePort) != nil } ?? !isLeftAlone
    guard settings.intent != .readOnly, isPossible else { return actions.append(.report(.cannotSleep)) }
    if case .asleep = stage { return }
    sleepWish = SleepWish(duration: duration)
    proceed(at: now)
  }

  /// The receiver is to wake; told by `SessionReport.awake`.
  public mutating func wakeUp(at now: Instant) {
    sleepWish = nil
    // One that was given up is tried now, and not when its turn comes.
    if case .searching = stage, retryAt != nil, endBy == nil { retryAt = now }
    guard case .asleep = stage, endBy == nil else { return }
    interruptExchange()
    stage = .waking(WakeUp(.asked))
    proceed(at: now)
  }

  /// The receiver's batch is read out, or its log in flash where it has no batch, once it listens; what comes of it is told by `SessionAction.batch`.
  ///
  /// - Parameters:
  ///   - journal: what was delivered of it before.
  ///   - earlier: LOG-BATCH payloads that were received before and perhaps not delivered, oldest first; see `BatchLog`.
  public mutating func retrieveBatch(_ journal: BatchJournal, earlier: [[UInt8]] = [], at now: Instant) {
    guard retrieval == nil else { return }
    if let description, !description.can(.batching), description.can(.flashLog) {
      retrieval = FlashRetrieval(journal, usesItems: description.can(.valset))
    } else {
      retrieval = BatchRetrieval(journal, earlier: earlier)
    }
    for payload in unaskedBatch { retrieval?.receive(logBATCH: payload, at: now) }
    unaskedBatch = []
    if settings.intent == .readOnly || endBy != nil || isAsleep { cutRetrieval() }
    proceed(at: now)
  }

  /// Whether the receiver sleeps because it was asked to.
  public var isAsleep: Bool { if case .asleep = stage { true } else { false } }

  /// Has a command said when its turn comes; the outcome is told by `SessionAction.finished`. In a read-only session,
  /// while the receiver sleeps, and once the session ends, it is silent at once.
  public mutating func submit(_ command: Command, at now: Instant) -> SessionTicket {
    tickets += 1
    let ticket = SessionTicket(number: tickets)
    if settings.intent == .readOnly || endBy != nil || isAsleep {
      actions.append(.finished(ticket, .silent))
    } else {
      submitted.append((ticket, command))
      proceed(at: now)
    }
    return ticket
  }

  /// The session is to end in order: what was changed is put back. It is over when `isEnded`.
  public mutating func finish(at now: Instant) {
    guard endBy == nil else { return }
    keepFoundOfStage()
    endBy = now + Self.longestEnding
    for (ticket, _) in submitted { actions.append(.finished(ticket, .silent)) }
    submitted = []
    if let current { actions.append(.finished(current, .silent)) }
    current = nil
    exchange = nil
    endAssisting()
    cutRetrieval()
    if let description, readsDatabase {
      let until = now + Self.longestKeeping
      endBy = until + Self.longestEnding
      stage = .keeping(DatabaseReading(of: description), until: until)
    } else {
      startRestoring(at: now)
    }
    proceed(at: now)
  }

  private var readsDatabase: Bool {
    guard isHeard, settings.intent != .readOnly, settings.assistance?.readsDatabaseAtEnd == true else { return false }
    return rate.map { $0 >= Self.leastKeepingRate } ?? true
  }

  private mutating func startRestoring(at now: Instant) {
    let sleeps = isAsleep || wish?.powerSave?.sleepsBetweenFixes == true
    if isHeard || sleeps, settings.restoresAtEnd, settings.intent != .readOnly, isToRestore {
      if sleeps {
        // The byte is lost; what follows has to wait until the receiver reads.
        actions.append(.send([0xFF]))
        quietUntil = now + WakeUp.oscillatorStart
        endBy = now + Self.longestEnding + WakeUp.oscillatorStart
      }
      stage = .restoring(Configuration(memory.found.reversed().map(\.setting), port: port, writesAtOnce: true))
    } else {
      stage = .ended
    }
  }

  /// The line is gone: what was collected is reported, commands are silent.
  public mutating func lost(_ body: (borrowing EpochAssembler.Report, borrowing Sky) -> Void) {
    listener.finish(body)
    keepFoundOfStage()
    for (ticket, _) in submitted { actions.append(.finished(ticket, .silent)) }
    if let current { actions.append(.finished(current, .silent)) }
    submitted = []
    current = nil
    exchange = nil
    cutRetrieval()
    stage = .ended
  }

  // MARK: Out

  /// What to do next; nil when there is nothing more for now.
  public mutating func nextAction() -> SessionAction? {
    actions.isEmpty ? nil : actions.removeFirst()
  }

  /// When `wake` is due.
  public var deadline: Instant? {
    if isEnded { return nil }
    var next = listener.deadline
    next = .earlier(next, exchange?.deadline)
    next = .earlier(next, endBy)
    next = .earlier(next, silenceDeadline)
    if case .asleep(let watch) = stage { next = .earlier(next, watch.deadline) }
    next = .earlier(next, backAt)
    if exchange == nil { next = .earlier(.earlier(next, retryAt), rateChangeAt) }
    if isSteady, exchange == nil { next = .earlier(next, retrieval?.deadline) }
    if case .listening(let askAt) = stage { next = .earlier(next, askAt) }
    if case .keeping(_, let until) = stage { next = .earlier(next, until) }
    if exchange == nil, !submitted.isEmpty, canTalk { next = .earlier(next, quietUntil) }
    return next
  }

  // MARK: What was heard

  /// What the frames of a piece say, collected while the listener has them.
  private struct Heard {
    var evidence: VendorEvidence
    var watch: ConfigurationWatch?
    var exchange: Exchange?
    var outcome: Outcome?
    var frames = 0
    var isLost = false
    var sawBootText = false
    /// MON-VER that no question waits for any more.
    var version: [UInt8]?
    /// LOG-BATCH payloads.
    var batch: [[UInt8]] = []
    let looks: Bool

    init(evidence: VendorEvidence, watch: ConfigurationWatch?, exchange: Exchange?, looks: Bool) {
      self.evidence = evidence
      self.watch = watch
      self.exchange = exchange
      self.looks = looks
    }

    mutating func receive(_ frame: borrowing Frame, at now: Instant, _ bitRate: UInt32?) {
      frames += 1
      if looks { evidence.receive(frame) }
      if watch != nil, watch!.receive(frame, at: now) { isLost = true }
      switch frame.kind {
      case .ubx:
        guard let ubx = frame.ubx else { return }
        if ubx.identity == .logBATCH { batch.append([UInt8](copying: ubx.payload)) }
        if exchange == nil, ubx.identity == .monVER, ubx.payload.byteCount > 0 {
          version = [UInt8](copying: ubx.payload)
        }
        if exchange != nil, outcome == nil { outcome = exchange!.receive(ubx, at: now, bitRate: bitRate) }
      case .nmea:
        if let sentence = frame.nmea, sentence.formatter == Formatter("TXT") { sawBootText = true }
      case .rtcm3, .spartn: break
      }
    }
  }

  private var looksAtEvidence: Bool { evidence.verdict != .uBlox && memory.description == nil }

  private mutating func take(_ heard: inout Heard, epochs: Int, at now: Instant) {
    evidence = heard.evidence
    watch = heard.watch
    exchange = heard.exchange
    if epochs > 0 {
      hasHadEpoch = true
      bytesPerEpoch = max(bytesPerEpoch / 2, min(bytesThisEpoch, 8192))
      bytesThisEpoch = 0
    }
    if heard.frames > 0 {
      if !isHeard { becomeHeard(at: now) }
      lastFrame = now
    }
    if let outcome = heard.outcome { finishExchange(outcome, at: now) }
    if heard.frames > 0 { noticeReturnOfRate(at: now) }
    if let version = heard.version, memory.description == nil, case .listening = stage, settings.intent != .readOnly {
      retryAt = nil
      stage = .identifying(Identification(lateAnswer: version, port: port, rate: rate))
    }
    for payload in heard.batch { takeBatched(payload, at: now) }
    if heard.frames > 0 { noticeWaking(at: now) }
    if heard.isLost || heard.sawBootText && isSteady && !sawBootText { configurationLost(at: now) }
    sawBootText = heard.sawBootText
  }

  private mutating func becomeHeard(at now: Instant) {
    isHeard = true
    memory.rate = rate
    if trouble != nil { backAt = now + Self.backAfter }
    guard endBy == nil else { return }
    if case .searching = stage { stage = .listening(askAt: nil) }
    retryAt = nil
  }

  /// Tells of trouble once, until the receiver was heard again for a while.
  private mutating func tell(_ trouble: Trouble, _ report: SessionReport) {
    backAt = nil
    if self.trouble == nil { actions.append(.report(report)) }
    self.trouble = trouble
  }

  private mutating func tellIfBack(at now: Instant) {
    guard let backAt, now >= backAt else { return }
    self.backAt = nil
    trouble = nil
    actions.append(.report(.back))
  }

  private mutating func configurationLost(at now: Instant) {
    guard endBy == nil, case .steady = stage, wish != nil, description != nil else { return }
    watch = nil
    isChecking = true
    if retrieval != nil {
      // What it was sending is gone with it.
      if current == nil { exchange = nil }
      cutRetrieval()
    }
    startConfiguring(at: now)
  }

  private var silenceLimit: Milliseconds {
    // In on/off operation nothing comes between two fixes, and a fix may take its time.
    if case .onOff(let seconds)? = wish?.powerSave { return Milliseconds(UInt64(seconds) * 2000 + 120_000) }
    return max(Self.silence, epochPeriod * 3)
  }

  private var epochPeriod: Milliseconds { Milliseconds(UInt64(wish?.wantedMeasurementPeriod ?? 1000)) }

  /// Whether that nothing comes is as it should be.
  private var expectsSilence: Bool {
    switch stage {
    case .asleep, .waking: true
    default: wish?.isSilent ?? false
    }
  }

  /// When silence becomes news; nil where none is expected to speak by itself: its output may be off.
  private var silenceDeadline: Instant? {
    guard isHeard, endBy == nil, !expectsSilence, !listener.isSearching else { return nil }
    let speaks = hasHadEpoch || wish?.messages.contains { $0.rate > 0 } ?? (description == nil)
    return speaks ? listener.lastByte + silenceLimit : nil
  }

  /// A silent receiver is waited for at its rate: it speaks again where it spoke. If it has another rate then, that shows
  /// as garbage.
  private mutating func noticeSilence(at now: Instant) {
    guard let due = silenceDeadline, now >= due else { return }
    tell(.silent, .silent)
    loseTouch()
    if memory.description != nil { scheduleRetry(from: now) }
  }

  private mutating func noticeGarbage(at now: Instant) {
    guard endBy == nil, !listener.isSearching, now >= lastFrame + Self.garbageTime else { return }
    if case .changingRate = stage { return }
    // Much garbage, or a little for long: at a rate far too low a burst is a few bytes. A long frame is no garbage.
    let isMuch = skippedSince >= Self.garbageBytes
    let isLong = skippedSince >= 8 && now >= lastFrame + silenceLimit
    guard isMuch || isLong || listener.bytesSinceFrame >= UBXFrame.longestPayload else { return }
    switch stage {
    case .asleep, .waking:
      // The rest of what it said when it fell asleep is none.
      guard listener.counters.skippedBytes >= skippedAsleep + UInt64(Self.garbageBytes) else { return }
    default: break
    }
    switch stage {
    case .asleep(var watch):
      // It speaks at the rate of its start: it is awake, or was never asleep.
      guard case .isAwake(let cause) = watch.hear(at: now) else { return }
      actions.append(.report(.awake(cause)))
      return searchAgain(at: now)
    case .waking: return searchAgain(at: now)
    default: break
    }
    guard isHeard || trouble != nil || isTryingLeft else { return }
    if isTryingLeft { return giveUpLeft(at: now) }
    if trouble != .silent { tell(.notUnderstood, .notUnderstood) }
    searchAgain(at: now)
  }

  /// Bytes that were skipped since the last frame, as far as the stream has given them up.
  private var skippedSince: Int { Int(listener.counters.skippedBytes - skippedAtLastFrame) }
  private var skippedAtLastFrame: UInt64 { listener.skippedAtLastFrame }

  /// What was going on is over.
  private mutating func loseTouch() {
    keepFoundOfStage()
    interruptExchange()
    rateChangeBy = nil
    watch = nil
    cutRetrieval()
    wasLost = true
    isHeard = false
    isUnanswered = false
    backAt = nil
    stage = .searching
    evidence = VendorEvidence()
  }

  /// Nothing is understood any more: the rate is looked for; where there is none, the receiver is asked at times.
  private mutating func searchAgain(at now: Instant) {
    loseTouch()
    guard settings.line == .serial, let rate else {
      if memory.description != nil { scheduleRetry(from: now) }
      return
    }
    retryAt = nil
    let asking: BaudRateSearch.Asking =
      settings.intent == .readOnly || !isKnown ? .never : .soon
    var likely: [UInt32] = []
    if let settingsRate { likely.append(settingsRate) }
    if let known = memory.rate { likely.append(known) }
    listener.search(from: rate, likely: likely + settings.likelyRates, asking: asking, at: now)
  }

  /// It is not where an earlier program has left it.
  private mutating func giveUpLeft(at now: Instant) {
    isTryingLeft = false
    settingsRate = nil
    loseTouch()
    wasLost = false
    guard let rate else { return }
    // Something else may be on this line by now: it is not asked before it was listened to.
    listener.search(
      from: rate, likely: settings.likelyRates, asking: isKnown ? .soon : .afterListening, at: now)
  }

  /// Whether it is a u-blox receiver for sure.
  private var isKnown: Bool { memory.description != nil || settings.isKnownUBlox }

  private mutating func interruptExchange() {
    exchange = nil
    isAssistingInFlight = false
    if let current { actions.append(.finished(current, .silent)) }
    current = nil
  }

  private mutating func scheduleRetry(from now: Instant) {
    retryAt = now + retryAfter
    retryAfter = min(retryAfter * 2, Self.longestRetry)
  }

  // MARK: The line's rate

  private mutating func carryOut(_ action: Listener.Action, at now: Instant) {
    switch action {
    case .none: break
    case .found(let found):
      rate = found
      if trouble == nil || memory.rate != found { actions.append(.report(.rateFound(found))) }
      memory.rate = found
    case .setRate(let next):
      rate = next
      actions.append(.setRate(next))
    case .ask(let next):
      rate = next
      actions.append(.setRate(next))
      actions.append(.send(frameBytes(.monVER, [])))
    case .adviseOnSilence:
      actions.append(.report(.adviseOnSilence))
    }
  }

  // MARK: Going on

  private var canTalk: Bool {
    guard settings.intent != .readOnly, isHeard || !hasRateSearch else { return false }
    switch stage {
    case .searching: return false
    case .listening: return memory.description != nil || evidence.verdict == .uBlox
    default: return true
    }
  }

  private var hasRateSearch: Bool { settings.line == .serial && rate != nil }

  /// Does what is due: the exchange in flight, the stage's next command, a submitted one.
  private mutating func proceed(at now: Instant) {
    if let endBy, now >= endBy { stage = .ended }
    if case .keeping(_, let until) = stage, now >= until {
      exchange = nil
      startRestoring(at: now)
    }
    defer { tellOfRetrieval() }
    for _ in 0..<64 {
      if isEnded { return }
      wakeIfTime(at: now)
      decideOnListening(at: now)
      if exchange == nil {
        guard startNext(at: now) else { return }
        // One stage is over and the next has not spoken yet: on a silent line nothing else would bring it on.
        if exchange == nil { continue }
      }
      guard exchange != nil, now >= exchange!.deadline else { return }
      let backlog = Exchange.time(of: min(bytesPerEpoch, 4096), rate)
      let (bytes, outcome) = exchange!.wake(at: now, backlog: backlog, bitRate: rate)
      if let bytes { actions.append(.send(bytes)) }
      if let outcome { finishExchange(outcome, at: now) }
    }
  }

  private mutating func decideOnListening(at now: Instant) {
    guard isHeard, case .listening(let askAt) = stage else {
      if case .searching = stage, let retryAt, now >= retryAt, settings.intent != .readOnly, !listener.isSearching {
        if vainQuestions >= Self.mostVainQuestions, settings.line == .serial {
          vainQuestions = 0
          return searchAgain(at: now)
        }
        // It may be asleep: the byte that wakes a receiver is lost (interface descriptions, "wake-up by UART RX").
        actions.append(.send([0xFF]))
        self.retryAt = nil
        if isTryingLeft { quietUntil = now + WakeUp.oscillatorStart }
        startIdentifying()
      }
      return
    }
    if settings.intent == .readOnly || isLeftAlone && evidence.verdict != .uBlox { return }
    isLeftAlone = false
    if let retryAt {
      guard now >= retryAt else { return }
      self.retryAt = nil
      return startIdentifying()
    }
    if memory.description != nil { return startIdentifying() }
    switch evidence.verdict {
    case .uBlox, .perhapsUBlox: startIdentifying()
    case .other:
      isLeftAlone = true
      actions.append(.report(.notIdentified(isOtherVendor: true)))
    case .unknown:
      if settings.isKnownUBlox { return startIdentifying() }
      guard settings.intent == .identify else { return }
      if let askAt {
        if now >= askAt { startIdentifying() }
      } else {
        stage = .listening(askAt: now + Self.listeningBeforeAsking)
      }
    }
  }

  private mutating func startIdentifying() {
    let isProved = evidence.verdict == .uBlox || settings.isKnownUBlox || memory.description != nil
    stage = .identifying(
      Identification(
        isProved: isProved, isRepeated: isUnanswered, port: port, rate: rate,
        wantsID: memory.description.map { $0.uniqueID != nil } ?? true))
  }

  private mutating func startConfiguring(at now: Instant) {
    guard var wish, let description else { return }
    rateChangeBy = nil
    toldWish = wish
    wish.isPowerSaveOn = wish.powerSave?.sleepsBetweenFixes != true
    let usesItems = description.can(.valset)
    let list = usesItems ? items(of: wish) : wish.messageSettings(for: description)
    stage = .configuring(Configuration(list, port: port))
  }

  /// Starts the next command of the stage, or a submitted one; false when there is none.
  private mutating func startNext(at now: Instant) -> Bool {
    switch stage {
    case .searching, .ended: return false
    case .listening:
      return canTalk && startSubmitted()
    case .identifying(let identification):
      guard let command = identification.next() else {
        finishIdentifying(identification, at: now)
        return true
      }
      begin(command)
    case .configuring(let configuration):
      guard let command = configuration.next() else {
        finishConfiguring(configuration, at: now)
        return true
      }
      begin(command)
    case .keeping(let reading, _):
      guard let command = reading.next() else {
        memory.database = reading.messages
        startRestoring(at: now)
        return true
      }
      begin(command)
    case .restoring(let configuration):
      guard var command = configuration.next() else {
        finishRestoring(at: now)
        return true
      }
      command.attempts = 2
      begin(command)
    case .restoringBackup(let store):
      guard let command = store.next() else {
        stage = .ended
        return true
      }
      begin(command)
    case .storing(let store):
      guard let command = store.next() else {
        finishStoring(store, at: now)
        return true
      }
      begin(command)
    case .asleep: return false
    case .waking(let wakeUp):
      switch wakeUp.next() {
      case .say(let command): begin(command)
      case .reset(let command):
        actions.append(.report(.resetToWake))
        begin(command)
      case .failed: giveUpWaking(wakeUp, at: now)
      }
    case .changingRate(var change), .restoringRate(var change):
      let action = change.next()
      store(change)
      switch action {
      case .say(let command): begin(command)
      case .setRate(let next): setRate(next, at: now)
      case .finished(let isChanged): finishChangingRate(isChanged, change, at: now)
      }
    case .steady:
      if let retryAt, now >= retryAt {
        self.retryAt = nil
        startConfiguring(at: now)
        return true
      }
      if hasNewWish {
        startConfiguring(at: now)
        return true
      }
      if let rateChangeAt {
        guard now >= rateChangeAt else { return false }
        startChangingRate()
        return true
      }
      return startRetrieving(at: now) || startSubmitted() || startSleeping(at: now) || startAssisting(at: now)
    }
    return true
  }

  // MARK: Assistance

  /// The time by the computer's clock.
  private func time(at now: Instant) -> UTCTime? {
    reference.map { time in
      UTCTime(nanosecondsSince1970: time.nanosecondsSince1970 + Int64(now.nanoseconds - openedAt.nanoseconds))
    }
  }

  /// The receiver has started: what is known is to be given to it once it is configured.
  private mutating func prepareAssisting(at now: Instant) {
    guard let assistance = settings.assistance, let description else { return }
    assisting = Assisting(assistance, to: description, at: time(at: now))
  }

  private mutating func startAssisting(at now: Instant) -> Bool {
    guard let time = time(at: now), let some = assisting else { return false }
    guard let command = some.next(at: time) else {
      endAssisting()
      if some.given + some.refused > 0 {
        actions.append(.report(.assisted(given: some.given, refused: some.refused)))
      }
      return false
    }
    isAssistingInFlight = true
    begin(command)
    return true
  }

  /// What was changed for it is put back with the rest.
  private mutating func endAssisting() {
    for found in assisting?.found ?? [] where !memory.found.contains(where: { $0.setting.isOfSame(found.setting) }) {
      memory.found.append(found)
    }
    assisting = nil
    isAssistingInFlight = false
  }

  private mutating func store(_ change: PortRateChange) {
    if case .restoringRate = stage { stage = .restoringRate(change) } else { stage = .changingRate(change) }
  }

  private mutating func startSubmitted() -> Bool {
    guard !submitted.isEmpty else { return false }
    let (ticket, command) = submitted.removeFirst()
    current = ticket
    begin(command)
    return true
  }

  private mutating func begin(_ command: Command) { exchange = Exchange(command, earliest: quietUntil) }

  private mutating func finishExchange(_ outcome: Outcome, at now: Instant) {
    guard let command = exchange?.command else { return }
    exchange = nil
    quietUntil = now + command.pause
    if isAssistingInFlight {
      isAssistingInFlight = false
      assisting?.receive(outcome)
      return
    }
    if let ticket = current {
      current = nil
      actions.append(.finished(ticket, outcome))
      return
    }
    switch stage {
    case .identifying(var identification):
      identification.receive(outcome)
      stage = .identifying(identification)
    case .configuring(var configuration):
      configuration.receive(outcome)
      stage = .configuring(configuration)
    case .keeping(var reading, let until):
      reading.receive(outcome)
      stage = .keeping(reading, until: until)
    case .restoring(var configuration):
      configuration.receive(outcome)
      stage = .restoring(configuration)
    case .changingRate(var change), .restoringRate(var change):
      change.receive(outcome)
      store(change)
    case .storing(var store):
      store.receive(outcome)
      stage = .storing(store)
    case .restoringBackup(var store):
      store.receive(outcome)
      stage = .restoringBackup(store)
    case .waking(var wakeUp):
      let isAwake = wakeUp.receive(outcome)
      stage = .waking(wakeUp)
      if isAwake { becomeAwake(wakeUp.cause, at: now) }
    case .steady: retrieval?.receive(outcome, at: now)
    case .searching, .listening, .asleep, .ended: break
    }
  }

  private mutating func finishIdentifying(_ identification: Identification, at now: Instant) {
    port = port ?? identification.port
    guard let description = identification.description else {
      if isTryingLeft, !isHeard { return giveUpLeft(at: now) }
      if memory.description == nil, !isUnanswered { actions.append(.report(.notIdentified(isOtherVendor: false))) }
      isUnanswered = isHeard && memory.description == nil
      // What it says is used; it is asked again later, more and more seldom, if it is sure to be a u-blox one.
      stage = isHeard ? .listening(askAt: nil) : .searching
      if !isHeard, memory.description != nil { vainQuestions += 1 }
      switch evidence.verdict {
      case .unknown where !isKnown, .other where !isKnown: isLeftAlone = true
      case .perhapsUBlox where !isKnown:
        retryAfter = max(retryAfter, Self.firstRetryOfUnsure)
        scheduleRetry(from: now)
      default: scheduleRetry(from: now)
      }
      return
    }
    isUnanswered = false
    isTryingLeft = false
    vainQuestions = 0
    if description != memory.description {
      // Another receiver at the same place has settings of its own.
      if let known = memory.description,
        known.uniqueID != description.uniqueID || known.hardware != description.hardware
      {
        memory.found = []
        wish = nil
      }
      memory.description = description
      actions.append(.report(.identified(description)))
    } else if !wasLost {
      actions.append(.report(.identified(description)))
    }
    if wish == nil {
      wish = settings.wish(description).adapted(to: rate, isBound: settings.line == .bound)
      takeBackConstellations(description)
    }
    prepareAssisting(at: now)
    startConfiguring(at: now)
  }

  /// The wish as items; constellations that it leaves out no more are as they were found.
  private func items(of wish: ReceiverWish) -> [Setting] {
    var wish = wish
    // Where a killed program leaves no word (`left`), nobody would switch them on again.
    if !hasRateSearch { wish.withoutConstellations = nil }
    var list = wish.itemSettings(port ?? .uart1)
    guard let without = wish.withoutConstellations else { return list }
    for one in foundConstellations where !without.contains(one) {
      list.append(.item(ConfigurationPair(id: one.enablingKey, bits: 1)))
    }
    return list
  }

  /// Those that were on before this host wrote them.
  private var foundConstellations: [ReceiverWish.Constellation] {
    ReceiverWish.Constellation.allCases.filter { one in
      memory.found.contains { $0.setting == .item(ConfigurationPair(id: one.enablingKey, bits: 1)) }
    }
  }

  /// Those of them that the wish leaves out.
  private var constellationsLeftOut: [ReceiverWish.Constellation] {
    guard let without = wish?.withoutConstellations else { return [] }
    return foundConstellations.filter { without.contains($0) }
  }

  /// An earlier program did not live to switch them on again: they were on when it found the receiver.
  private mutating func takeBackConstellations(_ description: ReceiverDescription) {
    guard let left = settings.left, !left.without.isEmpty, description.can(.valset) else { return }
    for one in left.without {
      let pair = ConfigurationPair(id: one.enablingKey, bits: 1)
      // This program's own, before its line was lost.
      if memory.found.contains(where: { $0.setting.isOfSame(.item(pair)) }) { continue }
      memory.found.append(Configuration.Found(setting: .item(pair)))
      // What outlives sleep says that they are off.
      memory.backup.kept.append(pair)
    }
    wish?.withoutConstellations = []
  }

  /// The wish was changed while the receiver could not be told.
  private var hasNewWish: Bool { description != nil && toldWish != nil && wish != nil && wish != toldWish }

  /// What was found before it was written is kept, for the end.
  private mutating func keepFound(_ configuration: Configuration) {
    for found in configuration.found where !memory.found.contains(where: { $0.setting.isOfSame(found.setting) }) {
      memory.found.append(found)
    }
  }

  /// The same where the configuration is cut off: by the end, or by the loss of the line.
  private mutating func keepFoundOfStage() {
    if case .configuring(let configuration) = stage { keepFound(configuration) }
  }

  private mutating func finishConfiguring(_ configuration: Configuration, at now: Instant) {
    if let found = configuration.portFound, port == nil, description?.can(.valset) != true { port = found }
    keepFound(configuration)
    stage = .steady
    // It was changed meanwhile.
    if hasNewWish { return startConfiguring(at: now) }
    let results = configuration.results
    if results.contains(.written), isChecking {
      actions.append(.report(.wasReset))
      prepareAssisting(at: now)
    }
    // Who refuses all of it refuses not the message.
    let isHeeded = results.contains { $0 == .wasThere || $0 == .written }
    if isHeeded, useOlderMessages(configuration.refused) || useSmallerBatch(configuration.refused) {
      return startConfiguring(at: now)
    }
    let isUnchanged = results.allSatisfy { $0 == .wasThere }
    let wasChecking = isChecking
    isChecking = false
    wasLost = false
    if results.contains(.written) { stored = [] }
    if !results.isEmpty, !isHeeded {
      scheduleRetry(from: now)
      if !isFailureTold { actions.append(.report(.configurationFailed)) }
      isFailureTold = true
      return
    }
    isFailureTold = false
    // A receiver that has its configuration and still says something else is checked again more and more seldom.
    startWatch(at: now, without: configuration.refused, isMuted: wasChecking && isUnchanged)
    if wasChecking, isUnchanged { return }
    if let wanted = wish?.portRate, let rate, wanted != rate, keepsPortRate || (settingsRate == nil && !keepsNoRate) {
      // Who serves would lose an epoch; who talks may have found a line that is full and never quiet.
      let isAtOnce = keepsPortRate || settings.intent == .identify
      if isAtOnce { startChangingRate() } else { rateChangeBy = now + Self.longestWaitForQuiet }
      return
    }
    actions.append(.report(.configured(refused: configuration.refused.count)))
    if let batch = wish?.batch, batch.isOn { actions.append(.report(.batching(epochs: batch.epochs))) }
    if wish?.powerSave?.sleepsBetweenFixes == true { startStoring() }
  }

  private var rateChangeAt: Instant? { rateChangeBy.map { min($0, listener.lastByte + Self.quietTime) } }

  private mutating func startChangingRate() {
    rateChangeBy = nil
    guard let wanted = wish?.portRate, let rate else { return }
    if !keepsPortRate { settingsRate = rate }
    stage = .changingRate(
      PortRateChange(from: rate, to: wanted, port: port, usesItems: description?.can(.valset) ?? false))
  }

  /// Firmware without NAV-PVT refuses it; position, velocity and time then come by themselves. Who refuses those too, or
  /// has no others, goes on with sentences. Whether something was done.
  private mutating func useOlderMessages(_ refused: [Setting]) -> Bool {
    guard let wish else { return false }
    let isRefused = { (message: MessageIdentity) in
      wish.messages.contains { $0.message == message && $0.rate > 0 } && refused.contains { $0.isRate(of: message) }
    }
    if isRefused(.navPVT), description?.can(.valset) == false {
      self.wish = wish.withoutPVT()
      return true
    }
    guard isRefused(.navPVT) || isRefused(.navPOSLLH), wish.writesNMEA == false else { return false }
    self.wish?.writesNMEA = true
    return true
  }

  /// More than fits is refused: less is tried. When nothing fits, the receiver does not batch.
  private mutating func useSmallerBatch(_ refused: [Setting]) -> Bool {
    guard let batch = wish?.batch, batch.isOn, refused.contains(where: \.isOfBatch) else { return false }
    wish?.batch = batch.smaller
    if wish?.batch == nil { actions.append(.report(.batching(epochs: 0))) }
    return true
  }

  // MARK: The batch

  private mutating func takeBatched(_ payload: [UInt8], at now: Instant) {
    if retrieval != nil {
      retrieval?.receive(logBATCH: payload, at: now)
    } else if settings.intent != .readOnly, unaskedBatch.count < Self.mostUnasked {
      unaskedBatch.append(payload)
    }
  }

  /// Says what the retrieval has to say; whether there was something.
  private mutating func startRetrieving(at now: Instant) -> Bool {
    retrieval?.wake(at: now)
    guard let command = retrieval?.next() else { return false }
    begin(command)
    return true
  }

  private mutating func tellOfRetrieval() {
    while let event = retrieval?.nextEvent() { actions.append(.batch(event)) }
    if retrieval?.isOver == true { retrieval = nil }
  }

  private mutating func cutRetrieval() {
    retrieval?.cut()
    tellOfRetrieval()
  }

  // MARK: Sleeping and waking

  /// Whether something is not as it was found.
  private var isToRestore: Bool { !memory.found.isEmpty || settingsRate != nil || !memory.backup.isEmpty }

  private var usablePort: ReceiverPortNumber? { settings.line == .usb ? .usb : port }

  /// Begins the sleep that is wished; whether there is one.
  private mutating func startSleeping(at now: Instant) -> Bool {
    guard let sleepWish, let description else { return false }
    guard let command = SleepRequest.command(sleepWish.duration, for: description, port: usablePort) else {
      self.sleepWish = nil
      actions.append(.report(.cannotSleep))
      return false
    }
    guard stored == settingsInForce else {
      startStoring()
      return true
    }
    self.sleepWish = nil
    watch = nil
    let duration = SleepRequest.clamped(sleepWish.duration)
    let sentBy = now + Exchange.time(of: command.bytes.count, rate)
    let sleep = SleepWatch(requestedAt: sentBy, duration: duration, epoch: epochPeriod)
    stage = .asleep(sleep)
    isHeard = false
    backAt = nil
    skippedAsleep = listener.counters.skippedBytes
    actions.append(.send(command.bytes))
    actions.append(.report(.asleep(until: sleep.wakesAt)))
    return true
  }

  /// What the receiver was told, as it has to outlive its sleep: the rate of the port with it.
  private var settingsInForce: [Setting] {
    guard var wish, let description else { return [] }
    wish.isPowerSaveOn = wish.powerSave?.sleepsBetweenFixes != true
    guard description.can(.valset) else { return wish.messageSettings(for: description) }
    var list = items(of: wish)
    if settingsRate != nil, let rate, let key = (port ?? .uart1).rateKey {
      list.append(.item(ConfigurationPair(id: key, bits: UInt64(rate))))
    }
    return list
  }

  private mutating func startStoring() {
    let last = description.flatMap { wish?.powerSave?.switching(for: $0) }
    if last != nil, let description {
      // It was continuous, as it is when it is put back.
      var before = ReceiverWish()
      before.powerSave = .continuous
      let list =
        description.can(.valset) ? before.itemSettings(port ?? .uart1) : before.messageSettings(for: description)
      for setting in list where !memory.found.contains(where: { $0.setting.isOfSame(setting) }) {
        memory.found.append(Configuration.Found(setting: setting))
      }
    }
    stage = .storing(BackupStore(settingsInForce, before: memory.backup, last: last))
  }

  private mutating func finishStoring(_ store: BackupStore, at now: Instant) {
    memory.backup = store.before
    // What could not be kept is written again after the sleep.
    stored = settingsInForce
    stage = .steady
    startWatch(at: now, without: [], isMuted: false)
  }

  /// Somebody speaks who was asked to be silent.
  private mutating func noticeWaking(at now: Instant) {
    guard case .asleep(var sleep) = stage else { return }
    let verdict = sleep.hear(at: now)
    stage = .asleep(sleep)
    switch verdict {
    case .sleeps: isHeard = false
    case .isAwake(let cause): becomeAwake(cause, at: now)
    case .doesNotSleep:
      actions.append(.report(.doesNotSleep))
      stage = .steady
      startWatch(at: now, without: [], isMuted: false)
    }
  }

  /// Its time is over and it is not heard: it is woken.
  private mutating func wakeIfTime(at now: Instant) {
    guard case .asleep(let sleep) = stage, let due = sleep.deadline, now >= due else { return }
    stage = .waking(WakeUp(.time))
  }

  /// It answers, or speaks: what its sleep lost is written again.
  private mutating func becomeAwake(_ cause: WakeCause, at now: Instant) {
    actions.append(.report(.awake(cause)))
    isHeard = true
    lastFrame = now
    retryAfter = Self.firstRetry
    if let lost = settingsRate, rate == lost {
      settingsRate = nil
      if !keepsNoRate, let wanted = wish?.portRate { actions.append(.report(.rateNotChanged(wanted))) }
      keepsNoRate = true
    }
    stage = .steady
    quietUntil = max(quietUntil, now)
    startConfiguring(at: now)
  }

  private mutating func giveUpWaking(_ wakeUp: WakeUp, at now: Instant) {
    // It speaks, if it does not answer.
    if isHeard { return becomeAwake(wakeUp.cause, at: now) }
    actions.append(.report(.doesNotWake))
    trouble = .silent
    loseTouch()
    scheduleRetry(from: now)
  }

  // MARK: Watching

  private mutating func startWatch(at now: Instant, without refused: [Setting], isMuted: Bool) {
    // In on/off operation nothing is regular.
    guard let wish, wish.powerSave?.sleepsBetweenFixes != true else { return }
    let message = wish.messages.first { wanted in
      wanted.rate > 0 && !refused.contains { $0.isRate(of: wanted.message) }
    }
    var start = now
    if isMuted {
      start = now + retryAfter
      retryAfter = min(retryAfter * 2, Self.longestRetry)
    } else {
      retryAfter = Self.firstRetry
    }
    watch = ConfigurationWatch(wish, message: message, from: start)
  }

  /// At the end, a frame at the rate that was found is enough to know that it is back.
  private mutating func noticeReturnOfRate(at now: Instant) {
    guard case .restoringRate(var change) = stage, now >= rateSetAt + Self.staleBytes, change.hearFrame() else {
      return
    }
    exchange = nil
    stage = .restoringRate(change)
  }

  private mutating func setRate(_ next: UInt32, at now: Instant) {
    rate = next
    rateSetAt = now
    actions.append(.setRate(next))
    listener.follow(rate: next)
    quietUntil = now + Milliseconds(20)
  }

  private var keepsPortRate: Bool { wish?.keepsPortRate == true }

  private mutating func finishChangingRate(_ isChanged: Bool, _ change: PortRateChange, at now: Instant) {
    if case .restoringRate = stage {
      stage = .restoringBackup(BackupStore(undoing: memory.backup))
      return
    }
    stage = .steady
    port = port ?? change.portFound
    if isChanged {
      memory.rate = rate
      if keepsPortRate { settingsRate = nil }
      actions.append(.report(.rateFound(change.to)))
    } else {
      if !keepsPortRate { settingsRate = nil }
      wish?.portRate = nil
      toldWish?.portRate = nil
      actions.append(.report(.rateNotChanged(change.to)))
    }
    startWatch(at: now, without: [], isMuted: false)
    actions.append(.report(.configured(refused: 0)))
    if wish?.powerSave?.sleepsBetweenFixes == true { startStoring() }
  }

  private mutating func finishRestoring(at now: Instant) {
    guard let settingsRate, let rate, settingsRate != rate else {
      stage = .restoringBackup(BackupStore(undoing: memory.backup))
      return
    }
    stage = .restoringRate(
      PortRateChange(from: rate, to: settingsRate, port: port, usesItems: description?.can(.valset) ?? false))
  }
}

extension Setting {
  /// Whether both are about the same thing, whatever the value.
  func isOfSame(_ other: Setting) -> Bool {
    switch (self, other) {
    case (.message(let a, let first, _), .message(let b, let second, _)): a == b && first == second
    case (.item(let a), .item(let b)): a.id == b.id
    default: false
    }
  }

  /// Whether it switches this message.
  func isRate(of wanted: MessageIdentity) -> Bool {
    switch self {
    case .message(.cfgMSG, let selector, _): selector == [wanted.messageClass, wanted.messageID]
    case .message: false
    case .item(let pair): MessageOutput.key(of: wanted, on: .i2c).map { pair.id >= $0 && pair.id < $0 + 5 } ?? false
    }
  }
}

extension ReceiverWish {
  /// The wish for a line of this rate: satellites, the longest message, less often where the line is slow.
  func adapted(to rate: UInt32?, isBound: Bool) -> ReceiverWish {
    guard let rate else { return self }
    var wish = self
    if !isBound, let least = leastPortRate, rate < least { wish.portRate = least }
    guard rate < 9600 else { return wish }
    for index in wish.messages.indices where [.navSAT, .navSVINFO].contains(wish.messages[index].message) {
      wish.messages[index].rate = max(wish.messages[index].rate, 5)
    }
    return wish
  }
}
