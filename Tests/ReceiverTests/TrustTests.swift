// SPDX-License-Identifier: Apache-2.0
import MonotonicTime
import TestSupport
import Testing
import UBX

@testable import Receiver
@testable import ReceiverStream

@Suite("Trust in the signals of a receiver")
struct TrustTests {
  /// A monitor with a clock of whole seconds.
  private struct Scene {
    var monitor = TrustMonitor()
    var seconds: UInt64 = 1000
    var now: Instant { .zero + Milliseconds(seconds * 1000) }
    var trust: SignalTrust { monitor.trust(at: now) }
    var reasons: [String] { monitor.reasons(at: now) }

    mutating func receive(_ messageClass: UInt8, _ id: UInt8, _ payload: [UInt8]) {
      let bytes = Wire.ubx(messageClass, id, payload)
      if let frame = UBXFrame(bytes.raw) { monitor.receive(frame, at: now) }
    }

    mutating func epoch(_ fix: Fix, strengths: [UInt8] = [], computerTime: UTCTime? = nil) {
      seconds += 1
      var sky = Sky()
      for (index, strength) in strengths.enumerated() {
        sky.add(Satellite(system: .gps, number: UInt8(index + 1), signalDecibelHertz: strength))
      }
      monitor.receive(fix, sky, computerTime: computerTime, at: now)
    }

    /// An epoch of a receiver that stands at this place at the scene's time.
    func fix(_ latitude: Double = 48, accuracy: Double = 3, timeOffset: Int64 = 0) -> Fix {
      var fix = Fix()
      (fix.kind, fix.latitudeDegrees, fix.longitudeDegrees, fix.horizontalAccuracyMetres) = (
        .threeD, latitude, 11, accuracy
      )
      (fix.speedMetresPerSecond, fix.timeIsResolved) = (0, true)
      fix.time = time(timeOffset)
      return fix
    }

    func time(_ offset: Int64 = 0) -> UTCTime {
      UTCTime(nanosecondsSince1970: (1_790_000_000 + Int64(seconds) + offset) * 1_000_000_000)
    }
  }

  private static func navSTATUS(_ state: UInt8) -> [UInt8] {
    [0, 0, 0, 0, 3, 0xDD, 0, state << 3] + [UInt8](repeating: 0, count: 8)
  }

  private static func secSIG1(jamming: UInt8, spoofing: UInt8, isOn: Bool = true) -> [UInt8] {
    let on: UInt8 = isOn ? 1 : 0
    return [1, 0, 0, 0, jamming << 1 | on, 0, 0, 0, spoofing << 1 | on, 0, 0, 0]
  }

  private static func secSIG2(jamming: UInt8, spoofing: UInt8, kilohertz: [UInt32] = []) -> [UInt8] {
    let flags: UInt8 = 1 | jamming << 1 | 1 << 3 | spoofing << 4
    var payload: [UInt8] = [2, flags, 0, UInt8(kilohertz.count)]
    for frequency in kilohertz {
      for shift in [0, 8, 16] as [UInt32] { payload.append(UInt8(truncatingIfNeeded: frequency >> shift)) }
      payload.append(1)
    }
    return payload
  }

  private static func monRF(_ states: [UInt8]) -> [UInt8] {
    [0, UInt8(states.count), 0, 0]
      + states.enumerated().flatMap { [UInt8($0), $1] + [UInt8](repeating: 0, count: 22) }
  }

  private static func monHW(_ state: UInt8) -> [UInt8] {
    var payload = [UInt8](repeating: 0, count: 60)
    payload[22] = state << 2
    return payload
  }

  @Test("Without a statement the trust is unknown, and a function that is off or unknown gives none")
  func unknown() {
    var scene = Scene()
    #expect(scene.trust == .unknown && scene.reasons.isEmpty)
    scene.receive(0x27, 0x09, Self.secSIG1(jamming: 3, spoofing: 3, isOn: false))
    scene.receive(0x0A, 0x38, Self.monRF([0, 0]))
    scene.receive(0x0A, 0x09, Self.monHW(0))
    scene.receive(0x01, 0x03, Self.navSTATUS(0))
    #expect(scene.trust == .unknown && scene.monitor.takeChange(at: scene.now) == nil)
  }

  @Test("SEC-SIG version 1: a warning is suspect, a critical state jammed, an indication spoofed")
  func version1() {
    let states: [(UInt8, UInt8, SignalTrust)] = [
      (1, 1, .ok), (2, 1, .suspect), (3, 1, .jammed), (1, 2, .spoofed), (3, 3, .spoofed), (0, 0, .unknown),
    ]
    for (jamming, spoofing, trust) in states {
      var scene = Scene()
      scene.receive(0x27, 0x09, Self.secSIG1(jamming: jamming, spoofing: spoofing))
      #expect(scene.trust == trust)
      #expect(scene.reasons.count == [jamming, spoofing].filter { $0 > 1 }.count)
      #expect(scene.reasons.allSatisfy { $0.hasPrefix("SEC-SIG: ") })
    }
  }

