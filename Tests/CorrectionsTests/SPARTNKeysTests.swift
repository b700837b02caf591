// SPDX-License-Identifier: Apache-2.0
import MonotonicTime
import ReceiverSimulator
import ReceiverStream
import TestSupport
import Testing
import UBX
import WireBytes

@testable import ReceiverRuntime

/// Keys of tests: a byte, sixteen times.
private func digits(_ byte: UInt8, count: Int = 16) -> String {
  String(repeating: byte < 16 ? "0\(String(byte, radix: 16))" : String(byte, radix: 16), count: count)
}

/// GPS week and second as UTC.
private func utc(_ week: Int64, _ second: Int64) -> UTCTime {
  UTCTime(nanosecondsSince1970: (315_964_800 - 18 + week * 604_800 + second) * 1_000_000_000)
}

@Suite("The file of SPARTN keys")
struct SPARTNKeysTests {
  @Test("Keys have 128, 192 or 256 bits, their times are in force until the next one, comments are ignored")
  func read() throws {
    let text = """
      # of the provider\r
      \(digits(3, count: 32).uppercased())\t2450 5   # the last one
        \(digits(1))  2442 302418 2445 0

      \(digits(2, count: 24)) 2446 302418
      """
    let keys = try SPARTNKeys(parsing: text).keys
    #expect(
      keys.map(\.bytes) == [
        .init(repeating: 1, count: 16), .init(repeating: 2, count: 24), .init(repeating: 3, count: 32),
      ])
    let week: Int64 = 604_800
    #expect(keys.map(\.begin) == [2442 * week + 302_418, 2446 * week + 302_418, 2450 * week + 5])
    // The end of the file, of the next key, and four weeks.
    #expect(keys.map(\.end) == [2445 * week, 2450 * week + 5, 2454 * week + 5])
  }

  @Test(
    "A mistake is refused with its line and the reason, and without a key",
    arguments: [
      ("", 0, "no key"), ("# only a comment\n", 0, "no key"),
      ("\(digits(0xAB)) 2446 0\n\(digits(0xAB)) 2450\n", 2, "WEEK SECOND"),
      ("\(digits(0xAB)) 2446 0 2447\n", 1, "WEEK SECOND"),
      ("\n\(digits(0xAB, count: 15)) 2446 0\n", 2, "32, 48 or 64 hexadecimal digits"),
      ("\(digits(0xAB, count: 15))xy 2446 0\n", 1, "hexadecimal digits"),
      ("\(digits(0xAB)) 1999 0\n", 1, "week"), ("\(digits(0xAB)) 10000 0\n", 1, "week"),
      ("\(digits(0xAB)) 2446 604800\n", 1, "second of the week"),
      ("\(digits(0xAB)) 2446 -1\n", 1, "second of the week"),
      ("\(digits(0xAB)) 99999999999999999999 0\n", 1, "week"),
      ("\(digits(0xAB)) 2446 10 2446 10\n", 1, "ends before it begins"),
      ("\(digits(0xAB)) 2446 1\n\(digits(0xCD)) 2446 1\n", 2, "same time"),
      ((0...64).map { "\(digits(0xAB)) 2446 \($0)\n" }.joined(), 65, "more than 64 keys"),
    ])
  func mistakes(text: String, line: Int, reason: String) throws {
    let mistake = try #require(throws: SPARTNKeys.Mistake.self) { try SPARTNKeys(parsing: text) }
    #expect(mistake.line == line && mistake.text.contains(reason), "\(mistake)")
    #expect(!mistake.text.lowercased().contains("abab"))
  }

  @Test("Keys that follow each other are valid together; before the first, in a gap and after the last none is")
  func validity() throws {
    let keys = try SPARTNKeys(
      parsing: "\(digits(1)) 2440 100\n\(digits(2)) 2444 100 2448 100\n\(digits(3)) 2449 0 2450 0\n")
    #expect(keys.validity(at: utc(2440, 99)) == .early(from: utc(2440, 100)))
    #expect(keys.validity(at: utc(2440, 100)) == .valid(until: utc(2448, 100)))
    #expect(keys.validity(at: utc(2448, 99)) == .valid(until: utc(2448, 100)))
    #expect(keys.validity(at: utc(2448, 100)) == .expired(since: utc(2448, 100)))
    #expect(keys.validity(at: utc(2449, 0)) == .valid(until: utc(2450, 0)))
    #expect(keys.validity(at: utc(2450, 0)) == .expired(since: utc(2450, 0)))
  }

  @Test("The messages of one and of two keys equal u-blox's application note UBX-22008160")
  func message() throws {
    let both = try SPARTNKeys(parsing: "\(digits(0xBF)) 2202 172800\n\(digits(0xE9)) 2204 525600\n")
    let first = hex("01 01 00 00 00 10 9A 08 00 A3 02 00") + [UInt8](repeating: 0xBF, count: 16)
    #expect(try SPARTNKeys(parsing: "\(digits(0xBF)) 2202 172800\n").message(at: utc(2202, 172_801)) == first)
    let second =
      hex("01 02 00 00 00 10 9A 08 00 A3 02 00 00 10 9C 08 20 05 08 00") + [UInt8](repeating: 0xBF, count: 16)
      + [UInt8](repeating: 0xE9, count: 16)
    #expect(both.message(at: utc(2202, 172_801)) == second)
    // The first one has been replaced; without the time both may be valid; after the last there is nothing to send.
    #expect(both.message(at: utc(2204, 525_600))?.prefix(8) == hex("01 01 00 00 00 10 9C 08")[...])
    #expect(both.message(at: nil) == second)
    #expect(both.message(at: utc(2208, 525_600)) == nil)
  }

  @Test("Random files: keys come back, whatever their order, and never overlap")
  func random() throws {
    var random = SeededRandomNumberGenerator(seed: 47)
    for _ in 0..<300 {
      var begins: Set<Int64> = []
      while begins.count < random.int(1...9) { begins.insert(Int64(2400 * 604_800 + random.int(0...90) * 302_400)) }
      let lines = begins.map { begin in
        let end = begin + Int64(random.int(1...40)) * 302_400
        let range = random.oneIn(2) ? " \(end / 604_800) \(end % 604_800)" : ""
        return
          "\(digits(UInt8(random.int(0...255)), count: [16, 24, 32][random.int(0...2)])) \(begin / 604_800) \(begin % 604_800)\(range)"
      }
      let keys = try SPARTNKeys(parsing: lines.joined(separator: "\n")).keys
      #expect(keys.map(\.begin) == begins.sorted())
      #expect(keys.allSatisfy { $0.begin < $0.end })
      #expect(zip(keys, keys.dropFirst()).allSatisfy { $0.end <= $1.begin })
    }
  }
}

