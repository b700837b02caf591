// SPDX-License-Identifier: Apache-2.0

import MonotonicTime
import WireBytes

/// Airoha's PAIR sentences (Quectel LC26G(AB)&LC76G&LC86G GNSS Protocol Specification V1.1).
struct Airoha: FamilyLanguage {
  /// Quectel's own sentence names the module; other makers have PAIR021 only.
  var probes: [Command] {
    [
      Command(sentence: "PQTMVERNO", FamilyAnswer(.text("PQTMVERNO,")), attempts: 2),
      Command(sentence: "PAIR021", FamilyAnswer(.text("PAIR021,"), .airoha("021")), attempts: 3),
    ]
  }

  /// Quectel's modules with this language; its LG290P has its own.
  private static let modules = ["LC26G", "LC76G", "LC86G", "LC29H", "LC79H", "L89"]

  var rates: PortRates {
    PortRates(usual: [115_200], others: [9600, 19_200, 38_400, 57_600, 230_400, 460_800, 921_600])
  }
  /// The one that all makers' modules reply to.
  var silentPolls: [Command] { [probes[1]] }

  func description(from outcome: Outcome, to probe: Command) -> ReceiverDescription? {
    guard case .answered(let reply) = outcome else { return nil }
    let fields = SentenceFields(reply)
    guard let firmware = fields[1] else { return nil }
    switch fields[0] {
    case "PQTMVERNO":
      guard let module = Self.modules.first(where: { firmware.hasPrefix($0) }) else { return nil }
      return Self.description(model: module, firmware)
    case "PAIR021":
      // AG3335M_V2.5.0…, REYAX_RYS3520_V2.6.0_…
      let words = firmware.split(separator: "_")
      let name = words.prefix { !($0.hasPrefix("V") && $0.dropFirst().first?.isNumber == true) }
      return Self.description(model: name.isEmpty ? nil : name.joined(separator: "_"), firmware)
    default: return nil
    }
  }

  private static func description(model: String?, _ firmware: String) -> ReceiverDescription {
    var capabilities: [Capability] = [.configure]
    if receivesInStandby(model) { capabilities.append(.standby) }
    capabilities += [.timedSleep, .restart]
    if ["LC29H", "LC79H"].contains(model) { capabilities.append(.rawMeasurements) }
    return ReceiverDescription(
      family: .airoha, model: model, firmware: firmware, hardware: "", capabilities: capabilities)
  }

  /// Whether PAIR003 leaves a receiver that hears PAIR002: documented for these modules. LC86G is deaf; of LC29H nothing was read. The name
  /// of a chip decides nothing.
  private static func receivesInStandby(_ model: String?) -> Bool {
    guard let model else { return false }
    return ["LC26G", "LC76G", "SIM68D"].contains { model.hasPrefix($0) }
  }

  /// Whether it may be an LC86G. PAIR021 names the chip alone, which LC76G and LC86G have in common.
  private static func mayBeLC86G(_ model: String?) -> Bool {
    model.map { model in ["LC86G", "AG3352"].contains { model.hasPrefix($0) } } ?? true
  }

  /// The name of a module that was asleep during the first probe, and woke before the second. The logger is a matter of the firmware:
  /// LC76GABNR02A01S and older have none.
  func furtherPolls(after found: ReceiverDescription) -> [Command] {
    let isNamed = Self.modules.contains { found.model?.hasPrefix($0) == true }
    return (isNamed ? [] : [probes[0]]) + [Self.query("901", attempts: 2)]
  }

  func complete(_ description: inout ReceiverDescription, from outcome: Outcome) {
    guard case .answered(let reply) = outcome else { return }
    if let named = self.description(from: outcome, to: probes[0]) { description = named }
    guard SentenceFields(reply)[0] == "PAIR901" else { return }
    description = description.adding([.logger, .batching])
    if SentenceFields(reply).number(1, as: UInt8.self) == 1 {
      description.runningLog = LoggerState(isOn: true, interval: 0)
    }
  }

  // MARK: Settings

