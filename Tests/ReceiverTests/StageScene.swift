// SPDX-License-Identifier: Apache-2.0
import Foundation
import HostSimulator
import MonotonicTime
import ReceiverSimulator
import ReceiverStream
import UBX

@testable import Receiver

enum SourceText {
  static func read(_ path: String) -> String? { try? String(contentsOfFile: path, encoding: .utf8) }
}

/// A session at a simulated receiver whose line the test can take over at any time: from then on only bytes of the test
/// arrive.
final class StageScene {
  private(set) var taken: Set<StageTransition> = []
  private let host: VirtualHost<SentFrames, MutableLine>

  /// The frames that the session sent.
  private struct SentFrames: HostMachine {
    private(set) var sent: [[UInt8]] = []

    mutating func receive(_ action: SessionAction, from session: borrowing ReceiverSession, at now: Instant) {
      if case .send(let bytes) = action { sent.append(bytes) }
    }
  }

  /// A line whose receiver stands still while it is muted.
  private struct MutableLine: HostLine {
    var line: VirtualLine
    var isMuted = false

    var hostRate: UInt32 {
      get { line.hostRate }
      set { line.hostRate = newValue }
    }
    var isPresent: Bool { line.isPresent }
    var deadline: Instant? { isMuted ? nil : line.deadline }
    mutating func send(_ bytes: [UInt8], at now: Instant) { line.send(bytes, at: now) }
    mutating func advance(to now: Instant) { if !isMuted { line.advance(to: now) } }
    mutating func takeReceived() -> [UInt8] { isMuted ? [] : line.takeReceived() }
  }

  init(_ walk: StageWalk) {
    var line = VirtualLine(model: walk.model, scenario: Scenario(), seed: 1, startUTCSeconds: 1_780_000_000)
    line.hostRate = 9600
    var settings = SessionSettings(intent: walk.intent, line: walk.line)
    settings.isKnownUBlox = walk.isKnown
    let portRate = walk.portRate
    settings.desired = { receiver in
      var desired = DesiredConfiguration.navigation(for: receiver)
      desired.portRate = portRate
      return desired
    }
    settings.memory = walk.memory
    if walk.readsDatabase {
      settings.assistance = AssistanceSettings(records: [], clockAccuracySeconds: nil, readsDatabaseAtEnd: true)
    }
    host = VirtualHost(SentFrames(), MutableLine(line: line), settings: settings, at: .zero + Milliseconds(6000))
    host.followLine()
    host.session.onTransition = { [unowned self] in taken.insert($0) }
  }

  var stage: SessionStage.Name { host.session.stage.name }
  var isSteady: Bool { host.isSteady }
  /// The number of settings that were found while the receiver is configured.
  var found: Int { if case .configuring(let state) = host.session.stage { state.found.count } else { 0 } }
  var sent: [[UInt8]] { host.machine.sent }

  /// The simulated receiver goes on until the session is in `stage`.
  func run(_ seconds: Double = 60, until stage: SessionStage.Name) { run(seconds) { $0.stage == stage } }

  func run(_ seconds: Double, until condition: (StageScene) -> Bool) { pass(seconds, isMuted: false, until: condition) }

  /// Time passes without a byte, with each wake-up at its deadline.
  func waitInSilence(_ seconds: Double, until condition: (StageScene) -> Bool = { _ in false }) {
    pass(seconds, isMuted: true, until: condition)
  }

  private func pass(_ seconds: Double, isMuted: Bool, until condition: (StageScene) -> Bool) {
    host.line.isMuted = isMuted
    if !condition(self) { host.run(seconds) { _ in condition(self) } }
  }

  /// Time passes without a byte and without a wake-up.
  func skip(_ seconds: Double) {
    host.line.isMuted = true
    host.skip(to: host.now + Milliseconds(seconds: seconds))
  }

  /// The same, with one wake-up at its end.
  func jump(_ seconds: Double) {
    skip(seconds)
    host.withSession { $0.wake(at: host.now) { _, _ in } }
  }

  func receive(_ bytes: [UInt8]) {
    host.receive(bytes)
    host.work()
  }

  func receiveSentence() { receive(Array("$GPTXT,01,01,02,ANTSTATUS=OK*3B\r\n".utf8)) }
  func receiveUBX() { receive(frameBytes(MessageIdentity(0x01, 0x61), [0, 0, 0, 0])) }
  func receiveGarbage() { receive([UInt8](repeating: 0x55, count: 2000)) }

  func finish() { host.requestEnd() }
  func lose() { host.withSession { $0.lost { _, _ in } } }
  func submit() { host.withSession { _ = $0.submit(.poll(.monVER), at: host.now) } }
  func sleep(_ seconds: Double) { host.apply(.sleep(Milliseconds(seconds: seconds))) }
  func wakeUp() { host.apply(.wakeUp) }
  func restoreAtEnd(_ restores: Bool) { host.withSession { $0.restoreAtEnd(restores) } }

  func set(_ change: (inout DesiredConfiguration) -> Void) {
    var desired = host.session.desired ?? DesiredConfiguration()
    change(&desired)
    host.apply(.set(desired))
  }
}
