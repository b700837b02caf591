// SPDX-License-Identifier: Apache-2.0
import MonotonicTime
import Positioning
import Testing

@testable import Power

@Suite("How long the reported orbits serve")
struct OrbitTests {
  private static let policy = PowerPolicy.standard

  @Test("Four satellites must be left: four orbits are too few, and a few set sooner than many")
  func number() {
    let times = [0, 3, 4, 5, 6, 10, 20].map {
      Self.policy.hotStartSeconds(usableSeconds: Array(repeating: 4 * 3600, count: $0))
    }
    #expect(times.prefix(3) == [0, 0, 0])
    #expect(times[3] > 2400 && times[3] < 3600)
    // Of ten satellites four are left after two and a half hours.
    #expect(abs(times[5] - 2.5 * 3600) < 300)
    #expect(times == times.sorted())
    #expect(times[6] < 4 * 3600)
  }

  @Test("Orbits that end soon count as long as enough others do not")
  func mixed() {
    let glonass = Array(repeating: 900.0, count: 6)
    let gps = Array(repeating: 13_500.0, count: 8)
    #expect(
      Self.policy.hotStartSeconds(usableSeconds: gps + glonass) == Self.policy.hotStartSeconds(usableSeconds: gps))
    #expect(Self.policy.hotStartSeconds(usableSeconds: glonass) == 900)
  }

  @Test("A report ends the wait for orbits at the first good fix", arguments: [true, false])
  func shortens(isReported: Bool) {
    var scene = Scene(demand: .every(900))
    scene.searches(1, satellites: 9, strong: 8)
    scene.fixes(1)
    #expect(!scene.isAsleep)
    if isReported { scene.send(.orbits(usableSeconds: 2 * 3600)) }
    #expect(scene.isAsleep == isReported)
    scene.fixes(40)
    #expect(scene.isAsleep)
    #expect((30...36).contains(scene.seconds) == !isReported)
  }

  @Test("A report does not begin a sleep if the orbits end before the next position check")
  func tooShort() {
    var scene = Scene(demand: .every(900))
    scene.fixes(1)
    scene.send(.orbits(usableSeconds: 1200))
    scene.fixes(20)
    #expect(!scene.isAsleep)
  }

  @Test("With orbits of the host a receiver is woken for a hot start, much later than for a cold one")
  func assisted() {
    /// The time before the end of the interval at which the receiver is woken.
    func leadSeconds(isAssisted: Bool) -> Double {
      var scene = Scene(demand: .every(6 * 3600))
      if isAssisted { scene.send(.assistance(usableSeconds: 86_400)) }
      scene.searches(1, satellites: 9, strong: 8)
      scene.fixes(100)
      #expect(scene.isAsleep)
      return 6 * 3600 - scene.sleepThrough()
    }
    let (own, host) = (leadSeconds(isAssisted: false), leadSeconds(isAssisted: true))
    #expect(own - host > 20 && host >= 0, "\(own) and \(host)")
  }

  @Test("Orbits of the host outlive the loss of the receiver's supply, and end after a start that was not hot")
  func assistanceEnds() {
    var orbits = Orbits()
    let now = Instant.zero + Milliseconds(1000)
    orbits.assisted(usableSeconds: 3600, at: now)
    orbits.lost()
    #expect(orbits.isUsable(at: now + Milliseconds(3_599_000)) && !orbits.isUsable(at: now + Milliseconds(3_601_000)))
    #expect(orbits.sureUntil(100) == now + Milliseconds(3_600_000))
    orbits.aged(seconds: 3000)
    #expect(!orbits.isUsable(at: now + Milliseconds(601_000)))
    orbits.assisted(usableSeconds: 3600, at: now)
    orbits.disappointed()
    #expect(!orbits.isUsable(at: now))
  }

  @Test("Reported orbits begin cyclic tracking, and collecting")
  func otherModes() {
    var cyclic = Scene(demand: .updates(.metres(10)))
    cyclic.fixes(2)
    cyclic.send(.orbits(usableSeconds: 2 * 3600))
    #expect(cyclic.isCyclic)
    var deferring = Scene(.m10, demand: .deferring(seconds: 600))
    deferring.fixes(2)
    deferring.send(.orbits(usableSeconds: 2 * 3600))
    deferring.fixes(3)
    #expect(deferring.batch != nil && deferring.seconds < 10)
  }

  @Test("A report just before the orbits of all satellites are received does not replace them")
  func nearlyComplete() {
    var scene = Scene(demand: .every(900))
    scene.searches(26, satellites: 9, strong: 8)
    scene.fixes(1)
    scene.send(.orbits(usableSeconds: 3000))
    #expect(!scene.isAsleep)
    scene.fixes(10)
    #expect(scene.isAsleep && scene.seconds > 33)
    // The orbits are valid for hours: no renewal in the next hour.
    while scene.seconds < 3600 {
      _ = scene.sleepThrough()
      scene.pass(1.5)
      scene.fix()
      #expect(scene.isAsleep)
    }
  }

  @Test("With GPS alone the reported satellites set before their orbits end: they are renewed for a client that waits")
  func sure() {
    var scene = Scene(
      .m8,
      demand: Demand.paused)
    scene.send(.accelerometer(isPresent: true))
    scene.fixes(2)
    scene.send(.orbits(usableSeconds: 4 * 3600))
    scene.fixes(3)
    #expect(scene.isAsleep)
    // 2.5 h, minus a margin of ten minutes and the time of a collection.
    #expect((8000...8500).contains(scene.sleepThrough()))
  }
}
