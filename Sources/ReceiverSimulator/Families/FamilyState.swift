// SPDX-License-Identifier: Apache-2.0
import MonotonicTime

/// The settings of a receiver that is not a u-blox one.
struct FamilySettings: Sendable, Equatable {
  var baudRate: UInt32
  var periodMilliseconds: UInt32
  var systems: SatelliteSystems
  /// The interval of each sentence in epochs; sentences that are off are absent.
  var rates: [String: Int]
  /// Settings without an effect in the simulation, by their name: they can be read back.
  var values: [String: String] = [:]
}

/// The state of a receiver that is not a u-blox one.
struct FamilyState: Sendable {
  /// A command that takes effect when the replies before it are sent.
  enum Action: Sendable {
    /// - Parameters:
    ///   - milliseconds: the time until it wakes; nil without a timer.
    ///   - byLine: whether any byte wakes it.
    case sleep(Milliseconds?, byLine: Bool)
    /// Switches the search for satellites off; the receiver reads on.
    case stop
    case restart(RestartKind)
  }

  enum RestartKind: Sendable { case hot, warm, cold }

  /// Runs and sleeps in turn (PMTK225).
  struct Cycle: Sendable {
    var run: Milliseconds
    var sleep: Milliseconds
    var isWokenByLine: Bool
  }

  let traits: FamilyTraits
  let quirks: Set<Quirk>
  let defaults: FamilySettings
  /// The settings in force.
  var current: FamilySettings
  /// The settings after a start: those of the flash, or of RAM where it has its own supply.
  var stored: FamilySettings

  /// Received bytes that are not a whole command yet.
  var input: [UInt8] = []
  /// The time of the last byte.
  var inputAt: Instant?
  /// Commands of a family that reads them at ticks.
  var waiting: [String] = []
  var waitingAt: Instant?
  /// Replies that are not in the transmit buffer yet, in the order of their times.
  private(set) var replies: [(at: Instant, bytes: [UInt8])] = []
  var action: (at: Instant, Action)?
  /// Whether the action waits for the transmit buffer already. On a full line it is never empty.
  private(set) var isDraining = false
  var cycle: Cycle?
  /// Replies that come with the next epoch.
  var withEpoch: [[UInt8]] = []
  /// The time of the last reply.
  var repliedAt = Instant.zero
  /// PAIR382: the processor does not sleep by itself.
  var isLocked = false
  /// The number of acknowledgements, and of PAIR382 before one is heard.
  var acknowledgements = 0
  var knocks = 0
  /// The rate after the next start, whatever else it loads.
  var startRate: UInt32?
  /// The last PQBAUD.
  var baudRequest: String?
  var log = LocusLog()
  /// The settings of the log, where commands set them.
  var logging = PAIRLogging()
  private var replyCount = 0
  private var lastReply: [UInt8] = []

  init?(_ model: ModelTraits, quirks: Set<Quirk>) {
    guard let traits = model.family else { return nil }
    self.traits = traits
    self.quirks = quirks
    var systems = model.defaultSystems
    if quirks.contains(.threeSystems), model.systems.contains(.glonass) { systems.insert(.glonass) }
    defaults = FamilySettings(
      baudRate: model.defaultBaudRate, periodMilliseconds: traits.periodMilliseconds, systems: systems,
      rates: traits.format.defaults)
    current = defaults
    stored = defaults
    log.overlaps = quirks.contains(.overlappingLog)
  }

  /// Whether settings in RAM have their own supply: PMTK has no command that saves.
  private var keepsRAM: Bool { traits.language == .mediaTek }
  var hasBackup: Bool { !quirks.contains(.noBackup) }
  /// The delay of all replies.
  private var lateness: Milliseconds { Milliseconds(quirks.contains(.lateReplies) ? 1000 : 0) }
  /// The time at which the replies so far have been given.
  var answeredAt: Instant { repliedAt + lateness }

  /// The time of the next reply or action.
  var deadline: Instant? {
    Instant.earlier(Instant.earlier(replies.first?.at, action?.at), waitingAt)
  }

  /// Adds a reply.
  mutating func reply(_ bytes: [UInt8], at instant: Instant) {
    repliedAt = max(repliedAt, instant)
    guard let bytes = altered(bytes) else { return }
    let at = instant + lateness
    let index = replies.firstIndex { $0.at > at } ?? replies.endIndex
    replies.insert((at, bytes), at: index)
  }

  /// A reply after the quirks; nil for none.
  mutating func altered(_ bytes: [UInt8]) -> [UInt8]? {
    guard !quirks.contains(.noReplies) else { return nil }
    defer { lastReply = bytes }
    replyCount += 1
    return quirks.contains(.wrongReplies) && replyCount % 3 == 2 ? lastReply : bytes
  }

  /// Counts an acknowledgement; returns whether it is lost.
  mutating func losesAcknowledgement() -> Bool {
    acknowledgements += 1
    return quirks.contains(.lostAcknowledgements) && acknowledgements % 2 == 1
  }

  /// Removes and returns the action; nil until the replies before it have left.
  mutating func takeAction(sent instant: Instant, at now: Instant) -> Action? {
    guard let (at, action) = action, now >= at else { return nil }
    if !isDraining, instant > now {
      isDraining = true
      self.action?.at = instant
      return nil
    }
    isDraining = false
    self.action = nil
    return action
  }

