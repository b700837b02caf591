// SPDX-License-Identifier: Apache-2.0
import MonotonicTime
import ReceiverStream
import TestSupport
import Testing

@testable import Receiver

/// Reading a logger that goes on: what its pauses cost is reported, also if the reader is killed.
@Suite("Retrieval from a logger")
struct LoggerRetrievalTests {
  private static let receiver = ReceiverDescription(
    family: .airoha, model: "LC76G", firmware: "LC76GABNR12A03S", hardware: "", capabilities: [.logger, .batching])
  private static let start: UInt32 = 1_780_000_000

  /// A logger of an AG3352: it stores a fix each interval while it is on.
  private struct Logger {
    var isOn = true
    var interval: UInt32 = 1
    /// Seconds since the start.
    var times: [UInt32] = []
    var now: UInt32 = 0

    mutating func run(_ seconds: UInt32, hasFix: Bool = true) {
      for _ in 0..<seconds {
        now += 1
        if isOn, hasFix, now % interval == 0 { times.append(now) }
      }
    }

    mutating func reply(to command: Command) -> Outcome {
      let text = String(decoding: command.bytes, as: UTF8.self).dropFirst().prefix { $0 != "*" }
      let fields = text.split(separator: ",")
      func answer(_ data: String) -> Outcome { .answered(Array("\(text),\(data)".utf8)) }
      switch fields[0] {
      case "PAIR900":
        isOn = fields[1] == "1"
        return .acknowledged
      case "PAIR901": return answer(isOn ? "1" : "0")
      case "PAIR909": return answer("\(times.count)")
      case "PAIR903": return answer("2,0")
      case "PAIR905": return answer("\(interval)")
      case "PAIR908":
        return isOn
          ? .refused(.failed)
          : .listed(
            ["PAIR908,1,\(times.count),22"].map { Array($0.utf8) } + times.map { Array(Self.record($0).utf8) })
      default: return .acknowledged
      }
    }

    private static func record(_ time: UInt32) -> String {
      func digits(_ number: UInt32) -> String {
        let text = String(number, radix: 16)
        return String(repeating: "0", count: 8 - text.count) + text
      }
      return "PAIR908,2,\(digits(LoggerRetrievalTests.start + time)),02,1CB4B5A0,06EB9C80,0200,0000,0000,005A,09"
    }
  }

  /// The fixes that a reader has printed and stored.
  private struct Reader {
    var journal = BatchJournal()
    var printed: [UInt32] = []
    var reported: [Int] = []
    var interval: UInt16 = 1

    /// - Parameters:
    ///   - kill: the number of events and commands after which it is killed.
    ///   - pause: how long the memory is read, seconds.
    /// - Returns: whether it was not killed.
    @discardableResult
    mutating func read(_ logger: inout Logger, pausing pause: UInt32 = 0, kill: Int = .max) -> Bool {
      var resumed = LoggerState(isOn: true, interval: interval)
      resumed.restarts = true
      guard
        var retrieval = LoggerRetrieval(
          BatchJournal(journal.text) ?? BatchJournal(), on: receiver, resumed: resumed, since: nil)
      else { return false }
      var steps = 0
      var lost = 0
      while !retrieval.isOver {
        var isStuck = true
        if let command = retrieval.next() {
          isStuck = false
          steps += 1
          if steps > kill { return false }
          let outcome = logger.reply(to: command)
          if case .listed = outcome { logger.run(pause) }
          retrieval.receive(outcome, at: .zero)
        }
        while let event = retrieval.nextEvent() {
          isStuck = false
          steps += 1
          if steps > kill { return false }
          switch event {
          case .lost(let count, _): lost += count
          case .fix(let entry, let after):
            journal = after
            printed.append(
              UInt32(truncatingIfNeeded: (entry.fix.time?.nanosecondsSince1970 ?? 0) / 1_000_000_000) - start)
            if lost > 0 { reported.append(lost) }
            lost = 0
          case .pauseEnds(let after), .finished(_, let after), .cut(let after, _): journal = after
          case .startedAnew: break
          }
        }
        if isStuck { return false }
      }
      return true
    }
  }

