// SPDX-License-Identifier: Apache-2.0
import MonotonicTime
import ReceiverSimulator
import ReceiverStream
import Testing
import UBX

@testable import Receiver

@Suite("Assistance at the start")
struct AssistanceTests {
  private static let models: [ReceiverModel] = [.m6, .m8, .m9, .m10, .f9p]

  /// A session that ends after some minutes, and what is kept of it.
  private func firstRun(_ model: ReceiverModel) throws -> (SessionScene, AssistanceRecord) {
    let scene = SessionScene(model, baud: 115_200) { settings in
      settings.assistance = AssistanceSettings(records: [], clockAccuracySeconds: 0.1, readsDatabaseAtEnd: true)
    }
    scene.knowsTheTime = true
    scene.run(120)
    let description = try #require(scene.description)
    var record = AssistanceRecord(key: AssistanceRecord.Key(description))
    record.place = scene.positions.last.flatMap { AssistanceRecord.Place($0.fix) }
    record.databaseTime = UTCTime(nanosecondsSince1970: scene.line.receiver.utcMilliseconds(at: scene.now) * 1_000_000)
    let took = scene.finish()
    #expect(took < 7000)
    record.database = scene.currentMemory?.database ?? []
    return (scene, record)
  }

  /// The same receiver after two hours without power; how long it took to its first fix, seconds.
  private func secondRun(
    _ model: ReceiverModel, _ records: [AssistanceRecord], losingBackup: Bool = true, clock: Double? = 0.1,
    at line: VirtualLine, _ now: Instant
  ) throws -> (seconds: Double, reports: [SessionReport]) {
    let scene = SessionScene(model) { settings in
      settings.assistance = AssistanceSettings(records: records, clockAccuracySeconds: clock, readsDatabaseAtEnd: false)
    }
    scene.knowsTheTime = true
    scene.take(line, at: now)
    scene.line.inject(.powerCycle(for: Milliseconds(7_200_000), losingBackup: losingBackup), at: now)
    scene.skip(to: now + Milliseconds(7_201_500))
    let isThere = scene.run(180) { !$0.positions.isEmpty }
    #expect(isThere, "\(scene.reports)")
    let first = try #require(scene.positions.first)
    // A little longer: what is left of the orbits.
    scene.run(40)
    return (first.at.seconds(since: now + Milliseconds(7_200_000)), scene.reports.map(\.report))
  }

  @Test("A record survives as text", arguments: models)
  func record(_ model: ReceiverModel) throws {
    let (_, record) = try firstRun(model)
    #expect(record.place != nil)
    #expect(record.database.count > 4)
    let again = try #require(AssistanceRecord(record.text))
    // Times are kept to the second.
    #expect(again.text == record.text)
    #expect(again.database == record.database)
  }

  @Test("A receiver without a battery has its fix earlier with it", arguments: models)
  func helps(_ model: ReceiverModel) throws {
    let (scene, record) = try firstRun(model)
    let without = try secondRun(model, [], clock: nil, at: scene.line, scene.now)
    let with = try secondRun(model, [record], at: scene.line, scene.now)
    #expect(with.reports.contains { if case .assisted(let given, _) = $0 { given > 2 } else { false } })
    #expect(with.seconds < without.seconds - 5, "\(with.seconds) s, without \(without.seconds) s")
  }

  @Test("A receiver with an intact memory gets no assistance", arguments: [ReceiverModel.m8, .m10])
  func unchanged(_ model: ReceiverModel) throws {
    let (scene, record) = try firstRun(model)
    let with = try secondRun(model, [record], losingBackup: false, at: scene.line, scene.now)
    #expect(!with.reports.contains { if case .assisted = $0 { true } else { false } })
  }

  @Test("Without a clock that is right nothing is given")
  func noClock() throws {
    let (scene, record) = try firstRun(.m8)
    let with = try secondRun(.m8, [record], clock: nil, at: scene.line, scene.now)
    #expect(!with.reports.contains { if case .assisted = $0 { true } else { false } })
  }

  @Test("Answers to assistance are switched off again at the end", arguments: [ReceiverModel.m8, .m10])
  func restored(_ model: ReceiverModel) throws {
    let scene = SessionScene(model, baud: 115_200, scenario: try Scenario(parsing: "start 47,8\nsky none")) {
      settings in
      settings.assistance = AssistanceSettings(records: [], clockAccuracySeconds: 0.1, readsDatabaseAtEnd: false)
    }
    scene.knowsTheTime = true
    scene.line.inject(.powerCycle(for: Milliseconds(1000), losingBackup: true), at: scene.now)
    scene.skip(to: scene.now + Milliseconds(3000))
    scene.run(20)
    #expect(scene.reports.contains { if case .assisted = $0.report { true } else { false } }, "\(scene.reports)")
    _ = scene.finish()
    let after = SessionScene.configuring(model)
    after.take(scene.line, at: scene.now)
    after.run(10) { $0.isSteady }
    let name = model == .m8 ? "CFG-NAVX5.ackAiding" : "CFG-NAVSPG-ACKAIDING"
    #expect(try after.get(name) == ["0"])
  }

