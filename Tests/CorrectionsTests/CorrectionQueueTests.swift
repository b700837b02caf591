// SPDX-License-Identifier: Apache-2.0
import MonotonicTime
import RTCM3
import ReceiverRuntime
import ReceiverStream
import TestSupport
import Testing

@Suite("The queue of corrections")
struct CorrectionsTests {
  /// A frame with this message number.
  private func frame(_ number: Int, _ length: Int = 20, mark: UInt8 = 0) -> [UInt8] {
    var payload = [UInt8](repeating: mark, count: length)
    payload[0] = UInt8(number >> 4)
    payload[1] = UInt8(number & 15) << 4
    return Wire.rtcm3(payload)
  }

  private func time(_ milliseconds: UInt64) -> Instant { Instant.zero + Milliseconds(milliseconds) }

  @Test("Whole frames are passed in order, whatever the pieces; other bytes are not", arguments: [1, 7, 1000])
  func whole(piece: Int) {
    let good = frame(1005) + frame(1074) + frame(1084)
    var bad = frame(1094)
    bad[9] ^= 1
    let parts = [ascii("noise"), frame(1005), bad, frame(1074), Wire.ubx(1, 7, [0xD3]), frame(1084), [0xD3, 0]]
    let source = Array(parts.joined())
    var corrections = CorrectionQueue(lineRate: nil)
    for start in stride(from: 0, to: source.count, by: piece) {
      corrections.receive(Array(source[start..<min(start + piece, source.count)]).raw, at: time(0))
    }
    let out = corrections.next(at: time(1))
    let more = corrections.next(at: time(1))
    #expect(out == good)
    #expect(more == nil)
  }

  @Test("Each correction is passed on as it arrives, also if the receiver takes none")
  func observed() {
    var corrections = CorrectionQueue(lineRate: nil)
    var numbers: [Int?] = []
    var bad = frame(1046)
    bad[9] ^= 1
    let bytes = frame(1019) + bad + frame(1074) + frame(1020)
    corrections.receive(bytes.raw, at: time(0)) { numbers.append($0.messageNumber) }
    corrections.discard()
    let rest = corrections.next(at: time(1))
    #expect(numbers == [1019, 1074, 1020] && rest == nil)
    #expect(corrections.dropped == 0)
  }

  @Test("A slow line gets the newest observations as whole frames, and the station")
  func backlog() throws {
    // 9600 baud carry 960 bytes a second; the longest frame always has space.
    var corrections = CorrectionQueue(lineRate: 9600)
    corrections.receive(frame(1005).raw, at: time(0))
    for mark in 0..<10 as Range<UInt8> { corrections.receive(frame(1077, 200, mark: mark).raw, at: time(10)) }
    var out: [UInt8] = []
    while let some = corrections.next(at: time(20)) { out += some }
    let expected = (6..<10).reduce(into: frame(1005)) { $0 += frame(1077, 200, mark: UInt8($1)) }
    #expect(out == expected)
    let (passed, dropped) = (corrections.passed, corrections.dropped)
    #expect(passed == 5)
    #expect(dropped == 6)
  }

  @Test("SPARTN frames are passed whole to a receiver that accepts them, to no other", arguments: [1, 13, 1000])
  func spartn(piece: Int) {
    let frames = [Wire.spartn(0, 1, [1, 2, 3], key: 4), Wire.spartn(2, 0, [4]), Wire.spartn(1, 0, [5, 6])]
    var bad = Wire.spartn(0, 0, [7, 7])
    bad[9] ^= 1
    let source = ascii("snow") + frames[0] + bad + frames[1] + ascii("s") + frame(1005) + frames[2]
    for accepts in [true, false] {
      var corrections = CorrectionQueue(lineRate: nil)
      corrections.acceptsSPARTN = accepts
      for start in stride(from: 0, to: source.count, by: piece) {
        corrections.receive(Array(source[start..<min(start + piece, source.count)]).raw, at: time(UInt64(start)))
      }
      corrections.receive([0x73].raw, at: time(3000))
      let out = corrections.next(at: time(3000))
      #expect(out == (accepts ? frames[0] + frames[1] + frame(1005) + frames[2] : frame(1005)))
      let counts = (corrections.spartnFrames, corrections.encryptedFrames)
      #expect(counts == (3, 1))
    }
  }

