// SPDX-License-Identifier: Apache-2.0
import MonotonicTime
import WireBytes

/// Unicore's lines of text: Nebulas (UM980; as recorded, and in SparkFun's library).
struct Unicore: FamilyLanguage {
  /// VERSIONB, whose reply was recorded; then the text of VERSIONA.
  var probes: [Command] {
    [
      Command(
        line: "VERSIONB", FamilyAnswer(.binary(.unicore, Self.version), .nebulas("VERSIONB")), attempts: 2,
        timeout: Milliseconds(400)),
      Command(line: "VERSIONA", FamilyAnswer(.text("VERSIONA,"), .nebulas("VERSIONA")), attempts: 1),
    ]
  }

  /// The message VERSION.
  private static let version: UInt16 = 37
  /// The model by the number in VERSION.
  private static let models: [UInt32: String] = [17: "UM982", 18: "UM980", 19: "UM960"]

  /// A UM980 sends nothing as found, at any of these.
  var rates: PortRates { PortRates(usual: [115_200, 230_400, 460_800, 921_600], others: [9600]) }

  func description(from outcome: Outcome, to probe: Command) -> ReceiverDescription? {
    guard case .answered(let reply) = outcome else { return nil }
    if reply.starts(with: "VERSIONA,".utf8) {
      // The fields behind the header's semicolon: model, firmware. NovAtel's log of that name begins with a number.
      let text = String(decoding: reply, as: UTF8.self)
      guard let body = text.split(separator: ";").dropFirst().first, body.first == "\"" else { return nil }
      let fields = SentenceFields(Array(body.utf8))
      return Self.description(model: fields[0], firmware: fields[1])
    }
    guard reply.count >= 37 else { return nil }
    let text = String(decoding: reply[4..<37].prefix { $0 >= 0x20 && $0 < 0x7F }, as: UTF8.self)
    return Self.description(model: Self.models[reply.u4(0)], firmware: text)
  }

  private static func description(model: String?, firmware: String?) -> ReceiverDescription {
    ReceiverDescription(
      family: .unicore, model: model, firmware: firmware.map(build), hardware: "",
      capabilities: [.configure, .restart] + (isPrecise(model) ? [.rawMeasurements] : []))
  }

  /// The build alone, so that both replies give one name: VERSIONA has `R4.10Build17548`, VERSIONB `17548` (recorded).
  private static func build(_ firmware: String) -> String {
    if firmware.first?.isNumber == true { return mark + firmware }
    let start = firmware.indices.first { firmware[$0...].hasPrefix(mark) }
    return start.map { String(firmware[$0...]) } ?? firmware
  }

  private static let mark = "Build"

  private static let logs = ["GGA", "GLL", "GSA", "GSV", "RMC", "VTG", "ZDA", "GST"]

  func commands(
    setting value: ReceiverValue, from found: ReceiverValue?, on receiver: ReceiverDescription
  ) -> [Command]? {
    if case .constellations(let wanted) = value { return Self.masks(wanted) }
    if case .mode(let wanted) = value {
      let text = wanted.words.joined(separator: " ")
      return [Command(line: text, FamilyAnswer(nil, .nebulas(text)))]
    }
    let wanted: [SentenceRate]
    switch value {
    case .messages(let list): wanted = list
    case .measurements(let list):
      guard list.allSatisfy({ one in Self.measurements.contains { $0.formatter == one.formatter } }) else { return nil }
      wanted = list
    default: return nil
    }
    let corrections = (Self.corrections + Self.measurements).map(\.formatter)
    guard wanted.allSatisfy({ (Self.logs + corrections).contains($0.formatter) }) else { return nil }
    return wanted.flatMap { one in
      corrections.contains(one.formatter) ? [Self.log(one.formatter, one.rate)] : Self.commands(one, from: found)
    }
  }

  var isSilentAsFound: Bool { true }
  var namesTalkers: Bool { true }
  var countsSeconds: Bool { true }
  var outputList: Command? { Self.logList }

  private static func log(_ name: String, _ rate: UInt8) -> Command {
    let text = rate == 0 ? "UNLOG \(name)" : "\(name) \(rate)"
    return Command(line: text, FamilyAnswer(nil, .nebulas(text)))
  }

