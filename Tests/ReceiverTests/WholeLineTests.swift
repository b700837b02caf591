// SPDX-License-Identifier: Apache-2.0
import HostSimulator
import MonotonicTime
import Testing

@testable import Receiver

@Suite("Receivers that take all bytes before a line end as one command")
struct WholeLineTests {
  private static func scene(_ device: LineDevice) -> VirtualHost<SessionLog, FamilyLine<LineDevice>> {
    let scene = VirtualHost<SessionLog, FamilyLine<LineDevice>>(family: device, intent: .identify) {
      $0.desired = { _ in .nothing }
    }
    scene.run(40) { $0.read { $0.isSteady } == true }
    return scene
  }

  @Test(
    "A line of text is not the end of the binary polls before it", arguments: [LineDevice.Kind.nebulas, .septentrio])
  func afterBinary(_ kind: LineDevice.Kind) {
    let scene = Self.scene(LineDevice(kind: kind, rejects: false))
    #expect(scene.read { $0.description }?.vendor == (kind == .nebulas ? "Unicore" : "Septentrio"))
  }

  @Test("A Septentrio receiver that rejects a poll gets its own family's polls next, and no other family's")
  func rejection() {
    let scene = Self.scene(LineDevice(kind: .septentrio, rejects: true))
    #expect(scene.read { $0.description }?.family == .septentrio)
    #expect(!scene.line.sent.contains("PSTMGETSWVER") && !scene.line.sent.contains("VERSIONB"))
  }

  @Test("The loss of one poll is not the end of the identification", arguments: [LineDevice.Kind.nebulas, .septentrio])
  func loss(_ kind: LineDevice.Kind) {
    var device = LineDevice(kind: kind, rejects: false)
    device.losses = 1
    #expect(Self.scene(device).read { $0.description }?.vendor == (kind == .nebulas ? "Unicore" : "Septentrio"))
  }

  @Test("A line end is inserted after binary requests and after another rate alone")
  func inserted() {
    var line = LineEndInsertion()
    func sent(_ bytes: [UInt8]) -> [UInt8]? {
      if case .send(let bytes) = line.next(.send(bytes)) { bytes } else { nil }
    }
    let (text, poll) = (Array("VERSIONB\r\n".utf8), Array("$PMTK605*31\r\n".utf8))
    #expect(sent(text) == text)
    #expect(sent([0xB5, 0x62]) == [0xB5, 0x62] && sent(text) == [13, 10] + text && sent(text) == text)
    _ = line.next(.setRate(9600))
    #expect(sent(text) == [13, 10] + text)
    #expect(sent([0xF1, 0xD9]) == [0xF1, 0xD9] && sent(poll) == poll && sent(text) == text)
    // SPARTN begins with `s`, and any byte can be its last.
    for frame in [[0x73, 0x00, 0x16, 0x69], [0x73, 0x00, 0x16, 13, 10]] as [[UInt8]] {
      #expect(sent([0xB5, 0x62]) == [0xB5, 0x62] && sent(frame) == frame)
    }
  }
}

/// A receiver that reads lines, and sends sentences that prove nothing.
struct LineDevice: FamilyDevice {
  enum Kind: Sendable { case nebulas, septentrio }

  var rate: UInt32 = 115_200
  var period = 1000
  var isAsleep = false
  let kind: Kind
  /// Whether it rejects lines that it does not know as commands.
  let rejects: Bool
  /// Commands of its own that it loses.
  var losses = 0
  var readsWholeLines: Bool { true }

  init(kind: Kind, rejects: Bool) { (self.kind, self.rejects) = (kind, rejects) }

  func epoch() -> [String] { Self.sentences(["GGA", "RMC"], talker: "GN") }

  mutating func receive(_ body: String) -> [String] {
    if losses > 0, ["VERSIONA", "getReceiverCapabilities"].contains(body) {
      losses -= 1
      return []
    }
    return reply(to: body)
  }

  private func reply(to body: String) -> [String] {
    switch (kind, body) {
    case (.nebulas, "VERSIONA"):
      ["command,VERSIONA,response: OK", "VERSIONA,97,GPS,FINE,2190,1,0,0,18,576;\"UM980\",\"R4.10Build17548\",\"-\""]
    case (.septentrio, "getReceiverCapabilities"): ["R: getReceiverCapabilities"]
    case (.septentrio, _) where rejects: ["R? \(body): Invalid command!"]
    default: []
    }
  }
}
