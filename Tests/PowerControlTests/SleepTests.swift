// SPDX-License-Identifier: Apache-2.0
import MonotonicTime
import Positioning
import Power
import Testing

@Suite("A sleeping receiver wakes in time")
struct SleepTests {
  @Test("Nothing is saved before a good fix and thirty seconds of orbits")
  func firstFix() {
    var scene = Scene(demand: .every(900))
    scene.searches(12, satellites: 9, strong: 2)
    #expect(scene.isContinuous)
    scene.fixes(25)
    #expect(scene.isContinuous)
    scene.fixes(10)
    #expect(scene.isBackup)
  }

  @Test("Orbits that a cold start received before its first fix count, if there was no gap")
  func orbitsOfColdStart() {
    var scene = Scene(demand: .every(900))
    scene.searches(20, satellites: 9, strong: 8)
    scene.fixes(10)
    #expect(scene.isContinuous)
    scene.fixes(5)
    #expect(scene.isBackup)
    var broken = Scene(demand: .every(900))
    broken.searches(10, satellites: 9, strong: 8)
    broken.searches(1, satellites: 1, strong: 0)
    broken.searches(9, satellites: 9, strong: 8)
    broken.fixes(20)
    #expect(broken.isContinuous)
    broken.fixes(5)
    #expect(broken.isBackup)
  }

  @Test("After a poor fix the receiver sleeps only when better ones had their time")
  func poorFix() {
    var scene = Scene(demand: .every(900))
    scene.fixes(40)
    _ = scene.sleepThrough()
    scene.pass(1.5)
    scene.fix(error: 60)
    #expect(!scene.isAsleep)
    scene.pass(1)
    scene.fix(error: 12)
    #expect(scene.isAsleep)
  }

  @Test("The wake-up is early enough for the fix, by the duration of recent starts")
  func learned() {
    var scene = Scene(demand: .every(300))
    scene.fixes(40)
    let first = scene.sleepThrough()
    #expect((294...297).contains(first))
    for _ in 0..<3 {
      scene.pass(8)
      scene.fix()
      _ = scene.sleepThrough()
    }
    scene.pass(8)
    scene.fix()
    // Starts of eight seconds: eight are allowed for now.
    #expect((287...290).contains(scene.sleepThrough()))
  }

  @Test("Orbits are renewed while a client will need them, and never run out in sleep")
  func orbits() {
    var scene = Scene(demand: .every(900))
    scene.fixes(40)
    var renewals = 0
    var lastRenewal = scene.seconds
    while scene.seconds < 86_400 {
      _ = scene.sleepThrough()
      scene.pass(1.5)
      scene.fix()
      if !scene.isAsleep {
        renewals += 1
        #expect(scene.seconds - lastRenewal < 4 * 3600)
        scene.fixes(45)
        lastRenewal = scene.seconds
      }
      #expect(scene.isAsleep)
    }
    #expect((6...7).contains(renewals))
  }

  @Test(
    "Orbits are renewed by half a minute at full power and not by a moment of cyclic tracking, with and without an accelerometer",
    arguments: [true, false])
  func orbitsByCyclicTracking(hasAccelerometer: Bool) {
    var scene = Scene(demand: .updates(.metres(100), filter: 100, .automotiveNavigation))
    if hasAccelerometer { scene.send(.accelerometer(isPresent: true)) }
    // The receiver's record: the start of tracking at full power, and the time at which it had lasted long enough.
    var (since, renewed): (Double?, Double) = (nil, 0)
    while scene.seconds < 86_400 {
      if scene.isAsleep {
        since = nil
        _ = scene.sleepThrough()
        #expect(scene.seconds - renewed < 4 * 3600, "at \(scene.seconds) it begins cold")
      }
      scene.fixes(1)
      guard scene.isContinuous else {
        since = nil
        continue
      }
      since = since ?? scene.seconds
      if let since, scene.seconds - since >= 30 { renewed = scene.seconds }
    }
    #expect(renewed > 60_000)
  }

  @Test("Where position checks are rarer than orbits last, orbits are not renewed, and the wake-up is earlier")
  func coldChecks() {
    var scene = Scene(demand: .every(20_000))
    scene.fixes(3)
    #expect(scene.isAsleep)
    let slept = scene.sleepThrough()
    #expect((19_955...19_965).contains(slept))
  }

  @Test("A hot start that takes as long as a cold one shows that the orbits are lost: they are renewed")
  func coldInsteadOfHot() {
    var scene = Scene(demand: .every(900))
    scene.fixes(45)
    _ = scene.sleepThrough()
    scene.searches(27, satellites: 9, strong: 8)
    scene.fixes(20)
    #expect(!scene.isAsleep)
    scene.fixes(20)
    #expect(scene.isAsleep)
    #expect(scene.sleepThrough() > 880)
  }

