// SPDX-License-Identifier: Apache-2.0
import UBX
import WireBytes

/// The names of the messages that a receiver can be configured to send, UBX and NMEA alike.
public enum MessageNames {
  /// NMEA sentences have a class and an id for CFG-MSG (interface descriptions, "NMEA messages overview").
  private static let sentences: [(name: String, id: UInt8)] = [
    ("DTM", 0x0A), ("GBS", 0x09), ("GGA", 0x00), ("GLL", 0x01), ("GNS", 0x0D), ("GRS", 0x06), ("GSA", 0x02),
    ("GST", 0x07), ("GSV", 0x03), ("RLM", 0x0B), ("RMC", 0x04), ("THS", 0x0E), ("VLW", 0x0F), ("VTG", 0x05),
    ("ZDA", 0x08),
  ]
  /// PUBX sentences, and what the items' names call them.
  private static let ownSentences: [(name: String, id: UInt8, item: String)] = [
    ("PUBX-00", 0x00, "POLYP"), ("PUBX-03", 0x03, "POLYS"), ("PUBX-04", 0x04, "POLYT"),
  ]
  package static let sentenceClass: UInt8 = 0xF0
  package static let ownSentenceClass: UInt8 = 0xF1
  /// Classes of messages that come by themselves: NAV, RXM, MON, AID, TIM, ESF, HNR.
  private static let classes: Set<UInt8> = [0x01, 0x02, 0x0A, 0x0B, 0x0D, 0x10, 0x28]

  /// All messages that CFG-MSG may support, in the order of class and id.
  package static let all: [(name: String, identity: MessageIdentity)] = {
    var all: [(String, MessageIdentity)] = []
    var last: MessageIdentity?
    for layout in MessageLayout.all where classes.contains(layout.identity.messageClass) {
      guard layout.identity != last, layout.directions.contains(where: { if case .output = $0 { true } else { false } })
      else { continue }
      last = layout.identity
      all.append((layout.name.description, layout.identity))
    }
    all += sentences.map { ("NMEA-" + $0.name, MessageIdentity(sentenceClass, $0.id)) }
    all += ownSentences.map { ($0.name, MessageIdentity(ownSentenceClass, $0.id)) }
    return all
  }()

  /// The message of a name such as NAV-PVT, NMEA-GGA, GGA or PUBX-00, or of class and id as in `0x01-0x07`.
  package static func message(_ name: some StringProtocol) -> MessageIdentity? {
    let wanted = name.uppercased()
    if let found = all.first(where: { $0.name == wanted }) { return found.identity }
    if let sentence = sentences.first(where: { $0.name == wanted }) {
      return MessageIdentity(sentenceClass, sentence.id)
    }
    let parts = wanted.split(separator: "-")
    guard parts.count == 2, parts.allSatisfy({ $0.hasPrefix("0X") }),
      let first = UInt8(parts[0].dropFirst(2), radix: 16), let second = UInt8(parts[1].dropFirst(2), radix: 16)
    else { return nil }
    return MessageIdentity(first, second)
  }

  package static func name(_ message: MessageIdentity) -> String {
    if let found = all.first(where: { $0.identity == message }) { return found.name }
    return "0x" + message.messageClass.hexadecimalDigits + "-0x" + message.messageID.hexadecimalDigits
  }

  /// The item that switches a message on on the I2C port; the other ports' follow it.
  package static func itemName(_ message: MessageIdentity) -> String? {
    switch message.messageClass {
    case sentenceClass: sentences.first { $0.id == message.messageID }.map { "CFG-MSGOUT-NMEA_ID_\($0.name)_I2C" }
    case ownSentenceClass: ownSentences.first { $0.id == message.messageID }.map { "CFG-MSGOUT-PUBX_ID_\($0.item)_I2C" }
    default:
      MessageLayout.candidates(for: message).first.map { layout in
        "CFG-MSGOUT-UBX_" + String(layout.name.description.map { $0 == "-" ? "_" : $0 }) + "_I2C"
      }
    }
  }
}
