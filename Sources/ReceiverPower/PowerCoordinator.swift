import MonotonicTime
import PowerControl
import Receiver
import ReceiverStream

/// Joins the power policy to the session with one receiver: what the policy wants becomes orders to the session, and what
/// the session tells becomes the policy's events.
///
///     demands, hints ─▶ PowerControl ─ wanted state ─▶ orders: wish, sleep, wake, read out ─▶ ReceiverSession
///                            ▲                                                                     │
///                            └─ fixes, signal, asleep, awake, refused, read out, reset, lost ◀─────┘
///
/// It is a value without a clock: events and the time go in, `nextOutput` comes out. Several events of one instant are put
/// together: orders follow from the state that is wanted when the next output is taken.
///
/// **Collecting loses and doubles nothing at its ends.** It begins with the memory on and then the messages off, and what
/// came by both ways is known by its time. It ends with the messages on, then the memory is read and switched off; what
/// comes meanwhile is held back, so that fixes stay in order.
///
///     off ─ wanted ─▶ beginning ─ configured ─▶ collecting ⇄ reading
///      ▲                                           │ not wanted any more
///      └── memory off, what was held ◀─ read ◀─ ending: messages on
public struct PowerCoordinator: Sendable {
  /// A LOG-BATCH on a serial line: 108 bytes, ten bits each.
  private static var bitsPerFix: Int { 1080 }
  /// What receiver and host need for each besides, in seconds.
  private static var secondsBetweenFixes: Double { 0.002 }

  /// Epochs for so long from a receiver that has not been identified: nobody will send it an order.
  static var plainAfter: Milliseconds { Milliseconds(10_000) }
  /// Epochs that come this long after the line should be silent are those of a receiver that has forgotten its orders.
  static var straysAfter: Milliseconds { Milliseconds(3000) }

  /// Fixes that are held back while a memory is read for the last time: two minutes of them, of a slow line.
  static var mostHeld: Int { 128 }

  /// How often a memory is read once more at the end of collecting, for fixes that came neither way.
  static var mostRereads: Int { 3 }

  public private(set) var power: PowerControl
  /// Whether not one byte may be sent.
  public let isReadOnly: Bool
  /// The switch in the receiver's supply, where the user has named one.
  private let supply: ReceiverCapabilities.PowerSwitch

  private enum Collecting: Equatable {
    case off
    /// The wish was told, and is not there yet.
    case beginning
    case on(since: Instant)
    /// Messages are on or being switched on; then the memory is read.
    case ending(isReading: Bool)
  }

  private var outputs: [CoordinatorOutput] = []
  /// The session's own wish, on which all others rest; nil until the receiver is configured.
  private var base: DesiredConfiguration?
  private var touched = Touched()
  /// What the session was told; nil when it has to be told again.
  private var applied: ReceiverPlan? = .fullPower
  /// Settings that the receiver refuses in any case.
  private var usualRefusals = 0
  /// The constellations that this receiver does without where fewer will do.
  private var leavesOut: [DesiredConfiguration.Constellation] = []
  private var isThere = false
  private var isListening = true
  private var hasSupply = true
  /// It was told to sleep and not told to wake.
  private var sleeps = false
  /// The session has sent the request.
  private var isAsleep = false
  /// The policy has said something that is not carried out.
  private var isDue = false
  private var mustSleepAgain = false
  private var collecting = Collecting.off
  private var journal = BatchJournal()
  private var leftover: BatchJournal?
  private var isReading = false
  private var lostInRead = 0
  private var readInRead = 0
  private var rereads = 0
  private var newestRead: Fix?
  private var held: [(fix: Fix, at: Instant)] = []
  private var newestLive: UTCTime?
  private var firstEpoch: Instant?
  /// It has said who it is: orders will be sent, once it is configured.
  private var isIdentified = false
  private var strays = 0

  /// - Parameters:
  ///   - policy: the numbers of the policy.
  ///   - isReadOnly: not one byte is sent; only the host sleeps.
  ///   - supply: the switch in the receiver's supply; `ReceiverCommand.supply` is about it.
  public init(
    policy: PowerPolicy = .standard, isReadOnly: Bool = false, supply: ReceiverCapabilities.PowerSwitch = .none,
    at now: Instant
  ) {
    power = PowerControl(policy: policy, at: now)
    self.isReadOnly = isReadOnly
    self.supply = supply
  }

