// SPDX-License-Identifier: Apache-2.0
import MonotonicTime
import Positioning
import Power
import Testing

@Suite("Clients that wait for a movement")
struct MovementTests {
  private static let movement = Demand.paused

  /// A receiver with a fix and orbits, and a client that starts to wait for a movement.
  private static func waiting(_ change: (inout PowerPolicy) -> Void = { _ in }) -> Scene {
    var scene = Scene(demand: .updates(), change: change)
    scene.fixes(60)
    scene.send(.demand(Scene.client, movement))
    return scene
  }

  @Test("A client that waits for a movement lets the receiver sleep at once; its next demand wakes it")
  func sleeps() {
    var scene = Scene(demand: .updates())
    scene.fixes(3000)
    #expect(scene.isContinuous)
    scene.send(.demand(Scene.client, Self.movement))
    #expect(scene.isBackup)
    #expect(scene.sleepThrough() < 61)
    scene.fixes(1)
    #expect(scene.isBackup)
    scene.send(.demand(Scene.client, .updates()))
    #expect(scene.isContinuous)
    #expect(scene.reports.isEmpty)
  }

  @Test("PA-7 PA-9 position checks grow to five minutes; a new wait begins with the shortest again")
  func checks() {
    var scene = Self.waiting()
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
    scene.send(.demand(Scene.client, .updates()))
    scene.send(.wakeConfirmed)
    scene.fixes(30, north: 1000, speed: 12)
    #expect(scene.isContinuous)
    scene.send(.demand(Scene.client, Self.movement))
    #expect(scene.sleepThrough() < 61)
  }

  @Test("The fixes for another client do not make the checks rarer")
  func otherFixes() {
    var scene = Self.waiting()
    for _ in 0..<5 {
      scene.send(.demand(Scene.other, Demand(oneShot: .best)))
      scene.send(.wakeConfirmed)
      scene.fixes(2)
      scene.send(.demand(Scene.other, nil))
      scene.pass(20)
    }
    #expect(scene.isAsleep)
    #expect(scene.sleepThrough() < 61)
  }

  @Test("The first interval can be replaced")
  func replaced() {
    var scene = Self.waiting { $0.movementCheckSeconds = 5 }
    #expect(scene.sleepThrough() < 5)
  }

  @Test("PA-9 an accelerometer wakes the receiver at once; until then it is woken for orbits only")
  func accelerometer() {
    var scene = Scene(demand: .updates())
    scene.send(.accelerometer(isPresent: true))
    scene.fixes(60)
    scene.send(.demand(Scene.client, Self.movement))
    #expect(scene.isAsleep)
    let nextCheck = scene.power.deadline.map { $0.seconds(since: .zero) - scene.seconds } ?? 0
    #expect(nextCheck > 3 * 3600)
    scene.pass(1000)
    scene.send(.movementHint(.accelerometer))
    #expect(!scene.isAsleep)
  }

  @Test("False hints cost one position check together, not one each")
  func falseHints() {
    var scene = Scene(demand: .updates())
    scene.send(.accelerometer(isPresent: true))
    scene.fixes(60)
    scene.send(.demand(Scene.client, Self.movement))
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
  }

  @Test("Without a sky the search decides when the receiver is woken, and the wait goes on after it")
  func noSky() {
    var scene = Self.waiting()
    while scene.seconds < 2000 || !scene.isAsleep {
      if scene.isAsleep { _ = scene.sleepThrough() } else { scene.searches(1) }
    }
    #expect(scene.count(.skyLost) == 1)
    #expect(scene.sleepThrough() > 100)
    scene.fixes(1)
    #expect(scene.isAsleep)
  }

  @Test("PA-11 a client that ends while it waits leaves the receiver asleep, without an end")
  func ended() {
    var scene = Self.waiting()
    scene.send(.demand(Scene.client, nil))
    #expect(scene.mode == .backup(until: nil))
  }

  @Test("PA-12 a client that waits does not affect the regions and significant changes of another")
  func others() {
    var scene = Scene(demand: .updates())
    scene.send(.demand(Scene.other, Demand(significantChange: true, border: Demand.Border(metres: 1000))))
    scene.fixes(60)
    scene.send(.demand(Scene.client, Self.movement))
    #expect(scene.isAsleep)
    // A kilometre at 3 m/s² takes 26 s; ten seconds later a crossing must have been detected.
    #expect((30...36).contains(scene.sleepThrough()))
  }
}
