// SPDX-License-Identifier: Apache-2.0
import ReceiverStream

/// The delivered part of a receiver's batch: the next retrieval, of this process or another, continues after it.
///
/// The text is one line, for a file that is replaced or appended to as a whole.
public struct BatchJournal: Sendable, Equatable {
  /// The number of the last handled LOG-BATCH; nil before the first.
  public var lastNumber: UInt16?
  /// The time of the last delivered fix.
  public var lastTime: UTCTime?
  /// The number of reported epochs that were overwritten.
  public var drops = 0
  /// The numbers of delivered and of lost fixes.
  public var delivered = 0
  public var lost = 0
  /// The number of records in a logger's memory when it stored nothing because it was read, until the fixes that this cost are reported.
  var recordsAtPause: Int?

  public init() {}

  /// The journal of a new, empty batch with this status.
  public init(_ status: BatchStatus) {
    lastNumber = status.nextNumber &- 1
    drops = status.drops
  }

  /// `batch 1 NUMBER TIME DROPS DELIVERED LOST end`, with `-` for an unknown value, and with the records at a pause before `end` if there
  /// was one.
  public var text: String {
    let words =
      [
        lastNumber.map { String($0) } ?? "-", lastTime.map { String($0.nanosecondsSince1970) } ?? "-", String(drops),
        String(delivered), String(lost),
      ] + (recordsAtPause.map { [String($0)] } ?? [])
    return "batch 1 " + words.joined(separator: " ") + " end"
  }

  /// The range of counts that are read: additions to them do not overflow.
  private static let counts = 0...Int.max / 2

  /// Reads `text`; nil if it is incomplete or malformed, or has impossible counts or times.
  public init?(_ text: some StringProtocol) {
    let words = text.split(whereSeparator: { $0 == " " || $0 == "\n" })
    guard 8...9 ~= words.count, words[0] == "batch", words[1] == "1", words.last == "end", let drops = Int(words[4]),
      let delivered = Int(words[5]), let lost = Int(words[6]),
      [drops, delivered, lost].allSatisfy(Self.counts.contains)
    else { return nil }
    if words[2] != "-" {
      guard let number = UInt16(words[2]) else { return nil }
      lastNumber = number
    }
    if words[3] != "-" {
      // After a time beyond all others no fix would ever be delivered.
      guard let time = Int64(words[3]).map(UTCTime.init(nanosecondsSince1970:)), time.isBelieved else { return nil }
      lastTime = time
    }
    if words.count == 9 {
      guard let records = Int(words[7]), Self.counts.contains(records) else { return nil }
      recordsAtPause = records
    }
    (self.drops, self.delivered, self.lost) = (drops, delivered, lost)
  }
}
