// SPDX-License-Identifier: Apache-2.0
import RTCM3
import UBX
import WireBytes

/// Splits the bytes of a line into frames, and leaves out those that may have a position or a serial number.
///
/// A frame is kept if it is on a list: `PublishableMessages` for u-blox, `publishableTexts` and `publishableFrames` of
/// each
/// family. Everything else, bytes outside of frames too, is left out with its name and length.
package struct DialogueFilter {
  package enum Part: Equatable {
    case kept(name: String, [UInt8])
    case leftOut(name: String, count: Int)

    package var name: String {
      switch self {
      case .kept(let name, _), .leftOut(let name, _): name
      }
    }
  }

  /// The name of bytes that belong to no frame.
  package static let noFrame = "no frame"
  private static let longestFrame = 8192
  private static let longestText = 1024

  private var pending: [UInt8] = []

  package init() {}

  /// Takes received bytes. Returns what they complete.
  package mutating func receive(_ bytes: RawSpan) -> [Part] {
    pending += [UInt8](copying: bytes)
    return cut(isEnd: false)
  }

  /// Returns the rest, a frame that was cut.
  package mutating func finish() -> [Part] { cut(isEnd: true) }

  /// Returns the parts of a write to the receiver.
  package static func parts(ofWrite bytes: [UInt8]) -> [Part] {
    // They wake a receiver.
    if !bytes.isEmpty, bytes.allSatisfy({ $0 == 0xFF || $0 == 13 || $0 == 10 }) { return [.kept(name: "wake", bytes)] }
    // A line end can precede a line.
    let line = bytes.drop { $0 == 13 || $0 == 10 }
    let text = line.prefix { isText($0) }
    if text.count + 2 == line.count, text.first != UInt8(ascii: "$"), PublishableMessages.isText(text) {
      return [.kept(name: String(decoding: text.prefix { $0 != UInt8(ascii: " ") }, as: UTF8.self), bytes)]
    }
    var filter = DialogueFilter()
    filter.pending = bytes
    return filter.cut(isEnd: true)
  }

  private mutating func cut(isEnd: Bool) -> [Part] {
    var parts: [Part] = []
    var garbage = 0
    var at = 0
    func flush() {
      if garbage > 0 { parts.append(.leftOut(name: Self.noFrame, count: garbage)) }
      garbage = 0
    }
    scan: while at < pending.count {
      switch Self.scan(pending[at...]) {
      case .incomplete where !isEnd: break scan
      case .incomplete, .none:
        garbage += 1
        at += 1
      case .frame(let name, let length, let isKept):
        flush()
        let frame = Array(pending[at..<at + length])
        parts.append(isKept ? .kept(name: name, frame) : .leftOut(name: name, count: length))
        at += length
      }
    }
    flush()
    pending.removeFirst(at)
    return parts
  }

  private enum Scan { case none, incomplete, frame(name: String, length: Int, isKept: Bool) }

  private static func scan(_ bytes: ArraySlice<UInt8>) -> Scan {
    switch bytes.first {
    case 0xB5: return scanUBX(bytes)
    case UInt8(ascii: "$"), UInt8(ascii: "#"): return scanText(bytes)
    default: break
    }
    switch FrameLayout.scan(bytes) {
    case .none: return .none
    case .incomplete: return bytes.count > longestFrame ? .none : .incomplete
    case .frame(let layout, let identity, _, let length):
      let isKept = layout.family.language?.publishableFrames.contains(identity) ?? false
      let name = "\(layout.family.rawValue)-" + String(identity, radix: 16)
      return .frame(name: name, length: length, isKept: isKept)
    }
  }

  private static func scanUBX(_ bytes: ArraySlice<UInt8>) -> Scan {
    let at = bytes.startIndex
    guard bytes.count > 1 else { return .incomplete }
    guard bytes[at + 1] == 0x62 else { return .none }
    guard bytes.count >= 6 else { return .incomplete }
    let length = 8 + Int(bytes[at + 4]) + Int(bytes[at + 5]) << 8
    guard length <= longestFrame else { return .none }
    guard bytes.count >= length else { return .incomplete }
    let sum = unsafe checksum(of: bytes.span.bytes, from: 2, count: length - 4)
    guard Array(bytes[at + length - 2..<at + length]).u2(0) == sum else { return .none }
    let identity = MessageIdentity(bytes[at + 2], bytes[at + 3])
    let payload = bytes[at + 6..<at + length - 2]
    return .frame(
      name: MessageNames.name(identity), length: length, isKept: PublishableMessages.isUBX(identity, payload))
  }

  /// A sentence, or a line of Unicore or Septentrio, with its line end. A sentence that another one interrupts is
  /// garbage.
  private static func scanText(_ bytes: ArraySlice<UInt8>) -> Scan {
    let end = bytes.dropFirst().firstIndex { !isText($0) || $0 == UInt8(ascii: "$") } ?? bytes.endIndex
    let text = bytes[bytes.startIndex..<end]
    guard text.count <= longestText else { return .none }
    guard end < bytes.endIndex, bytes[end] != 13 || end + 1 < bytes.endIndex else { return .incomplete }
    guard bytes[end] == 13 || bytes[end] == 10, hasChecksum(text) else { return .none }
    let length = text.count + (bytes[end] == 13 && bytes[end + 1] == 10 ? 2 : 1)
    return .frame(name: name(of: text), length: length, isKept: PublishableMessages.isText(text))
  }

  /// Septentrio's replies have none; Unicore's is summed with the first character.
  private static func hasChecksum(_ text: ArraySlice<UInt8>) -> Bool {
    if text.starts(with: "$R: ".utf8) || text.starts(with: "$R? ".utf8) { return true }
    guard text.count >= 4, text[text.endIndex - 3] == UInt8(ascii: "*"),
      let sum = UInt8(String(decoding: text.suffix(2), as: UTF8.self), radix: 16)
    else { return false }
    let content = text.dropFirst().dropLast(3)
    let found = content.span.exclusiveOr
    return sum == found || sum == found ^ text[text.startIndex]
  }

  /// The address; of u-blox's own sentences also their number.
  private static func name(of text: ArraySlice<UInt8>) -> String {
    let fields = String(decoding: text.dropFirst(), as: UTF8.self).split(
      separator: ",", maxSplits: 2, omittingEmptySubsequences: false)
    let address = fields[0].prefix { $0.isLetter || $0.isNumber }
    return address == "PUBX" && fields.count > 1 ? "PUBX-\(fields[1].prefix(2))" : String(address)
  }

  private static func isText(_ byte: UInt8) -> Bool { byte >= 0x20 && byte < 0x7F }
}