  @Test(
    "An end with a second for the orbits is over within two, with the receiver restored",
    arguments: [ReceiverModel.m8, .m9, .m10, .f9p], [UInt32(38_400), 115_200, 921_600])
  func urgentEnd(_ model: ReceiverModel, _ baud: UInt32) {
    let scene = SessionScene(model, baud: baud) { settings in
      settings.assistance = AssistanceSettings(records: [], clockAccuracySeconds: 0.1, readsDatabaseAtEnd: true)
    }
    scene.knowsTheTime = true
    scene.run(60)
    let took = scene.finish(readingOrbitsFor: Milliseconds(1000))
    #expect(took < 2000)
    #expect(scene.reported(.notRestored) == 0)
    #expect(scene.line.receiver.baudRate == baud)
  }

  // MARK: Age and damage

  private func place(secondsAgo seconds: Int64, accuracy: Double = 3) -> (AssistanceRecord.Place, UTCTime) {
    let now = UTCTime(nanosecondsSince1970: 1_780_000_000_000_000_000)
    let place = AssistanceRecord.Place(
      latitudeDegrees: 47, longitudeDegrees: 8, heightMetres: 400, accuracyMetres: accuracy,
      time: UTCTime(nanosecondsSince1970: now.nanosecondsSince1970 - seconds * 1_000_000_000))
    return (place, now)
  }

  @Test(
    "A place grows less sure with its age",
    arguments: [(0, 100.0), (60, 1900.0), (3600, 108_100.0), (86_400, 300_000.0), (-30, 100.0)])
  func age(_ seconds: Int64, _ metres: Double) {
    let (place, now) = place(secondsAgo: seconds)
    #expect(AssistanceAge.accuracyMetres(of: place, at: now) == metres)
  }

  @Test("A place that is too old or from the future is rejected", arguments: [29 * 86_400, -3600] as [Int64])
  func tooOld(_ seconds: Int64) {
    let (place, now) = place(secondsAgo: seconds)
    #expect(AssistanceAge.accuracyMetres(of: place, at: now) == nil)
  }

