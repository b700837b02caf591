import ReceiverStream

/// What was delivered of a receiver's batch: the next retrieval, of this process or another, goes on behind it.
///
/// As text it is one line, for a file that is replaced or appended to as a whole.
public struct BatchJournal: Sendable, Equatable {
  /// The number of the last LOG-BATCH that is dealt with; nil before the first.
  public var lastNumber: UInt16?
  /// The time of the last fix that was delivered.
  public var lastTime: UTCTime?
  /// Overwritten epochs that were reported.
  public var drops = 0
  /// Fixes delivered, and fixes known to be lost.
  public var delivered = 0
  public var lost = 0

  public init() {}

  /// The batch is set up and empty; this is what the receiver says of it.
  public init(_ status: BatchStatus) {
    lastNumber = status.nextNumber &- 1
    drops = status.drops
  }

  /// `batch 1 NUMBER TIME DROPS DELIVERED LOST end`, where what is not known is `-`.
  public var text: String {
    let words = [
      lastNumber.map { String($0) } ?? "-", lastTime.map { String($0.nanosecondsSince1970) } ?? "-", String(drops),
      String(delivered), String(lost),
    ]
    return "batch 1 " + words.joined(separator: " ") + " end"
  }

  /// Counts that are read: what is added to them never ends the process.
  private static let counts = 0...Int.max / 2

  /// Reads `text`; nil for what is not whole or not this, and for counts and times that nothing can have.
  public init?(_ text: some StringProtocol) {
    let words = text.split(whereSeparator: { $0 == " " || $0 == "\n" })
    guard words.count == 8, words[0] == "batch", words[1] == "1", words[7] == "end", let drops = Int(words[4]),
      let delivered = Int(words[5]), let lost = Int(words[6]),
      [drops, delivered, lost].allSatisfy(Self.counts.contains)
    else { return nil }
    if words[2] != "-" {
      guard let number = UInt16(words[2]) else { return nil }
      lastNumber = number
    }
    if words[3] != "-" {
      // With a time beyond all others nothing would ever be delivered again.
      guard let time = Int64(words[3]).map(UTCTime.init(nanosecondsSince1970:)), time.isBelieved else { return nil }
      lastTime = time
    }
    (self.drops, self.delivered, self.lost) = (drops, delivered, lost)
  }
}
