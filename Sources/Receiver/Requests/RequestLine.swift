// SPDX-License-Identifier: Apache-2.0

/// Ends what a receiver that reads lines has of earlier requests, before it gets a line of text: binary requests have no line end, and
/// those at another rate of the line are garbage. It would read both as one line.
struct RequestLine: Sendable {
  private static let lineEnd: [UInt8] = [13, 10]

  private var isUnfinished = false

  /// Returns an action as it is carried out.
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

  /// Whether bytes are a line that begins with a letter. Frames of SPARTN do as well, and are no text.
  private static func isLine(_ bytes: [UInt8]) -> Bool {
    guard let first = bytes.first, 0x41...0x5A ~= first & 0xDF, bytes.suffix(2) == Self.lineEnd[...] else {
      return false
    }
    return bytes.dropLast(2).allSatisfy { 0x20...0x7E ~= $0 || $0 == 13 || $0 == 10 }
  }
}
