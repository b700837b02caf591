// SPDX-License-Identifier: Apache-2.0
import MonotonicTime
import ReceiverSimulator
import ReceiverStream
import TestSupport
import Testing
import UBX

@testable import Receiver

@Suite("The messages about the signals", .timeLimit(.minutes(2)))
struct SignalReportsTests {
  private static let all: [MessageIdentity] = [
    MonHW.identity, MonRF.identity, NavSTATUS.identity, SecSIG.identity, SecOSNMA.identity,
  ]

  /// The trust and the reasons of the bytes of three seconds, after a fault.
  private func assess(_ line: VirtualLine, _ fault: Fault?) -> (SignalTrust, [String]) {
    var line = line
    _ = line.takeReceived()
    let start = line.receiver.now
    if let fault { line.inject(fault, at: start) }
    line.advance(to: start + Milliseconds(3500))
    var stream = FrameStream()
    var monitor = TrustMonitor()
    let now = start + Milliseconds(3500)
    stream.receive(line.takeReceived().raw) { frame in if let ubx = frame.ubx { monitor.receive(ubx, at: now) } }
    return (monitor.trust(at: now), monitor.reasons(at: now))
  }

  @Test(
    "They are on while the session lasts, report what the model can, and are as they were found at the end",
    arguments: [ReceiverModel.m6, .m8, .m9, .m10, .f9p, .f10, .x20])
  func reports(_ model: ReceiverModel) {
    let scene = SessionScene(model) { settings in
      settings.desired = { receiver in
        var desired = DesiredConfiguration.navigation(for: receiver)
        desired.addSignalReports(for: receiver)
        return desired
      }
    }
    let before = scene.line.receiver
    scene.run(30) { $0.isSteady }
    scene.run(2)
    #expect(scene.reported(.configured(refused: 0)) > 0, "no message is refused")
    let expected: [MessageIdentity] =
      switch model {
      case .m6: [MonHW.identity]
      case .m8: [MonHW.identity, NavSTATUS.identity]
      case .f10: [SecSIG.identity]
      case .x20: [SecSIG.identity, SecOSNMA.identity]
      default: [MonRF.identity, NavSTATUS.identity]
      }
    #expect(Self.all.filter { scene.line.receiver.rate(of: $0) == 1 } == expected)
    #expect(assess(scene.line, nil).0 == .ok)
    let jammed = assess(scene.line, .jam(for: Milliseconds(60_000)))
    // Version 2 of SEC-SIG has no critical state.
    #expect(jammed.0 == (model == .x20 ? .suspect : .jammed) && jammed.1.count == 1, "\(jammed)")
    let spoofed = assess(scene.line, .spoof(for: Milliseconds(60_000)))
    // Before protocol version 18 the receiver has no detector of spoofing.
    #expect(spoofed.0 == (model == .m6 ? .ok : .spoofed), "\(spoofed)")
    #expect(scene.finish() < 5000)
    for message in Self.all {
      #expect(scene.line.receiver.rate(of: message) == before.rate(of: message), "\(message)")
    }
  }

  @Test("F9 has SEC-SIG from protocol version 27.40 on, and receivers of other makers are not asked")
  func versions() throws {
    func added(_ strings: [String]) throws -> [MessageIdentity] {
      var desired = DesiredConfiguration.nothing
      desired.addSignalReports(for: try #require(ReceiverDescription(strings: strings)))
      return desired.messages.map(\.message)
    }
    func f9(_ version: String) throws -> [MessageIdentity] {
      try added(["EXT CORE 1.00", "00190000", "PROTVER=\(version)", "MOD=ZED-F9P"])
    }
    #expect(try f9("27.31") == [MonRF.identity, NavSTATUS.identity])
    #expect(try f9("27.40") == [SecSIG.identity])
    #expect(try f9("27.50") == [SecSIG.identity])
    #expect(try added(["family=Quectel", "", "LG290P", ""]).isEmpty)
  }
}
