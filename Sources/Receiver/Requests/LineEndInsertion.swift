// SPDX-License-Identifier: Apache-2.0
import WireBytes

/// Inserts a line end before a line of text if the bytes sent before it have none: binary requests, and requests at another baud rate.
/// A receiver that reads lines would otherwise take them for the beginning of the line.
struct LineEndInsertion: Sendable {
  private static let lineEnd: [UInt8] = [13, 10]

  private var isUnfinished = false

  /// Returns the action, with a line end inserted where one is needed.
  mutating func next(_ action: SessionAction) -> SessionAction {
    switch action {
    case .setRate: isUnfinished = true
    case .send(let bytes):
      let isInserted = isUnfinished && Self.isLine(bytes)
      isUnfinished = bytes.last != Self.lineEnd.last
      if isInserted { return .send(Self.lineEnd + bytes) }
    default: break
    }
    return action
  }

  /// Whether bytes are a line of text that begins with a letter. A SPARTN frame also begins with a letter, but is binary.
  private static func isLine(_ bytes: [UInt8]) -> Bool {
    guard let first = bytes.first, 0x41...0x5A ~= first & 0xDF, bytes.suffix(2) == Self.lineEnd[...] else {
      return false
    }
    return bytes.dropLast(2).allSatisfy { 0x20...0x7E ~= $0 || $0 == 13 || $0 == 10 }
  }
}

/// The last bytes that were sent. They come back on a line with an echo, as of a wire for both directions: such a frame is not the
/// receiver's. Each byte comes back once.
struct SentBytes: Sendable {
  /// An echo follows its bytes at once.
  private static let mostWrites = 8

  private var writes: [[UInt8]] = []

  mutating func note(_ bytes: [UInt8]) {
    writes.append(bytes)
    if writes.count > Self.mostWrites { writes.removeFirst() }
  }

  /// Returns whether the bytes of a frame were sent; then they are taken out.
  mutating func takeEcho(_ frame: RawSpan) -> Bool {
    guard frame.byteCount > 0 else { return false }
    for index in writes.indices {
      var start = 0
      while start + frame.byteCount <= writes[index].count {
        if Self.isEqual(writes[index], from: start, frame) {
          writes[index].removeSubrange(start..<start + frame.byteCount)
          return true
        }
        start += 1
      }
    }
    return false
  }

  private static func isEqual(_ write: [UInt8], from start: Int, _ frame: RawSpan) -> Bool {
    for index in 0..<frame.byteCount where write[start + index] != frame.u1(index) { return false }
    return true
  }
}
