// SPDX-License-Identifier: Apache-2.0
import HostSimulator
import MonotonicTime
import TestSupport
import Testing

@testable import Receiver
@testable import ReceiverSimulator

/// What other programs, and interrupted ones, leave behind at receivers of other makers.
@Suite("Receivers of other makers after other programs")
struct OtherProgramTests {
  private static func text<Line>(_ scene: VirtualHost<SessionLog, Line>) -> String {
    String(decoding: scene.writes.flatMap(\.bytes), as: UTF8.self)
  }

  // MARK: A stopped engine

  @Test(
    "An engine that another program stopped is started, as the receiver replies without it",
    arguments: [SessionSettings.Intent.identify, .serve])
  func stoppedEngine(_ intent: SessionSettings.Intent) {
    let scene = SessionScene(.ag3352, hostRate: 115_200, intent: intent) { $0.desired = { _ in .nothing } }
    scene.line.send(Command(sentence: "PAIR003").bytes, at: scene.now)
    scene.kill(for: 3000) { _ in }
    #expect(scene.run(60) { $0.isSteady && $0.description != nil })
    #expect(scene.fixes.isEmpty && Self.text(scene).contains("PAIR002"))
    scene.run(5)
    #expect(scene.fixes.count > 2)
  }

  @Test("A receiver that sends gets no command for that")
  func runningEngine() {
    let scene = SessionScene(.ag3352) { $0.desired = { _ in .nothing } }
    scene.run(60)
    #expect(scene.isSteady && !Self.text(scene).contains("PAIR002"))
  }

  @Test("Only Airoha's command does nothing to an engine that runs", arguments: ReceiverFamily.allCases)
  func start(_ family: ReceiverFamily) {
    #expect((family.language?.engineStart != nil) == (family == .airoha))
  }
}
