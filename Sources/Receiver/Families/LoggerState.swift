// SPDX-License-Identifier: Apache-2.0

/// The logger of a receiver, such as LOCUS: whether it runs, and what its memory holds.
public struct LoggerState: Sendable, Hashable {
  public var isOn: Bool
  /// The time between two records, in seconds.
  public var interval: UInt16
  /// The number of records in the memory.
  public var records = 0
  /// The number of records that fit beside them; an estimate on the safe side.
  public var free = 0
  /// Whether new records overwrite the oldest ones when the memory is full.
  public var overwrites = false
  /// Further settings of the logger by the family's numbers: Airoha's mode, its check of the fix, and its thresholds of speed and
  /// distance.
  var details: [UInt16] = []
  /// Wanted: the records are erased.
  var erases = false
  /// Wanted: a running logger may be started anew, because this program started it.
  var restarts = false
  /// Wanted: a user's log that was stopped for a restart is started again, with the receiver's settings. Only the interval is set, where
  /// a restart changes it.
  var resumes = false
  /// Wanted: the number of records that have to fit, and the most records that can be read in time.
  var required = 0
  var readable = Int.max

  init(isOn: Bool, interval: UInt16) {
    self.isOn = isOn
    self.interval = interval
  }

  /// The log of a user that goes on after a restart.
  static func resuming(interval: UInt16) -> LoggerState {
    var state = LoggerState(isOn: true, interval: interval)
    state.resumes = true
    return state
  }

  /// Whether a logger in this state needs no command for `wanted`.
  func covers(_ wanted: LoggerState) -> Bool {
    if wanted.resumes { return isOn }
    if wanted.erases, records > 0 { return false }
    return isOn == wanted.isOn && interval == wanted.interval && (wanted.details.isEmpty || details == wanted.details)
  }

  /// Whether the memory has room for the records of `wanted`. A logger that this program started has what it found.
  func hasRoom(for wanted: LoggerState) -> Bool {
    if wanted.restarts { return true }
    let (kept, room) = wanted.erases ? (0, free + records) : (records, free)
    return room >= wanted.required && wanted.required <= wanted.readable - min(kept, wanted.readable)
  }

  /// One word: numbers with `:` between them.
  var text: String {
    ([isOn ? 1 : 0, Int(interval), records, free, overwrites ? 1 : 0] + details.map { Int($0) }).map { "\($0)" }
      .joined(separator: ":")
  }

  /// The range of counts that are read: more than any memory holds.
  private static let counts = 0...1_000_000

  /// Reads `text`; nil for anything else.
  init?(_ text: String) {
    let words = text.split(separator: ":", omittingEmptySubsequences: false)
    let numbers = words.compactMap { Int($0) }
    guard numbers.count == words.count, numbers.count >= 5, numbers.allSatisfy(Self.counts.contains),
      [0, 1].contains(numbers[0]), [0, 1].contains(numbers[4]), let interval = UInt16(exactly: numbers[1])
    else { return nil }
    let details = numbers.dropFirst(5).compactMap { UInt16(exactly: $0) }
    guard details.count == numbers.count - 5 else { return nil }
    self.init(isOn: numbers[0] == 1, interval: interval)
    (records, free, overwrites, self.details) = (numbers[2], numbers[3], numbers[4] == 1, details)
  }
}

/// The contents of a logger's memory as a receiver sent them.
struct LoggerDump: Sendable, Equatable {
  /// The records, oldest first; nil for one that is damaged, or whose bytes did not arrive.
  var records: [BatchedFix?] = []
  /// Whether every line arrived.
  var isComplete = false
}

/// The commands of a logger, except those that set `ReceiverValue.logger`.
struct LoggerCommands: Sendable {
  var stop: Command
  /// Sends the contents of the memory, which are kept.
  var dump: Command
  /// Starts the logger after a change of the baud rate that has stopped it; nil where it goes on.
  var resumption: Command?
}