  @Test("SEC-SIG version 2 names the frequencies that are jammed")
  func version2() {
    var scene = Scene()
    scene.receive(0x27, 0x09, Self.secSIG2(jamming: 2, spoofing: 1, kilohertz: [1_575_420]))
    #expect(scene.trust == .suspect && scene.reasons == ["SEC-SIG: the receiver warns of jamming at 1575 MHz"])
    scene.receive(0x27, 0x09, Self.secSIG2(jamming: 2, spoofing: 3))
    #expect(scene.trust == .spoofed && scene.reasons.first == "SEC-SIG: spoofing is affirmed")
  }

  @Test("MON-RF: the worst input counts; its 0 beside SEC-SIG is not a statement")
  func inputs() {
    var scene = Scene()
    scene.receive(0x0A, 0x38, Self.monRF([1, 3]))
    #expect(scene.trust == .jammed && scene.reasons == ["MON-RF: jamming is critical at input 1"])
    var other = Scene()
    other.receive(0x27, 0x09, Self.secSIG2(jamming: 1, spoofing: 1))
    other.receive(0x0A, 0x38, Self.monRF([0, 0]))
    #expect(other.trust == .ok)
  }

  @Test(
    "MON-HW and NAV-STATUS", arguments: [(1, SignalTrust.ok), (2, .suspect), (3, .jammed)] as [(UInt8, SignalTrust)])
  func older(state: UInt8, trust: SignalTrust) {
    var scene = Scene()
    scene.receive(0x0A, 0x09, Self.monHW(state))
    #expect(scene.trust == trust)
    scene.receive(0x01, 0x03, Self.navSTATUS(state))
    #expect(scene.trust == (state == 1 ? .ok : .spoofed))
    #expect(scene.reasons.count == (state == 1 ? 0 : 2))
    #expect(state == 1 || scene.reasons[0].hasPrefix("NAV-STATUS: "), "the worst reason is first")
  }

  @Test("SEC-OSNMA: a failed authentication is suspect, authenticated satellites are ok, and off is unknown")
  func authentication() {
    func payload(isOn: Bool = true, key: UInt8, timing: UInt8 = 0, synchronisation: UInt8 = 0) -> [UInt8] {
      var payload = [UInt8](repeating: 0, count: 27)
      payload[0] = 2
      payload[2] = isOn ? 1 : 0
      payload[3] = synchronisation << 1
      payload[12] = key
      // authSVs 1, of which the satellite follows; timingAuthResult.
      payload[16] = 1
      payload[17] = timing << 4
      return payload.prefix(20) + [0, 0x80, 5, 0]
    }
    for (bytes, trust) in [
      (payload(isOn: false, key: 2), SignalTrust.unknown), (payload(key: 1), .ok), (payload(key: 2), .suspect),
      (payload(key: 1, timing: 2), .suspect), (payload(key: 1, synchronisation: 4), .suspect),
    ] {
      var scene = Scene()
      scene.receive(0x27, 0x0A, bytes)
      #expect(scene.trust == trust)
      #expect(scene.reasons.allSatisfy { $0.hasPrefix("SEC-OSNMA: ") })
    }
  }

  @Test("A change is logged once; a detector at its limit changes nothing for ten seconds; silence ends a finding")
  func changes() {
    var scene = Scene()
    scene.receive(0x01, 0x03, Self.navSTATUS(1))
    #expect(scene.monitor.takeChange(at: scene.now) == nil)
    scene.receive(0x01, 0x03, Self.navSTATUS(2))
    #expect(scene.monitor.takeChange(at: scene.now) == "the receiver is spoofed: NAV-STATUS: spoofing is indicated")
    for _ in 0..<9 {
      scene.seconds += 1
      scene.receive(0x01, 0x03, Self.navSTATUS(1))
      #expect(scene.trust == .spoofed && scene.monitor.takeChange(at: scene.now) == nil)
    }
    scene.seconds += 1
    scene.receive(0x01, 0x03, Self.navSTATUS(1))
    #expect(scene.trust == .ok)
    #expect(scene.monitor.takeChange(at: scene.now) == "the signals of the receiver are no longer in doubt")
    scene.seconds += 60
    #expect(scene.trust == .unknown && scene.monitor.takeChange(at: scene.now) == nil)
  }

