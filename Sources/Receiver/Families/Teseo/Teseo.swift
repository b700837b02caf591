// SPDX-License-Identifier: Apache-2.0
import MonotonicTime

/// ST's PSTM sentences (UM2229, Teseo-LIV3F software manual).
struct Teseo: FamilyLanguage {
  var repliesWithStartText: Bool { true }

  var probes: [Command] {
    [
      Command(
        sentence: "PSTMGETSWVER,255", FamilyAnswer(.text("PSTMVER,"), .teseo("PSTMGETSWVER")), attempts: 2,
        timeout: Milliseconds(1000))
    ]
  }

  var rates: PortRates {
    PortRates(usual: [9600], others: [4800, 19_200, 38_400, 57_600, 115_200, 230_400, 460_800, 921_600])
  }

  func description(from outcome: Outcome, to probe: Command) -> ReceiverDescription? {
    guard case .answered(let reply) = outcome, let firmware = SentenceFields(reply)[1] else { return nil }
    // BINIMG_STA8041_4.6.8.5.9_ARM has the chip's name.
    let chip = firmware.split(separator: "_").first { $0.hasPrefix("STA") }
    return ReceiverDescription(
      family: .teseo, model: chip.map { String($0) }, firmware: firmware, hardware: "",
      capabilities: [.configure, .timedSleep, .restart])
  }

  /// The first of the versions may be the library's version: the binary's version has the chip.
  func furtherPolls(after found: ReceiverDescription) -> [Command] {
    found.model == nil ? [Command(sentence: "PSTMGETSWVER,6", FamilyAnswer(.textWith("BINIMG_")), attempts: 2)] : []
  }

  func complete(_ description: inout ReceiverDescription, from outcome: Outcome) {
    if let binary = self.description(from: outcome, to: probes[0]) { description = binary }
  }

  // MARK: Settings

  /// The bits of the message list (UM2229, CDB 201).
  private static let sentences: [(name: String, bit: Int)] = [
    ("GGA", 1), ("GSA", 2), ("GST", 3), ("VTG", 4), ("RMC", 6), ("GSV", 19), ("GLL", 20), ("ZDA", 24),
  ]
  private static let systems: [(DesiredConfiguration.Constellation, UInt32)] = [
    (.gps, 1), (.glonass, 2), (.qzss, 4), (.galileo, 8), (.beiDou, 128),
  ]

  func polls(of kind: ReceiverValue.Kind) -> [Command] {
    switch kind {
    case .period: [Self.query("1303")]
    case .messages: [Self.query("1201"), Self.query("1228")]
    case .constellations, .output, .logger, .mode, .measurements: []
    }
  }

  func value(
    _ kind: ReceiverValue.Kind, from replies: [[UInt8]?], on receiver: ReceiverDescription
  ) -> ReceiverValue? {
    let texts = replies.map { $0.flatMap { SentenceFields($0)[2] } }
    guard let first = texts.first ?? nil else { return nil }
    switch kind {
    case .period: return Self.milliseconds(first).map { .period($0) }
    case .messages:
      guard let low = Self.mask(first) else { return nil }
      let mask = UInt64(low) | UInt64(texts.count > 1 ? texts[1].flatMap { Self.mask($0) } ?? 0 : 0) << 32
      var rates = Self.sentences.map { SentenceRate($0.name, UInt8(mask >> $0.bit & 1)) }
      for bit in 0..<64 where mask >> bit & 1 == 1 && !Self.sentences.contains(where: { $0.bit == bit }) {
        rates.append(SentenceRate(SentenceRate.name(ofPlace: bit), 1))
      }
      return .messages(rates)
    case .constellations, .output, .logger, .mode, .measurements: return nil
    }
  }

  var setsAllSentences: Bool { true }

  private static func bit(of formatter: String) -> Int? {
    sentences.first { $0.name == formatter }?.bit
      ?? SentenceRate.place(of: formatter).flatMap { 0..<64 ~= $0 ? $0 : nil }
  }

  private static func mask(_ text: String) -> UInt32? {
    UInt32(text.hasPrefix("0x") ? text.dropFirst(2) : text[...], radix: 16)
  }

  /// Seconds with decimals.
  private static func milliseconds(_ text: String) -> UInt16? {
    guard let seconds = Double(text), (0.05...60).contains(seconds) else { return nil }
    return UInt16(clamping: (seconds * 1000).rounded())
  }

  /// Seconds with one to three decimals.
  private static func seconds(_ milliseconds: UInt16) -> String {
    var decimals = String(1000 + milliseconds % 1000).dropFirst()
    while decimals.count > 1, decimals.last == "0" { decimals.removeLast() }
    return "\(milliseconds / 1000).\(decimals)"
  }

