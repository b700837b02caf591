// SPDX-License-Identifier: Apache-2.0
import MonotonicTime
import WireBytes

/// Quectel's PQTM sentences of the LG290P (as recorded, and in SparkFun's library).
struct Quectel: FamilyLanguage {
  var probes: [Command] { [Command(sentence: "PQTMVERNO", FamilyAnswer(.text("PQTMVERNO,")), attempts: 2)] }

  var rates: PortRates {
    PortRates(usual: [460_800], others: [9600, 115_200, 230_400, 921_600], unsearched: [3_000_000])
  }

  func description(from outcome: Outcome, to probe: Command) -> ReceiverDescription? {
    guard case .answered(let reply) = outcome else { return nil }
    let fields = SentenceFields(reply)
    guard fields[0] == "PQTMVERNO", let firmware = fields[1], firmware != "ERROR" else { return nil }
    // LG290P03AANR02A01S: the module, then its variant.
    let name = firmware.prefix { $0.isLetter }
    let rest = firmware.dropFirst(name.count)
    let module = name + rest.prefix { $0.isNumber } + rest.drop { $0.isNumber }.prefix(1)
    // LC modules have Airoha's sentences.
    if let other = Airoha().description(from: outcome, to: probe) { return other }
    return ReceiverDescription(
      family: .quectel, model: module.isEmpty ? nil : String(module), firmware: firmware, hardware: "",
      capabilities: [.configure, .restart]
        + (Self.precise.contains { module.hasPrefix($0) } ? [.rawMeasurements] : []))
  }

  /// The modules with base mode and RTCM 3.
  private static let precise = ["LG290P", "LG580P", "LG680P"]

  private static let sentences = ["GGA", "GLL", "GSA", "GSV", "RMC", "VTG", "ZDA", "GST"]
  /// The first ones, which every firmware has.
  private static let usual = 6
  private static let constellations: [DesiredConfiguration.Constellation] = [
    .gps, .glonass, .galileo, .beiDou, .qzss, .navIC,
  ]

  func polls(of kind: ReceiverValue.Kind) -> [Command] {
    switch kind {
    case .period: [Self.query("PQTMCFGFIXRATE", "R")]
    case .messages: Self.sentences.map { Self.rateQuery($0) }
    case .constellations: [Self.query("PQTMCFGCNST", "R")]
    case .mode:
      [Self.query("PQTMCFGRCVRMODE", "R"), Self.query("PQTMCFGSVIN", "R")]
        + (Self.sentences + [Self.surveyStatus]).map { Self.rateQuery($0) }
    case .measurements: (Self.observations + Self.orbits).map { Self.rateQuery($0) }
    case .output, .logger: []
    }
  }

  /// The reply names the sentence: one to an earlier query is not taken for it.
  private static func rateQuery(_ name: String) -> Command {
    let version = name == surveyStatus ? ",1" : ""
    return Command(
      sentence: "PQTMCFGMSGRATE,R,\(name)\(version)", FamilyAnswer(.textWith(",\(name),"), .quectel("PQTMCFGMSGRATE")))
  }

  func value(
    _ kind: ReceiverValue.Kind, from replies: [[UInt8]?], on receiver: ReceiverDescription
  ) -> ReceiverValue? {
    switch kind {
    case .period: return (replies.first ?? nil).flatMap { SentenceFields($0).number(2) }.map { .period($0) }
    case .messages:
      // A sentence without a reply would be restored to off.
      guard !replies.prefix(Self.usual).contains(where: { $0 == nil }) else { return nil }
      let rates = Self.rates(replies)
      return rates.isEmpty ? nil : .messages(rates)
    case .mode:
      guard replies.count > 2, let mode = replies[0], let survey = replies[1] else { return nil }
      let words = [SentenceFields(mode)[2]] + (2..<8).map { SentenceFields(survey)[$0] }
      guard !words.contains(nil) else { return nil }
      let rates = Array(replies.dropFirst(2))
      // The rates of a rover would be lost.
      if words[0] == Self.rover, rates.prefix(Self.usual).contains(where: { $0 == nil }) { return nil }
      return ReceiverMode.received(words.compactMap(\.self), Self.rates(rates)).map { .mode($0) }
    case .measurements: return Self.measurements(replies).map { .measurements($0) }
    case .constellations:
      guard let reply = replies.first ?? nil else { return nil }
      let fields = SentenceFields(reply)
      guard fields.count >= 8 else { return nil }
      return .constellations(
        Self.constellations.enumerated().filter { fields.number($0.offset + 2, as: UInt8.self) == 1 }.map(\.element))
    case .output, .logger: return nil
    }
  }