  private static func begun(at count: Int = 0, interval: UInt16 = 1) -> Reader {
    var reader = Reader()
    reader.journal.lastNumber = UInt16(count)
    reader.interval = interval
    return reader
  }

  @Test(
    "A pause is reported by the records on both sides of it, however short it was",
    arguments: [0, 1, 2, 14] as [UInt32])
  func pauses(_ length: UInt32) {
    var (logger, reader) = (Logger(), Self.begun())
    logger.run(10)
    #expect(reader.read(&logger, pausing: length))
    #expect(reader.reported.isEmpty && logger.isOn)
    logger.run(5)
    reader.read(&logger)
    #expect(reader.reported.reduce(0, +) == Int(length))
    #expect(reader.printed == Array(1...10) + Array(11 + length...15 + length))
    #expect(reader.journal.lost == Int(length))
    // It is reported once.
    logger.run(5)
    reader.read(&logger)
    #expect(reader.reported.reduce(0, +) == Int(length))
  }

  @Test("A retrieval that is cut off names a logger that stays stopped", arguments: 0..<8)
  func cutOff(_ steps: Int) throws {
    var (logger, journal) = (Logger(), BatchJournal())
    journal.lastNumber = 0
    logger.run(10)
    var retrieval = try #require(
      LoggerRetrieval(journal, on: Self.receiver, resumed: LoggerState(isOn: true, interval: 1), since: nil))
    for _ in 0..<steps {
      while retrieval.nextEvent() != nil {}
      guard let command = retrieval.next() else { break }
      retrieval.receive(logger.reply(to: command), at: .zero)
    }
    guard !retrieval.isOver else { return #expect(logger.isOn) }
    while retrieval.nextEvent() != nil {}
    retrieval.cut()
    guard case .cut(_, isStopped: !logger.isOn) = retrieval.nextEvent() else { return #expect(Bool(false)) }
  }

  @Test("Times without a fix are not pauses, and an interval of its own counts")
  func withoutFix() {
    var (logger, reader) = (Logger(), Self.begun(interval: 5))
    logger.interval = 5
    logger.run(50)
    logger.run(60, hasFix: false)
    logger.run(50)
    reader.read(&logger, pausing: 11)
    logger.run(40)
    logger.run(60, hasFix: false)
    logger.run(40)
    reader.read(&logger)
    #expect(reader.reported == [2])
  }

  @Test("Records of a person before the batch are neither printed nor a pause")
  func person() {
    var logger = Logger()
    logger.run(7)
    logger.isOn = false
    logger.run(100)
    logger.isOn = true
    var reader = Self.begun(at: 7)
    logger.run(5)
    reader.read(&logger, pausing: 1)
    logger.run(5)
    reader.read(&logger)
    #expect(reader.reported == [1] && reader.printed.first == 108)
  }

  @Test("Killed at any moment, all readers together print each fix and report each one that is lost", arguments: 1...60)
  func killed(_ kill: Int) {
    for pause in [0, 1, 3] as [UInt32] {
      var (logger, reader) = (Logger(), Self.begun())
      logger.run(6)
      reader.read(&logger, pausing: pause)
      logger.run(6)
      // Killed once while it reads, and again.
      reader.read(&logger, pausing: pause, kill: kill)
      logger.run(4)
      reader.read(&logger, pausing: pause, kill: kill / 2)
      logger.run(4)
      reader.read(&logger, pausing: pause)
      logger.run(6)
      reader.read(&logger)
      let printed = reader.printed
      #expect(printed == printed.sorted() && Set(printed).count == printed.count)
      #expect(
        printed.count + reader.reported.reduce(0, +) == Int(logger.now),
        "\(kill), \(pause): \(printed), \(reader.reported)")
    }
  }
}
