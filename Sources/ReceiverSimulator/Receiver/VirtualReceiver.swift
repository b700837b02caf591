// SPDX-License-Identifier: Apache-2.0

import MonotonicTime
import UBX

/// A simulated receiver: time and bytes go in, bytes come out. It has no clock, no file and no line; `VirtualLine`
/// connects it.
///
///                        ┌── supply ──▶ starting ──▶ awake: acquisition ⇄ tracking ⇄ optimisedTracking
///     off, hardwareBackup┘                 ▲           │ (stopped: the processor alone)
///                                          └─ wake ── standby, inactive
///
/// `deadline` is the time of the next internal event; `advance(to:)` performs it. No work is done between two events,
/// so that an hour of sleep costs nothing.
public struct VirtualReceiver: Sendable {
  /// The receiver's model.
  public let model: ReceiverModel
  /// The position, the sky and the faults.
  public let scenario: Scenario
  /// The instant to which the receiver was advanced.
  public internal(set) var now: Instant

  let traits: ModelTraits
  let origin: Instant
  let startUTCSeconds: Int64
  /// The port that the host is connected to: 1 UART1, 3 USB.
  let port: Int
  let uniqueID: [UInt8]

  var configuration: ReceiverConfiguration
  var settings: Settings
  /// The state of a receiver that is not a u-blox one.
  var family: FamilyState?
  /// Whether its settings in RAM survive the start that follows.
  var isFamilyRAMKept = false
  var memory = NavigationMemory()
  /// The navigation memory that UPD-SOS saved in flash.
  var savedMemory: NavigationMemory?
  var restoreResult: UInt8 = 0
  var engine = Engine()
  var meter: PowerMeter
  var transmitter: Transmitter
  var writer = FrameWriter()
  var batch = BatchBuffer()
  var log = FlashLog()
  var noise: FixNoise
  var random: SeededRandomNumberGenerator

  // Wake-up and sleep.
  var hasSupply = true
  var startCause = StartCause.power
  var startsAt: Instant?
  var wakesAt: Instant?
  var canWakeByUART = true
  var skyChangesAt: Instant?
  var mode = PowerSaveState()

  // Epochs.
  var nextEpoch: Instant?
  var epochs: UInt64 = 0
  var solution = Solution()
  var lastEpoch: Instant?
  /// Computed epochs that are not in the transmit buffer yet.
  var emissions: [(at: Instant, frames: [[UInt8]])] = []
  var odometerMetres = 0.0
  /// The types of the odometer's measurements, and when the last one of each arrived.
  var measurements: [UInt8: Instant] = [:]
  var bootedAt = Instant.zero
  var visible: [VisibleSatellite] = []
  var visibleAt: Instant?

  // The line.
  var receiveRate: UInt32
  var pendingRate: (rate: UInt32, at: Instant)?
  var input = InputBuffer()
  /// Bytes received since the start.
  var receivedBytes: UInt32 = 0
  var spool: [Spooled] = []
  var reception = UARTReception()
  var disturbances = Disturbances()
  var parsedMessages = ParsedMessages()
  var differential = DifferentialCorrections()
  var spartnKeys = SPARTNKeyMemory()
  var timeMode = TimeMode()

  /// A message that waits for room in the transmit buffer.
  enum Spooled: Sendable {
    case frame([UInt8])
    /// The next epoch of the batch, and the number of epochs after it.
    case batch(Int)
  }

