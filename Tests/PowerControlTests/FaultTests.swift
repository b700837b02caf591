// SPDX-License-Identifier: Apache-2.0
import MonotonicTime
import Positioning
import Power
import Testing

@Suite("No sky")
struct SearchTests {
  @Test("Searches become rarer in proportion to the outage, and a fix still comes in time")
  func backOff() {
    var scene = Scene(demand: .updates())
    scene.fixes(60)
    scene.searches(55)
    #expect(scene.isContinuous)
    scene.searches(10)
    #expect(scene.isAsleep)
    var intervals: [Double] = []
    while scene.seconds < 12_000 {
      if scene.isAsleep { intervals.append(scene.sleepThrough()) } else { scene.searches(1) }
    }
    #expect(intervals[0] < 20)
    // Six minutes minus a hot start.
    #expect((340...355).contains(intervals.last!))
    #expect(zip(intervals, intervals.dropFirst()).allSatisfy { $0 <= $1 + 1 })
    while scene.seconds < 30_000 {
      if scene.isAsleep { intervals.append(scene.sleepThrough()) } else { scene.searches(1) }
    }
    // The orbits are too old by now: six minutes minus a cold start.
    #expect((300...330).contains(intervals.last!))
    #expect(scene.count(.skyLost) == 1)
  }

  @Test("A search with strong signals lasts for a cold start")
  func signals() {
    var scene = Scene(demand: .updates())
    scene.fixes(60)
    while scene.seconds < 8000 {
      if scene.isAsleep { _ = scene.sleepThrough() } else { scene.searches(1) }
    }
    if scene.isAsleep { _ = scene.sleepThrough() }
    scene.searches(30, satellites: 8, strong: 6)
    #expect(!scene.isAsleep)
    scene.fixes(1)
    #expect(scene.reports.last.map { if case .skyBack(let seconds) = $0 { seconds > 7000 } else { false } } ?? false)
  }

  @Test("A search with weak signals does not last that long")
  func weak() {
    var scene = Scene(demand: .updates())
    scene.fixes(60)
    while scene.seconds < 8000 {
      if scene.isAsleep { _ = scene.sleepThrough() } else { scene.searches(1) }
    }
    if scene.isAsleep { _ = scene.sleepThrough() }
    scene.searches(17, satellites: 2, strong: 0)
    #expect(scene.isAsleep)
  }

  @Test("A receiver that is awake and silent is an outage as well")
  func silent() {
    var scene = Scene(demand: .updates())
    scene.fixes(60)
    scene.pass(65)
    #expect(scene.isAsleep)
    #expect(scene.reports == [.skyLost])
  }

  @Test("A new client begins a search of its own, but not directly after another one")
  func newClient() {
    var scene = Scene(demand: .updates())
    scene.fixes(60)
    while scene.seconds < 8000 || !scene.isAsleep {
      if scene.isAsleep { _ = scene.sleepThrough() } else { scene.searches(1) }
    }
    scene.pass(60)
    scene.send(.demand(Scene.other, Demand(oneShot: .best)))
    #expect(!scene.isAsleep)
    scene.send(.wakeConfirmed)
    scene.searches(5)
    #expect(scene.isAsleep)
    scene.send(.demand(Scene.other, nil))
    scene.send(.demand(Scene.other, Demand(oneShot: .best)))
    #expect(scene.isAsleep)
  }
}

@Suite("A receiver that does not follow commands")
struct FaultTests {
  private func asleep() -> Scene {
    var scene = Scene(demand: .every(900))
    scene.fixes(45)
    return scene
  }

  @Test("A receiver whose timer ends its sleep is not woken again before that, and is afterwards")
  func timer() {
    var scene = asleep()
    scene.pass(900)
    let attempts = scene.count(.wakeAgain(attempt: 2))
    scene.send(.wakesByTimer(at: scene.now + Milliseconds(seconds: 300)))
    let actions = scene.actions.count
    scene.pass(290)
    #expect(scene.power.status == .asleepUntilTimer && scene.actions.count == actions)
    scene.pass(20)
    #expect(scene.power.status == .waking && scene.count(.wakeAgain(attempt: 2)) >= attempts)
    scene.pass(60)
    #expect(scene.reports == [.doesNotWake])
  }

  @Test("A search begins with the end of a sleep that the timer ends, not with the demand before it")
  func searchAfterTimer() {
    var scene = asleep()
    scene.pass(900)
    scene.send(.wakesByTimer(at: scene.now + Milliseconds(seconds: 300)))
    scene.pass(301)
    for _ in 0..<10 {
      scene.send(.noFix(SignalObservation(satellites: 0, strongSatellites: 0)))
      #expect(scene.power.status == .awake)
      scene.pass(0.1)
    }
  }

  @Test("A receiver that does not wake is woken again, reset, reported once, and tried at growing intervals")
  func deaf() {
    var scene = asleep()
    scene.pass(900)
    #expect(scene.count(.wakeAgain(attempt: 2)) > 0)
    scene.pass(60)
    #expect(scene.count(.reset) == 2)
    #expect(scene.reports == [.doesNotWake])
    scene.pass(20_000)
    #expect(scene.reports == [.doesNotWake])
    let tries = scene.actions.count
    scene.pass(6000)
    #expect((9...11).contains(scene.actions.count - tries))
    scene.fix()
    #expect(scene.reports.last == .answersAgain)
    #expect(scene.isContinuous)
  }

