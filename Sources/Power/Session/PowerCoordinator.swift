// SPDX-License-Identifier: Apache-2.0

import MonotonicTime
import Receiver
import ReceiverStream

/// Joins the power policy to the session with one receiver: the policy's wanted state becomes commands to the session, the
/// session's reports become events of the policy.
///
///     demands, hints ─▶ PowerControl ─ wanted state ─▶ commands: configuration, sleep, wake, read ─▶ ReceiverSession
///                            ▲                                                                            │
///                            └─ fixes, signal, asleep, awake, refused, batch read, reset, lost ◀──────────┘
///
/// It is a value without a clock: events and the time go in, `nextOutput` comes out. The wanted state is applied when the next
/// output is taken, so that several events of one instant lead to one command.
///
/// Each part of the state is a state machine of its own, with its diagram: ``ReceiverPresence``, ``SleepState``,
/// ``BatchCollection``.
public struct PowerCoordinator: Sendable {
  /// A LOG-BATCH on a serial line: 108 bytes, ten bits each.
  private static var bitsPerFix: Int { 1080 }
  /// The additional time that receiver and host need for each fix, in seconds.
  private static var secondsBetweenFixes: Double { 0.002 }
  /// A receiver that sends epochs for this long without being identified takes no commands, if the session does not say so before.
  /// The session first asks a remembered receiver, and then all families: 30 s on a full line, 35 s where another was connected.
  static var plainAfter: Milliseconds { Milliseconds(45_000) }

  public private(set) var power: PowerControl
  /// Whether no byte may be sent.
  public var isReadOnly: Bool { isBoundReadOnly || isInModem }
  private let isBoundReadOnly: Bool
  private var outputs: [CoordinatorOutput] = []
  private var due = Due.nothing
  /// The switch in the receiver's supply, if the user has named one.
  private let namedSwitch: ReceiverCapabilities.PowerSwitch
  private var isInModem = false
  /// The engine of a modem keeps time and orbits while it is off.
  private var powerSwitch: ReceiverCapabilities.PowerSwitch { isInModem ? .keepsMemory : namedSwitch }
  private var supply = Supply.on
  private(set) var presence = ReceiverPresence.absent
  /// The receiver that was identified last.
  private var identified: ReceiverDescription?
  private(set) var sleep = SleepState.awake
  private(set) var collection = BatchCollection()
  private var applied = AppliedState()

  /// The part of the wanted state that is not applied yet.
  private enum Due { case nothing, state, stateAndSleepAgain }

  private enum Supply { case on, off }

  /// - Parameters:
  ///   - policy: the numbers of the policy.
  ///   - isReadOnly: no byte is sent; only the host sleeps.
  ///   - supply: the switch in the receiver's supply, which `ReceiverCommand.supply` operates.
  public init(
    policy: PowerPolicy = .standard, isReadOnly: Bool = false, supply: ReceiverCapabilities.PowerSwitch = .none,
    at now: Instant
  ) {
    power = PowerControl(policy: policy, at: now)
    isBoundReadOnly = isReadOnly
    namedSwitch = supply
  }

  /// Announces a batch that an earlier process left in the receiver. To be called before the line is opened.
  ///
  /// - Parameter journal: the part of it that was delivered.
  public mutating func expectLeftover(_ journal: BatchJournal = BatchJournal()) {
    guard !presence.isPresent else { return }
    _ = collection.handle(.expect(journal), at: .zero)
  }

  /// Sets whether the receiver is inside a modem: `ReceiverCommand.supply` operates its engine, and nothing is sent over
  /// its line. To be called before the line is opened.
  public mutating func setInModem(_ isInModem: Bool) {
    guard !presence.isPresent, isInModem != self.isInModem else { return }
    self.isInModem = isInModem
    // The engine of a modem is switched on for each use.
    supply = .on
  }

  // MARK: Out

  /// The next output, in order; nil when there is no more for now.
  public mutating func nextOutput(at now: Instant) -> CoordinatorOutput? {
    // A command may confirm itself at once and lead to one more decision.
    for _ in 0..<4 where due != .nothing && outputs.isEmpty { applyWanted(at: now) }
    return outputs.isEmpty ? nil : outputs.removeFirst()
  }