  private static func rates(_ replies: [[UInt8]?]) -> [SentenceRate] {
    zip(sentences + [surveyStatus], replies).compactMap { name, reply in
      guard let reply else { return nil }
      let fields = SentenceFields(reply)
      return (2..<max(fields.count, 3)).first { fields[$0] == name }
        .flatMap { fields.number($0 + 1, as: UInt8.self) }.map { SentenceRate(name, $0) }
    }
  }

  func commands(
    setting value: ReceiverValue, from found: ReceiverValue?, on receiver: ReceiverDescription
  ) -> [Command]? {
    switch value {
    case .messages(let wanted):
      guard wanted.allSatisfy({ Self.sentences.contains($0.formatter) }) else { return nil }
      return wanted.map { Self.rateCommand($0) }
    case .mode(let wanted):
      guard wanted.words.count >= 2 else { return nil }
      var rates = wanted.messages.map { Self.rateCommand($0) }
      if !rates.isEmpty { rates.append(Self.command("PQTMSAVEPAR", "")) }
      if case .mode(let there)? = found, there.hasWords(of: wanted) { return rates }
      let survey = (1..<7).map { $0 < wanted.words.count ? wanted.words[$0] : "0" }.joined(separator: ",")
      return [
        Self.awaited, Self.command("PQTMCFGSVIN", ",W,\(survey)"),
        Self.command("PQTMCFGRCVRMODE", ",W,\(wanted.words[0])"), Self.command("PQTMSAVEPAR", ""),
        Command(sentence: "PQTMSRR").with(pause: Milliseconds(1000)), Self.awaited,
      ] + rates
    case .measurements(let wanted):
      return Self.commands(setting: wanted, from: found)
    case .period(let milliseconds):
      guard 50...1000 ~= milliseconds else { return nil }
      return [Self.command("PQTMCFGFIXRATE", ",W,\(milliseconds)")]
    case .constellations(let wanted):
      guard wanted.allSatisfy({ Self.constellations.contains($0) }) else { return nil }
      return [
        Self.command("PQTMCFGCNST", ",W" + Self.constellations.map { wanted.contains($0) ? ",1" : ",0" }.joined())
      ]
    case .output, .logger: return nil
    }
  }

  private static func rateCommand(_ one: SentenceRate) -> Command {
    let version = one.formatter == surveyStatus ? ",1" : ""
    return command("PQTMCFGMSGRATE", ",W,\(one.formatter),\(one.rate)\(version)")
  }

  /// The rate of fixes and the constellations are in force after a save and this restart.
  func restart(for kind: ReceiverValue.Kind) -> String? { kind == .period || kind == .constellations ? "PQTMSRR" : nil }

  func rateChange(to rate: UInt32, at place: Int) -> [UInt8]? { Command(sentence: "PQTMCFGUART,W,\(rate)").bytes }

  func commands(for action: ReceiverAction, on receiver: ReceiverDescription) -> [Command]? {
    let name =
      switch action {
      case .save: "PQTMSAVEPAR"
      case .hotRestart: "PQTMHOT"
      case .warmRestart: "PQTMWARM"
      case .coldRestart: "PQTMCOLD"
      case .factoryReset: "PQTMRESTOREPAR"
      }
    let isAnswered = action == .save || action == .factoryReset
    return [isAnswered ? Self.command(name, "") : Command(sentence: name).with(pause: Milliseconds(1000))]
  }

  /// PQTMUNIQID has the chip's number, PQTMCFGSVIN and PQTMCFGRCVRMODE can be of a base.
  var publishableTexts: [String] {
    let names = [
      "VERNO", "SAVEPAR", "RESTOREPAR", "SRR", "HOT", "WARM", "COLD", "CFGMSGRATE", "CFGFIXRATE", "CFGCNST", "CFGUART",
    ]
    return names.map { "$PQTM\($0)" }
  }

  func acknowledgement(ofSentence body: String) -> FamilyAnswer? {
    guard body.hasPrefix("PQTM") else { return nil }
    let name = String(body.prefix { $0 != "," })
    // Restarts have no reply; that to a new baud rate comes at the new one.
    if ["PQTMHOT", "PQTMWARM", "PQTMCOLD", "PQTMSRR"].contains(name) || body.hasPrefix("PQTMCFGUART,W") { return nil }
    return FamilyAnswer(.text("\(name),"), .quectel(name))
  }

  // MARK: Base stations (LG290P(03), LGx80P(03) GNSS Protocol Specification, PQTMCFGRCVRMODE and PQTMCFGSVIN)