  /// GNGGA and GPGGA are two messages: a sentence keeps its talker, and where none shows it, the other message is off.
  private static func commands(_ one: SentenceRate, from found: ReceiverValue?) -> [Command] {
    var present: SentenceRate?
    if case .messages(let list)? = found { present = list.first { $0.formatter == one.formatter } }
    let talker = one.talker ?? present?.talker
    var command = log((talker ?? "GN") + one.formatter, one.rate)
    // The messages at present are not known: it may be off.
    if found == nil, one.rate == 0 { command = withoutVerdict(command) }
    let isOther = one.rate == 0 || talker == nil && (found == nil || present != nil)
    return isOther ? [withoutVerdict(log((talker == "GP" ? "GN" : "GP") + one.formatter, 0)), command] : [command]
  }

  /// Any reply to the command is enough: a message that is off already may be refused.
  private static func withoutVerdict(_ command: Command) -> Command {
    var command = command
    let text = String(decoding: command.bytes.dropLast(2), as: UTF8.self)
    let reply = "command,\(text),response:"
    command.answer = .family(FamilyAnswer(nil, .texts(done: reply, refused: reply)))
    return command
  }

  /// The list has no end of its own: the reply to the second command follows it.
  private static var logList: Command {
    Command(line: "UNILOGLIST\r\nMODE", FamilyAnswer(.lines("<", end: "MODE,"), .nebulas("UNILOGLIST")))
  }

  func polls(of kind: ReceiverValue.Kind) -> [Command] {
    switch kind {
    case .mode: [Command(line: "MODE", FamilyAnswer(.text("MODE,"), .nebulas("MODE")))]
    case .measurements: [Self.logList]
    case .period, .messages, .constellations, .output, .logger: []
    }
  }

  func value(
    _ kind: ReceiverValue.Kind, from replies: [[UInt8]?], on receiver: ReceiverDescription
  ) -> ReceiverValue? {
    guard let reply = replies.first ?? nil else { return nil }
    let text = String(decoding: reply, as: UTF8.self)
    switch kind {
    case .mode: return Self.mode(text)
    case .measurements:
      // The list does not mark the port of the host: if one of them sends such a message, the line shows which.
      guard let names = Self.loggedMessages(text), !Self.measurements.contains(where: { names.contains($0.formatter) })
      else { return nil }
      return .measurements(Self.measurements.map { SentenceRate($0.formatter, 0) })
    case .period, .messages, .constellations, .output, .logger: return nil
    }
  }

  /// `MODE,<header>;<the words of the command>,<heading mode>`.
  private static func mode(_ text: String) -> ReceiverValue? {
    guard let body = text.split(separator: ";").dropFirst().first else { return nil }
    let words = body.prefix { $0 != "," }.split(separator: " ").map(String.init)
    return words.first == "MODE" ? ReceiverMode.received(words).map { .mode($0) } : nil
  }

  // MARK: Raw measurements (Unicore Reference Commands Manual for N4 High Precision Products, R1.3, UNILOGLIST and appendix 2)

  /// MSM4 of GPS, GLONASS, Galileo and BeiDou each second, as in the manual's base stations; it lists MSM7 of BeiDou alone. Then
  /// ephemerides of GPS, GLONASS, BeiDou and Galileo each half minute.
  private static let measurements =
    ["RTCM1074", "RTCM1084", "RTCM1094", "RTCM1124"].map { SentenceRate($0, 1) }
    + ["RTCM1019", "RTCM1020", "RTCM1042", "RTCM1046"].map { SentenceRate($0, 30) }

  func measurements(of receiver: ReceiverDescription) -> [SentenceRate] {
    receiver.can(.rawMeasurements) ? Self.measurements : []
  }

  func measurements(observed corrections: [SentenceRate]) -> [SentenceRate]? {
    Self.measurements.map { one in
      SentenceRate(one.formatter, corrections.first { $0.formatter == one.formatter }?.rate ?? 0)
    }
  }

  var leastRateForMeasurements: UInt32? { 115_200 }
  var lackOfMeasurements: String { "sextant knows RTCM 3 of UM960, UM980 and UM982 only" }

  /// The messages in the lines of UNILOGLIST, of all ports: `< <count>`, then `< <message> <port> <period>`. Nil for an incomplete list.
  private static func loggedMessages(_ text: String) -> Set<String>? {
    let lines = text.split(separator: "\n").map { $0.drop { $0 == "<" }.split { $0 == " " || $0 == "\t" } }
    guard let first = lines.first, first.count == 1, Int(first[0]) == lines.count - 1 else { return nil }
    return Set(lines.dropFirst().compactMap { $0.first.map(String.init) })
  }

  // MARK: Base stations (Unicore Reference Commands Manual for N4 High Precision Products, MODE BASE and RTCM V3)

