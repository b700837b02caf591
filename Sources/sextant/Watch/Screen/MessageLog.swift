// SPDX-License-Identifier: Apache-2.0
import GPSD
import ReceiverStream
import UBX
import WireBytes

/// The last messages of a receiver, for the screen.
struct MessageLog {
  /// A message as it arrived.
  struct Entry: Equatable {
    /// Such as `UBX NAV-PVT`; empty for a sentence, which begins with its name.
    var name: String
    /// The length of the message in bytes.
    var length: Int
    /// Its first bytes, up to `longest`.
    var bytes: [UInt8]

    private static let longest = 256

    init(_ frame: borrowing Frame) {
      length = frame.bytes.byteCount
      bytes = [UInt8](copying: frame.bytes.extracting(first: Self.longest))
      name =
        if let ubx = frame.ubx {
          "UBX \(MessageLayout.of(ubx)?.name.description ?? Self.number(ubx.identity))"
        } else if let rtcm3 = frame.rtcm3 {
          "RTCM3 \(rtcm3.messageNumber.map(String.init) ?? "empty")"
        } else if let spartn = frame.spartn {
          "SPARTN \(spartn.messageType)-\(spartn.subtype)"
        } else {
          ""
        }
    }

    /// The message in one line: a sentence as it is, a binary message in hexadecimal digits.
    var text: String {
      if name.isEmpty {
        return ScreenText.foreign(String(decoding: bytes.filter { $0 != 0x0D && $0 != 0x0A }, as: UTF8.self))
      }
      let digits = ScreenText.written { line in for byte in bytes { line.hexadecimal(byte) } }
      return "\(name)  \(length) bytes  \(digits)"
    }

    private static func number(_ identity: MessageIdentity) -> String {
      ScreenText.written {
        $0.put("0x")
        $0.hexadecimal(identity.messageClass)
        $0.put("-0x")
        $0.hexadecimal(identity.messageID)
      }
    }
  }

  private(set) var entries: [Entry] = []
  /// The number of messages so far.
  private(set) var total: UInt64 = 0

  private static let most = 1000

  /// Adds a message. The oldest ones are discarded.
  mutating func add(_ entry: Entry) {
    if entries.count >= Self.most { entries.removeFirst(Self.most / 2) }
    entries.append(entry)
    total += 1
  }
}