  @Test("The receiver's own report on its orbits takes precedence")
  func reportedOrbits() {
    var scene = Scene(demand: .every(900))
    scene.send(.orbits(usableSeconds: 7200))
    scene.fixes(1)
    #expect(scene.isAsleep)
  }

  @Test("Repeated one-shots keep orbits fresh; a single one does not")
  func habit() {
    var scene = Scene(demand: Demand(oneShot: .best))
    scene.fixes(5)
    scene.send(.demand(Scene.client, nil))
    #expect(scene.isAsleep)
    scene.pass(1200)
    scene.send(.demand(Scene.client, Demand(oneShot: .best)))
    scene.send(.wakeConfirmed)
    scene.fixes(5)
    scene.send(.demand(Scene.client, nil))
    #expect(!scene.isAsleep)
    scene.fixes(40)
    #expect(scene.isAsleep)
  }

  @Test("Without a demand the receiver sleeps until there is one, and the host is not woken")
  func idle() {
    var scene = Scene(demand: .updates())
    scene.fixes(60)
    scene.send(.demand(Scene.client, nil))
    #expect(scene.mode == .backup(until: nil))
    #expect(scene.power.deadline == nil)
    scene.pass(5000)
    scene.send(.demand(Scene.other, .updates()))
    #expect(scene.isContinuous)
  }

  @Test("On I2C only time wakes the receiver: each sleep has an end")
  func blind() {
    var capabilities = ReceiverCapabilities.m10
    capabilities.backup?.wakesByLine = false
    var scene = Scene(capabilities)
    scene.pass(1)
    #expect(scene.isAsleep)
    #expect(scene.mode != .backup(until: nil))
    for _ in 0..<5 {
      scene.pass(60)
      #expect(scene.power.deadline != nil)
    }
  }

  @Test(
    "A sleep that only time ends is not requested where its shortest duration is longer than the demand or the search allows",
    arguments: [0.0, 5, 10, 20])
  func shortestBlindSleep(shortest: Double) throws {
    var capabilities = ReceiverCapabilities.ag3352
    capabilities.backup = .init(longestSeconds: 86_400, wakesByLine: false, shortestSeconds: shortest)
    var requests: [(gap: Double, seconds: Double)] = []
    for gap in stride(from: 2.0, through: 40, by: 1) {
      var scene = Scene(capabilities, demand: .every(gap))
      scene.fixes(60)
      for _ in 0..<10 {
        // A request that is too short is lengthened.
        if scene.isBackup { scene.pass(shortest) }
        _ = scene.sleepThrough(limit: gap)
        let before = scene.seconds
        scene.fixes(2)
        scene.searches(Int(gap))
        #expect(scene.seconds - before <= gap + 2)
      }
      for (at, action) in scene.actions {
        guard case .enter(let wanted) = action, case .backup(let until?) = wanted.mode else { continue }
        requests.append((gap, until.seconds(since: .zero) - at))
      }
    }
    let least = try #require(requests.map(\.seconds).min())
    #expect(least >= shortest, "\(requests.first { $0.seconds == least }!)")
    #expect(requests.contains { $0.gap == 40 })
  }

  @Test("A sleep that costs more than it saves is not begun")
  func breakEven() {
    var scene = Scene(demand: .every(3))
    scene.fixes(100)
    #expect(
      !scene.actions.contains {
        if case .enter(let wanted) = $0.action { wanted.mode.isAsleep && $0.at > 0 } else { false }
      })
    #expect(scene.isCyclic)
  }

  @Test("A clock that steps back has no effect")
  func clock() {
    var power = PowerControl(at: .zero)
    _ = power.handle(.receiverFound(.m10), at: Instant(nanoseconds: 5_000_000_000))
    let before = power.wanted
    _ = power.wake(at: Instant(nanoseconds: 1_000_000_000))
    #expect(power.wanted == before)
    _ = power.handle(.demand(Scene.client, .updates()), at: .zero)
    #expect(!power.wanted.mode.isAsleep)
  }

  @Test("Invalid numbers are read as the strictest valid ones")
  func nonsense() {
    var scene = Scene(
      demand: Demand(
        updates: Demand.Updates(accuracy: .metres(.nan), distanceFilterMetres: .nan), everySeconds: -5,
        border: Demand.Border(metres: .nan)))
    scene.fixes(60)
    #expect(scene.mode == .continuous(everySeconds: 1))
  }
}

@Suite("The modes of each receiver")
struct MeansTests {
  @Test("Cyclic tracking where it suffices, full power when signals are poor, with hysteresis")
  func cyclic() {
    var scene = Scene(demand: .updates(.metres(10)))
    scene.fixes(30)
    #expect(scene.isContinuous)
    scene.fixes(10)
    #expect(scene.isCyclic)
    scene.fixes(5, error: 14)
    #expect(scene.isCyclic)
    scene.fixes(1, error: 16)
    #expect(scene.isContinuous)
    scene.fixes(28)
    #expect(scene.isContinuous)
    scene.fixes(5)
    #expect(scene.isCyclic)
  }

