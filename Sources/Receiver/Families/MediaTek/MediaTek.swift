// SPDX-License-Identifier: Apache-2.0

import MonotonicTime
import ReceiverStream
import WireBytes

/// MediaTek's PMTK sentences (Quectel L80 GPS Protocol Specification; MT3333 platform NMEA specification). Settings live in
/// RAM that the backup supply feeds: there is nothing to save. PMTK291 and PMTK225,4 are never sent: some boards do not wake.
struct MediaTek: FamilyLanguage {
  var probes: [Command] { [Self.query("605", "PMTK705,", attempts: 4)] }

  /// Old boards of Adafruit have 115200.
  var rates: PortRates {
    PortRates(usual: [9600, 115_200], others: [4800, 19_200, 38_400, 57_600], unsearched: [14_400])
  }

  func description(from outcome: Outcome, to probe: Command) -> ReceiverDescription? {
    guard case .answered(let reply) = outcome else { return nil }
    let fields = SentenceFields(reply)
    // Some firmware leaves out the fourth field.
    guard fields[0] == "PMTK705", fields.count >= 4 else { return nil }
    // The release names the chip: AXN_2.51_3339_19071200.
    let chip = fields[1]?.split(separator: "_").first { ["3329", "3333", "3337", "3339"].contains($0) }
    return ReceiverDescription(
      family: .mediaTek, model: fields[3] ?? chip.map { "MT\($0)" }, firmware: fields[1],
      hardware: chip.map { "MT\($0)" } ?? "", capabilities: [.configure, .standby, .restart])
  }

  /// LOCUS is a matter of the firmware.
  func furtherPolls(after found: ReceiverDescription) -> [Command] { [Self.query("183", "PMTKLOG,", attempts: 2)] }

  func complete(_ description: inout ReceiverDescription, from outcome: Outcome) {
    guard case .answered(let reply) = outcome, let log = Self.log(reply) else { return }
    description = description.adding([.logger] + (log.isUsable ? [.batching] : []))
    if log.state.isOn { description.runningLog = LoggerState(isOn: true, interval: log.state.interval) }
  }

  // MARK: Settings

  /// The sentences of PMTK314 by their index; the other fields keep their value.
  private static let sentences = ["GLL", "RMC", "VTG", "GGA", "GSA", "GSV", "GRS", "GST"]
  /// ZDA is apart.
  private static let zdaIndex = 17
  /// Firmware has 19 to 22 fields.
  private static let fieldCount = 19
  private static let mostFields = 22
  var setsAllSentences: Bool { true }

  private static func index(of formatter: String) -> Int? {
    formatter == "ZDA" ? zdaIndex : SentenceRate.place(of: formatter) ?? sentences.firstIndex(of: formatter)
  }

  private static func name(of index: Int) -> String {
    index == zdaIndex ? "ZDA" : index < sentences.count ? sentences[index] : SentenceRate.name(ofPlace: index)
  }

  func polls(of kind: ReceiverValue.Kind) -> [Command] {
    switch kind {
    case .period: [Self.query("400", "PMTK500,")]
    case .messages: [Self.query("414", "PMTK514,")]
    // No document has a query.
    case .constellations: []
    case .logger: [Self.query("183", "PMTKLOG,")]
    case .output, .mode, .measurements: []
    }
  }

  func value(
    _ kind: ReceiverValue.Kind, from replies: [[UInt8]?], on receiver: ReceiverDescription
  ) -> ReceiverValue? {
    guard let reply = replies.first ?? nil else { return nil }
    let fields = SentenceFields(reply)
    switch kind {
    case .period: return fields.number(1).map { .period($0) }
    case .messages:
      guard fields.count > Self.sentences.count else { return nil }
      return .messages(
        (0..<min(fields.count - 1, Self.mostFields)).compactMap { index in
          fields.number(index + 1, as: UInt8.self).map { SentenceRate(Self.name(of: index), $0) }
        })
    case .logger: return Self.log(reply).map { .logger($0.state) }
    case .constellations, .output, .mode, .measurements: return nil
    }
  }

