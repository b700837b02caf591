// SPDX-License-Identifier: Apache-2.0
import GPSD
import NMEA
import Receiver
import ReceiverStream
import UBX
import WireBytes

/// A received message for people: the name, and a line for each field with its value and unit; a sentence as it is.
enum MessageText {
  static func text(_ frame: borrowing Frame) -> String {
    guard let ubx = frame.ubx else { return characters(frame.bytes) }
    let payload = [UInt8](copying: ubx.payload)
    guard let layout = MessageLayout.of(ubx) else {
      let identity = ubx.identity
      return "0x\(identity.messageClass.hexadecimalDigits)-0x\(identity.messageID.hexadecimalDigits)\n"
        + "  payload  \(payload.hexadecimalDigits)\n"
    }
    if let acknowledged = acknowledged(ubx, payload) { return acknowledged }
    let fields = PayloadFields.list(layout, payload)
    let width = fields.map(\.path.utf8.count).max() ?? 0
    return fields.reduce("\(layout.name)\n") { text, field in
      let gap = String(repeating: " ", count: width + 2 - field.path.utf8.count)
      let unit = field.layout.unit.description
      return text + "  \(field.path)\(gap)\(PayloadFields.text(field, payload))\(unit.isEmpty ? "" : " " + unit)\n"
    }
  }

  private static func acknowledged(_ frame: borrowing UBXFrame, _ payload: [UInt8]) -> String? {
    guard [.ackACK, .ackNAK].contains(frame.identity), payload.count >= 2 else { return nil }
    let identity = MessageIdentity(payload[0], payload[1])
    let name =
      MessageLayout.candidates(for: identity).first?.name.description
      ?? "0x\(identity.messageClass.hexadecimalDigits)-0x\(identity.messageID.hexadecimalDigits)"
    return "\(name) \(frame.identity == .ackACK ? "acknowledged (ACK-ACK)" : "refused (ACK-NAK)")\n"
  }

  private static func characters(_ bytes: RawSpan) -> String {
    var line = JSONLine()
    line.plainText(String(decoding: [UInt8](copying: bytes), as: UTF8.self))
    return line.text + "\n"
  }
}