@Suite("The delivery of SPARTN keys")
struct SPARTNKeyDeliveryTests {
  /// A simulated ZED-F9P, a delivery, and the time of both.
  private struct Rover: ~Copyable {
    static let start: Int64 = 1_780_000_000
    var line: VirtualLine
    var delivery = SPARTNKeyDelivery(path: "/etc/sextant/spartn-keys")
    var now = Instant.zero
    var sent: [[UInt8]] = []
    var polls = 0
    var reports: [String] = []
    private var stream = FrameStream()

    init() {
      line = VirtualLine(model: .f9p, scenario: Scenario(), seed: 1, startUTCSeconds: Self.start, hasRate: false)
      advance(seconds: 2)
    }

    var utc: UTCTime { UTCTime(nanosecondsSince1970: Self.start * 1_000_000_000 + Int64(now.nanoseconds)) }

    @discardableResult
    mutating func advance(seconds: Double) -> [UInt8]? {
      now = now + Milliseconds(seconds: seconds)
      line.advance(to: now)
      var reply: [UInt8]?
      stream.receive(line.takeReceived().raw) { frame in
        if let ubx = frame.ubx, ubx.identity == MessageIdentity(0x02, 0x36) { reply = [UInt8](copying: ubx.payload) }
      }
      return reply
    }

    /// A step of the service.
    mutating func step(hasReplies: Bool = true) {
      var action = delivery.next(at: utc, accepts: true)
      while let due = action {
        action = nil
        switch due {
        case .send(let payload):
          sent.append(payload)
          line.send(Wire.ubx(0x02, 0x36, payload), at: now)
        case .poll:
          polls += 1
          line.send(Wire.ubx(0x02, 0x36), at: now)
          let reply = advance(seconds: 0.5)
          action = delivery.receive(hasReplies ? reply : nil)
        }
      }
      while let text = delivery.nextReport() { reports.append(text) }
    }

