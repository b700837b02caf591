// SPDX-License-Identifier: Apache-2.0
import NMEA
import WireBytes

/// A text for people in a receiver's TXT sentence.
struct ReceiverText {
  /// The texts with which receivers announce their start: u-blox, CASIC and Allystar (u-blox interface descriptions, "boot screen";
  /// the others as recorded). Others are sent at any time: of the antenna, of errors on the line, before a change of signals.
  private static let starts: [StaticString] = [
    "u-blox", "HW UBX", "HW  UBX", "ROM ", "EXT CORE", "FWVER=", "PROTVER=", "MOD=", "MA=CASIC", "IC=AT", "SW=URANUS",
    "ALLYSTAR",
  ]

  /// The proprietary sentences with which receivers of other makers announce their start.
  static func announcesStart(_ sentence: borrowing Sentence) -> Bool {
    for start in proprietaryStarts where VendorEvidence.contains(start, sentence.bytes) { return true }
    return false
  }

  private static let proprietaryStarts: [StaticString] = ["$PMTK010,001", "$PMTK011,", "$PAIR010,", "$PSTMVER,"]

  /// Whether the text announces a start of the receiver.
  let announcesStart: Bool
  /// CASIC sends the state of its antenna with each epoch, as a warning.
  private static let good: StaticString = "ANTENNA OK"

  /// An error or a warning, decoded; nil for notices, for texts of a start, and for a good state of the antenna.
  let warning: String?

  init?(_ sentence: borrowing Sentence) {
    var rejected = 0
    guard let content = sentence.content(TXT.self, rejected: &rejected), let range = content.text else { return nil }
    let text = sentence.text(range)
    var announcesStart = false
    for start in Self.starts where VendorEvidence.contains(start, text) { announcesStart = true }
    self.announcesStart = announcesStart
    let isGood = announcesStart || VendorEvidence.contains(Self.good, text)
    guard let identifier = content.identifier, identifier <= 1, !isGood else {
      warning = nil
      return
    }
    var decoder = CodedCharacters(text)
    var characters: [UInt8] = []
    while let character = decoder.next() { characters.append(character >= 0x20 && character < 0x7F ? character : 0x3F) }
    warning = String(decoding: characters, as: UTF8.self)
  }
}