  /// The phase of the policy, which begins with the identity of the receiver.
  public var status: PowerStatus {
    switch presence {
    case .unidentified, .identified: .identifying
    case .absent, .plain, .unread, .configured: power.status
    }
  }

  /// The time at which `wake` is due.
  public var deadline: Instant? { presence.isPresent ? power.deadline : nil }

  /// Whether the receiver keeps fixes in its memory.
  public var isCollecting: Bool { collection.state != .off }
  /// Whether the receiver holds fixes that the host does not have.
  public var holdsFixes: Bool { collection.holdsFixes }
  /// Whether the receiver's memory is being read.
  public var isReadingOut: Bool { collection.isReading }
  /// Whether the policy wants no output: the receiver sleeps, or collects in silence.
  public var isSilenceWanted: Bool { presence.isPresent && power.wanted.isSilent }

  /// Whether the silence that the policy wants is reached. Also true where it wants none, or the receiver takes no commands.
  public var isSilenceReached: Bool {
    guard isSilenceWanted, !isReadOnly else { return true }
    guard due == .nothing, sleep != .requested, outputs.isEmpty else { return false }
    switch collection.state {
    case .off, .on: return true
    case .leftover, .starting, .restoringOutput, .lastRead: return false
    }
  }

  // MARK: Demands, hints, the host

  /// Takes an event that does not come from the session.
  public mutating func handle(_ event: PowerEvent, at now: Instant) { take(power.handle(event, at: now), at: now) }

  /// Lets the time pass. To be called at `deadline`, and harmless at any other time.
  public mutating func wake(at now: Instant) { take(power.wake(at: now), at: now) }

  /// Reads the receiver's memory before the policy would, for a caller that cannot wait.
  public mutating func readOut(at now: Instant) {
    if case .on = collection.state { perform(collection.handle(.readOut, at: now), at: now) }
  }

  // MARK: The session

  /// Takes a report of the session.
  ///
  /// - Parameters:
  ///   - desired: the session's present configuration.
  ///   - receiver: the receiver's identity.
  ///   - port: the receiver's port at this line.
  public mutating func receive(
    _ report: SessionReport, desired: DesiredConfiguration?, receiver: ReceiverDescription?, port: ReceiverPortNumber?,
    at now: Instant
  ) {
    switch report {
    case .identified:
      // Another receiver is at a line that stayed open.
      if presence.isPresent, let identified, let receiver, !CrashRecoverySettings.isSame(identified, receiver) {
        lost(at: now)
      }
      identified = receiver
      presence.handle(.identified)
    case .notIdentified: foundPlain(at: now)
    case .configured(let refused):
      if presence.configuration == nil, let desired, let receiver {
        found(receiver, at: port, desired, refused, at: now)
      } else {
        configured(refused, at: now)
      }
    case .configurationFailed:
      // The messages that the receiver sends by itself are used.
      guard presence.configuration != nil else { return foundPlain(at: now) }
      powerSaveRefused(at: now)
      perform(collection.handle(collection.state == .starting ? .refused : .failed, at: now), at: now)
    case .batching(let epochs):
      guard let batch = applied.wanted?.batching else { return }
      // Fewer than planned would be overrun: the policy has to plan with fewer.
      perform(collection.handle(epochs >= batch.epochs ? .accepted : .refused, at: now), at: now)
    case .loggerHolds(let count): perform(collection.handle(.holds(count), at: now), at: now)
    case .orbits(let seconds):
      let usableSeconds = power.policy.hotStartSeconds(usableSeconds: seconds)
      if usableSeconds > 0 { handle(.orbits(usableSeconds: usableSeconds), at: now) }
    // A memory that outlives the restart has its fixes, and the session has put the logger and the silence back.
    case .wasReset: if !(collection.isOn && endsWithRead && outlivesRestart) { restarted(at: now) }
    case .asleep: sleep.handle(.confirmed)
    case .awake:
      sleep.handle(.notAsleep)
      handle(.wakeConfirmed, at: now)
    case .cannotSleep, .refusesSaving:
      sleep.handle(.end)
      handle(.refused(.backup), at: now)
    case .doesNotSleep: sleep.handle(.notAsleep)
    case .wakesByTimer(let rest): handle(.wakesByTimer(at: now + rest), at: now)
    case .doesNotWake: handle(.wakeFailed, at: now)
    case .rateFound(let rate):
      power.expectReadOut(secondsPerFix: Double(Self.bitsPerFix) / Double(rate) + Self.secondsBetweenFixes)
    case .assisted, .withoutPositions, .silent, .notUnderstood, .back, .rateNotChanged, .resetToWake, .warned,
      .adviseOnSilence, .notRestored:
      break
    }
  }