  @Test(
    "The frames within RXM-PMP of an L-band receiver are passed on, over its pieces and after noise", arguments: [0, 1])
  func lBand(version: UInt8) {
    let frames = (0..<9).map { Wire.spartn($0 % 3, 0, [UInt8](repeating: UInt8($0), count: 60 + 40 * $0), key: 1) }
    let data = [1, 2, 0x73, 0] + frames.joined() + [UInt8](repeating: 0, count: 504)
    var corrections = CorrectionQueue(lineRate: nil)
    corrections.acceptsSPARTN = true
    for start in stride(from: 0, to: data.count - 503, by: 504) {
      let piece = Array(data[start..<start + 504])
      let message: [UInt8] =
        version == 0
        ? [0] + [UInt8](repeating: 0, count: 19) + piece + [0, 0, 80, 0]
        : [1, 0, 0xF8, 1] + [UInt8](repeating: 0, count: 20) + piece
      // A wrong length is ignored.
      corrections.receive((Wire.ubx(2, 0x72, message.dropLast()) + Wire.ubx(2, 0x72, message)).raw, at: time(0))
    }
    var out: [UInt8] = []
    while let some = corrections.next(at: time(1)) { out += some }
    #expect(out == Array(frames.joined()))
    let counts = (corrections.spartnFrames, corrections.encryptedFrames)
    #expect(counts == (9, 9))
  }

  @Test("A burst of SPARTN may take five seconds of the line; then the oldest corrections are dropped, areas are not")
  func spartnBacklog() {
    var corrections = CorrectionQueue(lineRate: 9600)
    corrections.acceptsSPARTN = true
    let area = Wire.spartn(2, 0, [UInt8](repeating: 9, count: 100))
    let length = Wire.spartn(1, 0, [UInt8](repeating: 0, count: 500)).count
    corrections.receive(area.raw, at: time(0))
    for mark in 0..<20 as Range<UInt8> {
      corrections.receive(Wire.spartn(1, 0, [UInt8](repeating: mark, count: 500)).raw, at: time(0))
    }
    var out: [UInt8] = []
    while let some = corrections.next(at: time(100)) { out += some }
    let count = (4800 - area.count) / length
    #expect(count == 9)
    let expected = (20 - count..<20).reduce(into: area) {
      $0 += Wire.spartn(1, 0, [UInt8](repeating: UInt8($1), count: 500))
    }
    #expect(out == expected)
    let dropped = corrections.dropped
    #expect(dropped == UInt64(20 - count))
  }

  @Test("A caster that waits for the position gets it every ten seconds; one that starts by itself does not")
  func casterPosition() throws {
    var fix = Fix()
    fix.time = UTCTime(nanosecondsSince1970: 1_780_000_000_500_000_000)
    fix.kind = .threeD
    fix.latitudeDegrees = 48.1375
    fix.longitudeDegrees = -11.575
    fix.satellitesUsed = 12
    fix.hdop = 0.88
    fix.heightAboveSeaLevelMetres = 520
    var waiting = CasterPosition()
    waiting.connected(at: time(0))
    let beforeFix = waiting.sentence(at: time(6000))
    #expect(beforeFix == nil && waiting.deadline == nil)
    waiting.fix = fix
    let early = waiting.sentence(at: time(4999))
    #expect(early == nil)
    let some = waiting.sentence(at: time(6000))
    let first = try #require(some)
    let text = String(decoding: first, as: UTF8.self)
    #expect(text.hasPrefix("$GPGGA,202640.50,4808.25000,N,01134.50000,W,1,12,0.88,520.0,M,,,,*"), "\(text)")
    #expect(text.hasSuffix("\r\n"))
    waiting.received()
    let tooEarly = waiting.sentence(at: time(15_999))
    let second = waiting.sentence(at: time(16_000))
    #expect(tooEarly == nil && second == first)

    var beginning = CasterPosition()
    beginning.fix = fix
    beginning.connected(at: time(0))
    beginning.received()
    let never = beginning.sentence(at: time(60_000))
    #expect(never == nil && beginning.deadline == nil)
  }

