// SPDX-License-Identifier: Apache-2.0
import HostSimulator
import MonotonicTime
import ReceiverSimulator
import ReceiverStream
import Testing
import UBX

@testable import Receiver

@Suite("AssistNow: requests, answers and predicted orbits")
struct AssistNowTests {
  /// Thursday 2026-05-28 20:26:40.
  private static let now = UTCTime(nanosecondsSince1970: 1_780_000_000_000_000_000)

  private static func later(_ days: Double) -> UTCTime {
    UTCTime(nanosecondsSince1970: now.nanosecondsSince1970 + Int64(days * 86_400) * 1_000_000_000)
  }

  private static func answer(_ bytes: [UInt8]) throws(AssistNowAnswer.Refusal) -> AssistNowAnswer {
    try unsafe AssistNowAnswer(bytes.span.bytes)
  }

  private static func predictions(days: Int, at utc: UTCTime = now) throws -> PredictedOrbits {
    PredictedOrbits(try answer(PredictionSource.frames(from: utc, days: days)), at: utc)
  }

  // MARK: Requests

  @Test("A chip code, a token and `on` are told apart, and other values are refused")
  func accounts() throws {
    // Base64 of 0123456789AB:secret12.
    let code = "MDEyMzQ1Njc4OUFCOnNlY3JldDEy"
    #expect(AssistNow(code)?.account == .chipCode(code))
    #expect(AssistNow("abcdefghijklmnopqrstuv")?.account == .token("abcdefghijklmnopqrstuv"))
    #expect(AssistNow("on").map { $0.account == nil } == true)
    #expect(AssistNow(code)?.content == .predictions(days: 7))
    #expect(AssistNow("on, 14 days")?.content == .predictions(days: 14))
    #expect(AssistNow("on, 1 day")?.content == .predictions(days: 1))
    #expect(AssistNow("on, live")?.content == .ephemerides)
    for text in ["", "short", "two words", "tokentoken;gnss=gps", "on, 5 days", "on, live, live", "on live"] {
      #expect(AssistNow(text) == nil, "\(text)")
    }
  }