  /// A batch was left in the receiver: before the line is opened.
  ///
  /// - Parameter journal: what was delivered of it.
  public mutating func expectLeftover(_ journal: BatchJournal = BatchJournal()) {
    guard !isThere else { return }
    leftover = journal
    collecting = .ending(isReading: false)
  }

  // MARK: Out

  /// What to do next, in order; nil when there is nothing more for now.
  public mutating func nextOutput(at now: Instant) -> CoordinatorOutput? {
    // What was said comes first, as it may change what is wanted. What is carried out may confirm itself, and lead to one
    // more decision.
    for _ in 0..<4 where isDue && outputs.isEmpty { carryOut(at: now) }
    return outputs.isEmpty ? nil : outputs.removeFirst()
  }

  /// When `wake` is due.
  public var deadline: Instant? { isThere ? power.deadline : nil }

  /// Whether fixes are being kept in the receiver.
  public var isCollecting: Bool { collecting != .off }
  /// Whether the receiver holds fixes that nobody has yet.
  public var holdsFixes: Bool {
    switch collecting {
    case .on, .ending(isReading: true): true
    case .off, .beginning, .ending(isReading: false): isReading
    }
  }
  /// Whether the receiver's memory is being read.
  public var isReadingOut: Bool { isReading }
  /// Whether the receiver rests by plan: it sleeps, or says nothing because it collects.
  public var isResting: Bool { isThere && power.wanted.isSilent }

  /// Whether nothing is left to be done for a rest that the policy wants: the receiver sleeps or collects in silence. True as
  /// well where it does not rest, or cannot.
  public var isAtRest: Bool {
    guard isThere, power.wanted.isSilent, !isReadOnly else { return true }
    if isDue || sleeps && !isAsleep || !outputs.isEmpty { return false }
    switch collecting {
    case .off, .on: return true
    case .beginning, .ending: return false
    }
  }

  // MARK: Demands, hints, the host

  /// An event that is not the session's.
  public mutating func handle(_ event: PowerEvent, at now: Instant) { post(event, at: now) }

  /// The deadline has come, or any other time.
  public mutating func wake(at now: Instant) { take(power.wake(at: now)) }

  /// Somebody cannot wait for the policy to have the memory read.
  public mutating func readOut(at now: Instant) {
    if case .on = collecting, !isReading { beginReading() }
  }

  // MARK: The session

  /// What the session tells.
  ///
  /// - Parameters:
  ///   - wish: the session's present wish.
  ///   - receiver: what the receiver said of itself.
  ///   - port: its port that is talked over.
  public mutating func receive(
    _ report: SessionReport, desired: DesiredConfiguration?, receiver: ReceiverDescription?, port: ReceiverPortNumber?,
    at now: Instant
  ) {
    switch report {
    case .configured(let refused):
      if base == nil, let desired, let receiver {
        leavesOut = ReceiverCapabilities.spareConstellations(receiver)
        // USB has no rate, and is faster than any line that has one.
        if port == .usb { power.expectReadOut(secondsPerFix: Self.secondsBetweenFixes) }
        found(ReceiverCapabilities(receiver, port: port).with(supply), desired, refused, at: now)
      } else {
        configured(refused, at: now)
      }
    case .configurationFailed: configurationFailed(at: now)
    case .notIdentified: foundPlain(at: now)
    case .batching(let epochs): batchIs(epochs, at: now)
    case .wasReset: wasReset(at: now)
    case .asleep: isAsleep = sleeps
    case .awake:
      isAsleep = false
      post(.wakeConfirmed, at: now)
    case .cannotSleep:
      (sleeps, isAsleep) = (false, false)
      post(.refused(.backup), at: now)
    case .doesNotSleep: isAsleep = false
    case .doesNotWake: post(.wakeFailed, at: now)
    case .rateFound(let rate):
      power.expectReadOut(secondsPerFix: Double(Self.bitsPerFix) / Double(rate) + Self.secondsBetweenFixes)
    case .identified: isIdentified = true
    case .assisted, .silent, .notUnderstood, .back, .rateNotChanged, .resetToWake,
      .adviseOnSilence, .notPutBack:
      break
    }
  }

