// SPDX-License-Identifier: Apache-2.0

import MonotonicTime
import NMEA
import WireBytes

/// The settings of a receiver that is not a u-blox one.
struct FamilySettings: Sendable, Equatable {
  var baudRate: UInt32
  var periodMilliseconds: UInt32
  var systems: SatelliteSystems
  /// The interval of each sentence in epochs; sentences that are off are absent.
  var rates: [String: Int]
  /// Settings without an effect in the simulation, by their name: they can be read back.
  var values: [String: String] = [:]
  /// The periods of RTCM 3 messages in milliseconds, by their number.
  var corrections: [Int: UInt32] = [:]
  /// The source of a base station's position.
  var timeMode = TimeMode.Setting.off

  /// The settings, one a line.
  var lines: [String] {
    ["rate \(baudRate)", "period \(periodMilliseconds) ms", "systems \(systems.rawValue)", "mode \(timeMode)"]
      + rates.filter { $0.value > 0 }.map { "sentence \($0.key) \($0.value)" }
      + values.map { "value \($0.key) \($0.value)" } + corrections.map { "correction \($0.key) \($0.value)" }
  }
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
  /// The settings after a start: from the flash, or from RAM where it has its own supply.
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
  /// Whether an LG290P was a base station since its last start.
  var isBase = false
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
    settings.timeMode = current.timeMode
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

  /// Sets the rate of the line without a command.
  mutating func setFamilyRate(_ rate: UInt32) {
    family?.current.baudRate = rate
    settings.baudRate = rate
    changeRate(to: rate)
  }