  @Test("Texts and descriptions of a station are not corrections")
  func arrivals() {
    let kinds: [(Int, CorrectionQueue.Arrival)] = [
      (1005, .descriptions), (1006, .descriptions), (1007, .descriptions), (1008, .descriptions),
      (1013, .descriptions), (1029, .descriptions), (1032, .descriptions), (1033, .descriptions),
      (1230, .descriptions), (1004, .corrections), (1012, .corrections), (1019, .corrections), (1057, .corrections),
      (1077, .corrections), (4072, .corrections),
    ]
    for (number, expected) in kinds {
      var queue = CorrectionQueue(lineRate: nil)
      let alone = queue.receive(frame(number).raw, at: time(0))
      let part = queue.receive(frame(1077).dropLast(4).array.raw, at: time(0))
      #expect(alone == expected && part == .nothing, "\(number)")
    }
    var queue = CorrectionQueue(lineRate: nil)
    let both = queue.receive((frame(1033) + frame(1077) + frame(1029)).raw, at: time(0))
    let spartn = queue.receive(Wire.spartn(1, 0, [1, 2, 3]).raw, at: time(0))
    #expect(both == .corrections && spartn == .corrections)
  }

  @Test("The longest frame is sent over the slowest line")
  func longest() {
    var corrections = CorrectionQueue(lineRate: 4800)
    corrections.receive(frame(1077, 1023).raw, at: time(0))
    let out = corrections.next(at: time(0))
    #expect(out == frame(1077, 1023))
  }

  @Test("Old observations are not sent, and a newer message of the station replaces the older")
  func old() {
    var corrections = CorrectionQueue(lineRate: 115_200)
    corrections.receive((frame(1005, mark: 1) + frame(1074)).raw, at: time(0))
    corrections.receive(frame(1005, mark: 2).raw, at: time(5000))
    let out = corrections.next(at: time(10_001))
    let dropped = corrections.dropped
    #expect(out == frame(1005, mark: 2))
    #expect(dropped == 1)
  }

  @Test("Observations are dropped at their age while the line takes none")
  func aging() {
    var corrections = CorrectionQueue(lineRate: nil)
    corrections.receive((frame(1005) + frame(1074)).raw, at: time(0))
    corrections.dropOld(at: time(10_000))
    let kept = corrections.dropped
    corrections.dropOld(at: time(10_001))
    let dropped = corrections.dropped
    let out = corrections.next(at: time(10_001))
    #expect(kept == 0 && dropped == 1 && out == frame(1005))
  }

  @Test("After a loss an incomplete frame is discarded")
  func reset() {
    var corrections = CorrectionQueue(lineRate: nil)
    corrections.receive(frame(1074).dropLast(4).array.raw, at: time(0))
    corrections.reset()
    corrections.receive(frame(1084).raw, at: time(0))
    let out = corrections.next(at: time(0))
    #expect(out == frame(1084))
  }

  @Test("Names of sources")
  func sources() {
    #expect(CorrectionSource("file:/a b") == .file("/a b"))
    #expect(CorrectionSource("fifo:x") == .fifo("x"))
    #expect(CorrectionSource("tcp:base.local:2101") == .tcp(host: "base.local", port: 2101))
    #expect(CorrectionSource("tcp:[::1]:9") == .tcp(host: "::1", port: 9))
    #expect(
      CorrectionSource("ntrip://me@home.org:p@ss@caster.example/NEAR")
        == .ntrip(host: "caster.example", port: 2101, mount: "NEAR", credentials: "me@home.org:p@ss"))
    #expect(
      CorrectionSource("ntrip://c:80/M") == .ntrip(host: "c", port: 80, mount: "M", credentials: nil))
    #expect(CorrectionSource("ntrip://u:secret@c:80/M")?.name == "c:80/M")
    let escaped = CorrectionSource("ntrip://me%40home.org:p%20%25s%@c/M")
    #expect(escaped == .ntrip(host: "c", port: 2101, mount: "M", credentials: "me@home.org:p %s%"))
    for bad in [
      "", "file:", "tcp:host", "tcp::1", "tcp:h:0", "tcp:h:99999", "ntrip://c", "http://c/M",
      "ntrip://c/a b", "ntrip://c\r\nX: y/M",
    ] {
      #expect(CorrectionSource(bad) == nil, "\(bad)")
    }
  }
}

