// SPDX-License-Identifier: Apache-2.0
import MonotonicTime
import Receiver
import TestSupport
import Testing

@testable import ReceiverSimulator

/// The sessions of the programs that change a receiver of another maker.
enum KilledFamilyProgram: String, CaseIterable, CustomTestStringConvertible {
  /// A client of Core Location: the rate, sentences.
  case client
  /// The same, which puts the receiver to sleep.
  case sleeper
  /// Fixes are stored in the receiver's logger.
  case batch

  var testDescription: String { rawValue }

  static let models: [ReceiverModel] = [.mt3339, .ag3352, .at6668, .lg290p, .tau1201, .teseo]
  static let loggers: [ReceiverModel] = [.mt3339, .ag3352]
  static let sleepers: [ReceiverModel] = loggers + [.teseo]

  func isPossible(on model: ReceiverModel) -> Bool {
    switch self {
    case .client: model != .teseo
    case .sleeper: Self.sleepers.contains(model)
    case .batch: Self.loggers.contains(model)
    }
  }

  func adapt(_ settings: inout SessionSettings, _ model: ReceiverModel) {
    settings.restoresAtEnd = true
    settings.intent = self == .batch ? .identify : .serve
    settings.desired = { receiver in
      guard self == .batch else { return FamilyFaultTests.desired(model) }
      return .batching(BatchConfiguration(epochs: 20, isExtended: false), for: receiver)
    }
  }

  /// Runs the program to its orderly end, unless it is killed before.
  func run(_ scene: SessionScene) {
    scene.run(60) { $0.isSteady && $0.reported(.configured(refused: 0)) > 0 || $0.isKilled }
    scene.run(4) { $0.isKilled }
    if self == .sleeper, !scene.isKilled {
      scene.sleep(seconds: 10)
      scene.run(14) { $0.isKilled }
    }
    if !scene.isKilled { _ = scene.finish() }
  }
}

@Suite("A killed program's receiver of another maker is restored by the next program")
struct KilledFamilyTests {
  /// The settings that the end has to leave as they were found, and whether the receiver is awake and logs.
  private struct State: Equatable {
    var settings: FamilyFaultTests.Settings
    var isLogging: Bool
    var isAwake: Bool

    init(_ receiver: VirtualReceiver) {
      settings = FamilyFaultTests.Settings(receiver)
      isLogging = receiver.logger.isOn
      isAwake = receiver.powerState.isAwake && receiver.engine.isRunning
    }
  }

  private static func scene(_ model: ReceiverModel, _ program: KilledFamilyProgram) -> SessionScene {
    let scene = FamilyFaultTests.scene(model, model == .ag3352 ? [.logger] : [])
    program.adapt(&scene.settings, model)
    return scene
  }

  /// The number of commands that a program sends from its start to its end.
  private static func commands(_ program: KilledFamilyProgram, _ model: ReceiverModel) -> Int {
    let scene = scene(model, program)
    program.run(scene)
    return scene.sent
  }

  @Test(
    "Killed after each of its commands: `probe` restores the receiver", arguments: KilledFamilyProgram.models,
    KilledFamilyProgram.allCases)
  func each(model: ReceiverModel, program: KilledFamilyProgram) {
    guard program.isPossible(on: model) else { return }
    let before = State(Self.scene(model, program).line.receiver)
    for kill in numbers(to: max(Self.commands(program, model), 1)) {
      let scene = Self.scene(model, program)
      scene.kill(afterSending: kill)
      program.run(scene)
      #expect(scene.isKilled)
      scene.run(1)
      scene.open(after: 100) { settings in
        (settings.intent, settings.desired, settings.maySwitchUBXOn) = (.identify, { _ in .nothing }, false)
      }
      scene.run(90) { $0.isSteady }
      _ = scene.finish()
      scene.run(1)
      let (left, title) = (State(scene.line.receiver), "\(model) \(program) killed after command \(kill)")
      #expect(left == before, "\(title): \(left)")
      #expect(scene.clearStored(), "\(title): the record is removed")
    }
  }

  @Test("docs/reference/faults.md has the number of kills")
  func page() throws {
    let rows = KilledFamilyProgram.allCases.map { program in
      [program.rawValue]
        + KilledFamilyProgram.models.map { program.isPossible(on: $0) ? "\(Self.commands(program, $0))" : "–" }
    }
    let header = ["program"] + KilledFamilyProgram.models.map(\.rawValue)
    try Page("docs/reference/faults.md").check(section: "family kills", is: Page.table(header, rows))
  }
}