  /// Takes an epoch of the line.
  ///
  /// - Parameter isUpdate: more of an epoch that came before.
  public mutating func receive(_ fix: Fix, sky: borrowing Sky, isUpdate: Bool, at now: Instant) {
    if !isUpdate {
      noteEpoch(at: now)
      if let observation = FixObservation(fix) {
        handle(.fix(observation), at: now)
      } else {
        handle(.noFix(SignalObservation(sky)), at: now)
      }
    }
    perform(collection.handle(.fix(fix), at: now), at: now)
  }

  private mutating func noteEpoch(at now: Instant) {
    presence.handle(.epoch(now))
    switch presence {
    case .unidentified(let since) where isReadOnly || now >= since + Self.plainAfter: foundPlain(at: now)
    case .identified where isReadOnly: foundPlain(at: now)
    case .absent, .unidentified, .identified, .plain, .unread, .configured: break
    }
    perform(collection.handle(.epoch, at: now), at: now)
  }

  /// Takes an event of a retrieval.
  public mutating func receive(_ event: BatchEvent, at now: Instant) {
    let gapSeconds = 1.5 * Double(applied.wanted?.mode.periodSeconds ?? 1)
    perform(collection.handle(.retrieval(event, gapSeconds: gapSeconds), at: now), at: now)
  }

  /// The line is gone, and the session with it.
  public mutating func lost(at now: Instant) {
    perform(collection.handle(.lost, at: now), at: now)
    due = .nothing
    applied.noteBase()
    sleep.handle(.end)
    let wasPresent = presence.isPresent
    presence.handle(.lost)
    if wasPresent { handle(.receiverLost, at: now) }
  }

  // MARK: Finding

  private mutating func found(
    _ receiver: ReceiverDescription, at port: ReceiverPortNumber?, _ desired: DesiredConfiguration, _ refused: Int,
    at now: Instant
  ) {
    // USB has no rate, and is faster than any line that has one.
    if port == .usb { power.expectReadOut(secondsPerFix: Self.secondsBetweenFixes) }
    let capabilities = ReceiverCapabilities(receiver, port: port).with(receiver.runningLog == nil ? powerSwitch : .none)
    let wasPresent = presence.isPresent
    presence.handle(
      .configured(
        .init(
          base: desired, usualRefusals: refused,
          spareConstellations: ReceiverCapabilities.spareConstellations(receiver))))
    applied.noteFound()
    let canBatch = capabilities.batching != nil
    collection.endsWithRead = capabilities.batching?.endsWithRead ?? false
    if collection.state == .leftover, canBatch {
      applied.noteLeftover(canSavePower: capabilities.cyclicLongestSeconds != nil)
    }
    perform(collection.handle(.found(canBatch: canBatch), at: now), at: now)
    // After a time in which the line was not read it is the same receiver.
    if wasPresent, power.capabilities == capabilities {
      markDue()
      handle(.entered(power.wanted.mode), at: now)
    } else {
      handle(.receiverFound(capabilities), at: now)
    }
  }

  private mutating func foundPlain(at now: Instant) {
    guard !presence.isPresent else { return }
    presence.handle(.plain)
    // The host operates the switch: nothing is sent over the line.
    handle(.receiverFound(ReceiverCapabilities.plainNMEA.with(powerSwitch)), at: now)
  }

  // MARK: Replies to commands

  private mutating func configured(_ refused: Int, at now: Instant) {
    if let configuration = presence.configuration, refused > configuration.usualRefusals {
      if applied.wanted?.reducedConstellations == true {
        handle(.refused(.constellations), at: now)
      } else {
        powerSaveRefused(at: now)
      }
    }
    perform(collection.handle(.configured, at: now), at: now)
    let mode = power.wanted.mode
    if presence.isPresent, !mode.isAsleep { handle(.entered(mode), at: now) }
  }