@Suite("The connection to a source of corrections")
struct CorrectionLinkTests {
  private func time(_ milliseconds: UInt64) -> Instant { Instant.zero + Milliseconds(milliseconds) }

  private func actions(_ link: inout CorrectionLink) -> [CorrectionLink.Action] {
    var all: [CorrectionLink.Action] = []
    while let action = link.nextAction() { all.append(action) }
    return all
  }

  @Test("A source that fails is retried at growing intervals, and reported once")
  func backOff() {
    var link = CorrectionLink(to: "base", at: time(0))
    var attempts: [UInt64] = []
    var reports: [String] = []
    while attempts.count < 9 {
      let due = link.deadline
      link.wake(at: due)
      for action in actions(&link) {
        if action == .connect {
          attempts.append(due.milliseconds(since: .zero))
          link.failed("refuses", at: due)
        }
        if case .report(let text) = action { reports.append(text) }
      }
    }
    for case .report(let text) in actions(&link) { reports.append(text) }
    let distances = zip(attempts, attempts.dropFirst()).map { $1 - $0 }
    #expect(distances == [1000, 2000, 4000, 8000, 16_000, 32_000, 60_000, 60_000])
    #expect(reports == ["base: refuses; trying again"])
  }

  @Test("The return of corrections is reported, and the next loss is retried at once")
  func again() {
    var link = CorrectionLink(to: "base", at: time(0))
    link.wake(at: time(0))
    link.failed("refuses", at: time(0))
    link.wake(at: time(1000))
    link.connected(at: time(1100))
    _ = actions(&link)
    link.received(at: time(1200))
    #expect(actions(&link) == [.report("base: corrections arrive again")])
    link.received(at: time(1300))
    #expect(actions(&link) == [])
    link.failed("closed", at: time(2000))
    #expect(actions(&link) == [.disconnect, .report("base: closed; trying again")])
    #expect(link.deadline == time(3000))
  }

  @Test("A source that connects and fails repeatedly is retried at growing intervals, and reported a few times")
  func flapping() {
    var link = CorrectionLink(to: "base", at: time(0))
    var attempts: [UInt64] = []
    var reports = 0
    var now = time(0)
    while attempts.count < 12 {
      link.wake(at: now)
      for action in actions(&link) {
        if case .report = action { reports += 1 }
        guard action == .connect else { continue }
        attempts.append(now.milliseconds(since: .zero))
        link.connected(awaitsReply: true, at: now)
        link.granted(at: now)
        link.received(at: now)
        link.failed("the connection was closed", at: now)
      }
      now = max(now, link.deadline)
    }
    let distances = zip(attempts, attempts.dropFirst()).map { $1 - $0 }
    #expect(distances == [1000, 1000, 1000, 2000, 4000, 8000, 16_000, 32_000, 60_000, 60_000, 60_000])
    #expect(reports <= 6)
    // After ten seconds of corrections the source counts as good.
    link.wake(at: now)
    link.connected(at: now)
    _ = actions(&link)
    link.received(at: now + Milliseconds(5000))
    #expect(actions(&link) == [])
    link.received(at: now + Milliseconds(10_000))
    #expect(actions(&link) == [.report("base: corrections arrive again")])
  }