  @Test("A jump of a steady receiver is suspect, and its reason has the distance")
  func jump() {
    var scene = Scene()
    for _ in 0..<8 { scene.epoch(scene.fix()) }
    #expect(scene.trust == .unknown)
    // 0.05 degrees are 5560 m.
    scene.epoch(scene.fix(48.05))
    #expect(scene.trust == .suspect)
    #expect(scene.reasons == ["the position jumped by 5560 m within 1 s"])
  }

  @Test("Vehicles, corrections, a first fix, sleep and poor fixes are not jumps")
  func noJumps() {
    var jet = Scene()
    for index in 0..<60 {
      var fix = jet.fix(40 + Double(index) * 0.006)
      // 667 m/s, faster than receivers for civil use, which report it.
      fix.speedMetresPerSecond = 667
      jet.epoch(fix)
    }
    #expect(jet.trust == .unknown)
    var corrected = Scene()
    for index in 0..<20 { corrected.epoch(corrected.fix(index < 10 ? 48 : 48.0006)) }
    #expect(corrected.trust == .unknown)
    var first = Scene()
    for latitude in [48, 48.2, 48.1, 48.1] { first.epoch(first.fix(latitude)) }
    #expect(first.trust == .unknown)
    var asleep = Scene()
    for _ in 0..<8 { asleep.epoch(asleep.fix()) }
    asleep.seconds += 3600
    asleep.epoch(asleep.fix(49))
    #expect(asleep.trust == .unknown)
    var poor = Scene()
    for index in 0..<20 { poor.epoch(poor.fix(48 + Double(index % 2) * 0.05, accuracy: 900)) }
    #expect(poor.trust == .unknown)
  }

  @Test("Time that jumps, or differs from a synchronised clock, is suspect")
  func time() {
    var jumped = Scene()
    for _ in 0..<12 { jumped.epoch(jumped.fix()) }
    jumped.epoch(jumped.fix(timeOffset: 30))
    #expect(jumped.reasons == ["the receiver's time jumped by 30 s"])
    var apart = Scene()
    for _ in 0..<9 { apart.epoch(apart.fix(timeOffset: -60), computerTime: apart.time()) }
    #expect(apart.trust == .unknown)
    apart.epoch(apart.fix(timeOffset: -60), computerTime: apart.time())
    apart.epoch(apart.fix(timeOffset: -60), computerTime: apart.time())
    #expect(apart.trust == .suspect && apart.reasons[0].contains("differs from the computer's clock by -6"))
    var near = Scene()
    for index in 0..<40 { near.epoch(near.fix(timeOffset: index % 2 == 0 ? 0 : 2), computerTime: near.time()) }
    #expect(near.trust == .unknown)
  }

  @Test("Signals that rise together are suspect; those behind a tunnel, of some satellites, or weak before, are not")
  func signals() {
    var together = Scene()
    for _ in 0..<5 { together.epoch(together.fix(), strengths: [38, 40, 36, 42, 35, 39, 37, 41]) }
    together.epoch(together.fix(), strengths: [46, 48, 44, 50, 43, 47, 45, 49])
    #expect(together.reasons == ["the signals of 8 satellites rose together by 8 dB or more"])
    var tunnel = Scene()
    for _ in 0..<5 { tunnel.epoch(tunnel.fix(), strengths: [12, 0, 20, 25, 0, 0, 9, 14]) }
    tunnel.epoch(tunnel.fix(), strengths: [46, 48, 44, 50, 43, 47, 45, 49])
    #expect(tunnel.trust == .unknown)
    var some = Scene()
    for _ in 0..<5 { some.epoch(some.fix(), strengths: [38, 40, 36, 42, 35, 39, 37, 41]) }
    some.epoch(some.fix(), strengths: [46, 48, 44, 50, 43, 47, 45, 43])
    #expect(some.trust == .unknown)
    var weak = Scene()
    for _ in 0..<5 { weak.epoch(weak.fix(), strengths: [30, 28, 31, 29, 27, 30, 32, 31]) }
    weak.epoch(weak.fix(), strengths: [46, 48, 44, 50, 43, 47, 45, 49])
    #expect(weak.trust == .unknown)
  }

  @Test("Two receivers that disagree for ten epochs are suspect; antennas of one vehicle are not")
  func comparison() {
    var scene = Scene()
    for _ in 0..<9 { scene.monitor.compare(scene.fix(), with: scene.fix(48.2), at: scene.now) }
    #expect(scene.trust == .unknown)
    scene.monitor.compare(scene.fix(), with: scene.fix(48.2), at: scene.now)
    #expect(scene.reasons == ["another receiver of this computer reports a position 22 km away"])
    var ship = Scene()
    for _ in 0..<30 { ship.monitor.compare(ship.fix(), with: ship.fix(48.002), at: ship.now) }
    #expect(ship.trust == .unknown)
  }
}