  private mutating func powerSaveRefused(at now: Instant) {
    guard let mode = applied.wanted?.mode.powerSave, mode != .continuous else { return }
    handle(.refused(mode.sleepsBetweenFixes ? .onOff : .cyclicTracking), at: now)
  }

  private mutating func restarted(at now: Instant) {
    perform(collection.handle(.reset, at: now), at: now)
    sleep.handle(.end)
    applied.invalidate()
    handle(.rebooted, at: now)
  }

  private mutating func perform(_ effects: [BatchCollection.Effect], at now: Instant) {
    for effect in effects {
      switch effect {
      case .output(let output): outputs.append(output)
      case .post(let event): handle(event, at: now)
      case .restarted: restarted(at: now)
      case .applyAgain:
        applied.invalidate()
        markDue()
      }
    }
  }

  // MARK: Commands

  private mutating func take(_ actions: [PowerAction], at now: Instant) {
    for action in actions {
      switch action {
      case .enter(let wanted):
        markDue()
        if wanted.mode.isAsleep { due = .stateAndSleepAgain }
      case .wakeAgain, .reset:
        // The session repeats wake-ups and resets by itself; one that it has given up is tried at once.
        if supply == .on { outputs.append(.command(.wakeUp)) }
        switchSupply(.on)
      case .retrieveBatch:
        if endsWithRead { endCollecting(at: now) } else { perform(collection.handle(.readOut, at: now), at: now) }
      case .cutRetrieval:
        outputs.append(.command(.cutRetrieval))
        // The last read is not repeated.
        perform(collection.handle(.failed, at: now), at: now)
      case .report(let report): outputs.append(.report(report))
      }
    }
  }

  private mutating func markDue() { if due == .nothing { due = .state } }

  /// Turns the wanted state into commands.
  private mutating func applyWanted(at now: Instant) {
    guard !collection.isEnding else { return }
    let sleepsAgain = due == .stateAndSleepAgain
    due = .nothing
    guard presence.isPresent else { return }
    var wanted = power.wanted
    if presence.configuration?.spareConstellations.isEmpty ?? true { wanted.reducedConstellations = false }
    switch wanted.mode {
    case .unread:
      if presence != .unread { listen(false) }
    case .off: switchSupply(.off)
    case .backup(let until):
      if sleepsAgain || sleep == .awake { beginSleep(wanted, until: until, at: now) }
    case .continuous, .cyclicTracking, .onOff: serve(wanted, at: now)
    }
  }

  private mutating func listen(_ listens: Bool) {
    presence.handle(listens ? .resume : .pause)
    outputs.append(.command(.listen(listens)))
    // A line that is read again has a new session.
    applied.noteBase()
  }

  private mutating func switchSupply(_ new: Supply) {
    guard supply != new else { return }
    supply = new
    outputs.append(.command(.supply(isOn: new == .on)))
  }

  private mutating func beginSleep(_ wanted: WantedState, until: Instant?, at now: Instant) {
    perform(collection.handle(.sleep, at: now), at: now)
    // The receiver wakes at full power, with the constellations that it fell asleep with.
    apply(WantedState(mode: .continuous(everySeconds: 1), reducedConstellations: wanted.reducedConstellations))
    sleep.handle(.request)
    // The receiver wakes by itself at that time as well, in case the host is not there to wake it.
    outputs.append(.command(.sleep(until.map { Milliseconds(seconds: $0.seconds(since: now)) })))
  }

  private mutating func serve(_ wanted: WantedState, at now: Instant) {
    if presence == .unread { listen(true) }
    switchSupply(.on)
    let wasAsleep = sleep == .asleep
    if sleep != .awake {
      sleep.handle(.end)
      outputs.append(.command(.wakeUp))
    }
    if let ending = applied.wanted?.batching, wanted.batching != ending, isCollecting {
      return endCollecting(at: now)
    }
    if wanted.batching != nil, !applied.has(wanted) { perform(collection.handle(.start, at: now), at: now) }
    apply(wanted)
    // A receiver that was not asleep is in the state as soon as it is configured.
    if !wasAsleep { handle(.entered(wanted.mode), at: now) }
  }

  private var endsWithRead: Bool { power.capabilities?.batching?.endsWithRead ?? false }
  private var outlivesRestart: Bool { power.capabilities?.batching?.outlivesRestart ?? false }

