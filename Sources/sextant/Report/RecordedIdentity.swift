// SPDX-License-Identifier: Apache-2.0
import NMEA
import Receiver
import ReceiverStream
import UBX
import WireBytes

/// The identity of a receiver in a recording: MON-VER, or the TXT sentences of its start.
struct RecordedIdentity: Sendable {
  private static var mostStrings: Int { 32 }

  private var description: ReceiverDescription?
  private var texts: [String] = []

  mutating func add(_ frame: borrowing UBXFrame) {
    guard description == nil, frame.message(MonVER.self) != nil else { return }
    description = ReceiverDescription(monVER: [UInt8](copying: frame.payload))
  }

  mutating func add(_ sentence: borrowing Sentence) {
    guard texts.count < Self.mostStrings else { return }
    var rejected = 0
    guard let content = sentence.content(TXT.self, rejected: &rejected), let range = content.text else { return }
    var decoder = CodedCharacters(sentence.text(range))
    var characters: [UInt8] = []
    while let character = decoder.next() { characters.append(character >= 0x20 && character < 0x7F ? character : 0x3F) }
    let text = String(decoding: characters, as: UTF8.self)
    if text.hasPrefix("MOD=") || text.hasPrefix("FWVER=") || text.hasPrefix("PROTVER=") { texts.append(text) }
  }

  /// Model and firmware; nil if they are unknown.
  var text: String? {
    let found = description ?? ReceiverDescription(strings: ["", ""] + texts)
    let parts = [found?.model, found?.firmware].compactMap { $0 }
    return parts.isEmpty ? nil : parts.joined(separator: ", ")
  }
}
