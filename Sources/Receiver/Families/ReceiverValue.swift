// SPDX-License-Identifier: Apache-2.0

/// A sentence and its rate: every n-th fix, 0 for never.
public struct SentenceRate: Sendable, Hashable {
  /// The formatter, such as GSV.
  public var formatter: String
  public var rate: UInt8

  public init(_ formatter: String, _ rate: UInt8) {
    self.formatter = formatter
    self.rate = rate
  }
}

/// A setting of a receiver of another maker, and its value.
public enum ReceiverValue: Sendable, Hashable {
  /// The time between two fixes, in milliseconds.
  case period(UInt16)
  /// The rates of sentences; those that are not listed stay as they are.
  case messages([SentenceRate])
  /// The constellations in use; all others are off.
  case constellations([DesiredConfiguration.Constellation])

  public enum Kind: String, Sendable, CaseIterable { case period = "rate", messages, constellations }

  public var kind: Kind {
    switch self {
    case .period: .period
    case .messages: .messages
    case .constellations: .constellations
    }
  }

  /// Two words: the kind, and the value without blanks.
  var text: String {
    switch self {
    case .period(let milliseconds): "\(kind.rawValue) \(milliseconds)"
    case .messages(let list): "\(kind.rawValue) -" + list.map { "\($0.formatter):\($0.rate)" }.joined(separator: ",")
    case .constellations(let list):
      "\(kind.rawValue) -" + list.map { String($0.rawValue) }.joined(separator: ",")
    }
  }

  /// Reads the two words of `text`; nil for anything else.
  init?(_ kind: String, _ word: String) {
    switch Kind(rawValue: kind) {
    case .period?:
      guard let milliseconds = UInt16(word) else { return nil }
      self = .period(milliseconds)
    case .messages?:
      guard word.first == "-" else { return nil }
      let words = word.dropFirst().split(separator: ",")
      let list = words.compactMap { one -> SentenceRate? in
        let parts = one.split(separator: ":")
        guard parts.count == 2, let rate = UInt8(parts[1]) else { return nil }
        return SentenceRate(String(parts[0]), rate)
      }
      guard list.count == words.count else { return nil }
      self = .messages(list)
    case .constellations?:
      guard word.first == "-" else { return nil }
      let words = word.dropFirst().split(separator: ",")
      let list = words.compactMap { UInt8($0).flatMap { DesiredConfiguration.Constellation(rawValue: $0) } }
      guard list.count == words.count else { return nil }
      self = .constellations(list)
    case nil: return nil
    }
  }

  /// Whether a receiver with this value needs no change for `wanted`.
  func covers(_ wanted: ReceiverValue) -> Bool {
    switch (self, wanted) {
    case (.messages(let there), .messages(let wanted)):
      wanted.allSatisfy { one in (there.first { $0.formatter == one.formatter }?.rate ?? 0) == one.rate }
    case (.constellations(let there), .constellations(let wanted)): Set(there) == Set(wanted)
    default: self == wanted
    }
  }

  /// The value that restores this one after `wanted` was set: sentences that were added are off again.
  func undoing(_ wanted: ReceiverValue) -> ReceiverValue {
    guard case .messages(let there) = self, case .messages(let wanted) = wanted else { return self }
    let added = wanted.filter { one in !there.contains { $0.formatter == one.formatter } }
    return .messages(there + added.map { SentenceRate($0.formatter, 0) })
  }
}