  /// The position, the equipment, and MSM4 of GPS, GLONASS, Galileo and BeiDou; each with its period in seconds. 1230 is not among the
  /// messages of the manual.
  private static let corrections = [
    SentenceRate("RTCM1005", 1), SentenceRate("RTCM1033", 1), SentenceRate("RTCM1074", 1), SentenceRate("RTCM1084", 1),
    SentenceRate("RTCM1094", 1), SentenceRate("RTCM1124", 1),
  ]
  private static let longestSurvey: UInt32 = 3600
  /// Coordinates up to these are degrees, and a height.
  private static let greatestGeodetic = [90.0, 180, 30_000]

  func canBeBase(_ receiver: ReceiverDescription) -> Bool { Self.isPrecise(receiver.model) }

  private static func isPrecise(_ model: String?) -> Bool {
    ["UM960", "UM980", "UM982"].contains { model?.hasPrefix($0) == true }
  }

  func refusal(ofBase station: BaseStation) -> String? {
    switch station {
    case .survey(let seconds, _): return seconds > Self.longestSurvey ? "its survey has at most 3600 s" : nil
    case .position:
      let isAmbiguous = zip(station.earthCentredMetres ?? [], Self.greatestGeodetic).contains { abs($0) <= $1 }
      return isAmbiguous ? "it takes coordinates on the equator and on four meridians for degrees" : nil
    }
  }

  /// Earth-centred coordinates: the height of geodetic ones is above the sea. With the distance 0 the survey does not use the result of
  /// an earlier one.
  func values(ofBase station: BaseStation) -> [ReceiverValue] {
    let words: [String]
    switch station {
    case .survey(let seconds, _): words = ["TIME", "\(seconds)", "0"]
    case .position: words = (station.earthCentredMetres ?? []).map { $0.decimals(4) }
    }
    return [
      .mode(ReceiverMode(words: ["MODE", "BASE"] + words)), .messages([SentenceRate("GGA", 1)] + Self.corrections),
    ]
  }

  private static let systems: [(DesiredConfiguration.Constellation, String)] = [
    (.gps, "GPS"), (.beiDou, "BDS"), (.glonass, "GLO"), (.galileo, "GAL"),
  ]

  private static func masks(_ wanted: [DesiredConfiguration.Constellation]) -> [Command]? {
    guard !wanted.isEmpty, wanted.allSatisfy({ one in systems.contains { $0.0 == one } }) else { return nil }
    // A receiver always has one system.
    let order = systems.filter { wanted.contains($0.0) } + systems.filter { !wanted.contains($0.0) }
    return order.map { system, name in
      let text = wanted.contains(system) ? "UNMASK \(name)" : "MASK \(name)"
      return Command(line: text, FamilyAnswer(nil, .nebulas(text)))
    }
  }

  func rateChange(to rate: UInt32, at place: Int) -> [UInt8]? { ports[0].change(to: rate) }

  /// The reply to CONFIG lists the rates of all ports and does not mark the host's. The recorded receivers replied at COM3.
  var ports: [FamilyPort] {
    ["COM3", "COM1", "COM2"].map { name in
      FamilyPort(
        name: name, command: "CONFIG \(name)",
        poll: Command(line: "CONFIG", FamilyAnswer(.text("CONFIG,\(name),"), .nebulas("CONFIG")), attempts: 2))
    }
  }

  func commands(for action: ReceiverAction, on receiver: ReceiverDescription) -> [Command]? {
    switch action {
    case .save: [Command(line: "SAVECONFIG", FamilyAnswer(nil, .nebulas("SAVECONFIG")))]
    case .hotRestart: [Command(line: "RESET").with(pause: Milliseconds(5000))]
    case .factoryReset: [Command(line: "FRESET").with(pause: Milliseconds(5000))]
    case .warmRestart, .coldRestart: nil
    }
  }

  /// The reply to VERSION has serial numbers, that to MODE has the position of a base.
  var publishableTexts: [String] {
    let sentences = Self.logs.flatMap { ["UNLOG GN\($0)", "GN\($0) ", "UNLOG GP\($0)", "GP\($0) "] }
    let systems = Self.systems.flatMap { ["MASK \($0.1)", "UNMASK \($0.1)"] }
    let ports = ports.map { $0.command + " " }
    let lines = ["VERSIONB", "VERSIONA", "RESET", "SAVECONFIG"] + ports + sentences + systems
    return lines + lines.map { "$command,\($0)" }
  }
}
