// SPDX-License-Identifier: Apache-2.0
import MonotonicTime
import RTCM3
import WireBytes

/// Allystar's binary frames, which resemble UBX (as recorded, and in gpsd).
struct Allystar: FamilyLanguage {
  var probes: [Command] {
    [
      Command(
        .allystar, 0x0A04, [], FamilyAnswer(.binary(.allystar, 0x0A04), .binary(.allystar, 0x0A04)), attempts: 2,
        timeout: Milliseconds(400))
    ]
  }

  var rates: PortRates { PortRates(usual: [115_200], others: [9600, 19_200, 38_400, 57_600, 230_400, 460_800]) }

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

  /// The sentences of class F0 (gpsd's CFG-MSG). TXT has the state of the antenna.
  private static let sentences: [(String, UInt8)] = [
    ("GGA", 0x00), ("GLL", 0x01), ("GSA", 0x02), ("GSV", 0x04), ("RMC", 0x05), ("VTG", 0x06), ("ZDA", 0x07),
    ("TXT", 0x20),
  ]

  // MARK: Constellations

  /// The signals of CFG-NAVSAT by constellation; `first` is the bit of its usual signal. (jclark/satpulse.)
  private static let systems: [(DesiredConfiguration.Constellation, first: UInt32, all: UInt32)] = [
    (.gps, 0x1, 0x701), (.glonass, 0x2, 0x2002), (.beiDou, 0x4, 0x7_C004), (.galileo, 0x10, 0x10_0010),
    (.qzss, 0x20, 0x20), (.sbas, 0x40, 0x40), (.navIC, 0x80, 0x80),
  ]

  /// A poll is answered by its message alone.
  func polls(of kind: ReceiverValue.Kind) -> [Command] {
    kind == .constellations ? [Command(.allystar, 0x060C, [], FamilyAnswer(.binary(.allystar, 0x060C)))] : []
  }

  func value(
    _ kind: ReceiverValue.Kind, from replies: [[UInt8]?], on receiver: ReceiverDescription
  ) -> ReceiverValue? {
    guard kind == .constellations, let reply = replies.first ?? nil, reply.count >= 4 else { return nil }
    let mask = reply.u4(0)
    return .constellations(Self.systems.filter { mask & $0.first != 0 }.map(\.0))
  }

  /// The bands in use are not known to the session.
  func canTakeBack(_ kind: ReceiverValue.Kind) -> Bool { kind != .constellations }

  // MARK: Messages, restart, save

  func commands(
    setting value: ReceiverValue, from found: ReceiverValue?, on receiver: ReceiverDescription
  ) -> [Command]? {
    if case .constellations(let wanted) = value {
      // The mask is limited to the hardware.
      let mask = Self.systems.reduce(UInt32(0)) { wanted.contains($1.0) ? $0 | $1.all : $0 }
      return [Self.command(0x060C, littleEndianBytes(mask))]
    }
    guard case .messages(let wanted) = value else { return nil }
    var commands: [Command] = []
    for one in wanted {
      guard let id = Self.sentences.first(where: { $0.0 == one.formatter })?.1 else { return nil }
      commands.append(Self.command(0x0601, [0xF0, id, one.rate]))
    }
    return commands
  }

  /// CFG-PRT with port 0, the one that it arrives at.
  func rateChange(to rate: UInt32, at place: Int) -> [UInt8]? {
    FrameLayout.allystar.frame(0x0600, [0, 0, 0, 0] + littleEndianBytes(rate))
  }

  func commands(for action: ReceiverAction, on receiver: ReceiverDescription) -> [Command]? {
    switch action {
    // Rates, sentences and navigation.
    case .save: [Self.store(action: 0, 0x7)]
    case .hotRestart: [Self.restart(3)]
    case .warmRestart: [Self.restart(2)]
    case .coldRestart: [Self.restart(1)]
    // The deletion has no acknowledgement.
    case .factoryReset:
      [Command(.allystar, 0x0609, Self.storage(2, 0xFFFF_FFFF)).with(pause: Milliseconds(500)), Self.restart(1)]
    }
  }

  /// CFG-SIMPLERST, which is not acknowledged: 0 reset (recorded), 1 cold, 2 warm, 3 hot (several public programs).
  private static func restart(_ mode: UInt8) -> Command {
    Command(.allystar, 0x0640, [mode]).with(pause: Milliseconds(1000))
  }

  /// CFG-CFG: 0 save, 1 load, 2 clear; the sections.
  private static func storage(_ action: UInt8, _ sections: UInt32) -> [UInt8] {
    [action, 0, 0, 0] + littleEndianBytes(sections)
  }

  private static func store(action: UInt8, _ sections: UInt32) -> Command {
    command(0x0609, storage(action, sections)).with(timeout: Milliseconds(1500))
  }

  private static func command(_ identity: UInt16, _ payload: [UInt8]) -> Command {
    Command(.allystar, identity, payload, FamilyAnswer(nil, .binary(.allystar, identity)))
  }

  var lackOfMeasurements: String { "sextant does not decode Allystar's binary measurements" }

  /// NAK, ACK, CFG-PRT, MSG, CFG, NAVSAT, SIMPLERST; MON-VER.
  var publishableFrames: Set<UInt16> { [0x0500, 0x0501, 0x0600, 0x0601, 0x0609, 0x060C, 0x0640, 0x0A04] }
}
