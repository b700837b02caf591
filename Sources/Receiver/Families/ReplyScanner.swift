// SPDX-License-Identifier: Apache-2.0
import RTCM3
import WireBytes

/// A frame of a receiver of another maker.
enum FamilyFrame: Equatable {
  /// A line of text without its end; a sentence also without `$` and checksum.
  case text([UInt8])
  /// Class and id, or the id alone, and the payload.
  case binary(FrameLayout, UInt16, [UInt8])
}

extension FrameLayout {
  var family: ReceiverFamily {
    switch self {
    case .casic: .casic
    case .allystar: .allystar
    case .skyTraq: .skyTraq
    case .unicore: .unicore
    case .sbf: .septentrio
    }
  }
}

/// Finds the frames of other makers in the bytes of a line, while a request to such a receiver is in flight.
struct ReplyScanner: Sendable {
  private static let longest = 4096

  private var bytes: [UInt8] = []

  mutating func reset() { bytes = [] }

  /// Takes bytes; `body` gets each whole frame, and the family that it proves.
  mutating func receive(_ span: RawSpan, _ body: (FamilyFrame, ReceiverFamily?) -> Void) {
    bytes.append(contentsOf: [UInt8](copying: span))
    var at = 0
    search: while at < bytes.count {
      switch FrameLayout.scan(bytes[at...]) {
      case .incomplete: break search
      case .frame(let layout, let identity, let payload, let length):
        body(.binary(layout, identity, payload), layout.family)
        at += length
      case .none:
        guard Self.isText(bytes[at]) else {
          at += 1
          continue
        }
        if let port = Self.prompt(bytes[at...]) {
          body(.text(port), nil)
          at += Self.promptLength
          continue
        }
        // Tabulators separate the words of some lists.
        var end = at
        while end < bytes.count, Self.isText(bytes[end]) || bytes[end] == 9 { end += 1 }
        guard end < bytes.count else { break search }
        if let (line, isUnicore) = Self.text(bytes[at..<end]) {
          body(.text(line), isUnicore ? .unicore : Self.isOfSeptentrio(line) ? .septentrio : nil)
        }
        at = end
      }
    }
    bytes.removeFirst(at)
    if bytes.count > Self.longest { bytes = [] }
  }

  /// Such a receiver also rejects what is in the polls of other makers.
  private static func isOfSeptentrio(_ line: [UInt8]) -> Bool {
    line.starts(with: "R: getReceiverCapabilities".utf8) || isRejection(line[...])
  }

  /// Whether it is the end of a line of Septentrio's that repeats what was rejected, binary requests too.
  private static func isRejection(_ line: ArraySlice<UInt8>) -> Bool {
    line.last == rejection.last && line.suffix(rejection.count).elementsEqual(rejection)
  }

  private static let rejection = Array(": Invalid command!".utf8)

  private static let promptLength = 5

  /// Returns Septentrio's prompt, such as `COM1>`, as `>COM1`: no line end follows it. Nil for other text.
  private static func prompt(_ text: ArraySlice<UInt8>) -> [UInt8]? {
    let end = text.startIndex + promptLength - 1
    guard end < text.endIndex, text[end] == UInt8(ascii: ">") else { return nil }
    let name = text[..<end]
    guard name.allSatisfy({ 0x41...0x5A ~= $0 || 0x30...0x39 ~= $0 })
    else { return nil }
    return [UInt8(ascii: ">")] + name
  }

  private static func isText(_ byte: UInt8) -> Bool { byte >= 0x20 && byte < 0x7F }

  /// Returns a sentence, and whether it has Unicore's checksum; of a line that interrupts another, the last sentence. Nil for
  /// one without a checksum or with a wrong one, which may be cut; Septentrio's replies have none.
  private static func text(_ line: ArraySlice<UInt8>) -> (line: [UInt8], isUnicore: Bool)? {
    if isRejection(line) {
      let start = line.indices.first { line[$0...].starts(with: "$R? ".utf8) }
      return (Array(start.map { line[$0...].dropFirst() } ?? line), false)
    }
    var line = line
    if let start = line.lastIndex(of: UInt8(ascii: "$")) { line = line[start...] }
    guard let first = line.first, first == UInt8(ascii: "$") || first == UInt8(ascii: "#") else {
      // Values of Septentrio, or the rest of a cut sentence.
      if line.starts(with: "  ".utf8) { return (Array(line.dropFirst(2)), false) }
      return line.contains(UInt8(ascii: ",")) ? nil : (Array(line), false)
    }
    let body = line.dropFirst()
    if let content = withLongChecksum(body) { return (content, false) }
    if body.starts(with: "R: ".utf8) || body.starts(with: "R? ".utf8) { return (Array(body), false) }
    guard body.count >= 3, body[body.endIndex - 3] == UInt8(ascii: "*"),
      let sum = UInt8(String(decoding: body.suffix(2), as: UTF8.self), radix: 16)
    else { return nil }
    let content = body.dropLast(3)
    let found = content.span.exclusiveOr
    // Unicore's texts are summed with their first character (recorded: UM980).
    guard sum == found || sum == found ^ first else { return nil }
    let words = ["command,", "CONFIG,", "devicename,"]
    return (Array(content), sum != found && words.contains { content.starts(with: $0.utf8) })
  }

  /// Returns the content of a log of Unicore's, whose checksum has eight digits; nil for another line. Logs of other makers have the same.
  private static func withLongChecksum(_ body: ArraySlice<UInt8>) -> [UInt8]? {
    guard body.count >= 9, body[body.endIndex - 9] == UInt8(ascii: "*"),
      let sum = UInt32(String(decoding: body.suffix(8), as: UTF8.self), radix: 16)
    else { return nil }
    let content = body.dropLast(9)
    return FrameLayout.crc32(content) == sum ? Array(content) : nil
  }
}
