// SPDX-License-Identifier: Apache-2.0
import HostSimulator
import MonotonicTime
import ReceiverStream
import TestSupport
import Testing

@testable import Receiver
@testable import ReceiverSimulator

@Suite("Receivers of other makers as base stations")
struct FamilyBaseTests {
  private static let models: [ReceiverModel] = [.lg290p, .um980]
  private static let position = BaseStation.position(latitude: 48.1642, longitude: 11.6056, height: 557.6)
  private static let survey = BaseStation.survey(seconds: 60, metres: 50)

  private static func scene(_ model: ReceiverModel, _ quirks: Set<Quirk> = []) -> SessionScene {
    var scenario = Scenario(stayingAt: Place(latitudeDegrees: 48.1642, longitudeDegrees: 11.6056, altitudeMetres: 512))
    scenario.beginsHot = true
    scenario.quirks = quirks
    return SessionScene(model, intent: .identify, scenario: scenario) {
      $0.desired = { _ in .nothing }
      $0.restoresAtEnd = true
    }
  }

  /// The state that the end has to restore, in force and after the next start.
  private struct State: Equatable {
    var current: ReceiverSimulator.FamilySettings?
    var stored: ReceiverSimulator.FamilySettings?
    var isBase: Bool?

    init(_ scene: SessionScene) {
      let family = scene.line.receiver.family
      current = family.map { Self.normal($0.current) }
      stored = family.map { Self.normal($0.stored) }
      isBase = family?.isBase
    }

    /// Without written values that are the same as those by default.
    private static func normal(_ settings: ReceiverSimulator.FamilySettings) -> ReceiverSimulator.FamilySettings {
      var settings = settings
      settings.rates = settings.rates.filter { $0.value > 0 }
      settings.values = settings.values.filter { name, value in
        !["mode", "survey"].contains(name) || value != "1" && value != "MODE ROVER SURVEY" && !value.hasPrefix("0,0")
      }
      return settings
    }
  }

  /// The numbers of the RTCM 3 messages that are on at the receiver.
  private static func corrections(_ scene: SessionScene) -> Set<Int> {
    Set(scene.line.receiver.family?.current.corrections.keys.map(\.self) ?? [])
  }

  private static func become(_ station: BaseStation, _ scene: SessionScene) throws {
    #expect(scene.run(40) { $0.isSteady })
    let receiver = try #require(scene.description)
    #expect(receiver.canBeBase && receiver.refusal(ofBase: station) == nil)
    scene.set(.base(station, for: receiver))
    #expect(scene.run(120) { $0.isSteady && $0.reported(.configured(refused: 0)) > 1 })
  }

  @Test("A given position is sent, and the receiver is as it was found afterwards", arguments: models)
  func given(_ model: ReceiverModel) throws {
    let scene = Self.scene(model)
    #expect(scene.run(40) { $0.isSteady })
    let before = State(scene)
    try Self.become(Self.position, scene)
    #expect(scene.run(20) { $0.line.receiver.timeMode.place != nil })
    let place = try #require(scene.line.receiver.timeMode.place)
    let given = try #require(Self.position.earthCentredMetres)
    let sent = GeodeticPosition(
      latitudeDegrees: place.latitude, longitudeDegrees: place.longitude, heightMetres: place.height)
    let centre = sent.earthCentredMetres
    #expect(zip([centre.x, centre.y, centre.z], given).allSatisfy { abs($0 - $1) < 0.001 })
    let wanted: Set = [1005, 1074, 1084, 1094, 1124]
    #expect(Self.corrections(scene) == (model == .um980 ? wanted.union([1033]) : wanted))
    let start = scene.now
    _ = scene.finish(within: 120)
    let seconds = scene.now.seconds(since: start)
    #expect(model == .lg290p ? 20..<30 ~= seconds : seconds < 2, "\(seconds) s")
    scene.run(1)
    #expect(State(scene) == before)
    #expect(scene.reported(.notRestored) == 0)
  }

  @Test("A survey ends, and the position of 1005 follows", arguments: models)
  func survey(_ model: ReceiverModel) throws {
    let scene = Self.scene(model)
    try Self.become(Self.survey, scene)
    scene.run(10)
    #expect(scene.line.receiver.timeMode.isSurveying)
    #expect(scene.run(90) { $0.line.receiver.timeMode.place != nil })
    _ = scene.finish(within: 120)
    #expect(scene.reported(.notRestored) == 0)
  }

