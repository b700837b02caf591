// SPDX-License-Identifier: Apache-2.0
import MonotonicTime

/// Allystar's binary frames, which resemble UBX (as recorded, and in gpsd).
struct Allystar: FamilyLanguage {
  var probes: [Command] {
    [
      Command(
        .allystar, 0x0A04, [], FamilyAnswer(.binary(.allystar, 0x0A04), .binary(.allystar, 0x0A04)), attempts: 2,
        patience: Milliseconds(400))
    ]
  }

  /// Software and hardware in 16 bytes each.
  func description(from outcome: Outcome, to probe: Command) -> ReceiverDescription? {
    guard case .answered(let reply) = outcome, reply.count >= 32 else { return nil }
    let texts = [reply[0..<16], reply[16..<32]].map { bytes in
      String(decoding: bytes.prefix { $0 >= 0x20 && $0 < 0x7F }, as: UTF8.self)
    }
    // HD9510.4740d9ec2: the chip, then its revision.
    let chip = texts[1].prefix { $0 != "." }
    return ReceiverDescription(
      family: .allystar, model: chip.isEmpty ? nil : String(chip), firmware: texts[0], hardware: texts[1],
      capabilities: [.configure, .restart])
  }

  /// The sentences of class F0 (gpsd's CFG-MSG).
  private static let sentences: [(String, UInt8)] = [
    ("GGA", 0x00), ("GLL", 0x01), ("GSA", 0x02), ("GSV", 0x04), ("RMC", 0x05), ("VTG", 0x06), ("ZDA", 0x07),
  ]

  func commands(
    setting value: ReceiverValue, from found: ReceiverValue?, on receiver: ReceiverDescription
  ) -> [Command]? {
    guard case .messages(let wanted) = value else { return nil }
    var commands: [Command] = []
    for one in wanted {
      guard let id = Self.sentences.first(where: { $0.0 == one.formatter })?.1 else { return nil }
      commands.append(Self.command(0x0601, [0xF0, id, one.rate]))
    }
    return commands
  }

  /// CFG-PRT with port 0, the one that it arrives at.
  func rateChange(to rate: UInt32) -> [UInt8]? {
    let bytes = (0..<4).map { UInt8(truncatingIfNeeded: rate >> (8 * UInt32($0))) }
    return FrameLayout.allystar.frame(0x0600, [0, 0, 0, 0] + bytes)
  }

  func commands(for action: ReceiverAction, on receiver: ReceiverDescription) -> [Command]? {
    switch action {
    case .hotRestart: [Self.restart(3)]
    case .warmRestart: [Self.restart(2)]
    case .coldRestart: [Self.restart(1)]
    case .save, .factoryReset: nil
    }
  }

  /// CFG-SIMPLERST, which is not acknowledged: 0 reset (recorded), 1 cold, 2 warm, 3 hot (several public programs).
  private static func restart(_ kind: UInt8) -> Command {
    Command(.allystar, 0x0640, [kind]).pausing(Milliseconds(1000))
  }

  private static func command(_ identity: UInt16, _ payload: [UInt8]) -> Command {
    Command(.allystar, identity, payload, FamilyAnswer(nil, .binary(.allystar, identity)))
  }
}