    mutating func steps(_ count: Int, every seconds: Double = 1, hasReplies: Bool = true) {
      for _ in 0..<count {
        step(hasReplies: hasReplies)
        advance(seconds: seconds)
      }
    }
  }

  /// The GPS week of the start, and the second in it.
  private static let week = (Rover.start - 315_964_800 + 18) / 604_800
  private static let second = (Rover.start - 315_964_800 + 18) % 604_800

  private static func file(from first: Int64, to second: Int64) -> String {
    "\(digits(1)) \(week) \(Self.second + first)\n\(digits(2)) \(week) \(Self.second + second)\n"
  }

  @Test("A receiver gets the keys once, stores them, and gets them again after a start")
  func once() {
    var rover = Rover()
    rover.delivery.read(Self.file(from: -1000, to: 90_000))
    rover.steps(50)
    #expect(rover.sent.count == 1 && rover.polls == 1 && rover.sent.first?[1] == 2)
    // CFG-RST: a hardware reset. The keys are in RAM.
    rover.line.send(Wire.ubx(0x06, 0x04, [0, 0, 0, 0]), at: rover.now)
    rover.advance(seconds: 3)
    rover.line.send(Wire.ubx(0x02, 0x36), at: rover.now)
    #expect(rover.advance(seconds: 1) == [1, 0, 0, 0])
    rover.delivery.restart()
    rover.steps(5)
    #expect(rover.sent.count == 2 && rover.sent[0] == rover.sent[1] && rover.reports.isEmpty)
    rover.line.send(Wire.ubx(0x02, 0x36), at: rover.now)
    #expect(rover.advance(seconds: 1) == rover.sent[0])
  }

  @Test("Nothing is sent to a receiver that accepts no SPARTN")
  func accepts() {
    var delivery = SPARTNKeyDelivery(path: "/keys")
    delivery.read(Self.file(from: -1000, to: 90_000))
    #expect(delivery.next(at: Rover().utc, accepts: false) == nil)
  }

  @Test("When the current key ends, or the file has another one, the keys are sent anew")
  func renewed() {
    var rover = Rover()
    rover.delivery.read(Self.file(from: -1000, to: 20))
    rover.steps(40)
    // The next key became the current one, in the receiver too.
    #expect(rover.sent.map { $0[1] } == [2, 1])
    rover.delivery.read(Self.file(from: -1000, to: 20) + "\(digits(3)) \(Self.week + 4) 0\n")
    rover.steps(5)
    #expect(rover.sent.map { $0[1] } == [2, 1, 2] && rover.polls == 3)
  }

  @Test("A receiver that does not store them gets them three times, and the log one line")
  func refused() {
    var rover = Rover()
    rover.delivery.read(Self.file(from: -1000, to: 90_000))
    rover.steps(30, hasReplies: false)
    #expect(rover.sent.count == 3 && rover.polls == 3)
    #expect(rover.reports.count { $0.contains("does not store the SPARTN keys of /etc/sextant/spartn-keys") } == 1)
  }

  @Test("The end of the last key is reported a week before, and its expiry when it is there, each once")
  func expiry() {
    var rover = Rover()
    // Ends four weeks after its beginning.
    rover.delivery.read("\(digits(1)) \(Self.week - 2) \(Self.second)\n")
    let warned = utc(Self.week + 1, Self.second)
    var found: [(UTCTime, String)] = []
    for _ in 0..<(16 * 24) {
      rover.now = rover.now + Milliseconds(seconds: 3600)
      _ = rover.delivery.next(at: rover.utc, accepts: false)
      while let text = rover.delivery.nextReport() { found.append((rover.utc, text)) }
    }
    #expect(found.count == 2, "\(found)")
    #expect(found.first.map { $0.0 >= warned && $0.0 <= utc(Self.week + 1, Self.second + 3700) } == true, "\(found)")
    #expect(found.first?.1.contains("the last SPARTN key expires at 2026-06-11 20:26 UTC") == true, "\(found)")
    #expect(found.last?.1.contains("the SPARTN keys expired at 2026-06-11 20:26 UTC") == true, "\(found)")
    #expect(rover.delivery.state(at: rover.utc) == .keys(.expired(since: utc(Self.week + 2, Self.second))))
  }

