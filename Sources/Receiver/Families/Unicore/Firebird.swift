// SPDX-License-Identifier: Apache-2.0
import MonotonicTime

/// Unicore's `$` sentences: UC6226, UC6228, UC6580, UM620, UM621, CM121 (Firebird's protocol specification; gpsd, Meshtastic).
struct Firebird: FamilyLanguage {
  /// The reply is also sent at a start.
  var probes: [Command] { [Command(sentence: "PDTINFO", FamilyAnswer(.text("PDTINFO,")), attempts: 2)] }

  var rates: PortRates { PortRates(usual: [115_200], others: [9600, 230_400, 460_800, 921_600]) }

  func description(from outcome: Outcome, to probe: Command) -> ReceiverDescription? {
    guard case .answered(let reply) = outcome, reply.starts(with: "PDTINFO,".utf8) else { return nil }
    let fields = SentenceFields(reply)
    return ReceiverDescription(
      family: .firebird, model: fields[1], firmware: fields[4], hardware: "", capabilities: [.configure, .restart])
  }

  /// The sentences in the order of their numbers.
  private static let sentences = ["GGA", "GLL", "GSA", "GSV", "RMC", "VTG", "ZDA"]

  func commands(
    setting value: ReceiverValue, from found: ReceiverValue?, on receiver: ReceiverDescription
  ) -> [Command]? {
    guard case .messages(let wanted) = value else { return nil }
    var commands: [Command] = []
    for one in wanted {
      guard let number = Self.sentences.firstIndex(of: one.formatter) else { return nil }
      commands.append(Command(sentence: "CFGMSG,0,\(number),\(one.rate)", FamilyAnswer(nil, .firebird)))
    }
    return commands
  }

  func commands(for action: ReceiverAction, on receiver: ReceiverDescription) -> [Command]? {
    switch action {
    case .save: [Command(sentence: "CFGSAVE", FamilyAnswer(nil, .firebird))]
    case .hotRestart: [Self.restart("h00")]
    case .warmRestart: [Self.restart("h01")]
    case .coldRestart: [Self.restart("h85")]
    case .factoryReset: [Command(sentence: "CFGCLR", FamilyAnswer(nil, .firebird))]
    }
  }

  private static func restart(_ erased: String) -> Command {
    Command(sentence: "RESET,0,\(erased)").with(pause: Milliseconds(1000))
  }

  /// The reply to PDTINFO has serial numbers.
  var publishableTexts: [String] { ["$OK", "$FAIL", "$CFGMSG", "$CFGSAVE", "$RESET", "$PDTINFO*"] }

  /// A restart has none, and a query has data before it.
  func acknowledgement(ofSentence body: String) -> FamilyAnswer? {
    if body.hasPrefix("RESET,") { return nil }
    return FamilyAnswer(body == "PDTINFO" ? .text("PDTINFO,") : nil, .firebird)
  }
}

extension FamilyAnswer.Acknowledgement {
  /// `$OK` or `$FAIL,<n>`, after `$GNTXT,01,01,00,<command>`. A query has one behind its data.
  static var firebird: Self { .unnamed(done: "OK", refused: "FAIL") }
}