  @Test("A caster that does not reply to a request is disconnected after twenty seconds")
  func noReply() {
    var link = CorrectionLink(to: "base", at: time(0))
    link.wake(at: time(0))
    link.connected(awaitsReply: true, at: time(100))
    _ = actions(&link)
    #expect(link.deadline == time(20_100))
    link.wake(at: time(20_100))
    #expect(
      actions(&link) == [
        .disconnect, .report("base: does not reply; check the address and the network; trying again"),
      ])
  }

  @Test("A host that does not reply, and one that is silent, are disconnected")
  func silent() {
    var link = CorrectionLink(to: "base", at: time(0))
    link.wake(at: time(0))
    #expect(link.deadline == time(20_000))
    link.wake(at: time(20_000))
    #expect(actions(&link).contains(.disconnect))
    link.wake(at: time(21_000))
    link.connected(at: time(21_000))
    link.received(at: time(22_000))
    _ = actions(&link)
    #expect(link.deadline == time(67_000))
    link.wake(at: time(67_000))
    #expect(actions(&link) == [.disconnect, .report("base: has sent nothing for 45 s; trying again")])
  }

  @Test(
    "The reason after 45 s without corrections is what the source has sent since",
    arguments: [
      ([], "has sent nothing for 45 s"), ([.unknown], "sends bytes that are not RTCM 3 corrections"),
      ([.descriptions], "describes its station, and has sent no corrections for 45 s"),
      ([.descriptions, .unknown], "describes its station"), ([.unknown, .descriptions], "describes its station"),
    ] as [([CorrectionLink.Other], String)])
  func reason(contents: [CorrectionLink.Other], words: String) {
    var link = CorrectionLink(to: "base", at: time(0))
    link.wake(at: time(0))
    link.connected(at: time(0))
    // Corrections end what came before them, and a description may end their epoch.
    link.received(.descriptions, at: time(0))
    link.received(at: time(1000))
    link.received(.descriptions, at: time(1900))
    for second in 3..<40 as Range<UInt64> {
      for content in contents { link.received(content, at: time(second * 1000)) }
      link.wake(at: time(second * 1000))
    }
    _ = actions(&link)
    link.wake(at: time(46_000))
    guard case .report(let text)? = actions(&link).last else {
      Issue.record("no report")
      return
    }
    #expect(text.hasPrefix("base: \(words)"), "\(text)")
  }
}

@Suite("The reply of a caster")
struct NTRIPResponseTests {
  private func stream(_ text: String, piece: Int = 5) throws -> String {
    var response = NTRIPResponse()
    let bytes = ascii(text)
    var stream: [UInt8] = []
    for start in stride(from: 0, to: bytes.count, by: piece) {
      stream += try response.receive(Array(bytes[start..<min(start + piece, bytes.count)]).raw)
    }
    return String(decoding: stream, as: UTF8.self)
  }

  @Test("The stream of either version, plain or in chunks", arguments: [1, 5, 1000])
  func granted(piece: Int) throws {
    #expect(try stream("ICY 200 OK\r\nDATA", piece: piece) == "DATA")
    #expect(try stream("HTTP/1.1 200 OK\r\nServer: x\r\n\r\nDATA", piece: piece) == "DATA")
    let head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
    #expect(try stream(head + "3\r\nDAT\r\n1;x=y\r\nA\r\n0\r\n\r\n", piece: piece) == "DATA")
  }

  @Test(
    "Chunks are recognized by the header field, with any white space and in any case (RFC 9112, section 5)",
    arguments: [
      "Transfer-Encoding:chunked", "transfer-encoding:  chunked", "TRANSFER-ENCODING:\tChunked \t",
      "Transfer-Encoding: identity,chunked",
    ])
  func chunked(field: String) throws {
    let head = "HTTP/1.1 200 OK\r\nServer: x\r\n\(field)\r\n\r\n"
    #expect(try stream(head + "3\r\nDAT\r\n1\r\nA\r\n0\r\n\r\n") == "DATA")
  }

  @Test("The value of another header field is not read as chunks or as a source table")
  func otherField() throws {
    let head = "HTTP/1.1 200 OK\r\nX-Note: Transfer-Encoding: chunked, gnss/sourcetable\r\n\r\n"
    #expect(try stream(head + "DATA") == "DATA")
  }