  func commands(
    setting value: ReceiverValue, from found: ReceiverValue?, on receiver: ReceiverDescription
  ) -> [Command]? {
    switch value {
    case .period(let milliseconds):
      guard 100...10_000 ~= milliseconds else { return nil }
      return [Self.command("220", ",\(milliseconds)")]
    case .messages(let wanted):
      guard wanted.allSatisfy({ Self.index(of: $0.formatter) != nil }) else { return nil }
      var all = wanted
      // Sentences of other fields, which are observed, have no place in the command.
      if case .messages(let there)? = found { all = there.filter { Self.index(of: $0.formatter) != nil } + wanted }
      var rates = [UInt8](repeating: 0, count: Self.fieldCount)
      for one in all {
        guard let index = Self.index(of: one.formatter), index < Self.mostFields, one.rate <= 5 else { return nil }
        if index >= rates.count { rates += [UInt8](repeating: 0, count: index + 1 - rates.count) }
        rates[index] = one.rate
      }
      return [Self.command("314", rates.map { ",\($0)" }.joined())]
    case .constellations(let wanted):
      let known: Set<DesiredConfiguration.Constellation> = [.gps, .glonass, .galileo, .beiDou, .qzss, .sbas]
      guard known.isSuperset(of: wanted) else { return nil }
      // An MT3339 and older have GPS and QZSS only.
      let isOfGPSAlone = ["MT3329", "MT3337", "MT3339"].contains(receiver.hardware)
      guard !isOfGPSAlone || wanted.allSatisfy({ [.gps, .qzss, .sbas].contains($0) }) else { return nil }
      let flags =
        [.gps, .glonass, .galileo].map { wanted.contains($0) ? 1 : 0 } + [0, wanted.contains(.beiDou) ? 1 : 0]
      // They stay as they are unless they are named: not all firmware has the commands.
      var augmenting = wanted.contains(.sbas) ? [Self.command("313", ",1"), Self.command("301", ",2")] : []
      if wanted.contains(.qzss) { augmenting.append(Self.command("352", ",0")) }
      // The receiver restarts.
      return augmenting + [Self.command("353", flags.map { ",\($0)" }.joined()).with(pause: Milliseconds(1000))]
        + Self.startingLog(of: receiver)
    case .logger(let wanted):
      // The log of a user goes on as it is.
      if wanted.isOn, !wanted.restarts, !wanted.erases, case .logger(let there)? = found, there.isOn { return nil }
      var commands = wanted.isOn && !wanted.erases ? [] : [Self.command("185", ",1")]
      if wanted.erases { commands.append(Self.erasure) }
      commands.append(Self.command("187", ",1,\(max(wanted.interval, 1))"))
      if wanted.isOn { commands.append(Self.command("185", ",0")) }
      return commands
    case .output, .mode, .measurements: return nil
    }
  }

  // MARK: Logger

  /// PMTKLOG,serial,type,mode,content,interval,distance,speed,status,records,percent. The status is 0 or 2 while it logs by one source
  /// each, and 1 when it is stopped by both.
  private static func log(_ reply: [UInt8]) -> (state: LoggerState, isUsable: Bool)? {
    let fields = SentenceFields(reply)
    guard fields[0] == "PMTKLOG", fields.count >= 11, let mode = fields[3].flatMap({ UInt32($0, radix: 16) }),
      let content = fields.number(4, as: UInt32.self), let interval = fields.number(5, as: UInt16.self),
      let status = fields.number(8, as: UInt8.self), let records = fields.number(9, as: Int.self), records >= 0,
      let percent = fields.number(10, as: Int.self)
    else { return nil }
    var state = LoggerState(isOn: status != 1, interval: interval)
    state.records = min(records, mostRecords)
    state.overwrites = fields[2] == "0"
    let isReadable = LocusDump.isReadable(content: content)
    if isReadable { state.free = free(besides: state.records, percent, content) }
    // By interval: bit 08.
    return (state, isReadable && mode & 0x08 != 0)
  }

  private static let mostRecords = 65_000
  /// The smallest flash that is known, in sectors.
  private static let leastSectors = 16
  /// From this share on the size by the percentage is exact enough.
  private static let usablePercent = 10

  /// The number of further records that fit in the memory. Its size follows from the percentage, which is rounded down.
  private static func free(besides records: Int, _ percent: Int, _ content: UInt32) -> Int {
    if percent >= 100 { return 0 }
    let least = leastSectors * LocusDump.recordsInSector(content: content)
    let size = percent >= usablePercent ? records * 100 / (percent + 1) : least
    return max(size - records, 0)
  }

