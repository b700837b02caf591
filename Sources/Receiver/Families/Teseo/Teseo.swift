// SPDX-License-Identifier: Apache-2.0
import MonotonicTime

/// ST's PSTM sentences (UM2229, Teseo-LIV3F software manual).
struct Teseo: FamilyLanguage {
  var probes: [Command] {
    [
      Command(
        sentence: "PSTMGETSWVER,255", FamilyAnswer(.text("PSTMVER,"), .teseo("PSTMGETSWVER")), attempts: 2,
        patience: Milliseconds(1000))
    ]
  }

  func description(from outcome: Outcome, to probe: Command) -> ReceiverDescription? {
    guard case .answered(let reply) = outcome, let firmware = SentenceFields(reply)[1] else { return nil }
    // BINIMG_STA8041_4.6.8.5.9_ARM has the chip's name.
    let chip = firmware.split(separator: "_").first { $0.hasPrefix("STA") }
    return ReceiverDescription(
      family: .teseo, model: chip.map { String($0) }, firmware: firmware, hardware: "",
      capabilities: [.timedSleep, .restart])
  }

  func commands(for action: ReceiverAction, on receiver: ReceiverDescription) -> [Command]? {
    switch action {
    case .save:
      [Command(sentence: "PSTMSAVEPAR", FamilyAnswer(nil, .teseo("PSTMSAVEPAR")), patience: Milliseconds(10_000))]
    case .hotRestart: [Command(sentence: "PSTMHOT").pausing(Milliseconds(5000))]
    case .warmRestart: [Command(sentence: "PSTMWARM").pausing(Milliseconds(5000))]
    case .coldRestart: [Command(sentence: "PSTMCOLD").pausing(Milliseconds(5000))]
    case .factoryReset:
      [
        Command(sentence: "PSTMRESTOREPAR", FamilyAnswer(nil, .teseo("PSTMRESTOREPAR"))),
        Command(sentence: "PSTMSRR").pausing(Milliseconds(5000)),
      ]
    }
  }

  /// Ends by its timer, or by a pin that the host does not have.
  func sleep(for duration: Milliseconds?, on receiver: ReceiverDescription) -> Command? {
    guard let seconds = duration.map({ $0.count / 1000 }), 1...99_999 ~= seconds else { return nil }
    return Command(sentence: "PSTMFORCESTANDBY,\(seconds)")
  }

  func acknowledgement(ofSentence body: String) -> FamilyAnswer? {
    body.hasPrefix("PSTM") ? FamilyAnswer(nil, .teseo(String(body.prefix { $0 != "," }))) : nil
  }
}