  @Test(
    "Replies before the final one are skipped (RFC 9110, section 15.2)",
    arguments: ["HTTP/1.1 200 OK\r\n\r\n", "ICY 200 OK\r\n"])
  func interim(reply: String) throws {
    let interim = "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n"
    #expect(try stream(interim + reply + "DATA") == "DATA")
    #expect(throws: NTRIPResponse.Refusal.self) { try stream("HTTP/1.1 101 Switching Protocols\r\n\r\nDATA") }
    let endless = String(repeating: "HTTP/1.1 100 Continue\r\n\r\n", count: 1000)
    #expect(throws: NTRIPResponse.Refusal.self) { try stream(endless) }
  }

  @Test("A header ends with an empty line, whose end is CR LF or LF", arguments: ["\r\n\n", "\n\r\n", "\n\n"])
  func lineEnds(end: String) throws { #expect(try stream("HTTP/1.1 200 OK\r\nServer: x\(end)DATA") == "DATA") }

  @Test(
    "A refusal has the next step",
    arguments: [
      ("HTTP/1.1 401 Unauthorized\r\n\r\n", "password"), ("HTTP/1.1 404 Not Found\r\n\r\n", "mount point"),
      ("SOURCETABLE 200 OK\r\n", "mount point"), ("ERROR - Bad Password\r\n", "Bad Password"),
      ("SSH-2.0-OpenSSH\r\n", "not an NTRIP caster"), ("HTTP/1.1 503 Busy\r\n\r\n", "503 Busy"),
      ("HTTP/1.1 200 OK\r\nContent-Type: gnss/sourcetable\r\n\r\n", "mount point"),
    ])
  func refused(answer: String, word: String) {
    #expect {
      try stream(answer)
    } throws: { error in
      (error as? NTRIPResponse.Refusal)?.text.contains(word) == true
    }
  }

  @Test(
    "The end of the connection completes a reply without an empty line",
    arguments: [
      ("HTTP/1.0 401 Unauthorized\r\n", "user and password"), ("HTTP/1.0 404 Not Found\r\n", "no such mount point"),
      ("HTTP/1.0 401 Unauthorized", "user and password"), ("HTTP/1.0 404 Not Found\r", "no such mount point"),
      ("HTTP/1.1 401 Unauthorized\r\nServer: x\r\n", "user and password"), ("ERROR - Bad Password", "Bad Password"),
      ("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.0 503 Busy\n", "503 Busy"), ("SSH-2.0", "not an NTRIP caster"),
      ("HTTP/1.1 302 Found\r\nLocation: http://c/M\r\n", "redirects"), ("", nil), ("HTTP/1.1 200 OK\r\n", nil),
      ("ICY 200 OK\r\nDATA", nil), ("HTTP/1.1 100 Continue\r\n\r\n", nil),
    ] as [(String, String?)])
  func cut(reply: String, words: String?) throws {
    var response = NTRIPResponse()
    for byte in reply.utf8 { _ = try response.receive([byte].raw) }
    do throws(NTRIPResponse.Refusal) {
      try response.end()
      #expect(words == nil)
    } catch {
      #expect(words.map { error.text.contains($0) } == true, "\(error.text)")
    }
  }

  @Test("The request has mount point, user and version")
  func request() {
    let text = String(
      decoding: NTRIPRequest.bytes(
        host: "c", port: 2101, mount: "NEAR", credentials: "Aladdin:open sesame", version: "0.2.0"), as: UTF8.self)
    #expect(text.hasPrefix("GET /NEAR HTTP/1.1\r\nHost: c:2101\r\n"))
    #expect(text.contains("User-Agent: NTRIP sextant/0.2.0\r\n"))
    // The example of RFC 7617.
    #expect(text.contains("Authorization: Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==\r\n"))
    #expect(text.hasSuffix("\r\n\r\n"))
    let anonymous = String(
      decoding: NTRIPRequest.bytes(host: "c", port: 1, mount: "M", credentials: nil, version: "0.2.0"), as: UTF8.self)
    #expect(!anonymous.contains("Authorization"))
  }
}

extension ArraySlice {
  fileprivate var array: [Element] { Array(self) }
}