  private static func target(_ text: String) throws -> String {
    let source = try #require(AssistNow(text))
    let request = String(decoding: source.request(to: source.hosts[0], version: "1.0"), as: UTF8.self)
    #expect(request.hasSuffix("\r\nConnection: close\r\n\r\n") && request.contains("\r\nHost: \(source.hosts[0])\r\n"))
    return String(try #require(request.split(separator: " ").dropFirst().first))
  }

  @Test("The requests conform to the service's documents")
  func requests() throws {
    let code = "MDEyMzQ1Njc4OUFCOnNlY3JldD8/"
    #expect(
      try Self.target(code)
        == "/GetAssistNowData.ashx?chipcode=MDEyMzQ1Njc4OUFCOnNlY3JldD8%2F&gnss=gps,gal,glo&data=uporb_7")
    #expect(try Self.target(code + ", live").hasSuffix("&gnss=gps,gal,glo,bds&data=ulorb_l1"))
    #expect(
      try Self.target("tokentoken, 14 days")
        == "/GetOfflineData.ashx?token=tokentoken;gnss=gps,glo;format=mga;period=2;resolution=1;")
    #expect(try Self.target("tokentoken, 3 days").contains(";days=3;"))
    #expect(
      try Self.target("tokentoken, live")
        == "/GetOnlineData.ashx?token=tokentoken;gnss=gps,gal,glo,bds;format=mga;datatype=eph;")
  }

  // MARK: Answers

  private static func http(_ text: String, _ body: [UInt8] = []) throws(HTTPAnswer.Malformed) -> HTTPAnswer {
    try HTTPAnswer(Array(text.utf8) + body)
  }

  @Test("A response of HTTP is whole, chunked or to the end of the connection; a cut one is refused")
  func responses() throws {
    #expect(try Self.http("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabc").body == Array("abc".utf8))
    #expect(try Self.http("HTTP/1.0 200 OK\r\n\r\nabcd").body == Array("abcd".utf8))
    let chunked = "HTTP/1.1 200 OK\r\ntransfer-encoding: Chunked\r\n\r\n3;x=y\r\nabc\r\nA\r\n0123456789\r\n0\r\n\r\n"
    #expect(try Self.http(chunked).body == Array("abc0123456789".utf8))
    let tabs = "HTTP/1.1 200 OK\r\nTransfer-Encoding:\tchunked\r\nContent-Length:\t3\r\n\r\n3\r\nabc\r\n0\r\n\r\n"
    #expect(try Self.http(tabs).body == Array("abc".utf8))
    #expect(try Self.http("HTTP/1.1 200 OK\r\nServer: x\r\n\nabc").body == Array("abc".utf8))
    #expect(try Self.http("HTTP/1.1 403 Forbidden\r\n\r\n").status == 403)
    for length in 0..<chunked.utf8.count - 2 {
      let bytes = Array(chunked.utf8.prefix(length))
      #expect(throws: HTTPAnswer.Malformed.self, "\(length)") { try HTTPAnswer(bytes) }
    }
    for text in ["HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nabc", "SSH-2.0\r\n\r\n", "HTTP/1.1 999 X\r\n\r\n"] {
      #expect(throws: HTTPAnswer.Malformed.self) { try Self.http(text) }
    }
  }

  @Test("Replies before the final one are skipped (RFC 9110, section 15.2)")
  func interim() throws {
    let interim = "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n"
    let answer = try Self.http(interim + "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabc")
    #expect(answer.status == 200 && answer.body == Array("abc".utf8))
    #expect(throws: HTTPAnswer.Malformed.cut) { try Self.http(interim) }
    #expect(throws: HTTPAnswer.Malformed.otherProtocol) { try Self.http(interim + "SSH-2.0\r\n\r\n") }
  }

  @Test("An answer has whole frames of class MGA with right sizes; anything else refuses all of it")
  func answers() throws {
    let frames = PredictionSource.frames(from: Self.now, days: 1)
    let all = try Self.answer(frames)
    #expect(all.messages.count == frames.count / 84 && all.others == 0)
    // The server's time and an almanac are not used.
    let time = frameBytes(.mgaINI, [0x10] + [UInt8](repeating: 0, count: 23))
    let almanac = frameBytes(MessageIdentity(0x13, 0x00), [2] + [UInt8](repeating: 0, count: 35))
    let mixed = try Self.answer(time + almanac + frames)
    #expect(mixed.others == 2 && mixed.messages == all.messages)
    #expect(throws: AssistNowAnswer.Refusal.empty) { try Self.answer([]) }
    #expect(throws: AssistNowAnswer.Refusal.text("Invalid token")) { try Self.answer(Array("Invalid token\n".utf8)) }
    #expect(throws: AssistNowAnswer.Refusal.noFrame(at: 84)) { try Self.answer(Array(frames.prefix(84 + 30))) }
    var damaged = frames
    damaged[84 + 20] ^= 1
    #expect(throws: AssistNowAnswer.Refusal.noFrame(at: 84)) { try Self.answer(damaged) }
    let short = frameBytes(.mgaANO, [UInt8](repeating: 0, count: 75))
    #expect(throws: AssistNowAnswer.Refusal.otherMessage(at: 84)) { try Self.answer(Array(frames.prefix(84)) + short) }
    // A command to the receiver is not aiding data.
    #expect(throws: AssistNowAnswer.Refusal.otherMessage(at: 0)) {
      try Self.answer(frameBytes(.cfgRST, [0xFF, 0xFF, 0, 0]))
    }
  }

  @Test("Ephemerides of an answer are those that casters send, with the same time of use")
  func ephemerides() throws {
    var stock = EphemerisStock()
    var stream = FrameStream()
    let frames = BroadcastSource.frames(at: Self.now)
    unsafe stream.receive(frames.span.bytes) { if let frame = $0.rtcm3 { stock.receive(frame, at: Self.now) } }
    let bytes = stock.messages(at: Self.now).flatMap { frameBytes($0.identity, $0.payload) }
    var other = EphemerisStock()
    let answer = try Self.answer(bytes)
    let isNew = other.receive(answer, at: Self.now)
    #expect(isNew && other == stock && other.refused.total == 0, "\(other.refused)")
    // The same answer is nothing new, and of no use three days and some hours later.
    let isNewAgain = other.receive(answer, at: Self.now)
    var old = EphemerisStock()
    let isUsed = old.receive(answer, at: Self.later(3.25))
    #expect(!isNewAgain && !isUsed && old.isEmpty)
    // An unhealthy satellite removes its older ephemeris.
    var payload = stock.messages(at: Self.now)[0].payload
    payload[6] = 1
    let unhealthy = try Self.answer(frameBytes(MessageIdentity(0x13, 0x00), payload))
    let isRemoved = other.receive(unhealthy, at: Self.now)
    #expect(isRemoved && other.count(at: Self.now) == stock.count(at: Self.now) - 1)
  }

  // MARK: Predictions

  @Test("Today's prediction is given; without it yesterday's or tomorrow's, and no other")
  func nearestDay() throws {
    let orbits = try Self.predictions(days: 3)
    func day(_ utc: UTCTime) -> [UInt8] { Array(Set(orbits.messages(at: utc).map { $0.payload[6] })) }
    #expect(day(Self.now) == [28] && day(Self.later(1)) == [29] && day(Self.later(2)) == [30])
    #expect(day(Self.later(3)) == [30] && day(Self.later(-1)) == [28])
    #expect(day(Self.later(4)).isEmpty && day(Self.later(-2)).isEmpty)
    #expect(orbits.count(at: Self.now) == PredictionSource.satellites)
    // Until midnight after the last day.
    #expect(orbits.usableSeconds(at: Self.now) == 185_600)
    #expect(orbits.usableSeconds(at: Self.later(3)) == 0 && orbits.lastDay == Day(year: 2026, month: 5, day: 30))
  }

  @Test("Predictions of past days, other versions and other satellites are not taken")
  func refusedPredictions() throws {
    let frames = PredictionSource.frames(from: Self.later(-10), days: 5)
    #expect(PredictedOrbits(try Self.answer(frames), at: Self.now).isEmpty)
    for (offset, value) in [(0, 1), (1, 1), (2, 0), (2, 33), (3, 1), (5, 13), (6, 0), (4, 99)] as [(Int, UInt8)] {
      var payload = Array(PredictionSource.frames(from: Self.now, days: 1)[6..<82])
      payload[offset] = value
      let orbits = PredictedOrbits(try Self.answer(frameBytes(.mgaANO, payload)), at: Self.now)
      #expect(orbits.isEmpty, "byte \(offset) is \(value)")
    }
  }

  @Test("Stored orbits are read again; a cut or damaged file is not used, and past days are not stored")
  func file() throws {
    let orbits = try Self.predictions(days: 2)
    let text = orbits.text(at: Self.now)
    #expect(PredictedOrbits(text, at: Self.now) == orbits)
    for length in stride(from: 0, to: text.utf8.count - 1, by: 97) {
      #expect(PredictedOrbits(String(text.prefix(length)), at: Self.now) == nil)
    }
    #expect(PredictedOrbits(text.replacing("b562", with: "b563"), at: Self.now) == nil)
    #expect(PredictedOrbits(orbits.text(at: Self.later(30)), at: Self.later(30))?.isEmpty == true)
  }

  // MARK: Starts

  /// The time to the first fix after three days in backup with an intact memory, in seconds, and the messages.
  private func start(_ model: ReceiverModel, predictionAge days: Double?) throws -> (seconds: Double, given: Int?) {
    var settings = AssistanceSettings(records: [], clockAccuracySeconds: 0.1, readsDatabaseAtEnd: false)
    let scene = SessionScene(model, baud: 115_200) { [settings] in $0.assistance = settings }
    scene.knowsTheTime = true
    scene.run(90) { $0.isSteady && $0.positions.count > 40 }
    scene.sleep(seconds: nil)
    scene.run(10)
    scene.run(3 * 86_400)
    let utc = UTCTime(nanosecondsSince1970: scene.line.receiver.utcMilliseconds(at: scene.now) * 1_000_000)
    if let days {
      let from = UTCTime(nanosecondsSince1970: utc.nanosecondsSince1970 - Int64(days * 86_400) * 1_000_000_000)
      settings.predictions = PredictedOrbits(try Self.answer(PredictionSource.frames(from: from, days: 3)), at: from)
    }
    scene.withSession { $0.set(settings, time: utc, at: scene.now) }
    scene.clearReports()
    _ = scene.takeFixes()
    let from = scene.now
    scene.wakeUp()
    let hasFix = scene.run(120) { !$0.positions.isEmpty }
    #expect(hasFix, "\(scene.reports)")
    let first = try #require(scene.positions.first)
    scene.run(30)
    let given = scene.reports.compactMap {
      if case .assisted(let given, let refused) = $0.report, refused == 0 { given } else { nil }
    }
    scene.finish()
    #expect(scene.reported(.notRestored) == 0)
    return (first.at.seconds(since: from), given.first)
  }

  @Test(
    "After three days in backup predicted orbits give a fix in seconds", arguments: [.m8, .m9, .m10] as [ReceiverModel])
  func afterDays(_ model: ReceiverModel) throws {
    let with = try start(model, predictionAge: 0)
    #expect(with.seconds < 10 && with.given == PredictionSource.satellites, "\(with)")
    // Predictions that ended two days ago are not sent.
    let old = try start(model, predictionAge: 5)
    #expect(old.seconds > 20 && old.given == nil, "\(old)")
  }

  @Test("Receivers without MGA-ANO get no predictions", arguments: [.f9p, .x20] as [ReceiverModel])
  func withoutPredictions(_ model: ReceiverModel) throws {
    let found = try start(model, predictionAge: 0)
    #expect(found.seconds > 20 && found.given == nil, "\(found)")
  }
}
