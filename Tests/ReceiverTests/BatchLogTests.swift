// SPDX-License-Identifier: Apache-2.0
import MonotonicTime
import Receiver
import ReceiverStream
import TestSupport
import Testing

@Suite("The batch log of a killed reader")
struct BatchLogTests {
  /// LOG-BATCH of a fix at this second of a day.
  private static func payload(_ number: UInt16, second: Int) -> [UInt8] {
    var payload = [UInt8](repeating: 0, count: 100)
    payload[2] = UInt8(truncatingIfNeeded: number)
    payload[3] = UInt8(truncatingIfNeeded: number >> 8)
    payload[8] = UInt8(2026 & 0xFF)
    payload[9] = UInt8(2026 >> 8)
    (payload[10], payload[11]) = (6, 1)
    (payload[12], payload[13], payload[14]) = (
      UInt8(second / 3600), UInt8(second / 60 % 60), UInt8(second % 60)
    )
    payload[15] = 3
    (payload[24], payload[25]) = (3, 1)
    return payload
  }

  private static func frame(_ payload: [UInt8]) -> [UInt8] {
    let body: [UInt8] = [0x21, 0x11, UInt8(payload.count), 0] + payload
    var (a, b): (UInt8, UInt8) = (0, 0)
    for byte in body {
      a &+= byte
      b &+= a
    }
    return [0xB5, 0x62] + body + [a, b]
  }

  private static func fixes(_ retrieval: inout BatchRetrieval) -> (numbers: [UInt16], journal: BatchJournal, lost: Int)
  {
    var (numbers, journal, lost): ([UInt16], BatchJournal, Int) = ([], retrieval.journal, 0)
    while let event = retrieval.nextEvent() {
      switch event {
      case .fix(let fix, let after):
        numbers.append(fix.number)
        journal = after
      case .lost(let number, _): lost += number
      default: break
      }
    }
    return (numbers, journal, lost)
  }

  @Test("After a kill at any byte and any printed fix the next reader delivers the remaining fixes, each once")
  func anyByte() {
    let first: UInt16 = 65_533
    let entries = (0..<8).map { Self.payload(first &+ UInt16($0), second: 40_000 + $0) }
    let line = entries.flatMap { Self.frame($0) }
    for cut in stride(from: 0, through: line.count, by: 7) {
      let log = BatchLog(BatchLog.header("4a11") + line[..<cut])
      #expect(log.receiver == "4a11")
      #expect(log.payloads.count == cut / 108 && log.unfinishedFrame.count == cut % 108)
      for printed in 0...log.payloads.count {
        // The journal is the one after the last noted fix.
        var before = BatchRetrieval(BatchJournal())
        for entry in entries[..<printed] { before.receive(logBATCH: entry, at: .zero) }
        let old = Self.fixes(&before)
        var after = BatchRetrieval(old.journal, earlier: log.payloads)
        // The remaining entries come from the line, after the frame that was cut.
        for entry in entries[log.payloads.count...] { after.receive(logBATCH: entry, at: .zero) }
        let new = Self.fixes(&after)
        #expect(old.numbers + new.numbers == (0..<8).map { first &+ UInt16($0) }, "cut at \(cut), \(printed) printed")
        #expect(new.lost == 0 && new.journal.delivered == 8)
      }
    }
  }

  @Test("Fixes that were sent without a reader are reported as lost, with their number")
  func lostOnTheLine() {
    let entries = (0..<10).map { Self.payload(UInt16($0), second: 100 + $0) }
    let log = BatchLog(BatchLog.header("a") + entries[..<4].flatMap { Self.frame($0) })
    var retrieval = BatchRetrieval(BatchJournal(), earlier: log.payloads)
    for entry in entries[7...] { retrieval.receive(logBATCH: entry, at: .zero) }
    let (numbers, journal, lost) = Self.fixes(&retrieval)
    #expect(numbers == [0, 1, 2, 3, 7, 8, 9] && lost == 3 && journal.lost == 3)
  }

  @Test("Damage in a log costs only the damaged frames, and a file of another kind is rejected")
  func damaged() {
    var bytes = BatchLog.header("a") + (0..<5).flatMap { Self.frame(Self.payload(UInt16($0), second: Int($0))) }
    bytes[11 + 108 + 50] ^= 1
    #expect(BatchLog(bytes).payloads.map { $0[2] } == [0, 2, 3, 4])
    #expect(BatchLog([]) == BatchLog(Array("receiver".utf8)).withoutIdle)
    #expect(BatchLog(Array("GIF89a and more\n".utf8)).payloads.isEmpty)
  }

  @Test("The place in the output shows how much of a line a killed reader printed")
  func place() throws {
    let place = OutputPosition(device: 42, inode: .max, size: 1000)
    #expect(OutputPosition(place.text) == place)
    for length in 0..<place.text.count { #expect(OutputPosition(place.text.prefix(length)) == nil) }
    #expect(place.bytesPrinted(until: OutputPosition(device: 42, inode: .max, size: 1011)) == 11)
    #expect(place.bytesPrinted(until: OutputPosition(device: 42, inode: 7, size: 1011)) == nil)
    #expect(place.bytesPrinted(until: OutputPosition(device: 42, inode: .max, size: 999)) == nil)
    #expect(place.bytesPrinted(until: nil) == nil)
    let line = Array("{\"class\":\"TPV\"}\n".utf8)
    #expect(OutputPosition.rest(of: line, printed: []) == line)
    #expect(OutputPosition.rest(of: line, printed: Array(line[..<5])) == Array(line[5...]))
    #expect(OutputPosition.rest(of: line, printed: line).isEmpty)
    #expect(OutputPosition.rest(of: line, printed: Array("sextant: 3 fixes lost\n".utf8)) == line)
  }

  @Test(
    "The retrieval goes on where its reader was killed, while the receiver still sends", arguments: [1, 2, 5, 20, 47])
  func overtaken(_ already: Int) {
    let entries = (0..<50).map { Self.payload(UInt16($0), second: 100 + $0) }
    // The second reader requests while the receiver sends to the first one: it ignores a second request.
    var retrieval = BatchRetrieval(BatchJournal(), earlier: Array(entries[..<already]))
    for entry in entries[already..<already + 2] { retrieval.receive(logBATCH: entry, at: .zero) }
    #expect(retrieval.next() != nil)
    for entry in entries[(already + 2)..<49] { retrieval.receive(logBATCH: entry, at: .zero) }
    // It does now, and announces the last one, and one that came in.
    var monitor = [UInt8](repeating: 0, count: 12)
    (monitor[4], monitor[10]) = (1, 49)
    retrieval.receive(.answered(monitor), at: .zero)
    #expect(!retrieval.isOver, "what is announced has not come")
    retrieval.receive(logBATCH: entries[49], at: .zero)
    #expect(retrieval.isOver)
    let (numbers, _, lost) = Self.fixes(&retrieval)
    #expect(numbers == (0..<50).map { UInt16($0) } && lost == 0)
  }
}

extension BatchLog {
  /// Without the bytes at its end that are the beginning of nothing.
  fileprivate var withoutIdle: BatchLog {
    var log = self
    log.unfinishedFrame = []
    return log
  }
}
