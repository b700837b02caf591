// SPDX-License-Identifier: Apache-2.0
import MonotonicTime

/// MediaTek's PMTK sentences (Quectel L80 GPS Protocol Specification; MT3333 platform NMEA specification). Settings live in
/// RAM that the backup supply feeds: there is nothing to save. PMTK291 and PMTK225,4 are never sent: some boards do not wake.
struct MediaTek: FamilyLanguage {
  var probes: [Command] { [Self.query("605", "PMTK705,", attempts: 4)] }

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

  // MARK: Settings

  /// The sentences of PMTK314 by their index; the other fields keep their value.
  private static let sentences = ["GLL", "RMC", "VTG", "GGA", "GSA", "GSV", "GRS", "GST"]
  /// ZDA is apart.
  private static let zdaIndex = 17
  /// Firmware has 19 to 22 fields.
  private static let fieldCount = 19
  private static let mostFields = 22

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
    case .output: []
    }
  }

  func value(_ kind: ReceiverValue.Kind, from replies: [[UInt8]?]) -> ReceiverValue? {
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
    case .constellations, .output: return nil
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
      // The receiver restarts.
      return [Self.command("353", flags.map { ",\($0)" }.joined()).pausing(Milliseconds(1000))]
    case .output: return nil
    }
  }

  func rateChange(to rate: UInt32) -> [UInt8]? {
    guard [4800, 9600, 14_400, 19_200, 38_400, 57_600, 115_200].contains(rate) else { return nil }
    return Command(sentence: "PMTK251,\(rate)").bytes
  }

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
    return [Command(sentence: "PMTK\(number)").pausing(Milliseconds(1000))]
  }

  /// Standby with the oscillator off; any byte wakes (Telit SE868Kx-Ax User Guide). It has no timer: the host wakes it.
  func sleep(for duration: Milliseconds?, on receiver: ReceiverDescription) -> Command? {
    Command(sentence: "PMTK161,0")
  }

  func acknowledgement(ofSentence body: String) -> FamilyAnswer? {
    guard body.hasPrefix("PMTK") else { return body.hasPrefix("PQ") ? FamilyAnswer(.text(body.prefixToComma)) : nil }
    let number = String(body.dropFirst(4).prefix { $0.isNumber })
    // A restart has no acknowledgement; that of a new baud rate comes at the new one.
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
