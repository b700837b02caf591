// SPDX-License-Identifier: Apache-2.0

/// The rates and constellations of a receiver that a program has changed, for the next program if this one is killed: the
/// rate of a silent receiver cannot be found by listening.
public struct CrashRecoveryRecord: Sendable, Equatable {
  /// The rate of the line, in baud; nil for a line without a rate.
  public var rate: UInt32?
  /// The rate at which it was found, in baud; nil for a line without a rate.
  public var foundRate: UInt32?
  /// Constellations that were on when it was found, and are off in battery-backed memory.
  public var without: [DesiredConfiguration.Constellation]
  /// The family of another maker's receiver, which may be asleep.
  public var family: ReceiverFamily?
  /// The port of such a receiver whose rate was changed, by its name in the family's commands; nil where they name none.
  public var port: String?

  public init(
    rate: UInt32?, foundRate: UInt32?, without: [DesiredConfiguration.Constellation] = [],
    family: ReceiverFamily? = nil, port: String? = nil
  ) {
    self.rate = rate
    self.foundRate = foundRate
    self.without = without
    self.family = family
    self.port = port
  }

  /// The record as a line of text.
  public var text: String {
    let numbers = without.map { String($0.rawValue) }.joined(separator: ",")
    let last = (family.map { " family \($0.rawValue)" } ?? "") + (port.map { " port \($0)" } ?? "")
    return "rate \(Self.word(rate))\(without.isEmpty ? "" : " without " + numbers) found \(Self.word(foundRate))\(last)"
  }

  /// Reads `text`; nil for anything else.
  public init?(_ text: some StringProtocol) {
    var words = text.split(whereSeparator: \.isWhitespace)
    var family: ReceiverFamily?
    var port: String?
    if words.count >= 8, words[words.count - 2] == "port" {
      port = String(words[words.count - 1])
      words.removeLast(2)
    }
    if words.count >= 6, words[words.count - 2] == "family" {
      family = ReceiverFamily(rawValue: String(words[words.count - 1]))
      if family == nil { return nil }
      words.removeLast(2)
    }
    // Another name in a record makes no command.
    guard port == nil || family?.language?.ports.contains(where: { $0.name == port }) == true else { return nil }
    var without: [DesiredConfiguration.Constellation] = []
    if words.count == 6, words[2] == "without" {
      let numbers = words[3].split(separator: ",", omittingEmptySubsequences: false)
      without = numbers.compactMap { UInt8($0).flatMap { DesiredConfiguration.Constellation(rawValue: $0) } }
      guard without.count == numbers.count else { return nil }
      words.removeSubrange(2...3)
    }
    guard words.count == 4, words[0] == "rate", words[2] == "found" else { return nil }
    if words[1] == Self.noRate, words[3] == Self.noRate {
      self.init(rate: nil, foundRate: nil, without: without, family: family, port: port)
      return
    }
    guard let rate = UInt32(words[1]), let found = UInt32(words[3]), Self.rates ~= rate, Self.rates ~= found else {
      return nil
    }
    self.init(rate: rate, foundRate: found, without: without, family: family, port: port)
  }

  private static func word(_ rate: UInt32?) -> String { rate.map { String($0) } ?? noRate }

  /// The word for a line without a rate.
  private static let noRate = "none"

  /// The rates of receivers, in baud.
  private static let rates: ClosedRange<UInt32> = 4800...8_000_000
}
