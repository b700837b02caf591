// SPDX-License-Identifier: Apache-2.0
import Positioning
import Power
import Testing

/// A receiver whose epochs are at whole seconds, and arrive slightly later on its line.
private struct Checks {
  var scene = Scene(demand: .every(60))
  /// Seconds from the wake-up command to the position.
  var startSeconds = 1.35
  static let latency = 0.08

  init() {
    scene.pass(Self.latency)
    scene.fixes(45)
  }

  /// Sleeps, wakes and gets a fix; returns the seconds awake.
  mutating func check() -> Double {
    _ = scene.sleepThrough()
    let began = scene.seconds
    let epoch = (began + startSeconds).rounded(.up)
    scene.pass(epoch + Self.latency - began)
    scene.fix()
    return scene.seconds - began
  }
}

@Suite("The grid of epochs")
struct EpochTests {
  @Test("A receiver is woken so that its start ends just before an epoch, and is awake for no longer")
  func aligned() {
    var checks = Checks()
    for _ in 0..<8 { _ = checks.check() }
    // One in twenty tries a shorter lead.
    let seconds = (0..<60).map { _ in checks.check() }
    #expect(seconds.filter { $0 < 1.65 }.count >= 56)
    #expect(seconds.reduce(0, +) / 60 < 1.6)
  }

  @Test("The promised interval is kept with the grid")
  func promise() {
    var checks = Checks()
    for _ in 0..<40 {
      let before = checks.scene.seconds
      _ = checks.check()
      #expect(checks.scene.seconds - before <= 60)
    }
  }

  @Test("Slower starts get more time, faster ones less; a start as long as a cold one is ignored")
  func learning() {
    var checks = Checks()
    for _ in 0..<8 { _ = checks.check() }
    checks.startSeconds = 2.45
    for _ in 0..<12 { _ = checks.check() }
    for _ in 0..<20 { #expect(checks.check() < 2.9) }
    checks.startSeconds = 1.2
    for _ in 0..<12 { _ = checks.check() }
    for _ in 0..<20 { #expect(checks.check() < 1.9) }
  }

  @Test("A source whose fixes come at any moment is woken without a grid")
  func anyMoment() {
    var scene = Scene(demand: .every(60))
    scene.fixes(45)
    for index in 0..<60 {
      let slept = scene.sleepThrough()
      // 59.4 s minus a start of 1.5 s and a margin; on a grid it would be up to a second less.
      #expect(slept > 57.5)
      scene.pass(1.3 + Double(index * 37 % 100) / 500)
      scene.fix()
    }
  }

  @Test("A search ends with the first report of an empty sky after a second of searching")
  func emptySky() {
    var scene = Scene(demand: .updates(.metres(100), filter: 50))
    scene.fixes(60)
    scene.searches(20)
    while scene.seconds < 3000 { if scene.isAsleep { _ = scene.sleepThrough() } else { scene.searches(1) } }
    if !scene.isAsleep { scene.searches(20) }
    _ = scene.sleepThrough()
    scene.pass(0.4)
    scene.send(.noFix(SignalObservation(satellites: 0, strongSatellites: 0)))
    #expect(!scene.isAsleep, "It had no time to receive a signal.")
    scene.pass(1)
    scene.send(.noFix(SignalObservation(satellites: 0, strongSatellites: 0)))
    #expect(scene.isAsleep)
    _ = scene.sleepThrough()
    scene.pass(1.4)
    scene.send(.noFix(SignalObservation(satellites: 1, strongSatellites: 0)))
    scene.pass(5)
    #expect(!scene.isAsleep, "A signal prolongs the search.")
  }

  @Test("A client of position checks is searched for a quarter of a minute, a client of live fixes for a minute")
  func firstSearch() {
    var checks = Scene(demand: .updates(.metres(100), filter: 50))
    checks.fixes(45)
    if checks.isAsleep { _ = checks.sleepThrough() }
    let began = checks.seconds
    checks.searches(100)
    #expect((10...28).contains(checks.seconds - began))
    var live = Scene(demand: .updates(.best))
    live.fixes(45)
    live.searches(55)
    #expect(!live.isAsleep)
  }

  @Test(
    "A client that waits for a movement has a hot start at any time: GPS alone renews orbits before its satellites have set",
    arguments: [(ReceiverCapabilities.m8, 2.5), (.m10, 4.0)])
  func sureOrbits(capabilities: ReceiverCapabilities, hours: Double) {
    var scene = Scene(capabilities, demand: .updates(.metres(100), filter: 100, .automotiveNavigation))
    scene.send(.accelerometer(isPresent: true))
    var since: Double?
    var renewed = 0.0
    while scene.seconds < 40_000 {
      if scene.isAsleep {
        since = nil
        _ = scene.sleepThrough()
      }
      scene.pass(1)
      scene.fix()
      since = since ?? scene.seconds
      if scene.seconds - (since ?? 0) >= 30 { renewed = scene.seconds }
      #expect(scene.seconds - renewed < hours * 3600)
    }
  }
}