  /// An epoch of the line.
  ///
  /// - Parameter isUpdate: more of an epoch that came before.
  public mutating func receive(_ fix: Fix, sky: borrowing Sky, isUpdate: Bool, at now: Instant) {
    if !isUpdate {
      notePlain(at: now)
      noteStray(at: now)
      if let facts = FixObservation(fix) {
        post(.fix(facts), at: now)
      } else {
        post(.noFix(SignalObservation(sky)), at: now)
      }
    }
    if case .ending = collecting {
      // What the memory still has comes first.
      held.append((fix, now))
      if held.count > Self.mostHeld { releaseHeld() }
    } else {
      live(fix, at: now)
    }
  }

  private mutating func live(_ fix: Fix, at instant: Instant) {
    if let time = fix.time, fix.hasPosition {
      newestLive = max(newestLive ?? time, time)
      // On its way while the line was made silent: the memory has it too.
      if case .on = collecting, !isReading { journal.lastTime = max(journal.lastTime ?? time, time) }
    }
    outputs.append(.live(fix, at: instant))
  }

  /// What comes of a retrieval.
  public mutating func receive(_ event: BatchEvent, at now: Instant) {
    switch event {
    case .fix(let entry, let after):
      journal = after
      readInRead += 1
      if entry.fix.hasPosition { newestRead = entry.fix }
      outputs.append(.batched(entry, after))
    case .lost(let count, let loss):
      lostInRead += count
      outputs.append(.lost(count, loss))
    case .startedAnew: outputs.append(.startedAnew)
    case .finished(_, let after):
      journal = after
      endReading(isWhole: true, at: now)
    case .cut(let after):
      journal = after
      endReading(isWhole: false, at: now)
    }
  }

  /// The line is gone; the session with it.
  public mutating func lost(at now: Instant) {
    let collected = collecting
    if isReading { endReading(isWhole: false, at: now) }
    releaseHeld()
    isDue = false
    base = nil
    applied = .fullPower
    collecting = .off
    switch collected {
    case .on, .ending:
      // It may have kept its supply, and then its memory.
      leftover = leftover ?? journal
      collecting = .ending(isReading: false)
    case .off, .beginning: break
    }
    (sleeps, isAsleep, isListening, mustSleepAgain) = (false, false, true, false)
    rereads = 0
    firstEpoch = nil
    isIdentified = false
    guard isThere else { return }
    isThere = false
    post(.receiverLost, at: now)
  }

  // MARK: Finding

  private mutating func found(
    _ capabilities: ReceiverCapabilities, _ desired: DesiredConfiguration, _ refused: Int, at now: Instant
  ) {
    base = desired
    usualRefusals = refused
    // What outlives its sleep it may have kept while its line was lost.
    applied = touched.constellations ? nil : .fullPower
    if let leftover {
      if capabilities.batching != nil {
        // It collects since an earlier process, or before its line was lost; its messages are on by now.
        journal = leftover
        // What that process had changed besides is not known.
        touched = Touched(period: true, powerSave: capabilities.cyclicLongestSeconds != nil, batch: true)
        collecting = .ending(isReading: true)
        beginReading()
      } else {
        endCollecting()
      }
    }
    leftover = nil
    // After a rest in which nobody listened it is the same receiver.
    if isThere, power.capabilities == capabilities {
      isDue = true
      return post(.entered(power.wanted.mode), at: now)
    }
    isThere = true
    post(.receiverFound(capabilities), at: now)
  }

  private mutating func foundPlain(at now: Instant) {
    guard !isThere else { return }
    isThere = true
    // The switch is the host's: nothing is sent over the line.
    post(.receiverFound(ReceiverCapabilities.plainNMEA.with(supply)), at: now)
  }