  /// Changes the rate of the line. The acknowledgement leaves at the new rate; a quirk sends it before, at the old one.
  mutating func changeFamilyRate(
    to rate: UInt32, acknowledging bytes: [UInt8] = [], after milliseconds: Milliseconds = Milliseconds(0)
  ) {
    let isLost = bytes.isEmpty || family?.losesAcknowledgement() == true
    let isEarly = family?.quirks.contains(.oldRateAcknowledgement) == true
    if !isLost, isEarly, let bytes = family?.altered(bytes) { reply(bytes) }
    if family?.quirks.contains(.keptBaud) != true { setFamilyRate(rate) }
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

/// The state of MediaTek's logger LOCUS: 252 records of 16 bytes in each sector of 4 kB.
///
/// The flash of an Adafruit module has 16 sectors, and is kept without a supply. The log is of the type "full stop", or by a quirk of the
/// type "overlap", which erases its oldest sector.
struct LocusLog: Sendable {
  /// Whether it overwrites the oldest records.
  var overlaps = false
  /// The number of the first sector.
  private var firstSector = 1
  private(set) var records: [[UInt8]] = []
  private(set) var isLogging = false
  /// The interval, seconds.
  private(set) var interval = LocusLog.usualInterval
  private static let usualInterval = 15
  private var last: Int64?

  static let sectors = 16
  private static let inSector = 252
  private static var capacity: Int { sectors * inSector }
  /// UTC, fix, latitude, longitude and height.
  private static let content: UInt32 = 31
  /// Normal, and only with a fix, by interval.
  private static let mode: UInt8 = 0x0B

  mutating func start() { (isLogging, last) = (true, nil) }
  mutating func stop() { isLogging = false }
  /// The receiver restarts, and its interval becomes the default of the firmware.
  mutating func restart() { (isLogging, interval) = (false, Self.usualInterval) }
  mutating func set(interval: Int) { self.interval = interval }
  mutating func erase() { records = [] }

  var isFull: Bool { records.count >= Self.capacity }

  /// Adds a record if the interval is over. Returns whether a log that stops when it is full has stopped.
  @discardableResult
  mutating func record(_ solution: Solution, always: Bool = false) -> Bool {
    let seconds = solution.utcMilliseconds / 1000
    guard always || (isLogging && last.map { seconds - $0 >= Int64(interval) } ?? true) else { return false }
    if isFull {
      guard overlaps else {
        defer { stop() }
        return isLogging
      }
      records.removeFirst(Self.inSector)
      firstSector += 1
    }
    last = seconds
    var record = littleEndianBytes(UInt32(truncatingIfNeeded: seconds)) + [2]
    record += littleEndianBytes(Float(solution.latitudeDegrees).bitPattern)
    record += littleEndianBytes(Float(solution.longitudeDegrees).bitPattern)
    record += littleEndianBytes(Int16(nearest: solution.altitudeMetres))
    records.append(record + [record.span.exclusiveOr])
    return false
  }

  /// PMTKLOG.
  var status: String {
    let used = min(Self.sectors, records.count / Self.inSector + 1)
    let percent = records.count * 100 / Self.capacity
    return
      "PMTKLOG,\(used),\(overlaps ? 0 : 1),\(String(Self.mode, radix: 16)),\(Self.content),\(interval),0,0,\(isLogging ? 0 : 1),"
      + "\(records.count),\(percent)"
  }

  /// The lines of PMTK622.
  ///
  /// - Parameter usedOnly: false for the whole flash.
  func dump(usedOnly: Bool) -> [String] {
    let count = usedOnly ? records.count / Self.inSector + (records.count % Self.inSector > 0 ? 1 : 0) : Self.sectors
    let flash = (0..<count).flatMap(sector)
    let lines = stride(from: 0, to: flash.count, by: 96).map { Array(flash[$0..<min($0 + 96, flash.count)]) }
    var texts = ["PMTKLOX,0,\(lines.count)"]
    for (index, line) in lines.enumerated() {
      let words = stride(from: 0, to: line.count, by: 4).map { at in
        line[at..<min(at + 4, line.count)].hexadecimalDigits.uppercased()
      }
      texts.append("PMTKLOX,1,\(index),\(words.joined(separator: ","))")
    }
    return texts + ["PMTKLOX,2"]
  }

  private func sector(_ index: Int) -> [UInt8] {
    let part = records.dropFirst(index * Self.inSector).prefix(Self.inSector)
    guard !part.isEmpty else { return [UInt8](repeating: 0xFF, count: 4096) }
    var head =
      littleEndianBytes(UInt16(truncatingIfNeeded: index + firstSector)) + [overlaps ? 0 : 1, Self.mode]
      + littleEndianBytes(Self.content)
    head += littleEndianBytes(UInt16(clamping: interval)) + [0, 0, 0, 0]
    let words = stride(from: 0, to: head.count, by: 2).map { UInt16(head[$0]) | UInt16(head[$0 + 1]) << 8 }
    head += littleEndianBytes(words.reduce(0) { $0 ^ $1 })
    var bitmap = [UInt8](repeating: 0xFF, count: 44)
    for place in 0..<part.count { bitmap[place / 8] &= ~(0x80 >> UInt8(place % 8)) }
    let content = part.flatMap { $0 }
    return head + bitmap + [0, 0, 0, 0] + content + [UInt8](repeating: 0xFF, count: 4032 - content.count)
  }
}

/// Airoha's logger LOCUS: its settings and its records (Quectel LC26G(AB)&LC76G&LC86G GNSS Protocol Specification).
struct PAIRLogging: Sendable {
  var isOn = false
  /// Bits: 0 each fix, 1 time, 2 speed, 3 distance, 4 before sleep, 5 command.
  var mode = 2
  var needs3D = 1
  /// Seconds, m/s and metres.
  var thresholds = [15, 1, 10]
  private(set) var records: [String] = []
  private var last: Int64?

  /// The number of records when it was switched on.
  private var kept = 0

  mutating func start() { (isOn, last, kept) = (true, nil, records.count) }
  /// The receiver starts anew: records of a logger that was not switched off before are lost.
  mutating func lose() {
    if isOn { records.removeLast(records.count - min(kept, records.count)) }
    isOn = false
  }
  mutating func clear() { records = [] }
  mutating func restoreDefaults() { (mode, needs3D, thresholds) = (2, 1, [15, 1, 10]) }

  /// Adds a record if one is due. Distance and speed do not trigger one in the simulation.
  mutating func record(_ solution: Solution, byCommand: Bool = false) {
    let seconds = solution.utcMilliseconds / 1000
    let isDue = mode & 1 != 0 || (mode & 2 != 0 && last.map { seconds - $0 >= Int64(thresholds[0]) } ?? true)
    guard solution.hasFix, isOn, byCommand || isDue else { return }
    last = seconds
    records.append(Self.text(solution, seconds))
  }

  /// UTC, fix, latitude and longitude in 1e-7 degrees, height, speed, 0.01 degrees of heading, 0.01 of HDOP, satellites.
  private static func text(_ solution: Solution, _ seconds: Int64) -> String {
    let places = [solution.latitudeDegrees, solution.longitudeDegrees].map { Int32(nearest: $0 * 1e7) }
    return [
      digits(UInt32(truncatingIfNeeded: seconds)), digits(UInt8(1)), digits(places[0]), digits(places[1]),
      digits(Int16(nearest: solution.altitudeMetres)), digits(UInt16(nearest: solution.speed)),
      digits(UInt16(nearest: degreesOfCourse(solution) * 100)), digits(UInt16(nearest: solution.hdop * 100)),
      digits(UInt8(clamping: solution.used)),
    ].joined(separator: ",")
  }

  /// The digits of a number, the highest first.
  private static func digits(_ number: some FixedWidthInteger) -> String {
    littleEndianBytes(number.byteSwapped).hexadecimalDigits.uppercased()
  }
}

extension VirtualReceiver {
  /// PAIR900 to PAIR909.
  mutating func logPAIR(_ command: Int, _ fields: FamilyFields) {
    guard let log = family?.logging else { return }
    switch command {
    case 900:
      guard let wanted = fields.number(0), 0...1 ~= wanted else { return acknowledgePAIR(command, 4) }
      guard log.isOn != (wanted == 1) else { return acknowledgePAIR(command, 2) }
      if wanted == 1 { family?.logging.start() } else { family?.logging.isOn = false }
    case 901: return query(command, "PAIR901,\(log.isOn ? 1 : 0)")
    case 902:
      guard let mode = Int(fields[0], radix: 16), 0...63 ~= mode, let check = fields.number(1), 0...1 ~= check else {
        return acknowledgePAIR(command, 4)
      }
      guard !log.isOn else { return acknowledgePAIR(command, 2) }
      family?.logging.mode = mode
      family?.logging.needs3D = check
    case 903: return query(command, "PAIR903,\(String(log.mode, radix: 16)),\(log.needs3D)")
    case 904:
      let limits = [1...43_200, 1...100, 1...50_000]
      guard let kind = fields.number(0), limits.indices ~= kind, let value = fields.number(1), limits[kind] ~= value
      else { return acknowledgePAIR(command, 4) }
      guard !log.isOn else { return acknowledgePAIR(command, 2) }
      family?.logging.thresholds[kind] = value
    case 905:
      guard let kind = fields.number(0), 0...2 ~= kind else { return acknowledgePAIR(command, 4) }
      return query(command, "PAIR905,\(log.thresholds[kind])")
    case 906:
      guard let kind = fields.number(0), 0...2 ~= kind else { return acknowledgePAIR(command, 4) }
      if kind != 2 { family?.logging.clear() }
      if kind != 1 { family?.logging.restoreDefaults() }
    case 907:
      guard log.isOn, log.mode & 32 != 0, solution.hasFix else { return acknowledgePAIR(command, 2) }
      family?.logging.record(solution, byCommand: true)
    case 908: return sendLogPAIR(fields)
    default: return query(command, "PAIR909,\(log.records.count)")
    }
    acknowledgePAIR(command, 0)
  }

  /// The acknowledgement comes after the data.
  private mutating func sendLogPAIR(_ fields: FamilyFields) {
    guard let log = family?.logging, fields[0] == "1" else { return acknowledgePAIR(908, 4) }
    guard !log.isOn else { return acknowledgePAIR(908, 2) }
    // A record has 22 bytes.
    let lines = ["PAIR908,1,\(log.records.count),22"] + log.records.map { "PAIR908,2,\($0)" }
    for line in lines + ["PAIR908,3", "PAIR001,908,0"] {
      if let bytes = family?.altered(sentenceBytes(line)) { spool.append(.frame(bytes)) }
    }
  }
}