  @Test("The first bytes to a sleeping receiver are lost: this is not reported")
  func lostBytes() {
    var scene = asleep()
    scene.pass(scene.power.deadline.map { $0.seconds(since: .zero) - scene.seconds } ?? 0)
    scene.send(.wakeFailed)
    scene.send(.wakeConfirmed)
    scene.fixes(1)
    #expect(scene.reports.isEmpty)
    #expect(scene.isAsleep)
  }

  @Test("A receiver that does not sleep gets three requests, is reported once, and gets another after an hour")
  func sleepless() {
    var scene = asleep()
    scene.fixes(15, isObedient: false)
    #expect(scene.count(.doesNotSleep) == 1)
    #expect(!scene.isBackup)
    scene.fixes(1800)
    #expect(scene.count(.doesNotSleep) == 1)
    for _ in 0..<2000 {
      scene.fixes(1)
      if scene.isBackup { break }
    }
    #expect(scene.isBackup)
  }

  @Test("At any part of a second a receiver that ignores sleep is not taken for one that wakes by itself")
  func sleeplessAtAnyPhase() {
    for phase in 0..<20 {
      var scene = asleep()
      scene.pass(Double(phase) * 0.05)
      // Epochs arrive a few milliseconds early or late.
      for second in 0..<20 where scene.isAsleep {
        scene.pass(second % 2 == 0 ? 1.004 : 0.996)
        scene.fix()
      }
      #expect(scene.reports == [.doesNotSleep], "\(phase * 50) ms")
    }
  }

  @Test("An epoch that was on its way when the receiver fell asleep is ignored")
  func buffered() {
    var scene = Scene(demand: .every(900))
    while !scene.isAsleep { scene.fixes(1) }
    scene.fixes(1, isObedient: false)
    scene.pass(100)
    #expect(scene.isAsleep)
    #expect(scene.reports.isEmpty)
  }

  @Test("A receiver that wakes by itself is put to sleep again, and reported once")
  func wakesByItself() {
    var scene = asleep()
    for _ in 0..<4 {
      scene.pass(120)
      scene.fix()
      #expect(scene.isAsleep)
    }
    #expect(scene.reports == [.wakesByItself])
  }

  @Test(
    "The end of a sleep whose client is gone is not reported, an unrequested wake-up after it is",
    arguments: [false, true])
  func endOfAbandonedSleep(suspends: Bool) {
    var scene = asleep()
    scene.pass(10)
    if suspends { scene.send(.hostSuspending) }
    scene.send(.demand(Scene.client, nil))
    if suspends { scene.send(.hostResumed(suspendedSeconds: 10)) }
    #expect(scene.mode == .backup(until: nil))
    let reports = scene.reports.count
    let requests = scene.count(.enter(scene.power.wanted))
    scene.pass(900)
    scene.fix()
    #expect(scene.reports.count == reports && scene.isAsleep, "\(scene.reports)")
    #expect(scene.count(.enter(scene.power.wanted)) == requests + 1)
    scene.pass(120)
    scene.fix()
    #expect(scene.reports.dropFirst(reports) == [.wakesByItself])
  }

  @Test("A restart during sleep is served like a wake-up")
  func restartAsleep() {
    var scene = asleep()
    scene.pass(100)
    scene.send(.rebooted)
    #expect(!scene.isAsleep)
    scene.fixes(45)
    #expect(scene.isAsleep)
  }

  @Test("The host suspends: the receiver sleeps, and both resume")
  func suspends() {
    var scene = asleep()
    scene.send(.hostSuspending)
    #expect(scene.mode == .backup(until: nil))
    #expect(scene.reports.contains { if case .hostIsNeeded = $0 { true } else { false } })
    scene.send(.hostResumed(suspendedSeconds: 30_000))
    #expect(scene.isContinuous)
    scene.send(.wakeConfirmed)
    // After eight hours the orbits are old: the start may be a cold one, and they are renewed.
    scene.fixes(20)
    #expect(!scene.isAsleep)
    scene.fixes(20)
    #expect(scene.isAsleep)
  }

  @Test("A receiver that collects continues while the host is suspended, and the time of its return is reported")
  func suspendsCollecting() {
    var scene = Scene(demand: .deferring())
    scene.fixes(100, speed: 1.2)
    let batch = scene.batch
    scene.send(.hostSuspending)
    #expect(scene.batch == batch)
    #expect(scene.reports.contains { if case .hostIsNeeded = $0 { true } else { false } })
    scene.send(.hostResumed(suspendedSeconds: 590))
    scene.pass(1)
    #expect(scene.count(.retrieveBatch) == 1)
  }

  @Test("A host that announced a suspend and did not suspend is served again")
  func doesNotSuspend() {
    var scene = asleep()
    scene.send(.hostSuspending)
    scene.pass(121)
    #expect(scene.isContinuous)
  }
}