  @Test("A file that is cut or damaged is rejected")
  func damaged() throws {
    var record = AssistanceRecord(key: AssistanceRecord.Key(text: "0102 SPG 5.10"))
    record.place = place(secondsAgo: 0).0
    record.databaseTime = record.place?.time
    record.database = (0..<3).map {
      AssistanceRecord.Message(identity: .mgaDBD, payload: Array(repeating: $0, count: 20))
    }
    let text = record.text
    #expect(AssistanceRecord(text) == record)
    // The last line's end is not a loss.
    for length in 0..<text.utf8.count - 1 { #expect(AssistanceRecord(String(text.prefix(length))) == nil) }
    for (from, to) in [
      ("place 47", "place 97"), ("1380 ", "0604 "), ("1380 ", "138 "),
      ("database 1780000000 3", "database 1780000000 4"),
      ("assistance 1", "assistance 2"), ("place", "plaice"), ("1380 00", "1380 0g"),
    ] {
      #expect(AssistanceRecord(text.replacing(from, with: to)) == nil, "\(to)")
    }
  }

  // MARK: Lists

  private func frame(_ identity: MessageIdentity, _ payload: [UInt8], to request: inout RequestInFlight) -> Outcome? {
    let bytes = frameBytes(identity, payload)
    let span = bytes.span
    guard let frame = unsafe UBXFrame(span.bytes) else { return nil }
    return request.receive(frame, at: .zero, bitRate: nil)
  }

  private func started(_ answer: Command.Answer) -> RequestInFlight {
    var command = Command(.mgaDBD, [], answer: answer)
    command.attempts = 2
    var request = RequestInFlight(command, earliest: .zero)
    _ = request.wake(at: .zero, backlog: Milliseconds(0), bitRate: nil)
    return request
  }

  private func end(_ count: UInt8) -> [UInt8] { [1, 0, 0, 0x80, count, 0, 0, 0] }

  @Test("A list ends with its acknowledgement")
  func listEnds() {
    var request = started(.list(.mgaDBD, .assistanceAcknowledgement))
    #expect(frame(.mgaDBD, [1], to: &request) == nil)
    #expect(frame(.navPVT, [9], to: &request) == nil)
    #expect(frame(.mgaDBD, [2], to: &request) == nil)
    #expect(frame(.mgaACK, [1, 0, 0, 0x40, 2, 0, 0, 0], to: &request) == nil)
    #expect(frame(.mgaACK, end(2), to: &request) == .listed([[1], [2]]))
  }

  @Test("A list with a lost message is requested again; in the end the received messages count")
  func listRepeats() {
    var request = started(.list(.mgaDBD, .assistanceAcknowledgement))
    #expect(frame(.mgaDBD, [1], to: &request) == nil)
    #expect(frame(.mgaACK, end(2), to: &request) == nil)
    let again = request.wake(at: .zero, backlog: Milliseconds(0), bitRate: nil)
    #expect(again.bytes != nil)
    #expect(again.outcome == nil)
    #expect(frame(.mgaACK, end(2), to: &request) == .listed([[1]]))
  }

  @Test("Without its end a list ends with silence, a refused one is refused, an empty one is empty")
  func listOtherwise() {
    var quiet = started(.list(.mgaDBD, .assistanceAcknowledgement))
    #expect(frame(.mgaDBD, [1], to: &quiet) == nil)
    let late = quiet.wake(at: quiet.deadline, backlog: Milliseconds(0), bitRate: nil)
    #expect(late.outcome == .listed([[1]]))
    var refused = started(.list(.mgaDBD, .assistanceAcknowledgement))
    #expect(frame(.mgaACK, [0, 0, 5, 0x80, 0, 0, 0, 0], to: &refused) == .refused(.notReady))
    var empty = started(.list(.mgaDBD, .assistanceAcknowledgement))
    #expect(frame(.mgaACK, end(0), to: &empty) == .listed([]))
    var counted = started(.list(.mgaDBD, .count(2)))
    #expect(frame(.mgaDBD, [1], to: &counted) == nil)
    #expect(frame(.mgaDBD, [2], to: &counted) == .listed([[1], [2]]))
  }

  /// What a faulty receiver sends again and again: a UBX message, or a sentence.
  enum Repeated: Sendable {
    case message(MessageIdentity, [UInt8])
    case text(String)

    func send(to request: inout RequestInFlight, at now: Instant) -> Outcome? {
      switch self {
      case .text(let text): return request.receive(.text(Array(text.utf8)), at: now)
      case .message(let identity, let payload):
        let bytes = frameBytes(identity, payload)
        guard let frame = unsafe UBXFrame(bytes.span.bytes) else { return nil }
        return request.receive(frame, at: now, bitRate: 9600)
      }
    }
  }

  @Test(
    "A receiver that repeats a part of a reply without an end keeps no request for ever",
    arguments: [
      (Command(.mgaDBD, [], answer: .list(.mgaDBD, .assistanceAcknowledgement)), .message(.mgaDBD, [1]), 400, 600),
      (Command.polls([.monVER, .navPVT]), .message(.monVER, [1]), 50, 30),
      (.poll(.cfgNAV5), .message(.cfgNAV5, [1]), 20, 30),
      (
        Command(sentence: "PMTK622,1", FamilyAnswer(.lines("PMTKLOX,", end: "PMTKLOX,2"), .mediaTek("622"))),
        .text("PMTKLOX,1,0,FFFFFFFF"), 3900, 600
      ), (Command(sentence: "PAIR062,0,1", FamilyAnswer(nil, .airoha("062"))), .text("PAIR001,062,1"), 4900, 300),
      (Command(sentence: "PAIR062,0,1", FamilyAnswer(nil, .airoha("062"))), .text("PAIR001,062,5"), 100, 300),
    ] as [(Command, Repeated, UInt64, Double)])
  func endless(command: Command, part: Repeated, milliseconds: UInt64, longest: Double) {
    var request = RequestInFlight(command, earliest: .zero)
    var (now, outcome) = (Instant.zero, Outcome?.none)
    while outcome == nil, now.seconds(since: .zero) < 86_400 {
      outcome =
        request.wake(at: now, backlog: Milliseconds(0), bitRate: 9600).outcome ?? part.send(to: &request, at: now)
      now = now + Milliseconds(milliseconds)
    }
    #expect(outcome != nil && now.seconds(since: .zero) <= longest + 5, "\(now.seconds(since: .zero))")
  }

  @Test("The messages of a list have a greatest number")
  func longList() {
    var request = started(.list(.mgaDBD, .assistanceAcknowledgement))
    var outcome: Outcome?
    for _ in 0..<20_000 where outcome == nil {
      outcome =
        frame(.mgaDBD, [1], to: &request) ?? request.wake(at: .zero, backlog: Milliseconds(0), bitRate: nil).outcome
    }
    guard case .listed(let list)? = outcome else {
      Issue.record("it does not end")
      return
    }
    #expect(list.count == 16_384)
  }
}

extension SessionScene {
  /// Goes on with a line of another scene.
  func take(_ line: VirtualLine, at now: Instant) {
    self.line = line
    skip(to: now)
  }
}
