// SPDX-License-Identifier: Apache-2.0
import HostSimulator
import MonotonicTime
import Testing

@testable import Receiver
@testable import ReceiverSimulator

/// Commands that restart a receiver whose logger runs for its owner.
@Suite("A restart leaves the log of a user")
struct RestartedLogTests {
  /// A receiver whose owner's logger runs, with the interval of 3 s.
  private static func scene(_ model: ReceiverModel) -> SessionScene {
    let scene = FamilyFaultTests.scene(model, model == .ag3352 ? [.logger] : [])
    scene.settings.desired = { _ in .nothing }
    scene.settings.intent = .identify
    scene.line.hostRate = model == .ag3352 ? 115_200 : 9600
    let sentences = model == .ag3352 ? ["PAIR904,0,3", "PAIR900,1"] : ["PMTK187,1,3", "PMTK185,0"]
    for one in sentences { scene.line.send(Command(sentence: one).bytes, at: scene.now) }
    // The next session identifies the receiver.
    scene.kill(for: 30_000) { _ in }
    #expect(scene.run(60) { $0.isSteady && $0.description != nil })
    scene.run(10)
    #expect(scene.line.receiver.logger.isOn && scene.line.receiver.logger.records > 0)
    return scene
  }

  private static func interval(_ scene: SessionScene, _ model: ReceiverModel) -> Int? {
    model == .ag3352 ? scene.line.receiver.family?.logging.thresholds[0] : scene.line.receiver.family?.log.interval
  }

  /// Whether the logger runs with its interval, and the number of its records, at most `most`.
  private struct Log: Equatable {
    var isOn = true
    var interval: Int? = 3
    var records: Int

    init(records: Int) { self.records = records }

    init(_ scene: SessionScene, _ model: ReceiverModel, most: Int) {
      let logger = scene.line.receiver.logger
      (isOn, interval, records) = (logger.isOn, RestartedLogTests.interval(scene, model), min(logger.records, most))
    }
  }

  private static let tasks: [ReceiverTask] = [
    .act(.hotRestart), .act(.warmRestart), .set(.constellations([.gps])),
  ]

  @Test("It has its records, and goes on", arguments: [ReceiverModel.ag3352, .mt3333], tasks)
  func restart(_ model: ReceiverModel, _ task: ReceiverTask) throws {
    let scene = Self.scene(model)
    #expect(scene.description?.runningLog != nil)
    let records = scene.line.receiver.logger.records
    let ticket = try #require(scene.withSession { $0.perform([task], at: scene.now) })
    scene.run(60) { $0.outcomes[ticket] != nil }
    #expect(scene.outcomes[ticket] == .performed([.written]))
    let log = Log(scene, model, most: records)
    #expect(log == Log(records: records))
    // A warm start takes half a minute.
    scene.run(90)
    let later = scene.line.receiver.logger.records
    #expect(later > records)
  }

  @Test(
    "It has its records after a change of the baud rate, and after one for a session alone", arguments: [false, true])
  func rate(keepsRate: Bool) {
    let scene = Self.scene(.ag3352)
    let records = scene.line.receiver.logger.records
    var desired = DesiredConfiguration.nothing
    (desired.portRate, desired.keepsPortRate) = (460_800, keepsRate)
    scene.set(desired)
    #expect(scene.run(60) { $0.line.receiver.baudRate == 460_800 && $0.isSteady })
    scene.run(5)
    let raised = Log(scene, .ag3352, most: records)
    #expect(raised == Log(records: records))
    scene.finish()
    #expect(scene.line.receiver.baudRate == (keepsRate ? 460_800 : 115_200))
    let log = Log(scene, .ag3352, most: records)
    #expect(log == Log(records: records))
  }

  @Test("It goes on after a refusal of the command that would restart the receiver")
  func refused() throws {
    let scene = Self.scene(.ag3352)
    let task = ReceiverTask.set(.constellations([.galileo]))
    let ticket = try #require(scene.withSession { $0.perform([task], at: scene.now) })
    scene.run(60) { $0.outcomes[ticket] != nil }
    #expect(scene.outcomes[ticket] == .performed([.refused]))
    scene.run(8)
    let log = Log(scene, .ag3352, most: 0)
    #expect(log == Log(records: 0))
    scene.finish()
    #expect(scene.line.receiver.logger.isOn && scene.clearStored())
  }