  @Test("A file with a mistake is reported with its line, once until it was correct; the keys before stay in use")
  func mistake() {
    var rover = Rover()
    #expect(rover.delivery.state(at: rover.utc) == .unreadable("not read yet"))
    for _ in 0..<3 { rover.delivery.read("# keys\n\(digits(0xAB)) 2446\n") }
    rover.step()
    let line =
      "/etc/sextant/spartn-keys: line 2: write KEY WEEK SECOND, or KEY WEEK SECOND WEEK SECOND with the end; correct the file of SPARTN keys"
    #expect(rover.reports == [line] && rover.sent.isEmpty)
    rover.delivery.read(Self.file(from: -1000, to: 90_000))
    rover.step()
    rover.delivery.read("# keys\n\(digits(0xAB)) 2446\n")
    rover.delivery.fail("no such file")
    rover.step()
    #expect(rover.reports.filter { $0 == line }.count == 2 && rover.reports.last?.contains("no such file") == true)
    guard case .keys(.valid) = rover.delivery.state(at: rover.utc) else {
      Issue.record("\(rover.delivery.state(at: rover.utc))")
      return
    }
  }

  @Test("Without the time the last two keys are sent, and nothing is reported about their end")
  func withoutTime() {
    var delivery = SPARTNKeyDelivery(path: "/keys")
    delivery.read("\(digits(1)) 2000 0\n\(digits(2)) 2004 0\n\(digits(3)) 2008 0\n")
    guard case .send(let message)? = delivery.next(at: nil, accepts: true) else {
      Issue.record("no keys are sent")
      return
    }
    #expect(message[1] == 2 && message.suffix(16) == [UInt8](repeating: 3, count: 16)[...])
    #expect(delivery.nextReport() == nil && delivery.state(at: nil) == .unknown)
  }

  @Test("Encrypted corrections without a file of keys are reported once")
  func withoutFile() {
    var delivery = SPARTNKeyDelivery(path: nil)
    var reports: [String] = []
    for _ in 0..<3 {
      delivery.sawEncryptedCorrection()
      #expect(delivery.next(at: nil, accepts: true) == nil)
      while let text = delivery.nextReport() { reports.append(text) }
    }
    #expect(reports.count == 1 && reports.first?.contains("`spartn-keys = PATH`") == true)
  }

  @Test("Frames reach the receiver whole: encrypted ones are used with the keys, not without")
  func forwarded() {
    for hasKeys in [true, false] {
      var rover = Rover()
      rover.advance(seconds: 40)
      rover.line.send(Wire.ubx(0x06, 0x01, [1, 7, 1]), at: rover.now)
      if hasKeys { rover.delivery.read(Self.file(from: -1000, to: 90_000)) }
      var queue = CorrectionQueue(lineRate: 38_400)
      queue.acceptsSPARTN = true
      for second in 0..<20 {
        rover.step()
        let frames = [2, 0, 1].flatMap { Wire.spartn($0, 0, [UInt8](repeating: UInt8(second), count: 60), key: 1) }
        // In pieces, with noise between.
        queue.receive(Array(frames[..<100]).raw, at: rover.now)
        queue.receive(Array(frames[100...] + [0x73, 0x41, 0x73]).raw, at: rover.now)
        while let bytes = queue.next(at: rover.now) { rover.line.send(bytes, at: rover.now) }
        rover.advance(seconds: 1)
      }
      rover.line.send(Wire.ubx(0x01, 0x07), at: rover.now)
      var carrier: UInt8?
      rover.now = rover.now + Milliseconds(500)
      rover.line.advance(to: rover.now)
      var stream = FrameStream()
      stream.receive(rover.line.takeReceived().raw) { frame in
        if let ubx = frame.ubx, ubx.identity == MessageIdentity(0x01, 0x07) { carrier = ubx.payload.u1(21) >> 6 }
      }
      #expect(carrier == (hasKeys ? 1 : 0))
      let counts = (queue.spartnFrames, queue.encryptedFrames, queue.dropped)
      #expect(counts == (60, 60, 0))
    }
  }
}