  /// The sentences of PAIR062 by their number.
  private static let sentences = ["GGA", "GLL", "GSA", "GSV", "RMC", "VTG", "ZDA", "GRS", "GST"]
  /// Those that every firmware has.
  private static let usual = 7

  func polls(of kind: ReceiverValue.Kind) -> [Command] {
    switch kind {
    case .period: [Self.query("051")]
    case .messages: (0..<Self.sentences.count).map { Self.query("063", ",\($0)", attempts: $0 < Self.usual ? 5 : 2) }
    case .constellations: [Self.query("067")]
    case .logger:
      [
        Self.query("901"), Self.query("909"), Self.query("903"), Self.threshold(0), Self.threshold(1),
        Self.threshold(2),
      ]
    case .measurements: [Self.query("433"), Self.query("437")]
    case .output, .mode: []
    }
  }

  func value(
    _ kind: ReceiverValue.Kind, from replies: [[UInt8]?], on receiver: ReceiverDescription
  ) -> ReceiverValue? {
    switch kind {
    case .period: return (replies.first ?? nil).flatMap { SentenceFields($0).number(1) }.map { .period($0) }
    case .messages:
      var rates: [SentenceRate] = []
      for (number, reply) in replies.enumerated() {
        guard let reply else {
          if number < Self.usual { return nil }
          continue
        }
        guard let rate = SentenceFields(reply).number(2, as: UInt8.self) else { return nil }
        rates.append(SentenceRate(Self.sentences[number], rate))
      }
      return .messages(rates)
    case .constellations:
      guard let reply = replies.first ?? nil else { return nil }
      let fields = SentenceFields(reply)
      guard fields.count >= 6 else { return nil }
      return .constellations(
        Self.constellations.enumerated().filter { fields.number($0.offset + 1, as: UInt8.self) == 1 }.map(\.element))
    case .logger: return Self.loggerState(replies)
    case .measurements: return Self.measurements(replies).map { .measurements($0) }
    case .output, .mode: return nil
    }
  }

  private static let constellations: [DesiredConfiguration.Constellation] = [.gps, .glonass, .galileo, .beiDou, .qzss]

  func commands(
    setting value: ReceiverValue, from found: ReceiverValue?, on receiver: ReceiverDescription
  ) -> [Command]? {
    switch value {
    case .period(let milliseconds):
      guard 100...1000 ~= milliseconds else { return nil }
      return [Self.command("050", ",\(milliseconds)")]
    case .messages(let wanted):
      var commands: [Command] = []
      for one in wanted {
        guard let number = Self.sentences.firstIndex(of: one.formatter), one.rate <= 20 else { return nil }
        if case .messages(let there)? = found, there.contains(one) { continue }
        commands.append(Self.command("062", ",\(number),\(one.rate)"))
      }
      return commands
    case .constellations(let wanted):
      guard wanted.allSatisfy({ Self.constellations.contains($0) }) else { return nil }
      let flags = Self.constellations.map { wanted.contains($0) ? ",1" : ",0" }.joined() + ",0"
      // The receiver restarts.
      return Self.keepingLog([Self.command("066", flags).with(pause: Milliseconds(1500))], on: receiver)
    case .logger(let wanted):
      if wanted.resumes { return [Self.resumption] }
      let there: LoggerState? = if case .logger(let state)? = found { state } else { nil }
      // The log of a user goes on as it is.
      if wanted.isOn, !wanted.restarts, !wanted.erases, there?.isOn == true { return nil }
      var commands = [Self.command("900", ",0")]
      // Two sources number the records and the settings differently. Settings that it clears are written below.
      if wanted.erases { commands += [Self.command("906", ",1"), Self.command("906", ",0")] }
      let details = wanted.details.isEmpty ? Self.loggingByTime(there) : wanted.details
      commands += Self.loggerSettings(details, interval: wanted.interval)
      if wanted.isOn { commands.append(Self.command("900", ",1")) }
      return commands
    case .measurements(let wanted): return Self.commands(setting: wanted, from: found)
    case .output, .mode: return nil
    }
  }

  // MARK: Raw measurements (Quectel LC29H & LC79H GNSS Protocol Specification, PAIR432 to PAIR437)