  /// The number of writes from the task to its end.
  private static func writes(_ model: ReceiverModel, _ task: ReceiverTask) -> Int {
    let scene = scene(model)
    let before = scene.sent
    guard let ticket = scene.withSession({ $0.perform([task], at: scene.now) }) else { return 0 }
    scene.run(60) { $0.outcomes[ticket] != nil }
    return scene.sent - before
  }

  /// Another program identifies the receiver, and ends.
  private static func probe(_ scene: SessionScene) {
    scene.open(after: 100, hostRate: scene.line.receiver.baudRate) { _ in }
    scene.run(90) { $0.isSteady }
    scene.finish()
    scene.run(3)
  }

  @Test(
    "Killed after each command of a restart: the next program starts it again",
    arguments: [ReceiverModel.ag3352, .mt3333], tasks)
  func killed(_ model: ReceiverModel, _ task: ReceiverTask) {
    for kill in 1...max(Self.writes(model, task), 1) {
      let scene = Self.scene(model)
      scene.kill(afterSending: kill)
      _ = scene.withSession { $0.perform([task], at: scene.now) }
      scene.run(60) { $0.isKilled }
      #expect(scene.isKilled)
      scene.run(3)
      Self.probe(scene)
      let log = Log(scene, model, most: 0)
      #expect(log == Log(records: 0), "killed after command \(kill)")
      #expect(scene.clearStored(), "killed after command \(kill)")
    }
  }

  @Test(
    "An end after each command of a restart starts it again, and the result is true",
    arguments: [ReceiverModel.ag3352, .mt3333], tasks)
  func ended(_ model: ReceiverModel, _ task: ReceiverTask) throws {
    for end in 1...max(Self.writes(model, task), 1) {
      let scene = Self.scene(model)
      let systems = scene.line.receiver.systems
      let sent = scene.sent
      let ticket = try #require(scene.withSession { $0.perform([task], at: scene.now) })
      scene.run(60) { $0.sent >= sent + end }
      let time = scene.finish()
      scene.run(1)
      let (log, title) = (Log(scene, model, most: 0), Comment(rawValue: "ended after command \(end)"))
      #expect(log == Log(records: 0), title)
      #expect(time < 10_000, title)
      guard case .performed(let results)? = scene.outcomes[ticket] else {
        Issue.record("no result, \(title)")
        continue
      }
      if case .set = task {
        let isChanged = scene.line.receiver.systems != systems
        #expect(results == [isChanged ? .interrupted : .withdrawn] || isChanged && results == [.written], title)
      } else {
        #expect(results == [.written], title)
      }
    }
  }

  @Test("A session that is killed in each of its restarts leaves the log to the next program")
  func killedSession() {
    func scene() -> SessionScene {
      let scene = Self.scene(.ag3352)
      var desired = DesiredConfiguration.nothing
      (desired.constellations, desired.portRate) = ([.gps], 460_800)
      scene.kill(afterSending: .max)
      scene.set(desired)
      return scene
    }
    func run(_ scene: SessionScene) {
      scene.run(60) { $0.isKilled || $0.line.receiver.systems == .gps && $0.isSteady && $0.line.hostRate == 460_800 }
      if !scene.isKilled { scene.finish() }
    }
    let whole = scene()
    let before = whole.line.receiver.systems
    run(whole)
    for kill in 1...whole.sent {
      let scene = scene()
      scene.kill(afterSending: kill)
      run(scene)
      scene.run(3)
      Self.probe(scene)
      let (log, title) = (Log(scene, .ag3352, most: 0), Comment(rawValue: "killed after command \(kill)"))
      #expect(log == Log(records: 0), title)
      #expect(scene.line.receiver.baudRate == 115_200, title)
      #expect(scene.line.receiver.systems == before, title)
    }
  }

  @Test("A session that changes the constellations restores them, and the log")
  func session() {
    let scene = Self.scene(.ag3352)
    let records = scene.line.receiver.logger.records
    var desired = DesiredConfiguration.nothing
    desired.constellations = [.gps]
    scene.set(desired)
    #expect(scene.run(60) { $0.line.receiver.systems == .gps && $0.isSteady })
    scene.run(5)
    let changed = Log(scene, .ag3352, most: records)
    #expect(changed == Log(records: records))
    scene.finish()
    let log = Log(scene, .ag3352, most: records)
    #expect(log == Log(records: records))
    #expect(scene.line.receiver.systems != .gps)
  }
}