  private mutating func notePlain(at now: Instant) {
    guard !isThere, !isIdentified || isReadOnly else { return }
    let first = firstEpoch ?? now
    firstEpoch = first
    if isReadOnly || now >= first + Self.plainAfter { foundPlain(at: now) }
  }

  // MARK: What the receiver made of an order

  private mutating func configured(_ refused: Int, at now: Instant) {
    if refused > usualRefusals { refuseLast(at: now) }
    switch collecting {
    case .ending(isReading: false):
      collecting = .ending(isReading: true)
      beginReading()
    case .off, .beginning, .on, .ending: break
    }
    let mode = power.wanted.mode
    if isThere, !mode.isAsleep { post(.entered(mode), at: now) }
  }

  private mutating func configurationFailed(at now: Instant) {
    // What it says by itself is used.
    guard base != nil else { return foundPlain(at: now) }
    refusePowerSave(at: now)
    switch collecting {
    case .beginning: refuseBatch(at: now)
    case .ending: endCollecting()
    case .off, .on: break
    }
  }

  private mutating func refuseLast(at now: Instant) {
    if let applied, !applied.without.isEmpty { return post(.refused(.constellations), at: now) }
    refusePowerSave(at: now)
  }

  private mutating func refusePowerSave(at now: Instant) {
    guard let mode = applied?.powerSave, mode != .continuous else { return }
    post(.refused(mode.sleepsBetweenFixes ? .onOff : .cyclicTracking), at: now)
  }

  private mutating func batchIs(_ epochs: Int, at now: Instant) {
    guard collecting == .beginning, let wanted = applied?.batch else { return }
    // Fewer than planned would overrun: the policy has to plan with fewer.
    guard epochs >= wanted.epochs else { return refuseBatch(at: now) }
    collecting = .on(since: now)
    // What came by the line as well, or was read before a change of mode, is known by its time.
    let last = [newestLive, journal.lastTime].compactMap { $0 }.max()
    journal = BatchJournal()
    journal.lastTime = last
    strays = 0
    outputs.append(.collects(journal))
  }

  private mutating func refuseBatch(at now: Instant) {
    collecting = .off
    outputs.append(.collectsNoMore)
    post(.refused(.batching), at: now)
    isDue = true
  }

  private mutating func wasReset(at now: Instant) {
    releaseHeld()
    if collecting != .off { outputs.append(.collectsNoMore) }
    collecting = .off
    (sleeps, isAsleep) = (false, false)
    applied = nil
    post(.rebooted, at: now)
  }

  /// It was told to be silent, and is not.
  private mutating func noteStray(at now: Instant) {
    guard case .on(let since) = collecting, !isReading, now >= since + Self.straysAfter else { return }
    strays += 1
    guard strays > 1 else { return }
    strays = 0
    wasReset(at: now)
  }

  // MARK: Reading

  private mutating func beginReading() {
    isReading = true
    (lostInRead, readInRead, newestRead) = (0, 0, nil)
    outputs.append(.readOutBegins)
    outputs.append(.command(.retrieveBatch(journal)))
  }

  private mutating func endReading(isWhole: Bool, at now: Instant) {
    guard isReading else { return }
    isReading = false
    let isLast = if case .ending = collecting { true } else { false }
    outputs.append(.readOutEnds(isWhole: isWhole))
    if isLast, isWhole, rereads < Self.mostRereads, heldHasGap {
      rereads += 1
      return beginReading()
    }
    if isLast {
      if lostInRead > 0 { outputs.append(.report(.fixesLost(lostInRead))) }
      endCollecting()
    } else {
      // The newest tells the policy where it is, before it decides what comes next.
      if let facts = newestRead.flatMap({ FixObservation($0) }) { post(.fix(facts), at: now) }
      post(isWhole ? .batchRetrieved(count: readInRead, lost: lostInRead) : .retrievalCut, at: now)
    }
  }

  /// The memory is switched off, and what was held back goes on.
  private mutating func endCollecting() {
    collecting = .off
    rereads = 0
    outputs.append(.collectsNoMore)
    releaseHeld()
    applied = nil
    isDue = true
  }

