/// How a program has a receiver on a serial line while it rests, for the next program should this one not live to put it back:
/// one that sleeps or collects says nothing by which its rate could be found.
public struct LeftReceiver: Sendable, Equatable {
  /// The rate of the line, in baud.
  public var rate: UInt32
  /// The rate that it was found at, in baud.
  public var foundRate: UInt32

  public init(rate: UInt32, foundRate: UInt32) {
    self.rate = rate
    self.foundRate = foundRate
  }

  /// As a line of text.
  public var text: String { "rate \(rate) found \(foundRate)" }

  /// Reads what `text` wrote; nil for anything else.
  public init?(_ text: some StringProtocol) {
    let words = text.split(whereSeparator: \.isWhitespace)
    guard words.count == 4, words[0] == "rate", words[2] == "found", let rate = UInt32(words[1]),
      let found = UInt32(words[3]), Self.rates ~= rate, Self.rates ~= found
    else { return nil }
    self.init(rate: rate, foundRate: found)
  }

  /// Rates that receivers have.
  private static let rates: ClosedRange<UInt32> = 4800...8_000_000
}
