// SPDX-License-Identifier: Apache-2.0
import ReceiverSimulator
import ReceiverStream
import Testing

@testable import Receiver

/// Receivers with items have one item for each port: MON-COMMS shows the port of the line.
@Suite("Which of the receiver's ports the line is at")
struct PortTests {
  /// A port in MON-COMMS.
  private struct Counts {
    var id: UInt16
    var received: UInt32 = 0
    var sent: UInt32 = 0
  }

  /// The payload of MON-COMMS.
  private func communication(_ ports: [Counts]) -> [UInt8] {
    var payload: [UInt8] = [0, UInt8(ports.count), 0, 0, 0, 1, 5, 255]
    for port in ports {
      var block = [UInt8](repeating: 0, count: 40)
      block.set(u4: UInt32(port.id), at: 0)
      block.set(u4: port.sent, at: 4)
      block.set(u4: port.received, at: 12)
      payload += block
    }
    return payload
  }

  @Test(
    "The one that received the question",
    arguments: [(0, .i2c), (0x100, .uart1), (0x201, .uart2), (0x300, .usb)] as [(UInt16, ReceiverPortNumber)])
  func received(_ id: UInt16, _ port: ReceiverPortNumber) {
    // All of them send what is on by default.
    let ports = [0, 0x100, 0x201, 0x300, 0x400].map { Counts(id: $0, received: $0 == id ? 24 : 0, sent: 5000) }
    #expect(Identification.port(communication(ports)) == port)
  }

  @Test("Of two that have received something, the one that receives more between two questions")
  func both() {
    let before = communication([Counts(id: 0x100, received: 100), Counts(id: 0x300, received: 24)])
    let after = communication([Counts(id: 0x100, received: 101), Counts(id: 0x300, received: 32)])
    #expect(Identification.port(before) == nil)
    #expect(Identification.port(before: before, after: after) == .usb)
  }

  @Test("Without counts of received bytes: the only port, the only one that sends, the one that sends more")
  func uncounted() {
    #expect(Identification.port(communication([Counts(id: 0x300)])) == .usb)
    #expect(Identification.port(communication([Counts(id: 0x100), Counts(id: 0x300, sent: 900)])) == .usb)
    let before = communication([Counts(id: 0x100, sent: 10), Counts(id: 0x300, sent: 900)])
    let after = communication([Counts(id: 0x100, sent: 10), Counts(id: 0x300, sent: 1000)])
    #expect(Identification.port(before) == nil)
    #expect(Identification.port(before: before, after: after) == .usb)
    #expect(Identification.port(before: before, after: before) == nil)
  }

  @Test("A malformed or short reply gives no port")
  func malformed() {
    let whole = communication([Counts(id: 0x300, received: 24)])
    for length in 0..<whole.count { #expect(Identification.port(Array(whole.prefix(length))) == nil) }
    #expect(Identification.port(communication([Counts(id: 0x700, received: 24)])) == nil)
    #expect(Identification.port(before: [], after: []) == nil)
  }

  @Test("A receiver at its USB port is configured there", arguments: [.m6, .m8, .m9, .f9p] as [ReceiverModel])
  func usb(_ model: ReceiverModel) {
    let scene = SessionScene(model, hasRate: false)
    scene.run(40)
    #expect(scene.isSteady)
    if scene.description?.can(.valset) == true { #expect(scene.port == .usb) }
    _ = scene.takeFixes()
    scene.run(10)
    let fixes = scene.takeFixes()
    #expect(fixes.count >= 9)
    // In UBX: the receiver's own accuracy comes with it.
    #expect(fixes.allSatisfy { $0.fix.accuracySource == .receiver }, "\(fixes.map(\.fix.accuracySource))")
  }
}