  /// The two modes of PAIR432, of which one is on or none, and the ephemerides of PAIR436.
  private static let (msm4, msm7, orbits) = ("MSM4", "MSM7", "EPH")

  func measurements(of receiver: ReceiverDescription) -> [SentenceRate] {
    guard receiver.can(.rawMeasurements) else { return [] }
    return [SentenceRate(Self.msm4, 0), SentenceRate(Self.msm7, 1), SentenceRate(Self.orbits, 1)]
  }

  var lackOfMeasurements: String { "sextant knows RTCM 3 of LC29H and LC79H only" }

  /// PAIR433: -1 none, 0 MSM4, 1 MSM7; PAIR437: 0 or 1.
  private static func measurements(_ replies: [[UInt8]?]) -> [SentenceRate]? {
    guard replies.count == 2, let mode = replies[0].flatMap({ SentenceFields($0).number(1, as: Int.self) }),
      -1...1 ~= mode
    else { return nil }
    var rates = [SentenceRate(msm4, mode == 0 ? 1 : 0), SentenceRate(msm7, mode == 1 ? 1 : 0)]
    if let isOn = replies[1].flatMap({ SentenceFields($0).number(1, as: UInt8.self) }), isOn <= 1 {
      rates.append(SentenceRate(orbits, isOn))
    }
    return rates
  }

  private static func commands(setting wanted: [SentenceRate], from found: ReceiverValue?) -> [Command]? {
    guard wanted.allSatisfy({ [msm4, msm7, orbits].contains($0.formatter) && $0.rate <= 1 }) else { return nil }
    let isOn = { (name: String) in wanted.contains { $0.formatter == name && $0.rate == 1 } }
    var commands = [command("432", isOn(msm7) ? ",1" : isOn(msm4) ? ",0" : ",-1")]
    // Firmware without ephemerides.
    if case .measurements(let there)? = found, !there.contains(where: { $0.formatter == orbits }) { return commands }
    if wanted.contains(where: { $0.formatter == orbits }) {
      commands.append(command("436", isOn(orbits) ? ",1" : ",0"))
    }
    return commands
  }

  // MARK: Logger

  /// The number of records that are taken to fit: the capacity is not documented.
  private static let assumedCapacity = 1000
  /// Each time interval: bit 1.
  private static let modeByTime: UInt16 = 2

  /// State, number of records, mode and check, and the thresholds of time, speed and distance.
  private static func loggerState(_ replies: [[UInt8]?]) -> ReceiverValue? {
    let fields = replies.map { $0.map { SentenceFields($0) } }
    guard fields.count == 6, let isOn = fields[0]?.number(1, as: UInt8.self),
      let records = fields[1]?.number(1, as: Int.self), 0...1_000_000 ~= records,
      let mode = fields[2]?[1].flatMap({ UInt16($0, radix: 16) }), let check = fields[2]?.number(2, as: UInt16.self)
    else { return nil }
    // Some firmware repeats the kind before the value.
    let thresholds = fields[3...].compactMap { reply in
      reply.flatMap { $0.number(max($0.count - 1, 1), as: UInt16.self) }
    }
    guard thresholds.count == 3 else { return nil }
    var state = LoggerState(isOn: isOn == 1, interval: thresholds[0])
    state.records = records
    state.free = max(assumedCapacity - records, 0)
    state.details = [mode, check, thresholds[1], thresholds[2]]
    return .logger(state)
  }

  /// Polls a threshold: 0 time, 1 speed, 2 distance.
  private static func threshold(_ kind: Int) -> Command {
    Command(sentence: "PAIR905,\(kind)", FamilyAnswer(.text("PAIR905,"), .airoha("905")), attempts: 5)
  }

  private static func loggingByTime(_ there: LoggerState?) -> [UInt16] {
    guard let there, there.details.count == 4 else { return [modeByTime, 0] }
    return [modeByTime] + there.details[1...]
  }

  private static func loggerSettings(_ details: [UInt16], interval: UInt16) -> [Command] {
    guard details.count >= 2 else { return [] }
    var commands = [
      command("902", ",\(String(details[0], radix: 16)),\(details[1])"), command("904", ",0,\(max(interval, 1))"),
    ]
    if details.count == 4 {
      commands += [command("904", ",1,\(max(details[2], 1))"), command("904", ",2,\(max(details[3], 1))")]
    }
    return commands
  }

