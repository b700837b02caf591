// SPDX-License-Identifier: Apache-2.0
import MonotonicTime

/// CASIC's PCAS sentences, which have no acknowledgement, and its binary frames (CASIC protocol specification V4.2.0.3;
/// Quectel L76K GNSS Protocol Specification V1.1). PCAS20 (upgrade) and PCAS12 (a sleep that most parts ignore) are never sent.
struct CASIC: FamilyLanguage {
  var repliesWithStartText: Bool { true }

  /// The software version in text; MON-VER, which V5 refuses and V6 sends with its next epoch.
  var probes: [Command] {
    [
      Command(sentence: "PCAS06,0", FamilyAnswer(.textWith(",SW=")), attempts: 3),
      Command(
        .casic, 0x0601, [0x0A, 0x04, 0xFF, 0xFF], FamilyAnswer(.binary(.casic, 0x0A04), .binary(.casic, 0x0601)),
        attempts: 2, timeout: Milliseconds(1500)),
    ]
  }

  var rates: PortRates { PortRates(usual: [9600], others: [4800, 19_200, 38_400, 57_600, 115_200]) }

  func description(from outcome: Outcome, to probe: Command) -> ReceiverDescription? {
    switch outcome {
    // MON-VER: two texts in 32 bytes each, the first with or without `SW=`.
    case .answered(let reply) where probe.bytes.first == 0xBA:
      let texts = [reply.prefix(32), reply.dropFirst(32).prefix(32)].map(Self.text)
      let software = texts[0].hasPrefix("SW=") ? String(texts[0].dropFirst(3)) : texts[0]
      return Self.description(model: texts[1].isEmpty ? nil : texts[1], software.isEmpty ? nil : software)
    case .answered(let reply):
      guard let software = Self.value(of: "SW=", in: reply) else { return nil }
      return Self.description(model: nil, software)
    // A NAK has the frame of the family too.
    case .refused: return Self.description(model: nil, nil)
    default: return nil
    }
  }

  func furtherPolls(after found: ReceiverDescription) -> [Command] {
    found.model == nil && found.firmware != nil
      ? [Command(sentence: "PCAS06,1", FamilyAnswer(.textWith(",HW=")), attempts: 2)] : []
  }

  func complete(_ description: inout ReceiverDescription, from outcome: Outcome) {
    guard case .answered(let reply) = outcome, let hardware = Self.value(of: "HW=", in: reply) else { return }
    let words = hardware.split(separator: ",")
    description = Self.description(model: words.first.map { String($0) }, description.firmware)
  }

  private static func description(model: String?, _ firmware: String?) -> ReceiverDescription {
    ReceiverDescription(
      family: .casic, model: model, firmware: firmware, hardware: "", capabilities: [.configure, .restart])
  }

  private static func value(of key: String, in reply: [UInt8]) -> String? {
    let text = String(decoding: reply, as: UTF8.self)
    guard let at = text.split(separator: ",", maxSplits: 4).last, at.hasPrefix(key) else { return nil }
    let value = at.dropFirst(key.count)
    return value.isEmpty ? nil : String(value)
  }

  private static func text(_ bytes: ArraySlice<UInt8>) -> String {
    String(decoding: bytes.prefix { $0 >= 0x20 && $0 < 0x7F }, as: UTF8.self)
  }

  // MARK: Settings

  /// The fields of PCAS03. The eighth, ANT in the document, is the text about the antenna, which comes as TXT.
  private static let sentences = [
    "GGA", "GLL", "GSA", "GSV", "RMC", "VTG", "ZDA", "TXT", "DHV", "LPS", "", "", "UTC", "GST", "", "", "", "TIM",
  ]

  /// The rate alone can be read; text and V5 are observed.
  func polls(of kind: ReceiverValue.Kind) -> [Command] { [] }

  func commands(
    setting value: ReceiverValue, from found: ReceiverValue?, on receiver: ReceiverDescription
  ) -> [Command]? {
    switch value {
    case .period(let milliseconds):
      guard [1000, 500, 250, 200, 100].contains(milliseconds) else { return nil }
      return [Self.command("PCAS02,\(milliseconds)")]
    case .messages(let wanted):
      guard wanted.allSatisfy({ one in one.rate <= 9 && Self.sentences.contains(one.formatter) }) else { return nil }
      let fields = Self.sentences.map { name in
        // An empty field keeps the value.
        wanted.first { $0.formatter == name }.map { "\($0.rate)" } ?? ""
      }
      return [Self.command("PCAS03," + fields.joined(separator: ","))]
    case .constellations(let wanted):
      guard !wanted.isEmpty, wanted.allSatisfy({ [.gps, .beiDou, .glonass].contains($0) }) else { return nil }
      let mask = wanted.reduce(0) { $0 | ($1 == .gps ? 1 : $1 == .beiDou ? 2 : 4) }
      return [Self.command("PCAS04,\(mask)").with(pause: Milliseconds(500))]
    case .output, .logger, .mode, .measurements: return nil
    }
  }

  func rateChange(to rate: UInt32, at place: Int) -> [UInt8]? { Command(sentence: "PCAS01,\(place)").bytes }

  func commands(for action: ReceiverAction, on receiver: ReceiverDescription) -> [Command]? {
    switch action {
    case .save: [Self.command("PCAS00").with(pause: Milliseconds(300))]
    case .hotRestart: [Self.command("PCAS10,0").with(pause: Milliseconds(1000))]
    case .warmRestart: [Self.command("PCAS10,1").with(pause: Milliseconds(1000))]
    case .coldRestart: [Self.command("PCAS10,2").with(pause: Milliseconds(1000))]
    case .factoryReset: [Self.command("PCAS10,3").with(pause: Milliseconds(1000))]
    }
  }

  var lackOfMeasurements: String { "sextant does not decode CASIC's binary measurements" }

  var publishableTexts: [String] { ["00", "01", "02", "03", "04", "06", "10"].map { "$PCAS\($0)" } }
  /// NAK, ACK, CFG-PRT, MSG, RST, RATE, CFG; MON-VER. CFG-TMODE (06 06) has a position.
  var publishableFrames: Set<UInt16> { [0x0500, 0x0501, 0x0600, 0x0601, 0x0602, 0x0604, 0x0605, 0x0A04] }

  func acknowledgement(ofSentence body: String) -> FamilyAnswer? {
    guard body.hasPrefix("PCAS06,"), let number = body.dropFirst(7).first else { return nil }
    return Self.texts[number].map { FamilyAnswer(.textWith(",\($0)=")) }
  }

  /// The texts by the number of PCAS06.
  private static let texts: [Character: String] = ["0": "SW", "1": "HW", "2": "MO", "3": "CI", "5": "BS"]

  private static func command(_ body: String) -> Command { Command(sentence: body).with(pause: Milliseconds(100)) }
}
