// SPDX-License-Identifier: Apache-2.0
import Foundation
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
  var session: ReceiverSession
  private(set) var taken: Set<StageTransition> = []
  private(set) var sent: [[UInt8]] = []
  private var line: VirtualLine
  private(set) var now = Instant.zero + Milliseconds(6000)

  init(_ walk: StageWalk) {
    line = VirtualLine(model: walk.model, scenario: Scenario(), seed: 1, startUTCSeconds: 1_780_000_000, hasRate: true)
    line.hostRate = 9600
    line.advance(to: now)
    _ = line.takeReceived()
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
    session = ReceiverSession(settings, lineRate: 9600, reference: nil, now: now)
    session.onTransition = { [unowned self] in taken.insert($0) }
  }

  var stage: SessionStage.Name { session.stage.name }

  /// The simulated receiver goes on until the session is in `stage`.
  func run(_ seconds: Double = 60, until stage: SessionStage.Name) {
    run(seconds) { $0.stage == stage }
  }

  func run(_ seconds: Double, until condition: (StageScene) -> Bool) {
    let end = now + Milliseconds(seconds: seconds)
    while now < end, !condition(self) {
      var next = Instant.earlier(line.deadline, end) ?? end
      next = Instant.earlier(next, session.deadline) ?? next
      now = next > now ? next : now + Milliseconds(1)
      line.advance(to: now)
      let bytes = line.takeReceived()
      if !bytes.isEmpty { receive(bytes) } else { wake() }
    }
  }

  /// Time passes without a byte, with each wake-up at its deadline.
  func waitInSilence(_ seconds: Double, until condition: (StageScene) -> Bool = { _ in false }) {
    let end = now + Milliseconds(seconds: seconds)
    while now < end, !condition(self) {
      let next = Instant.earlier(session.deadline, end) ?? end
      now = next > now ? next : now + Milliseconds(1)
      wake()
    }
  }

  /// Time passes without a byte and without a wake-up.
  func skip(_ seconds: Double) { now = now + Milliseconds(seconds: seconds) }

  /// The same, with one wake-up at its end.
  func jump(_ seconds: Double) {
    skip(seconds)
    wake()
  }

  func wake() {
    session.wake(at: now) { _, _ in }
    carryOut()
  }

  func receive(_ bytes: [UInt8]) {
    let span = bytes.span
    unsafe session.receive(span.bytes, at: now) { _, _ in }
    carryOut()
  }

  func receiveSentence() { receive(Array("$GPTXT,01,01,02,ANTSTATUS=OK*3B\r\n".utf8)) }
  func receiveUBX() { receive(frameBytes(MessageIdentity(0x01, 0x61), [0, 0, 0, 0])) }
  func receiveGarbage() { receive([UInt8](repeating: 0x55, count: 2000)) }

  func finish() {
    session.finish(at: now)
    carryOut()
  }

  func lose() { session.lost { _, _ in } }

  func submit() {
    _ = session.submit(.poll(.monVER), at: now)
    carryOut()
  }

  func sleep(_ seconds: Double) {
    session.sleep(for: Milliseconds(seconds: seconds), at: now)
    carryOut()
  }

  func wakeUp() {
    session.wakeUp(at: now)
    carryOut()
  }

  func set(_ change: (inout DesiredConfiguration) -> Void) {
    var desired = session.desired ?? DesiredConfiguration()
    change(&desired)
    session.set(desired, at: now)
    carryOut()
  }

  private func carryOut() {
    while let action = session.nextAction() {
      switch action {
      case .send(let bytes):
        sent.append(bytes)
        line.send(bytes, at: now)
      case .setRate(let rate):
        line.advance(to: now)
        line.hostRate = rate
        _ = line.takeReceived()
      case .report, .finished, .batch: break
      }
    }
  }
}