  /// The memory can be read while the logger is off only.
  var logger: LoggerCommands? {
    let dump = Command(
      sentence: "PAIR908,1", FamilyAnswer(.lines("PAIR908,", end: "PAIR908,3"), .airoha("908")), attempts: 1,
      timeout: Milliseconds(4000))
    return LoggerCommands(
      stop: Self.command("900", ",0"), dump: dump, resumption: Self.resumption)
  }

  private static var resumption: Command { command("900", ",1") }

  func loggerDump(from lines: [[UInt8]]) -> LoggerDump { PAIRDump.read(lines) }

  /// Above 1 Hz the receiver switches the slower sentences off, and counts GSA and GSV anew.
  func affected(by value: ReceiverValue) -> [ReceiverValue.Kind] {
    if case .period(let milliseconds) = value, milliseconds < 1000 { [.messages] } else { [] }
  }

  /// PAIR864 takes effect with the restart that follows it.
  func rateChange(to rate: UInt32, at place: Int) -> [UInt8]? {
    Command(sentence: "PAIR864,0,0,\(rate)").bytes + Command(sentence: "PAIR004").bytes
  }

  // MARK: Restart and sleep

  func commands(for action: ReceiverAction, on receiver: ReceiverDescription) -> [Command]? {
    switch action {
    case .save: [Self.command("513")]
    case .hotRestart: Self.keepingLog([Self.restart("004")], on: receiver)
    case .warmRestart: Self.keepingLog([Self.restart("005")], on: receiver)
    case .coldRestart: Self.keepingLog([Self.restart("006")], on: receiver)
    // Afterwards the logger has the settings of the firmware.
    case .factoryReset: Self.keepingLog([Self.restart("007")], on: receiver, startsAgain: false)
    }
  }

  /// A restart loses the records of a logger that was not stopped before. One that runs is started again.
  private static func keepingLog(
    _ restart: [Command], on receiver: ReceiverDescription, startsAgain: Bool = true
  ) -> [Command] {
    guard receiver.can(.logger) else { return restart }
    let start = receiver.runningLog != nil && startsAgain ? [resumption] : []
    return [command("900", ",0")] + restart + start
  }

  /// Above 1 Hz settings are saved only while the engine is stopped. PAIR382 keeps the processor awake meanwhile; the engine of an
  /// LC86G cannot be started again.
  func commandsAfterRefusal(of action: ReceiverAction, on receiver: ReceiverDescription) -> [Command]? {
    guard action == .save, !Self.mayBeLC86G(receiver.model) else { return nil }
    // It stops some time after the acknowledgement; Zephyr's driver waits as long.
    let stop = Self.command("003").with(pause: Milliseconds(500))
    return [Self.command("382", ",1"), stop, Self.command("513"), Self.command("002")]
  }

  /// A bare AG3335 sleeps after its start until it hears one of these, which a host sends for a second.
  var keepAwake: Command? {
    var command = Command(
      sentence: "PAIR382,1", FamilyAnswer(nil, .airoha("382")), attempts: 4, timeout: Milliseconds(100))
    command.bytes = Array(repeatElement(command.bytes, count: 6).joined())
    return command
  }

  func shortestSleep(on receiver: ReceiverDescription) -> Milliseconds {
    receiver.can(.standby) ? SleepRequest.shortest : Milliseconds(10_000)
  }

  private static func restart(_ number: String) -> Command {
    Command(sentence: "PAIR\(number)").with(pause: Milliseconds(1500))
  }

  /// PAIR003 where the receiver still hears; otherwise the timed backup, which ends by its timer only.
  func sleep(for duration: Milliseconds?, on receiver: ReceiverDescription) -> Command? {
    if receiver.can(.standby) { return Command(sentence: "PAIR003", FamilyAnswer(nil, .airoha("003")), attempts: 1) }
    guard let duration else { return nil }
    let seconds = min(max(duration.count / 1000, 10), 62_208_000)
    // Some firmware does not acknowledge it.
    return Command(sentence: "PAIR650,\(seconds)", FamilyAnswer(nil, .airoha("650")), attempts: 1)
  }

