// SPDX-License-Identifier: Apache-2.0
import NMEA
import ReceiverStream
import UBX

/// The key of a message in a stream: messages with the same key have the same name.
package enum MessageKey: Hashable, Sendable {
  case ubx(UInt16)
  case nmea(SentenceName)
  case rtcm3(UInt16)
  case spartn

  package init(_ frame: borrowing Frame) {
    if let ubx = frame.ubx {
      self = .ubx(ubx.identity.key)
    } else if let sentence = frame.nmea {
      self = .nmea(sentence.name)
    } else if let rtcm3 = frame.rtcm3 {
      self = .rtcm3(rtcm3.messageNumber.map { UInt16(truncatingIfNeeded: $0) } ?? 0xFFFF)
    } else {
      self = .spartn
    }
  }

  /// Such as `UBX NAV-PVT`.
  package var name: String {
    switch self {
    case .ubx(let key):
      let identity = MessageIdentity(UInt8(key >> 8), UInt8(key & 0xFF))
      let name = MessageLayout.candidates(for: identity).first.map { "\($0.name)" }
      return "UBX " + (name ?? "0x" + String(key, radix: 16))
    case .nmea(let name): return "NMEA " + name.text
    case .rtcm3(let number): return "RTCM \(number)"
    case .spartn: return "SPARTN"
    }
  }
}

extension SentenceName {
  /// The characters, all of which are printable (see `Sentence.scan`).
  package var text: String { String(decoding: (0..<count).map { self[$0] }, as: UTF8.self) }
}
