// SPDX-License-Identifier: Apache-2.0
import MonotonicTime
import RTCM3

/// SkyTraq's binary frames (AN0003). Numbers are big-endian. Settings go to SRAM; some firmware writes them to flash too.
struct SkyTraq: FamilyLanguage {
  var probes: [Command] {
    [Command(.skyTraq, 0x02, [0x01], FamilyAnswer(.binary(.skyTraq, 0x80), .skyTraq(0x02)), attempts: 2)]
  }

  var rates: PortRates { PortRates(usual: [9600], others: [4800, 19_200, 38_400, 57_600, 115_200, 230_400]) }

  /// The software version: its type, then kernel, customer's and revision, three numbers each in four bytes.
  func description(from outcome: Outcome, to probe: Command) -> ReceiverDescription? {
    guard case .answered(let reply) = outcome, reply.count >= 13 else { return nil }
    let numbers = [2, 3, 4].map { "\(reply[$0])" }.joined(separator: ".")
    let revision = [10, 11, 12].map { reply[$0] < 10 ? "0\(reply[$0])" : "\(reply[$0])" }.joined()
    return ReceiverDescription(
      family: .skyTraq, model: nil, firmware: "\(numbers) \(revision)", hardware: "",
      capabilities: [.configure, .restart])
  }

  /// The fields of message 08.
  private static let sentences = ["GGA", "GSA", "GSV", "GLL", "RMC", "VTG", "ZDA"]
  private static let memory: UInt8 = 0
  /// The types of messages of message 09: none, NMEA, binary.
  private static let types = ["NONE", "NMEA", "BINARY"]
  /// Message 08 has no query.
  var setsAllSentences: Bool { true }

  var sentenceMode: ReceiverMode? { ReceiverMode(words: ["NMEA"]) }

  /// A8 has the solution, DC to E5 have raw measurements: messages of the binary type alone.
  func mode(shownBy frame: FamilyFrame) -> ReceiverMode? {
    guard case .binary(.skyTraq, let id, _) = frame, id == 0xA8 || 0xDC...0xE5 ~= id else { return nil }
    return ReceiverMode(words: ["BINARY"])
  }

  private static func command(type name: String?) -> Command? {
    types.firstIndex { $0 == name }.map { command(0x09, [UInt8($0), memory]) }
  }

  func commands(
    setting value: ReceiverValue, from found: ReceiverValue?, on receiver: ReceiverDescription
  ) -> [Command]? {
    switch value {
    case .period(let milliseconds):
      // Whole fixes a second.
      guard 1...1000 ~= milliseconds, 1000 % milliseconds == 0, 1000 / milliseconds <= 50 else { return nil }
      return [Self.command(0x0E, [UInt8(clamping: 1000 / milliseconds), Self.memory])]
    case .messages(let wanted):
      var all = wanted
      if case .messages(let there)? = found { all = there + wanted }
      var rates = [UInt8](repeating: 0, count: Self.sentences.count)
      for one in wanted where !Self.sentences.contains(one.formatter) { return nil }
      for one in all { if let index = Self.sentences.firstIndex(of: one.formatter) { rates[index] = one.rate } }
      // Without a sentence its messages can be binary.
      let isWithout =
        if case .messages(let there)? = found {
          !there.contains { Self.sentences.contains($0.formatter) && $0.rate > 0 }
        } else { false }
      let type = isWithout ? Self.command(type: "NMEA") : nil
      return [type, Self.command(0x08, rates + [Self.memory])].compactMap(\.self)
    case .mode(let wanted): return Self.command(type: wanted.words.first).map { [$0] }
    case .constellations, .output, .logger, .measurements: return nil
    }
  }

  func rateChange(to rate: UInt32, at place: Int) -> [UInt8]? {
    FrameLayout.skyTraq.frame(0x05, [0, UInt8(clamping: place), Self.memory])
  }

  func commands(for action: ReceiverAction, on receiver: ReceiverDescription) -> [Command]? {
    switch action {
    case .save: nil
    case .hotRestart: [Self.restart(1)]
    case .warmRestart: [Self.restart(2)]
    case .coldRestart: [Self.restart(3)]
    case .factoryReset: [Self.command(0x04, [1]).with(pause: Milliseconds(1000))]
    }
  }

  /// The start mode, then a time and a position that the receiver does not need.
  private static func restart(_ mode: UInt8) -> Command {
    command(0x01, [mode] + [UInt8](repeating: 0, count: 13)).with(pause: Milliseconds(1000))
  }

  private static func command(_ id: UInt8, _ payload: [UInt8]) -> Command {
    Command(.skyTraq, UInt16(id), payload, FamilyAnswer(nil, .skyTraq(id)))
  }

  var lackOfMeasurements: String { "sextant does not decode SkyTraq's binary measurements" }

  /// Version, ACK, NAK, rate of the port, sentences, type of messages, rate of fixes. A restart (01) has a position.
  var publishableFrames: Set<UInt16> { [0x02, 0x80, 0x83, 0x84, 0x05, 0x08, 0x09, 0x0E] }
}
