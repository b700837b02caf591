// SPDX-License-Identifier: Apache-2.0
import MonotonicTime
import PowerControl
import Testing

@Suite("Pausing")
struct PauseTests {
  @Test("PA-1 a client that may not be paused is never paused")
  func never() {
    var scene = Scene(demand: .updates(pausing: .never))
    scene.fixes(3000)
    #expect(scene.reports.isEmpty)
    #expect(scene.isContinuous)
  }

  @Test(
    "PA-2 PA-3 PA-4 PA-5 PA-15 each activity has its own stationary time",
    arguments: [
      (Demand.Activity.other, 15.0), (.automotiveNavigation, 20), (.fitness, 10), (.otherNavigation, 20),
    ])
  func activities(activity: Demand.Activity, minutes: Double) {
    var scene = Scene(demand: .updates(.best, activity))
    scene.fixes(Int(minutes * 60) - 5)
    #expect(scene.reports.isEmpty)
    scene.fixes(10)
    #expect(scene.reports == [.paused(Scene.client, .stationary)])
    #expect(scene.isBackup)
    #expect(scene.power.isPaused(Scene.client))
  }

  @Test("PA-15 an aeroplane is never paused")
  func airborne() {
    var scene = Scene(demand: .updates(.best, .airborne))
    scene.fixes(3000)
    #expect(scene.reports.isEmpty)
  }

  @Test("PA-3 steps within the radius count as stationary, a way beyond it does not")
  func radius() {
    var scene = Scene(demand: .updates(.best, .automotiveNavigation))
    for step in 0..<13 { scene.fixes(100, north: Double(step % 2) * 80) }
    #expect(scene.reports.count == 1)
    var moving = Scene(demand: .updates(.best, .automotiveNavigation))
    for step in 0..<26 { moving.fixes(100, north: Double(step) * 150) }
    #expect(moving.reports.isEmpty)
  }

  @Test("PA-7 PA-9 position checks grow to five minutes, and the first that shows movement resumes, once")
  func checks() {
    var scene = Scene(demand: .updates())
    scene.fixes(910)
    var intervals: [Double] = []
    for _ in 0..<6 {
      let began = scene.seconds
      _ = scene.sleepThrough()
      scene.pass(1.3)
      scene.fix()
      intervals.append(scene.seconds - began)
    }
    #expect(intervals[0] < 61)
    #expect((115...121).contains(intervals[1]))
    #expect((234...241).contains(intervals[2]))
    #expect(intervals[3...].allSatisfy { $0 > 280 && $0 <= 300 })
    #expect(scene.reports.count == 1)
    _ = scene.sleepThrough()
    scene.pass(1.3)
    scene.fix(north: 900, speed: 12)
    #expect(scene.reports.last == .resumed(Scene.client))
    scene.fixes(30, north: 1000, speed: 12)
    #expect(scene.count(.resumed(Scene.client)) == 1)
    #expect(scene.isContinuous)
  }

  @Test("PA-15 the times can be replaced")
  func replaced() {
    var scene = Scene(demand: .updates()) {
      $0.pauseSeconds = 40
      $0.pauseProbeSeconds = 5
    }
    scene.fixes(45)
    #expect(scene.reports == [.paused(Scene.client, .stationary)])
    #expect(scene.sleepThrough() < 5)
  }

  @Test("PA-6 PA-9 without a fix for ten minutes a client is paused, and resumed by the next fix")
  func noFix() {
    var scene = Scene(demand: .updates())
    scene.fixes(60)
    while scene.seconds < 1000 {
      if scene.isAsleep { _ = scene.sleepThrough() } else { scene.searches(1) }
    }
    #expect(scene.count(.paused(Scene.client, .noFix)) == 1)
    let paused = scene.actions.first { $0.action == .report(.paused(Scene.client, .noFix)) }
    #expect(paused.map { (655...665).contains($0.at) } ?? false)
    _ = scene.sleepThrough()
    scene.fixes(1)
    #expect(scene.count(.resumed(Scene.client)) == 1)
  }

  @Test("PA-9 an accelerometer wakes the receiver at once; until then it is woken for orbits only")
  func accelerometer() {
    var scene = Scene(demand: .updates())
    scene.send(.accelerometer(isPresent: true))
    scene.fixes(910)
    #expect(scene.isAsleep)
    let nextCheck = scene.power.deadline.map { $0.seconds(since: .zero) - scene.seconds } ?? 0
    #expect(nextCheck > 3 * 3600)
    scene.pass(1000)
    scene.send(.movementHint(.accelerometer))
    #expect(!scene.isAsleep)
    scene.send(.wakeConfirmed)
    scene.pass(1.5)
    scene.fix(north: 3, speed: 3)
    #expect(scene.reports.last == .resumed(Scene.client))
  }

  @Test("False hints cost one position check together, not one each")
  func falseHints() {
    var scene = Scene(demand: .updates())
    scene.send(.accelerometer(isPresent: true))
    scene.fixes(910)
    var awake = 0
    for _ in 0..<60 {
      scene.pass(10)
      scene.send(.movementHint(.accelerometer))
      if !scene.isAsleep {
        awake += 1
        scene.send(.wakeConfirmed)
        scene.fixes(18)
      }
    }
    #expect(scene.isAsleep)
    #expect(awake < 25)
    #expect(scene.count(.resumed(Scene.client)) == 0)
  }

  @Test("PA-10 a client that may no longer be paused is resumed")
  func setWhilePaused() {
    var scene = Scene(demand: .updates())
    scene.fixes(910)
    scene.send(.demand(Scene.client, .updates(pausing: .never)))
    #expect(scene.reports.last == .resumed(Scene.client))
    #expect(!scene.isAsleep)
  }

  @Test("PA-11 a client that stops while paused is not resumed")
  func stopped() {
    var scene = Scene(demand: .updates())
    scene.fixes(910)
    scene.send(.demand(Scene.client, nil))
    #expect(scene.count(.resumed(Scene.client)) == 0)
    #expect(scene.mode == .backup(until: nil))
  }

  @Test("PA-12 a pause of one client does not affect the regions and significant changes of another")
  func others() {
    var scene = Scene(demand: .updates())
    scene.send(.demand(Scene.other, Demand(significantChange: true, border: Demand.Border(distanceMetres: 1000))))
    scene.fixes(920)
    #expect(scene.isAsleep)
    // A kilometre at 3 m/s² takes 26 s; ten seconds later a crossing must have been detected.
    #expect((30...36).contains(scene.sleepThrough()))
  }

  @Test("The caller may decide on pauses")
  func elsewhere() {
    var scene = Scene(demand: .updates(pausing: .decidedElsewhere(isPaused: false)))
    scene.fixes(2000)
    #expect(scene.isContinuous)
    scene.send(.demand(Scene.client, .updates(pausing: .decidedElsewhere(isPaused: true))))
    #expect(scene.isAsleep)
    #expect(scene.sleepThrough() < 61)
    scene.fixes(1)
    #expect(scene.reports.isEmpty)
    scene.send(.demand(Scene.client, .updates(pausing: .decidedElsewhere(isPaused: false))))
    #expect(scene.isContinuous)
  }
}
