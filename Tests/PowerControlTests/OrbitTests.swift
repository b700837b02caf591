// SPDX-License-Identifier: Apache-2.0
import PowerControl
import Testing

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
      demand: Demand(movement: true))
    scene.send(.accelerometer(isPresent: true))
    scene.fixes(2)
    scene.send(.orbits(usableSeconds: 4 * 3600))
    scene.fixes(3)
    #expect(scene.isAsleep)
    // 2.5 h, minus a margin of ten minutes and the time of a collection.
    #expect((8000...8500).contains(scene.sleepThrough()))
  }
}