  private static let rover = "1"
  private static let base = "2"
  private static let surveyStatus = "PQTMSVINSTATUS"
  /// The time without a reply after PQTMSRR: 20.2 s as recorded.
  var modeChangeTime: Milliseconds { Self.awaited.longestSilence + Milliseconds(1000) }

  /// A poll that waits for a receiver that restarts.
  private static var awaited: Command {
    Command(sentence: "PQTMVERNO", FamilyAnswer(.text("PQTMVERNO,")), attempts: 9)
  }

  func canBeBase(_ receiver: ReceiverDescription) -> Bool {
    Self.precise.contains { receiver.model?.hasPrefix($0) == true }
  }

  func refusal(ofBase station: BaseStation) -> String? {
    guard case .survey(let seconds, _) = station, seconds > 86_400 else { return nil }
    return "its survey has at most 86400 s"
  }

  /// The mode switches 1005 and MSM4 on, and the sentences off.
  func values(ofBase station: BaseStation) -> [ReceiverValue] {
    var words: [String]
    switch station {
    case .survey(let seconds, let metres):
      words = [Self.base, "1", "\(seconds)", metres.decimals(4)]
    case .position:
      words = [Self.base, "2", "0", "0"]
      for axis in station.earthCentredMetres ?? [] { words.append(axis.decimals(4)) }
    }
    return [.mode(ReceiverMode(words: words, messages: [SentenceRate("GGA", 1), SentenceRate(Self.surveyStatus, 1)]))]
  }

  // MARK: Raw measurements (LG290P(03), LGx80P(03) GNSS Protocol Specification V1.1, PQTMCFGMSGRATE and table 6)

  /// MSM of GPS, GLONASS, Galileo, QZSS, BeiDou and NavIC. They have one rate: the last one that was set.
  private static let observations = ["107X", "108X", "109X", "111X", "112X", "113X"].map { "RTCM3-\($0)" }
  /// Ephemerides of GPS, GLONASS, BeiDou and Galileo. Version 1.0 of the specification lacks the last two.
  private static let orbits = ["1019", "1020", "1042", "1046"].map { "RTCM3-\($0)" }

  func measurements(of receiver: ReceiverDescription) -> [SentenceRate] {
    receiver.can(.rawMeasurements) ? (Self.observations + Self.orbits).map { SentenceRate($0, 1) } : []
  }

  /// MSM4 of each fix, at 10 Hz, has up to 11 kB a second.
  var leastRateForMeasurements: UInt32? { 460_800 }
  var lackOfMeasurements: String { "sextant knows RTCM 3 of LG290P, LG580P and LG680P only" }

  /// The rates by the replies; nil without MSM, and for a rate or an offset that could not be restored.
  private static func measurements(_ replies: [[UInt8]?]) -> [SentenceRate]? {
    var rates: [SentenceRate] = []
    for (name, reply) in zip(observations + orbits, replies) {
      guard let reply else { continue }
      let fields = SentenceFields(reply)
      guard let at = (2..<max(fields.count, 3)).first(where: { fields[$0] == name }),
        let rate = fields.number(at + 1, as: UInt8.self), fields.number(at + 2, as: Int.self) ?? 0 == 0
      else { return nil }
      rates.append(SentenceRate(name, rate))
    }
    return rates.contains { observations.contains($0.formatter) } ? rates : nil
  }

  /// The commands of the messages that the receiver has; the last one of MSM states their rate. Neither the type of MSM nor the output
  /// of ephemerides is changed: for these the specification's application note requires that settings are saved.
  private static func commands(setting wanted: [SentenceRate], from found: ReceiverValue?) -> [Command]? {
    guard wanted.allSatisfy({ (observations + orbits).contains($0.formatter) }) else { return nil }
    var list = wanted
    if case .measurements(let there)? = found {
      list = wanted.filter { one in there.contains { $0.formatter == one.formatter } }
    }
    return (list.filter { $0.rate == 0 } + list.filter { $0.rate > 0 }).map { one in
      // The time offset, which only MSM has.
      let offset = observations.contains(one.formatter) ? ",0" : ""
      return command("PQTMCFGMSGRATE", ",W,\(one.formatter),\(one.rate)\(offset)")
    }
  }

  private static func query(_ name: String, _ fields: String) -> Command {
    Command(sentence: "\(name),\(fields)", FamilyAnswer(.text("\(name),OK,"), .quectel(name)))
  }

  private static func command(_ name: String, _ fields: String) -> Command {
    Command(sentence: "\(name)\(fields)", FamilyAnswer(nil, .quectel(name)))
  }
}