  /// - Parameters:
  ///   - startUTCSeconds: the time at `now`, seconds since 1970.
  ///   - isUSB: whether the host is at its USB port.
  init(model: ReceiverModel, scenario: Scenario, seed: UInt64, startUTCSeconds: Int64, isUSB: Bool, now: Instant) {
    self.model = model
    self.scenario = scenario
    self.now = now
    traits = model.traits
    origin = now
    self.startUTCSeconds = startUTCSeconds
    port = isUSB && traits.hasUSB ? 3 : 1
    configuration = ReceiverConfiguration(traits)
    settings = configuration.settings(port: port, traits)
    family = FamilyState(traits, quirks: scenario.quirks)
    if let family { settings = family.shared(settings) }
    random = SeededRandomNumberGenerator(seed: seed)
    noise = FixNoise(seed: random.next())
    uniqueID = (0..<traits.uniqueIDLength).map { [id = random.next()] in UInt8(truncatingIfNeeded: id >> UInt64($0 * 8))
    }
    receiveRate = settings.baudRate
    transmitter = Transmitter(rate: settings.baudRate, isUSB: isUSB, capacity: traits.transmitBufferBytes)
    meter = PowerMeter(.off, at: now)
    memory.hasAlmanac = true
    if scenario.beginsHot { rememberEverything() }
    start(.power, after: Milliseconds(traits.bootMilliseconds))
  }

  // MARK: - State for tests and for display

  /// The charge since the start, from the main or the backup supply, milliampere-seconds.
  public var chargeMilliampereSeconds: Double { meter.chargeMilliampereSeconds }
  /// The charge of a supply with its own figure in the data sheet (V_IO of M10).
  public var pinChargeMilliampereSeconds: Double { meter.pinChargeMilliampereSeconds }
  public var powerState: VirtualPowerState { meter.state }
  /// The latest power states, each with its start.
  public var powerLog: [(since: Instant, state: VirtualPowerState)] { meter.log }
  /// Whether the receiver has a fix now.
  public var hasFix: Bool { engine.hasFix }
  /// The kind of the last start.
  public var startKind: StartKind { engine.startKind }
  /// The time from the last start to its first fix.
  public var timeToFirstFix: Milliseconds? { engine.timeToFirstFix }
  /// The rate of the receiver's side of the line, baud.
  public var baudRate: UInt32 { receiveRate }
  /// Whether its port sends UBX.
  public var sendsUBX: Bool { settings.sendsUBX }
  /// Whether its port sends NMEA.
  public var sendsNMEA: Bool { settings.sendsNMEA }
  /// The configured time between solutions.
  public var epochMilliseconds: UInt32 { settings.epochMilliseconds }
  /// The enabled satellite systems.
  public var systems: SatelliteSystems { settings.systems }
  /// The interval of each sentence in epochs, of a receiver that is not a u-blox one; sentences that are off are absent.
  public var sentenceRates: [String: Int] { family?.current.rates.filter { $0.value > 0 } ?? [:] }
  /// The periods of the RTCM 3 messages of another maker's receiver, in milliseconds, by their number.
  public var correctionPeriods: [Int: UInt32] { family?.current.corrections ?? [:] }
  /// Whether the logger of such a receiver runs, and the number of its records.
  public var logger: (isOn: Bool, records: Int) {
    guard let family else { return (false, 0) }
    return family.quirks.contains(.logger)
      ? (family.logging.isOn, family.logging.records.count) : (family.log.isLogging, family.log.records.count)
  }
  /// The number of epochs in the batch.
  public var batchedEpochs: Int { batch.count }
  /// The number of epochs that the batch lost since its last configuration.
  public var lostEpochs: Int { batch.dropsAll }
  /// The number of messages that the transmit buffer had no room for.
  public var droppedMessages: Int { transmitter.droppedMessages }
  /// The number of satellites with a usable ephemeris.
  public var usableEphemerides: Int {
    let utc = utcMilliseconds(at: now)
    return (0..<VisibleSatellite.slots).count { memory.hasEphemeris($0, at: utc) }
  }

  /// The interval of a message on the host's port, in epochs; 0 if it is off.
  public func rate(of identity: MessageIdentity) -> Int {
    guard let index = OutputMessage.index(of: identity) else { return 0 }
    return Int(settings.rates.first { $0.message == index }?.every ?? 0)
  }

  /// The value of a configuration item in force; nil if the receiver does not have the item.
  public func value(ofItem key: UInt32) -> UInt64? { configuration.value(ofItem: key) }

