// SPDX-License-Identifier: Apache-2.0
import ReceiverSimulator
import Testing
import UBX

@testable import Receiver

@Suite("The input of corrections", .timeLimit(.minutes(2)))
struct CorrectionInputTests {
  private static let input: UInt32 = 0x1073_0005
  private static let source: UInt32 = 0x20A7_0001

  @Test(
    "A session that forwards corrections reads SPARTN from its port, and leaves the receiver as it was",
    arguments: [ReceiverModel.f9p, .x20])
  func spartn(_ model: ReceiverModel) {
    let scene = SessionScene(model, hostRate: 38_400, intent: .identify)
    #expect(scene.run(40) { $0.isSteady })
    // CFG-VALSET: no SPARTN at UART1, and corrections from the L-band.
    let found = Command(
      MessageIdentity(0x06, 0x8A), [0, 1, 0, 0, 5, 0, 0x73, 0x10, 0, 1, 0, 0xA7, 0x20, 1], answer: .acknowledgement)
    #expect(scene.send(found) == .acknowledged)
    scene.finish()
    scene.open(after: 100) { settings in
      settings.intent = .serve
      settings.restoresAtEnd = true
      settings.desired = { receiver in
        var desired = DesiredConfiguration.navigation(for: receiver)
        desired.readCorrections(for: receiver)
        return desired
      }
    }
    #expect(scene.run(60) { $0.isSteady })
    #expect(scene.line.receiver.value(ofItem: Self.input) == 1 && scene.line.receiver.value(ofItem: Self.source) == 0)
    scene.finish()
    #expect(scene.line.receiver.value(ofItem: Self.input) == 0 && scene.line.receiver.value(ofItem: Self.source) == 1)
  }

  @Test(
    "SPARTN is accepted by the firmware whose interface descriptions have its keys",
    arguments: [
      (Generation.f9, "HPG 1.13", ProtocolVersion(27, 12), false), (.f9, "HPG 1.30", ProtocolVersion(27, 30), true),
      (.f9, "HPG L1L5 1.40", ProtocolVersion(27, 40), true), (.f9, "HPG 1.51", ProtocolVersion(27, 50), true),
      (.f9, "HPS 1.21", ProtocolVersion(33, 21), false), (.f9, "HPS 1.30", ProtocolVersion(33, 30), true),
      (.f9, "LAP 1.20", ProtocolVersion(30, 20), false), (.f9, "LAP 1.50", ProtocolVersion(30, 50), true),
      (.f9, "TIM 2.24", ProtocolVersion(29, 25), false), (.x20, "HPG 2.00", ProtocolVersion(50, 1), true),
      (.m9, "SPG 4.04", ProtocolVersion(32, 1), false), (.m10, "SPG 5.10", ProtocolVersion(34, 10), false),
    ])
  func capability(_ generation: Generation, _ firmware: String, _ version: ProtocolVersion, _ accepts: Bool) {
    let capabilities = Capability.of(generation, version: version, firmware: firmware, hasFlash: true)
    #expect(capabilities.contains(.spartnInput) == accepts)
  }
}