  @Test("A base that lost its power is the base again", arguments: models)
  func reboot(_ model: ReceiverModel) throws {
    let scene = Self.scene(model)
    try Self.become(Self.position, scene)
    scene.run(20)
    scene.line.inject(.reboot, at: scene.now + Milliseconds(500))
    scene.run(5)
    #expect(scene.run(90) { $0.line.receiver.family?.current.timeMode != .off && $0.isSteady })
    scene.run(30)
    #expect(scene.line.receiver.timeMode.place != nil)
    #expect(scene.line.receiver.family?.current.rates["GGA"] == 1)
    #expect(Self.corrections(scene).contains(1005))
    _ = scene.finish(within: 120)
    #expect(scene.reported(.notRestored) == 0)
  }

  @Test("Killed after each command, the next program restores the receiver", arguments: models)
  func killed(_ model: ReceiverModel) throws {
    let whole = Self.scene(model)
    #expect(whole.run(40) { $0.isSteady })
    let before = State(whole)
    try Self.become(Self.position, whole)
    _ = whole.finish(within: 120)
    for kill in numbers(to: whole.sent) {
      let scene = Self.scene(model)
      scene.kill(afterSending: kill)
      scene.run(40) { $0.isSteady || $0.isKilled }
      if !scene.isKilled, let receiver = scene.description {
        scene.set(.base(Self.position, for: receiver))
        scene.run(120) { $0.isSteady && $0.reported(.configured(refused: 0)) > 1 || $0.isKilled }
      }
      if !scene.isKilled { _ = scene.finish(within: 120) }
      scene.run(1)
      scene.open(after: 100) { $0.desired = { _ in .nothing } }
      scene.run(150) { $0.isSteady }
      _ = scene.finish(within: 120)
      scene.run(1)
      #expect(State(scene) == before, "\(model) killed after command \(kill)")
      #expect(scene.clearStored(), "\(model) killed after command \(kill): the record is removed")
    }
  }

  @Test("The end of a receiver that just restarts to be a base restores it")
  func interrupted() throws {
    let scene = Self.scene(.lg290p)
    #expect(scene.run(40) { $0.isSteady })
    let before = State(scene)
    scene.set(.base(Self.position, for: try #require(scene.description)))
    scene.run(5)
    _ = scene.finish(within: 120)
    scene.run(1)
    #expect(State(scene) == before)
    #expect(scene.reported(.notRestored) == 0)
  }

  @Test("A mode that a receiver does not have is refused by name before anything is sent")
  func refusals() throws {
    let equator = BaseStation.position(latitude: 0, longitude: 45, height: 0)
    let unicore = ReceiverDescription(family: .unicore, model: "UM980", firmware: nil, hardware: "", capabilities: [])
    #expect(unicore.refusal(ofBase: equator) != nil && unicore.refusal(ofBase: Self.position) == nil)
    #expect(unicore.refusal(ofBase: .survey(seconds: 3601, metres: 1)) != nil)
    #expect(unicore.refusal(ofBase: .survey(seconds: 3600, metres: 1)) == nil)
    let quectel = ReceiverDescription(family: .quectel, model: "LG290P", firmware: nil, hardware: "", capabilities: [])
    #expect(quectel.refusal(ofBase: equator) == nil)
    #expect(quectel.refusal(ofBase: .survey(seconds: 86_401, metres: 1)) != nil)
    let firebird = ReceiverDescription(
      family: .firebird, model: "UC6580", firmware: nil, hardware: "", capabilities: [])
    #expect(!firebird.canBeBase && DesiredConfiguration.base(Self.survey, for: firebird) == .nothing)
  }

  @Test("The record of a mode is read as it was written; words that no command has are refused")
  func record() throws {
    let mode = ReceiverMode(
      words: ["MODE", "BASE", "-12.5000"], messages: [SentenceRate("GGA", 1), SentenceRate("RMC", 0)])
    for value in [ReceiverValue.mode(mode), .mode(ReceiverMode(words: ["1", "0"]))] {
      let words = value.text.split(separator: " ").map(String.init)
      #expect(words.count == 2 && ReceiverValue(words[0], words[1]) == value)
    }
    for word in ["", "/", "A", "a/", "A/GGA", "A/GGA:x", "A/GGA:1/", "A B/"] {
      #expect(ReceiverValue("mode", word) == nil, "\(word)")
    }
    #expect(ReceiverMode.received(["MODE", "$X"]) == nil && ReceiverMode.received([]) == nil)
  }
}