  /// The settings in force, and the settings after a loss of power with a battery, one a line, sorted.
  public var settingLines: [String] {
    var restarted = configuration
    restarted.restart()
    var lines = configuration.lines.map { "now \($0)" } + restarted.lines.map { "after a start \($0)" }
    if let family {
      lines += family.current.lines.map { "now \($0)" } + family.stored.lines.map { "after a start \($0)" }
    }
    return (lines + ["baud rate \(baudRate)", "logger \(logger)"]).sorted()
  }

  /// The true state at an instant.
  public func truth(at instant: Instant) -> Truth { scenario.truth(atSeconds: instant.seconds(since: origin)) }

  /// UTC at an instant, milliseconds since 1970.
  public func utcMilliseconds(at instant: Instant) -> Int64 {
    startUTCSeconds * 1000 + Int64(instant.nanoseconds / 1_000_000) - Int64(origin.nanoseconds / 1_000_000)
  }

  // MARK: - Time

  /// The time of the next internal event.
  var deadline: Instant? {
    var next = Instant.earlier(startsAt, wakesAt)
    next = Instant.earlier(next, nextEpoch)
    next = Instant.earlier(next, engine.deadline)
    next = Instant.earlier(next, skyChangesAt)
    next = Instant.earlier(next, emissions.first?.at)
    next = Instant.earlier(next, pendingRate?.at)
    next = Instant.earlier(next, reception.silentUntil)
    next = Instant.earlier(next, mode.deadline)
    next = Instant.earlier(next, family?.deadline)
    next = Instant.earlier(next, disturbances.wakesByItselfAt)
    if !spool.isEmpty { next = Instant.earlier(next, max(now, transmitter.freeAt)) }
    if let floodUntil = disturbances.floodUntil {
      // A sleeping receiver sends nothing before it wakes.
      next = Instant.earlier(next, powerState.isAwake ? min(floodUntil, max(now, transmitter.freeAt)) : floodUntil)
    }
    return next
  }

  /// Advances the time.
  mutating func advance(to target: Instant) {
    while let next = deadline, next <= target {
      now = max(now, next)
      run()
    }
    now = max(now, target)
    meter.advance(to: now)
  }

  /// Performs what is due now.
  private mutating func run() {
    if let at = pendingRate?.at, now >= at { applyPendingRate() }
    if let at = reception.silentUntil, now >= at { resumeReception() }
    if let at = disturbances.wakesByItselfAt, now >= at {
      disturbances.wakesByItselfAt = nil
      if powerState.isAsleep { wake() }
    }
    if let at = startsAt, now >= at { finishStart() }
    if let at = wakesAt, now >= at { wake() }
    if let at = skyChangesAt, now >= at { changeSky() }
    advanceEngine()
    if let at = mode.deadline, now >= at { advancePowerSave() }
    while let emission = emissions.first, now >= emission.at {
      emissions.removeFirst()
      for frame in emission.frames { transmitter.send(frame, at: now) }
    }
    if let at = nextEpoch, now >= at { runEpoch() }
    if let at = family?.deadline, now >= at { advanceFamily() }
    if !spool.isEmpty, now >= transmitter.freeAt { sendSpooled() }
    flood()
  }
}

// The messages of the log in flash.
extension VirtualReceiver {
  mutating func receiveLog(_ id: UInt8, _ payload: [UInt8]) {
    // Any message of this class ends a retrieval.
    if id != 0x08 { spool.removeAll { if case .frame = $0 { true } else { false } } }
    switch id {
    case 0x03:
      log.erase()
      acknowledge(0x21, id, payload.isEmpty)
    case 0x04:
      let isPossible = log.isCreated && payload.count <= 256
      if isPossible { log.append(.text(payload, secondsSince1970: utcMilliseconds(at: now) / 1000)) }
      acknowledge(0x21, id, isPossible)
    case 0x07: acknowledge(0x21, id, log.create(payload))
    case 0x08: if payload.isEmpty { poll(MessageIdentity(0x21, id)) }
    case 0x09: retrieve(payload)
    case 0x0E: findTime(payload)
    default: break
    }
  }

