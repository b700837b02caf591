// SPDX-License-Identifier: Apache-2.0
import UBX

/// The messages that have no position, no altitude and no serial number of one device, so that a dialogue with them can
/// be
/// published. A message that is not listed is not published.
enum PublishableMessages {
  /// Messages of UBX by class and id (interface descriptions).
  private static let ubx: [UInt8: Set<UInt8>] = [
    // NAV-STATUS, DOP, EOE.
    0x01: [0x03, 0x04, 0x61],
    // RXM-PMREQ.
    0x02: [0x41],
    // ACK-NAK, ACK-ACK.
    0x05: [0x00, 0x01],
    // CFG-PRT, MSG, INF, RST, RATE, CFG, RXM, PM2, GNSS, PMS, BATCH; VALSET, VALGET and VALDEL by their items.
    0x06: [0x00, 0x01, 0x02, 0x04, 0x08, 0x09, 0x11, 0x3B, 0x3E, 0x86, 0x93, 0x8A, 0x8B, 0x8C],
    // MON-VER, GNSS, BATCH, COMMS.
    0x0A: [0x04, 0x28, 0x32, 0x36],
    // LOG-INFO, LOG-RETRIEVEBATCH.
    0x21: [0x08, 0x10],
  ]

  /// The groups of configuration items: RATE, BATCH, SIGNAL, I2C, UART1, UART2, the protocols of the ports, MSGOUT,
  /// INFMSG, NMEA,
  /// PM. Those of TMODE, GEOFENCE, NAVSPG (an altitude) and USB (a serial number) are not among them.
  private static let itemGroups: Set<UInt8> = [
    0x21, 0x26, 0x31, 0x51, 0x52, 0x53, 0x71, 0x72, 0x73, 0x74, 0x75, 0x76, 0x77, 0x78, 0x79, 0x7A, 0x91, 0x92, 0x93,
    0xD0,
  ]

  /// The texts of a receiver's start, and about signals: the beginnings of TXT's last field. CASIC's HW has a serial
  /// number.
  private static let texts = [
    "u-blox", "HW UBX", "ROM ", "EXT ", "FWVER=", "PROTVER=", "MOD=", "GPS;", "SBAS;", "GNSS OTP", "LLC=", "ANTSUPERV=",
    "ANTSTATUS=", "Stopping GNSS", "Starting GNSS", "inv sig cfg", "bad cfg", "MA=", "IC=", "SW=", "MO=", "ANTENNA ",
    "ANT_", "ALLYSTAR",
  ]

  static func isUBX(_ identity: MessageIdentity, _ payload: ArraySlice<UInt8>) -> Bool {
    guard ubx[identity.messageClass]?.contains(identity.messageID) == true else { return false }
    return ![.cfgVALSET, .cfgVALGET, MessageIdentity(0x06, 0x8C)].contains(identity)
      || hasListedItems(identity, payload)
  }

  /// Whether all items of VALSET, VALGET or VALDEL are of the listed groups.
  private static func hasListedItems(_ identity: MessageIdentity, _ payload: ArraySlice<UInt8>) -> Bool {
    guard let version = payload.first, payload.count >= 4 else { return false }
    // A poll and VALDEL have keys alone; VALSET and the reply of VALGET also values.
    let hasValues = identity == .cfgVALSET || identity == .cfgVALGET && version == 1
    var at = payload.startIndex + 4
    while at + 4 <= payload.endIndex {
      guard itemGroups.contains(payload[at + 2]) else { return false }
      let size = Int(payload[at + 3] >> 4 & 7)
      at += 4 + (hasValues ? [0, 1, 1, 2, 4, 8, 0, 0][size] : 0)
    }
    return at == payload.endIndex
  }

  /// Whether a text is listed: a sentence with `$` and checksum, or a line of a family without.
  static func isText(_ text: ArraySlice<UInt8>) -> Bool {
    if text.starts(with: "$".utf8), text.dropFirst(3).starts(with: "TXT,".utf8) {
      let content = String(decoding: text.dropLast(3), as: UTF8.self).split(separator: ",", maxSplits: 4).last ?? ""
      return texts.contains { content.hasPrefix($0) }
    }
    return families.contains { begins(text, with: $0) }
  }

  private static let families: [[UInt8]] =
    ["$PUBX,40,", "$PUBX,41,"].map { Array($0.utf8) }
    + ReceiverFamily.allCases.flatMap { $0.language?.publishableTexts ?? [] }.map { Array($0.utf8) }

  /// Whether a text begins with whole words.
  private static func begins(_ text: ArraySlice<UInt8>, with start: [UInt8]) -> Bool {
    guard text.starts(with: start), let last = start.last else { return false }
    let next = text.dropFirst(start.count).first
    return !isWord(last) || next.map { !isWord($0) } ?? true
  }

  private static func isWord(_ byte: UInt8) -> Bool {
    UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte || UInt8(ascii: "A")...UInt8(ascii: "Z") ~= byte
      || UInt8(ascii: "a")...UInt8(ascii: "z") ~= byte
  }
}