  mutating func takeReply(by now: Instant) -> [UInt8]? {
    guard let first = replies.first, first.at <= now else { return nil }
    return replies.removeFirst().bytes
  }

  /// Discards all that is in work: the receiver stops.
  mutating func halt() {
    input = []
    waiting = []
    waitingAt = nil
    replies = []
    action = nil
    isDraining = false
    withEpoch = []
    isLocked = false
    knocks = 0
    baudRequest = nil
  }

  /// Loads the stored settings.
  ///
  /// - Parameter keepsUnsaved: whether RAM had its supply all the time.
  mutating func restart(keepsUnsaved: Bool) {
    if !keepsUnsaved, !keepsRAM { current = stored }
    if let rate = startRate { current.baudRate = rate }
    startRate = nil
  }

  /// Settings that are not in flash are lost.
  mutating func loseRAM() {
    if keepsRAM { current = defaults }
  }

  /// The backup supply is empty.
  mutating func loseBackup() {
    cycle = nil
    log.stop()
    loseRAM()
  }

  /// The part of the settings that all models share.
  func shared(_ settings: Settings) -> Settings {
    var settings = settings
    settings.baudRate = current.baudRate
    settings.measurementMilliseconds = current.periodMilliseconds
    settings.systems = current.systems
    return settings
  }
}

extension VirtualReceiver {
  /// Performs what is due: commands that waited for a tick, replies, and actions behind them.
  mutating func advanceFamily() {
    if let at = family?.waitingAt, now >= at { performWaiting() }
    while let bytes = family?.takeReply(by: now) { if !disturbances.isFrozen(at: now) { reply(bytes) } }
    let sent = transmitter.freeAt
    if let action = family?.takeAction(sent: sent, at: now) { perform(action) }
  }

  private mutating func perform(_ action: FamilyState.Action) {
    switch action {
    case .sleep(let time, let byLine):
      guard !disturbances.ignoresSleep(at: now) else { return }
      isFamilyRAMKept = byLine
      sleep(.standby, for: time, byUART: byLine)
    case .stop:
      stopEngine()
      showPowerState()
    case .restart(let kind):
      let keeps = traits.family?.language == .airoha
      if traits.family?.language == .airoha { family?.logging.lose() }
      forget(kind)
      family?.cycle = nil
      halt()
      start(.reset, after: Milliseconds(traits.family?.restartMilliseconds ?? 0))
      isFamilyRAMKept = keeps
    }
  }

  private mutating func forget(_ kind: FamilyState.RestartKind) {
    if case .hot = kind { return }
    memory.ephemeris = Array(repeating: nil, count: memory.ephemeris.count)
    guard case .cold = kind else { return }
    memory = NavigationMemory()
    memory.hasAlmanac = true
  }

  /// Rebuilds the settings at a start.
  mutating func restartFamily() {
    let isForgetful = startCause == .standby && family?.quirks.contains(.forgetfulStandby) == true
    family?.restart(keepsUnsaved: isFamilyRAMKept && !isForgetful)
    if isForgetful { family?.loseRAM() }
    if startCause == .standby { forgetInStandby() }
    isFamilyRAMKept = false
    switch family?.traits.language {
    case .quectel: loadPQTM()
    case .teseo: loadPSTM()
    default: break
    }
    if let family { settings = family.shared(settings) }
    if startCause != .standby { family?.log.restart() }
    if let cycle = family?.cycle {
      family?.action = (now + cycle.run, .sleep(cycle.sleep, byLine: cycle.isWokenByLine))
    }
  }

  /// Applies settings that all models share.
  mutating func applyFamily() {
    let before = settings
    if family?.quirks.contains(.keptRate) == true {
      family?.current.periodMilliseconds = before.measurementMilliseconds
    }
    guard let family else { return }
    settings = family.shared(settings)
    if before.measurementMilliseconds != settings.measurementMilliseconds { scheduleEpoch() }
    if before.systems != settings.systems { visibleAt = nil }
  }

  /// Changes the rate of the line. The acknowledgement leaves at the new rate; a quirk sends it before, at the old one.
  mutating func changeFamilyRate(
    to rate: UInt32, acknowledging bytes: [UInt8] = [], after milliseconds: Milliseconds = Milliseconds(0)
  ) {
    let isLost = bytes.isEmpty || family?.losesAcknowledgement() == true
    let isEarly = family?.quirks.contains(.oldRateAcknowledgement) == true
    if !isLost, isEarly, let bytes = family?.altered(bytes) { reply(bytes) }
    if family?.quirks.contains(.keptBaud) != true {
      family?.current.baudRate = rate
      settings.baudRate = rate
      changeRate(to: rate)
    }
    if !isLost, !isEarly { respond(bytes, after: milliseconds) }
  }

  /// Loses time, position and orbits, by a quirk.
  mutating func forgetInStandby() {
    if family?.quirks.contains(.coldStandby) == true { forget(.cold) }
  }

  /// Restarts the search for satellites after a silence.
  mutating func restartSearch() {
    applyFamily()
    guard engine.isRunning else { return }
    startEngine()
    // One epoch is left out: these receivers are silent for a second.
    nextEpoch = nextEpoch.map { $0 + Milliseconds(UInt64(settings.epochMilliseconds)) }
  }
}