  /// Only Quectel's modules reply to the first probe, and not all of them to the second.
  var poll: Command { Self.query("051") }
  var wakingBytes: [UInt8] { Command(sentence: "PAIR002").bytes }
  var wakeUp: Command { Command(sentence: "PAIR002", FamilyAnswer(nil, .airoha("002")), attempts: 2) }
  var engineStart: Command? { wakeUp }

  var publishableTexts: [String] {
    let numbers = [
      "001", "002", "003", "004", "005", "006", "007", "010", "012", "020", "021", "050", "051", "062", "063", "066",
      "067", "382", "432", "433", "434", "435", "436", "437", "513", "650", "864", "865",
    ]
    return numbers.map { "$PAIR\($0)" }
  }

  func acknowledgement(ofSentence body: String) -> FamilyAnswer? {
    guard body.hasPrefix("PAIR") else { return body.hasPrefix("PQTM") ? FamilyAnswer(.text(body.prefixToComma)) : nil }
    let number = String(body.dropFirst(4).prefix { $0.isNumber })
    // A backup begins before its acknowledgement, or without one.
    if number == "650" { return nil }
    let isQuery = [
      "021", "051", "063", "067", "865", "411", "433", "435", "437", "491", "901", "903", "905", "909",
    ].contains(number)
    return FamilyAnswer(isQuery ? .text("PAIR\(number),") : nil, .airoha(number))
  }

  private static func query(_ number: String, _ fields: String = "", attempts: Int = 5) -> Command {
    Command(
      sentence: "PAIR\(number)\(fields)",
      FamilyAnswer(.text("PAIR\(number)\(fields),"), .airoha(number)), attempts: attempts)
  }

  private static func command(_ number: String, _ fields: String = "") -> Command {
    Command(sentence: "PAIR\(number)\(fields)", FamilyAnswer(nil, .airoha(number)), attempts: 5)
  }
}

/// The contents of Airoha's logger by the lines of PAIR908 in hexadecimal digits (Quectel LC26G(AB)&LC76G&LC86G GNSS Protocol
/// Specification V1.1).
///
///     PAIR908,1,<records>,<size>    PAIR908,2,<time, fix, latitude, longitude, height, speed, heading, HDOP, satellites>    PAIR908,3
enum PAIRDump {
  /// The digits of a record, with or without commas between its fields.
  private static let digits = 44

  /// Reads the lines, which may come from several dumps of an unchanged memory.
  ///
  /// - Parameter lines: sentences without `$` and checksum, in the order of their arrival.
  static func read(_ lines: [[UInt8]]) -> LoggerDump {
    var count: Int?
    var whole: [BatchedFix?] = []
    var present: [BatchedFix?] = []
    for line in lines {
      let fields = SentenceFields(line)
      guard fields[0] == "PAIR908" else { continue }
      switch fields[1] {
      case "1":
        count = fields[2].flatMap { Int($0) } ?? count
        if present.count > whole.count { whole = present }
        present = []
      case "2": present.append(record((2..<max(fields.count, 2)).compactMap { fields[$0] }.joined()))
      default: break
      }
    }
    if present.count > whole.count { whole = present }
    return LoggerDump(records: whole, isComplete: count.map { $0 == whole.count } ?? false)
  }

  private static func record(_ text: String) -> BatchedFix? {
    guard text.utf8.count == digits, let bytes = [UInt8](hexadecimalDigits: text) else { return nil }
    // The highest byte is first.
    func number(_ at: Int, _ count: Int) -> UInt32 { bytes[at..<at + count].reduce(0) { $0 << 8 | UInt32($1) } }
    let place = { Double(Int32(bitPattern: number($0, 4))) * 1e-7 }
    return BatchedFix(
      logged: number(0, 4), hasFix: bytes[4] != 0 && bytes[4] & 0x40 == 0, latitude: place(5), longitude: place(9),
      height: Double(Int16(truncatingIfNeeded: number(13, 2))), satellites: Int(bytes[21]))
  }
}