  /// Flash is erased block by block.
  private static var erasure: Command { command("184", ",1").with(timeout: Milliseconds(3000)) }

  /// Whether a dump is possible while the receiver logs is not known: it is stopped before.
  var logger: LoggerCommands? {
    // The part in use alone. A repeated dump would follow the first.
    let dump = Command(
      sentence: "PMTK622,1", FamilyAnswer(.lines("PMTKLOX,", end: "PMTKLOX,2"), .mediaTek("622")), attempts: 1,
      timeout: Milliseconds(4000))
    return LoggerCommands(stop: Self.command("185", ",1"), dump: dump)
  }

  func loggerDump(from lines: [[UInt8]]) -> LoggerDump { LocusDump.read(lines) }

  /// The records are in flash.
  var keepsLogOverRestart: Bool { true }

  func rateChange(to rate: UInt32, at place: Int) -> [UInt8]? { Command(sentence: "PMTK251,\(rate)").bytes }

  // MARK: Restart and standby

  func commands(for action: ReceiverAction, on receiver: ReceiverDescription) -> [Command]? {
    let number: String
    switch action {
    // There is no command: battery-backed RAM holds the settings.
    case .save: return nil
    case .hotRestart: number = "101"
    case .warmRestart: number = "102"
    case .coldRestart: number = "103"
    case .factoryReset: number = "104"
    }
    // A restart is not acknowledged, or after the start.
    let restart = Command(sentence: "PMTK\(number)").with(pause: Milliseconds(1000))
    return [restart] + (action == .factoryReset ? [] : Self.startingLog(of: receiver))
  }

  /// A restart stops the logger, and its interval is the firmware's afterwards. One that runs is started again.
  private static func startingLog(of receiver: ReceiverDescription) -> [Command] {
    guard let log = receiver.runningLog else { return [] }
    return [command("187", ",1,\(max(log.interval, 1))"), command("185", ",0")]
  }

  /// Standby with the oscillator off; any byte wakes (Telit SE868Kx-Ax User Guide). It has no timer: the host wakes it.
  func sleep(for duration: Milliseconds?, on receiver: ReceiverDescription) -> Command? {
    // A repeated one would wake it.
    Command(sentence: "PMTK161,0", FamilyAnswer(nil, .mediaTek("161")), attempts: 1)
  }

  var lackOfMeasurements: String { "its sentences have no raw measurements" }

  var publishableTexts: [String] {
    let numbers = [
      "001", "010", "011", "101", "102", "103", "104", "161", "220", "225", "251", "300", "301", "313", "314", "353",
      "400",
      "401", "413", "414", "500", "501", "513", "514", "605", "705",
    ]
    return numbers.map { "$PMTK\($0)" }
  }

  func acknowledgement(ofSentence body: String) -> FamilyAnswer? {
    guard body.hasPrefix("PMTK") else { return body.hasPrefix("PQ") ? FamilyAnswer(.text(body.prefixToComma)) : nil }
    let number = String(body.dropFirst(4).prefix { $0.isNumber })
    // A restart has no acknowledgement; a new baud rate is acknowledged at the new rate.
    if ["101", "102", "103", "104", "251"].contains(number) { return nil }
    return Self.replies[number].map { FamilyAnswer(.text($0)) } ?? FamilyAnswer(nil, .mediaTek(number))
  }

  /// Queries with a reply of their own.
  private static let replies = [
    "605": "PMTK705,", "400": "PMTK500,", "414": "PMTK514,", "183": "PMTKLOG,", "607": "PMTK707,", "413": "PMTK513,",
    "401": "PMTK501,",
  ]

  private static func query(_ number: String, _ reply: String, attempts: Int = 5) -> Command {
    Command(sentence: "PMTK\(number)", FamilyAnswer(.text(reply), .mediaTek(number)), attempts: attempts)
  }

  /// Acknowledgements are lost on a full line.
  private static func command(_ number: String, _ fields: String) -> Command {
    Command(sentence: "PMTK\(number)\(fields)", FamilyAnswer(nil, .mediaTek(number)), attempts: 6)
  }
}

extension String {
  /// The text up to the first comma, with it.
  var prefixToComma: String { String(prefix { $0 != "," }) + "," }
}
