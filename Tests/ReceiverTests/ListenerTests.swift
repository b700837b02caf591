// SPDX-License-Identifier: Apache-2.0
import MonotonicTime
import Receiver
import ReceiverSimulator
import ReceiverStream
import Testing

@Suite("Listening to a receiver")
struct ListenerTests {
  private static let epochs = VirtualLine.recording(startUTCSeconds: 1_780_000_000, seconds: 60).dropFirst(50).map(
    \.self)
  private func at(_ milliseconds: UInt64) -> Instant { Instant(nanoseconds: milliseconds * 1_000_000) }

  /// The bytes of an epoch with a fix.
  private func epoch(_ second: Int64) -> [UInt8] {
    Self.epochs[Int(second)]
  }

  @Test("An epoch is reported with its last byte")
  func lastByte() {
    var listener = Listener(searchingFrom: nil, reference: nil, now: at(0))
    var fixes = 0
    let bytes = epoch(0)
    _ = unsafe listener.receive(bytes.span.bytes.extracting(0..<bytes.count - 1), at: at(1)) { _, _ in fixes += 1 }
    #expect(fixes == 0)
    _ = unsafe listener.receive(bytes.span.bytes.extracting(bytes.count - 1..<bytes.count), at: at(2)) { report, _ in
      fixes += report.fix.hasPosition ? 1 : 0
    }
    #expect(fixes == 1)
  }

  @Test("An epoch without a known end is reported when the line falls silent")
  func silence() throws {
    var listener = Listener(searchingFrom: nil, reference: nil, now: at(0))
    var fixes = 0
    let sentence = Array("$GPGLL,4404.14066,N,12118.85481,W,171925.00,A,A*78\r\n".utf8)
    _ = unsafe listener.receive(sentence.span.bytes, at: at(10)) { _, _ in fixes += 1 }
    #expect(fixes == 0)
    let due = listener.deadline
    let deadline = try #require(due)
    #expect(deadline == at(110))
    _ = listener.wake(at: deadline) { _, _ in fixes += 1 }
    #expect(fixes == 1)
  }

  @Test("The first frame confirms the rate; after a wrong rate its bytes are discarded")
  func rates() {
    var listener = Listener(searchingFrom: 4800, reference: nil, now: at(0))
    let garbage = [UInt8](repeating: 0xB5, count: 500)
    let wrong = unsafe listener.receive(garbage.span.bytes, at: at(5)) { _, _ in }
    #expect(wrong == .setRate(9600))
    let bytes = epoch(1)
    let right = unsafe listener.receive(bytes.span.bytes, at: at(1000)) { _, _ in }
    #expect(right == .found(9600))
    let counters = listener.counters
    #expect(counters.badChecksums == 0)
  }

  @Test("Without a frame the user gets advice, once")
  func advice() {
    var listener = Listener(searchingFrom: nil, reference: nil, now: at(0))
    let due = listener.deadline
    #expect(due == at(5000))
    let first = listener.wake(at: at(5000)) { _, _ in }
    #expect(first == .adviseOnSilence)
    let second = listener.wake(at: at(9000)) { _, _ in }
    #expect(second == .none)
  }

  @Test("A frame that is cut off does not swallow the next one")
  func cut() {
    var listener = Listener(searchingFrom: nil, reference: nil, now: at(0))
    // A NAV-PVT header, and then the receiver is unplugged.
    let beginning: [UInt8] = [0xB5, 0x62, 0x01, 0x07, 0x5C, 0x00, 1, 2, 3]
    _ = unsafe listener.receive(beginning.span.bytes, at: at(0)) { _, _ in }
    _ = listener.wake(at: at(2000)) { _, _ in }
    var fixes = 0
    let bytes = epoch(2)
    _ = unsafe listener.receive(bytes.span.bytes, at: at(2500)) { _, _ in fixes += 1 }
    #expect(fixes == 1)
  }

  @Test("A silent line needs no wake-up once the rate is known and the epoch is reported")
  func rest() {
    var listener = Listener(searchingFrom: 9600, reference: nil, now: at(0))
    let bytes = epoch(3)
    _ = unsafe listener.receive(bytes.span.bytes, at: at(100)) { _, _ in }
    let due = listener.deadline
    #expect(due == nil)
  }
}
