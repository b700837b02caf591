// SPDX-License-Identifier: Apache-2.0
import NMEA
import ReceiverStream
import UBX
import WireBytes

/// Recognises a u-blox receiver by its frames, before a byte is sent to it.
///
/// UBX frames, PUBX sentences and the boot text are proof. Proprietary sentences of another manufacturer are proof of the
/// contrary. Otherwise the format of the default sentences counts: six of them, minutes with five or seven decimals, speed
/// with three, dilutions with two and 99.99 for no value (u-blox interface descriptions, "NMEA protocol").
struct VendorEvidence: Sendable {
  /// The manufacturer, as far as it is known.
  enum Verdict: Equatable, Sendable {
    case unknown
    case uBlox
    /// It looks like a u-blox receiver; a poll is worth eight bytes.
    case perhapsUBlox
    case other
  }

  private var isProved = false
  private var isOther = false
  /// The family that the sentences prove.
  private(set) var family: ReceiverFamily?
  private var sentences: UInt8 = 0
  private var hasMinuteDecimals = false
  private var hasSpeedDecimals = false
  private var hasDilutionDecimals = false
  private var hasNoDilution = false
  private var minuteDecimals: Int?
  private var hasCASICText = false
  private var hasAllystarText = false
  private var hasOldBeiDou = false
  /// The family of a request on the line. It proves nothing: another program has sent it.
  private var addressed: ReceiverFamily?
  /// Whether it sent Quectel's sentences, which two families have: of its own, or in reply to a probe.
  private(set) var hasPQTM = false

  /// The families whose sentences have this form. It proves nothing: their probes come before the others'.
  var likely: [ReceiverFamily] {
    if isProved || family != nil { return [] }
    if hasPQTM || addressed == .quectel { return [.quectel, .airoha] }
    if let addressed { return [addressed] }
    if hasCASICText { return [.casic] }
    if hasAllystarText { return [.allystar] }
    if hasOldBeiDou { return [.casic, .allystar] }
    // u-blox receivers have five, or seven with high precision.
    return switch minuteDecimals {
    case 4: [.mediaTek]
    case 6: [.airoha, .quectel]
    case 8: [.unicore, .firebird]
    default: []
    }
  }

  var verdict: Verdict {
    if isProved { return .uBlox }
    if isOther { return .other }
    // Other makes share one format or the other; few write all six sentences by default.
    guard sentences == 0b11_1111 else { return .unknown }
    let formats = [hasMinuteDecimals, hasSpeedDecimals, hasDilutionDecimals, hasNoDilution]
    return formats.count(where: { $0 }) >= 2 ? .perhapsUBlox : .unknown
  }

  mutating func receive(_ frame: borrowing Frame) {
    switch frame.kind {
    // Polls have no payload, and receivers send none: a line with an echo does.
    case .ubx: if let ubx = frame.ubx, ubx.payload.byteCount > 0, !Self.isFromOther(ubx) { isProved = true }
    case .nmea: if let sentence = frame.nmea { receive(sentence) }
    case .rtcm3, .spartn: break
    }
  }

  /// Whether receivers of other makers send the frame too: they answer MON-VER in part, or with an acknowledgement alone.
  private static func isFromOther(_ frame: borrowing UBXFrame) -> Bool {
    if frame.identity.messageClass == 0x05 { return true }
    guard frame.identity == .monVER else { return false }
    return ReceiverDescription(monVER: [UInt8](copying: frame.payload))?.generation == nil
  }

  /// A frame of a family's own protocol was received.
  mutating func show(_ shown: ReceiverFamily) {
    family = family ?? shown
    isOther = true
  }