  /// Whether a fix is missing between what was read and what came by the line meanwhile: a line that carries both may be
  /// too slow, and the receiver then drops what it cannot send. Its memory has it still.
  private var heldHasGap: Bool {
    guard var last = journal.lastTime else { return false }
    let widest = Int64((applied?.everySeconds ?? 1) * 1_500_000_000)
    for (fix, _) in held {
      guard let time = fix.time, time > last else { continue }
      if time.nanosecondsSince1970 - last.nanosecondsSince1970 > widest { return true }
      last = time
    }
    return false
  }

  private mutating func releaseHeld() {
    for (fix, instant) in held {
      if let time = fix.time, let last = journal.lastTime, time <= last { continue }
      live(fix, at: instant)
    }
    held = []
  }

  // MARK: Carrying out

  private mutating func post(_ event: PowerEvent, at now: Instant) { take(power.handle(event, at: now)) }

  private mutating func take(_ actions: [PowerAction]) {
    for action in actions {
      switch action {
      case .enter(let wanted):
        isDue = true
        if wanted.mode.isAsleep { mustSleepAgain = true }
      case .wakeAgain, .reset:
        // The session wakes it again and resets it by itself; one that it has given up is tried at once.
        outputs.append(.command(hasSupply ? .wakeUp : .supply(isOn: true)))
        hasSupply = true
      case .retrieveBatch: if !isReading { beginReading() }
      case .report(let report): outputs.append(.report(report))
      }
    }
  }

  /// The wanted state as it is now becomes orders.
  private mutating func carryOut(at now: Instant) {
    // A batch that is being read for the last time is not disturbed.
    if case .ending = collecting { return }
    isDue = false
    guard isThere else { return }
    let wanted = power.wanted
    switch wanted.mode {
    case .unheard: listen(false)
    case .off:
      if hasSupply { outputs.append(.command(.supply(isOn: false))) }
      hasSupply = false
    case .backup(let until): sleep(until: until, at: now)
    case .continuous, .cyclicTracking, .onOff: serve(wanted, at: now)
    }
  }

  private mutating func listen(_ listens: Bool) {
    guard isListening != listens else { return }
    isListening = listens
    outputs.append(.command(.listen(listens)))
    // Who listens again begins a session anew.
    base = nil
    applied = .fullPower
  }

  private mutating func sleep(until: Instant?, at now: Instant) {
    guard mustSleepAgain || !sleeps else { return }
    mustSleepAgain = false
    if collecting != .off {
      collecting = .off
      outputs.append(.collectsNoMore)
    }
    // It wakes as it is at full power, with the constellations of then.
    var plan = ReceiverPlan.fullPower
    if power.wanted.reducedConstellations { plan.without = leavesOut }
    apply(plan)
    sleeps = true
    isAsleep = false
    // It wakes by itself at that time as well, in case the host does not live to see it.
    outputs.append(.command(.sleep(until.map { Milliseconds(seconds: $0.seconds(since: now)) })))
  }

  private mutating func serve(_ wanted: WantedState, at now: Instant) {
    mustSleepAgain = false
    listen(true)
    if !hasSupply {
      hasSupply = true
      outputs.append(.command(.supply(isOn: true)))
    }
    let wasAsleep = isAsleep
    if sleeps {
      (sleeps, isAsleep) = (false, false)
      outputs.append(.command(.wakeUp))
    }
    let plan = ReceiverPlan(wanted, leavesOut: leavesOut)
    if let applied, applied.batch != nil, plan.batch != applied.batch, collecting != .off {
      return beginEnding(applied)
    }
    if plan.batch != nil, plan != applied { collecting = .beginning }
    apply(plan)
    // Nothing was to be told, or it had not fallen asleep yet: it is there.
    if !wasAsleep { post(.entered(wanted.mode), at: now) }
  }

  private mutating func beginEnding(_ collected: ReceiverPlan) {
    collecting = .ending(isReading: false)
    var plan = collected
    plan.isHeard = true
    apply(plan)
  }

  private mutating func apply(_ plan: ReceiverPlan) {
    guard plan != applied, let base else { return }
    touched.add(plan)
    applied = plan
    outputs.append(.command(.set(DesiredConfiguration(plan, base: base, touched: touched))))
  }
}