  /// The messages are switched on, and the memory is read after that.
  private mutating func endCollecting(at now: Instant) {
    guard let ending = applied.wanted else { return }
    perform(collection.handle(.stop, at: now), at: now)
    apply(ending, endsCollecting: true)
  }

  private mutating func apply(_ wanted: WantedState, endsCollecting: Bool = false) {
    guard let configuration = presence.configuration,
      let desired = applied.apply(
        wanted, spare: configuration.spareConstellations, endsCollecting: endsCollecting, to: configuration.base)
    else { return }
    outputs.append(.command(.set(desired)))
  }
}

/// The receiver's sleep, as it was requested and as the session confirms it.
///
///     awake ─ request ─▶ requested ─ confirmed ─▶ asleep
///       ▲                    ▲  │                  │ │
///       │                    └──┼── notAsleep ─────┘ │
///       │                       │     or request     │
///       └────────── end ────────┴────────────────────┘
enum SleepState: Sendable, Hashable, CaseIterable {
  case awake
  /// The request was given to the session; the receiver may still be running, or running again.
  case requested
  /// The session has sent the request and watches the sleep.
  case asleep

  enum Event: Sendable, Hashable, CaseIterable {
    /// Sleep is requested, perhaps once more.
    case request
    /// The session has sent the request.
    case confirmed
    /// The receiver runs although sleep is requested.
    case notAsleep
    /// A wake-up, a refusal, a restart or the loss of the line.
    case end
  }

  mutating func handle(_ event: Event) {
    switch (self, event) {
    case (_, .request): self = .requested
    case (.requested, .confirmed): self = .asleep
    case (.asleep, .notAsleep): self = .requested
    case (_, .end): self = .awake
    case (.awake, .confirmed), (.asleep, .confirmed), (.awake, .notAsleep), (.requested, .notAsleep): break
    }
  }
}

/// The receiver's presence and identity, as far as the session has reported them.
///
///     absent ─ epoch ─▶ unidentified ─ identified ─▶ identified
///        │                   │                           │
///        └───────────────────┴── plain, configured ──────┴──▶ plain, configured
///
///     plain ◀─ resume ─ unread ◀─ pause ─ plain, configured
///     plain, unread ─ configured ─▶ configured          absent ─ identified ─▶ identified
///     every state ─ lost ─▶ absent
enum ReceiverPresence: Sendable, Equatable {
  case absent
  /// Epochs arrive from a receiver that has not sent its version.
  case unidentified(since: Instant)
  /// It has sent its version: its configuration follows.
  case identified
  /// It takes no commands, or is not configured yet.
  case plain
  /// Its line is not read.
  case unread
  case configured(Configured)

  /// A receiver whose session has applied its first configuration.
  struct Configured: Sendable, Equatable {
    /// The session's own configuration, on which all others rest.
    var base: DesiredConfiguration
    /// The number of settings that the receiver refuses in any case.
    var usualRefusals: Int
    /// Constellations that are switched off where fewer will do.
    var spareConstellations: [DesiredConfiguration.Constellation]
  }

  enum Event: Sendable, Equatable {
    case epoch(Instant)
    case identified
    case plain
    case configured(Configured)
    /// The line is no longer read, or is read again.
    case pause, resume
    case lost
  }

  mutating func handle(_ event: Event) {
    switch (self, event) {
    case (.absent, .epoch(let now)): self = .unidentified(since: now)
    case (.absent, .identified), (.unidentified, .identified): self = .identified
    case (.absent, .plain), (.unidentified, .plain), (.identified, .plain): self = .plain
    case (_, .configured(let configured)): self = .configured(configured)
    case (.plain, .pause), (.configured, .pause): self = .unread
    case (.unread, .resume): self = .plain
    case (_, .lost): self = .absent
    case (_, .epoch), (_, .identified), (_, .plain), (_, .pause), (_, .resume): break
    }
  }

  /// Whether the policy works with the receiver.
  var isPresent: Bool {
    switch self {
    case .plain, .unread, .configured: true
    case .absent, .unidentified, .identified: false
    }
  }

  var configuration: Configured? { if case .configured(let configured) = self { configured } else { nil } }
}