  @Test(
    "The best accuracy gets full power while fixes are delivered",
    arguments: [Demand.Accuracy.best, .navigation, .metres(3)])
  func best(accuracy: Demand.Accuracy) {
    var scene = Scene(demand: .updates(accuracy))
    scene.fixes(300)
    #expect(scene.mode == .continuous(everySeconds: 1))
  }

  @Test(
    "Receivers without cyclic tracking never get the command",
    arguments: [ReceiverCapabilities.m8Batching, .m10SPG500, .f9, .f10, .x20])
  func backupOnly(capabilities: ReceiverCapabilities) {
    var scene = Scene(capabilities, demand: .updates(.metres(10)))
    scene.fixes(100)
    #expect(scene.isContinuous)
    scene.send(.demand(Scene.client, .every(900)))
    scene.fixes(3)
    #expect(scene.isBackup)
  }

  @Test("A plain NMEA receiver gets no command: the host sleeps")
  func plainNMEA() {
    var scene = Scene(.plainNMEA, demand: .every(900))
    scene.fixes(60)
    guard case .unread = scene.mode else {
      Issue.record("\(scene.mode)")
      return
    }
    // It goes on to send: people read that it is on.
    #expect(scene.power.status == .unread)
    #expect(scene.sleepThrough() > 880)
    scene.fixes(1)
    #expect(scene.isAsleep)
  }

  @Test("With a power switch the receiver is off where a cold start is worth it, and only there")
  func powerSwitch() {
    var scene = Scene(.plainNMEA.with(.losesMemory), demand: .every(900))
    scene.fixes(60)
    guard case .off = scene.mode else {
      Issue.record("\(scene.mode)")
      return
    }
    // Forty seconds for the cold start.
    #expect((840...860).contains(scene.sleepThrough()))
    var often = Scene(.plainNMEA.with(.losesMemory), demand: .every(60))
    often.fixes(60)
    #expect(often.mode != .off(until: nil))
    if case .off = often.mode { Issue.record("\(often.mode)") }
  }

  @Test("A receiver that refuses backup uses its own on/off operation, and gets the request again after an hour")
  func onOff() {
    var scene = Scene(.m8, demand: .every(900))
    scene.fixes(40)
    #expect(scene.isBackup)
    scene.send(.refused(.backup))
    #expect(scene.count(.refused(.backup)) == 1)
    scene.fixes(2)
    #expect(scene.mode == .onOff(periodSeconds: 600))
    for _ in 0..<7 {
      scene.pass(600)
      scene.fix()
    }
    #expect(scene.isBackup)
  }

  @Test("Fewer constellations after ten minutes of coarse demands, all of them at once for a finer one")
  func constellations() {
    var scene = Scene(demand: .updates(.metres(100)))
    scene.fixes(590)
    #expect(!scene.power.wanted.reducedConstellations)
    scene.fixes(30)
    #expect(scene.power.wanted.reducedConstellations)
    scene.send(.demand(Scene.other, .updates(.best)))
    #expect(!scene.power.wanted.reducedConstellations)
  }

  private func checks(_ scene: inout Scene, _ count: Int) {
    for _ in 0..<count {
      _ = scene.sleepThrough()
      scene.pass(1.3)
      scene.fix()
    }
  }

  @Test("Fewer constellations are kept from check to check: each change restarts the receiver's engine")
  func constellationsOfChecks() {
    var scene = Scene(demand: .updates(.metres(100), filter: 100))
    scene.fixes(45)
    checks(&scene, 70)
    #expect(scene.power.wanted.reducedConstellations)
    let changed = scene.actions.count
    checks(&scene, 50)
    for (_, action) in scene.actions[changed...] {
      if case .enter(let wanted) = action { #expect(wanted.reducedConstellations) }
    }
    // No sky: all constellations are searched, and used for ten minutes after it.
    _ = scene.sleepThrough()
    scene.searches(12)
    #expect(!scene.power.wanted.reducedConstellations)
    while scene.isAsleep { _ = scene.sleepThrough() }
    scene.fixes(3)
    #expect(!scene.power.wanted.reducedConstellations)
  }

  @Test("With rare checks all constellations stay on: their orbits last longer than the orbits of fewer")
  func constellationsOfRareChecks() {
    var scene = Scene(demand: .every(300))
    scene.fixes(45)
    checks(&scene, 30)
    #expect(
      scene.actions.allSatisfy {
        if case .enter(let wanted) = $0.action { !wanted.reducedConstellations } else { true }
      })
  }

  @Test("A refusal is reported once")
  func refusedOnce() {
    var scene = Scene(demand: .updates(.metres(10)))
    scene.fixes(60)
    #expect(scene.isCyclic)
    scene.send(.refused(.cyclicTracking))
    scene.send(.refused(.cyclicTracking))
    scene.fixes(60)
    #expect(scene.isContinuous)
    #expect(scene.count(.refused(.cyclicTracking)) == 1)
  }
}