  private mutating func receive(_ sentence: borrowing Sentence) {
    let formatter = sentence.formatter
    if family == nil, sentence.isProprietary || formatter == Formatter("TXT") || sentence.shortAddress == 0 {
      showFamily(sentence)
    }
    if sentence.talker == .beiDouOld { hasOldBeiDou = true }
    if sentence.isProprietary {
      if family == nil, let one = ReceiverFamily.addressed(by: Self.text(of: sentence)) { return addressed = one }
      if Self.contains("$PQTM", sentence.bytes) { hasPQTM = true }
      if formatter != Formatter("UBX") { isOther = true } else if Self.isReceivers(sentence) { isProved = true }
      return
    }
    switch formatter {
    case Formatter("TXT"):
      if Self.contains("u-blox", sentence.bytes) { isProved = true }
      for state in Self.casicAntenna where Self.contains(state, sentence.bytes) { hasCASICText = true }
      if Self.contains("ANT_O", sentence.bytes) { hasAllystarText = true }
    case Formatter("GGA"):
      sentences |= 1
      seeMinutes(sentence.bytes, field: 2)
      seeDilution(sentence.bytes, field: 8)
    case Formatter("GLL"):
      sentences |= 2
      seeMinutes(sentence.bytes, field: 1)
    case Formatter("GSA"):
      sentences |= 4
      seeDilution(sentence.bytes, field: 15)
    case Formatter("GSV"): sentences |= 8
    case Formatter("RMC"):
      sentences |= 16
      seeMinutes(sentence.bytes, field: 3)
      if Self.decimals(sentence.bytes, field: 7) == 3 { hasSpeedDecimals = true }
    case Formatter("VTG"): sentences |= 32
    default: break
    }
  }

  /// The states of the antenna that CASIC sends with each epoch.
  private static let casicAntenna: [StaticString] = ["ANTENNA OK", "ANTENNA OPEN", "ANTENNA SHORT"]

  private mutating func showFamily(_ sentence: borrowing Sentence) {
    let text = Self.text(of: sentence)
    guard let shown = ReceiverFamily.shown(by: String(text.prefix { $0 != "," && $0 != "*" }), text) else { return }
    family = shown
    isOther = true
  }

  /// The sentence without `$`.
  private static func text(of sentence: borrowing Sentence) -> String {
    String(decoding: [UInt8](copying: sentence.bytes).dropFirst(), as: UTF8.self)
  }

  /// Whether a receiver sent a PUBX sentence: polls of the host have no field but the number, and its commands have other
  /// numbers.
  private static func isReceivers(_ sentence: borrowing Sentence) -> Bool {
    switch sentence.messageNumber {
    case PUBX00.messageNumber, PUBX03.messageNumber, PUBX04.messageNumber: sentence.bytes.byteCount > 16
    default: false
    }
  }

  private mutating func seeMinutes(_ bytes: RawSpan, field: Int) {
    guard let decimals = Self.decimals(bytes, field: field) else { return }
    minuteDecimals = decimals
    if decimals == 5 || decimals == 7 { hasMinuteDecimals = true }
  }

  private mutating func seeDilution(_ bytes: RawSpan, field: Int) {
    guard Self.decimals(bytes, field: field) == 2 else { return }
    hasDilutionDecimals = true
    if Self.contains("99.99", bytes) { hasNoDilution = true }
  }

  /// Returns the number of digits after the decimal point of a field, counted from the address as 0; nil without a point.
  private static func decimals(_ bytes: RawSpan, field: Int) -> Int? {
    var commas = 0
    var count: Int?
    for index in 0..<bytes.byteCount {
      let byte = bytes.u1(index)
      if byte == UInt8(ascii: ",") || byte == UInt8(ascii: "*") {
        if commas == field { return count }
        commas += 1
      } else if commas == field {
        if byte == UInt8(ascii: ".") { count = 0 } else if let so = count { count = so + 1 }
      }
    }
    return nil
  }

  static func contains(_ text: StaticString, _ bytes: RawSpan) -> Bool {
    let wanted = [UInt8](text.description.utf8)
    var (start, matched) = (0, 0)
    while start + wanted.count <= bytes.byteCount {
      while matched < wanted.count, bytes.u1(start + matched) == wanted[matched] { matched += 1 }
      if matched == wanted.count { return true }
      (start, matched) = (start + 1, 0)
    }
    return false
  }
}