  /// LOG-RETRIEVE: up to 256 entries. It is refused while the log records, or if the log has no such entry.
  private mutating func retrieve(_ payload: [UInt8]) {
    guard payload.count == 12, payload[8] == 0, !settings.logFilter.records else {
      return acknowledge(0x21, 0x09, false)
    }
    let first = Int(payload.u4(0))
    let count = min(Int(payload.u4(4)), 256)
    guard first < log.entries.count, count > 0 else { return acknowledge(0x21, 0x09, false) }
    acknowledge(0x21, 0x09, true)
    for index in first..<min(first + count, log.entries.count) { spool.append(.frame(log.frame(index, &writer))) }
  }

  private mutating func findTime(_ payload: [UInt8]) {
    guard payload.count == 12 else { return acknowledge(0x21, 0x0E, false) }
    let seconds = CivilTime.secondsSince1970(
      year: Int(payload.u2(4)), month: Int(payload[6]), day: Int(payload[7]), hour: Int(payload[8]),
      minute: Int(payload[9]), second: Int(payload[10]))
    var reply: [UInt8] = [1, 1, 0, 0]
    reply.append(u4: log.index(atOrAfter: seconds).map { UInt32($0) } ?? 0xFFFF_FFFF)
    answer(MessageIdentity(0x21, 0x0E), reply)
    acknowledge(0x21, 0x0E, true)
  }
}

/// The configuration of a receiver, by old messages or by items; a fixed one has neither.
struct ReceiverConfiguration: Sendable {
  var legacy: LegacyConfiguration?
  var items: ItemConfiguration?

  init(_ traits: ModelTraits) {
    if traits.configuration == .legacy { legacy = LegacyConfiguration(traits) }
    if traits.hasItems { items = ItemConfiguration(traits) }
  }

  /// The settings in force for a port.
  func settings(port: Int, _ traits: ModelTraits) -> Settings {
    items?.settings(port: port) ?? legacy?.settings(port: port) ?? Self.fixed(traits)
  }

  private static func fixed(_ traits: ModelTraits) -> Settings {
    var settings = Settings()
    settings.baudRate = traits.defaultBaudRate
    settings.systems = traits.defaultSystems
    settings.nmeaVersion = traits.nmeaVersion
    settings.sendsUBX = false
    settings.textNMEA = 0
    // GGA, GSA and RMC each second, GSV every five seconds.
    let periods: [UInt16: UInt8] = [0xF000: 1, 0xF002: 1, 0xF003: 5, 0xF004: 1]
    for (index, message) in OutputMessage.all.enumerated() {
      guard let every = periods[message.identity.key] else { continue }
      settings.rates.append(Settings.OutputRate(message: index, every: every))
    }
    return settings
  }

  /// The settings of a u-blox receiver in force, one a line.
  var lines: [String] {
    var lines: [String] = []
    if let items {
      // An item of an unset message has the value 0.
      lines += Set(items.database.defaults.keys).union(items.ram.keys).filter { items.value($0) != 0 }
        .map { "item \($0) \(items.value($0))" }
    }
    if let blocks = legacy?.current.blocks { lines += blocks.map { "message \($0.key) \($0.value)" } }
    if let rates = legacy?.current.rates { lines += rates.map { "output \($0.key) \($0.value)" } }
    return lines
  }

  func value(ofItem key: UInt32) -> UInt64? {
    guard let items, items.database.contains(key) else { return nil }
    return items.value(key)
  }

  /// Rebuilds the settings in force, as at each start.
  mutating func restart() {
    legacy?.restart()
    items?.restart()
  }

  /// Clears battery-backed memory: the battery is empty.
  mutating func clearBackup() {
    legacy?.clearBackup()
    items?.clearBackup()
  }
}