  func commands(
    setting value: ReceiverValue, from found: ReceiverValue?, on receiver: ReceiverDescription
  ) -> [Command]? {
    switch value {
    case .period(let milliseconds):
      guard 100...10_000 ~= milliseconds else { return nil }
      return [Self.command("PSTMSETPAR", ",1303,\(Self.seconds(milliseconds))")]
    case .messages(let wanted):
      guard wanted.allSatisfy({ Self.bit(of: $0.formatter) != nil && $0.rate <= 1 }) else { return nil }
      var all = wanted
      if case .messages(let there)? = found { all = there + wanted }
      var mask: UInt64 = 0
      for one in all {
        guard let bit = Self.bit(of: one.formatter) else { continue }
        mask = one.rate > 0 ? mask | 1 << UInt64(bit) : mask & ~(1 << UInt64(bit))
      }
      let low = String(UInt32(truncatingIfNeeded: mask), radix: 16)
      let high = String(UInt32(truncatingIfNeeded: mask >> 32), radix: 16)
      return [Self.command("PSTMCFGMSGL", ",0,1,\(low),\(high)")]
    case .constellations(let wanted):
      guard wanted.allSatisfy({ one in Self.systems.contains { $0.0 == one } }) else { return nil }
      let mask = Self.systems.reduce(UInt32(0)) { wanted.contains($1.0) ? $0 | $1.1 : $0 }
      return [Self.command("PSTMSETCONSTMASK", ",\(mask)").with(pause: Milliseconds(1000))]
    case .output, .logger, .mode, .measurements: return nil
    }
  }

  /// The rate of fixes is in force after a save and this restart.
  func restart(for kind: ReceiverValue.Kind) -> String? { kind == .period ? "PSTMSRR" : nil }

  private static func query(_ id: String) -> Command {
    Command(
      sentence: "PSTMGETPAR,\(id)", FamilyAnswer(.text("PSTMSETPAR,\(id),"), .teseo("PSTMGETPAR")), attempts: 3,
      timeout: Milliseconds(1500))
  }

  private static func command(_ name: String, _ fields: String) -> Command {
    // Commands are at least 20 ms apart.
    Command(sentence: name + fields, FamilyAnswer(nil, .teseo(name)), timeout: Milliseconds(1500))
      .with(pause: Milliseconds(20))
  }

  // MARK: Restart and standby

  func commands(for action: ReceiverAction, on receiver: ReceiverDescription) -> [Command]? {
    switch action {
    case .save:
      [Command(sentence: "PSTMSAVEPAR", FamilyAnswer(nil, .teseo("PSTMSAVEPAR")), timeout: Milliseconds(10_000))]
    case .hotRestart: [Command(sentence: "PSTMHOT").with(pause: Milliseconds(5000))]
    case .warmRestart: [Command(sentence: "PSTMWARM").with(pause: Milliseconds(5000))]
    case .coldRestart: [Command(sentence: "PSTMCOLD").with(pause: Milliseconds(5000))]
    case .factoryReset:
      [
        Command(sentence: "PSTMRESTOREPAR", FamilyAnswer(nil, .teseo("PSTMRESTOREPAR"))),
        Command(sentence: "PSTMSRR").with(pause: Milliseconds(5000)),
      ]
    }
  }

  func longestSleep(on receiver: ReceiverDescription) -> Milliseconds { Milliseconds(99_999_000) }

  /// Ends by its timer, or by a pin that the host does not have.
  func sleep(for duration: Milliseconds?, on receiver: ReceiverDescription) -> Command? {
    guard let seconds = duration.map({ $0.count / 1000 }), 1...99_999 ~= seconds else { return nil }
    return Command(
      sentence: "PSTMFORCESTANDBY,\(seconds)", FamilyAnswer(nil, .teseo("PSTMFORCESTANDBY")), attempts: 1)
  }

  var lackOfMeasurements: String { "sextant does not decode Teseo's measurements" }

  /// Parameters beyond messages, systems and the rate can have positions.
  var publishableTexts: [String] {
    let names = [
      "GETSWVER", "VER", "SAVEPAR", "RESTOREPAR", "SRR", "HOT", "WARM", "COLD", "FORCESTANDBY", "CFGMSGL",
      "SETCONSTMASK",
    ]
    let parameters = ["200", "201", "227", "228", "303"].flatMap { one in
      ["GETPAR,1\(one)", "SETPAR,1\(one)", "SETPAR,3\(one)"]
    }
    return (names.flatMap { [$0, "\($0)OK", "\($0)ERROR"] } + parameters + ["SETPAROK", "SETPARERROR", "GETPARERROR"])
      .map { "$PSTM\($0)" }
  }

  func acknowledgement(ofSentence body: String) -> FamilyAnswer? {
    let name = String(body.prefix { $0 != "," })
    if name == "PSTMGETSWVER" { return FamilyAnswer(.text("PSTMVER,"), .teseo(name)) }
    if name == "PSTMGETPAR" { return FamilyAnswer(.text("PSTMSETPAR,"), .teseo(name)) }
    return name.hasPrefix("PSTM") && name != "PSTMSRR" ? FamilyAnswer(nil, .teseo(name)) : nil
  }
}

extension FamilyAnswer.Acknowledgement {
  /// `$<name>OK` or `$<name>ERROR`.
  fileprivate static func teseo(_ name: String) -> Self { .texts(done: "\(name)OK", refused: "\(name)ERROR") }
}
