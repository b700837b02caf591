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
      let isInserted = isUnfinished && bytes.first.map(Self.isLetter) == true
      isUnfinished = bytes.last != Self.lineEnd.last
      if isInserted { return .send(Self.lineEnd + bytes) }
    default: break
    }
    return action
  }

  private static func isLetter(_ byte: UInt8) -> Bool { 0x41...0x5A ~= byte & 0xDF }
}
