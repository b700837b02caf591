// SPDX-License-Identifier: Apache-2.0
import MonotonicTime
import Positioning
import Power
import Testing

@Suite("Clients' demands, and the position checks that they need")
struct DemandTests {
  @Test(
    "A border is checked so soon after its earliest crossing that the crossing is reported within thirty seconds"
  )
  func border() {
    var scene = Scene(demand: Demand(border: Demand.Border(metres: 20_000)))
    scene.fixes(45)
    scene.send(.demand(Scene.client, Demand(border: Demand.Border(metres: 20_000))))
    #expect(scene.isAsleep)
    // 408 s at 50 m/s, and ten seconds minus a start and its margin.
    #expect((412...416).contains(scene.sleepThrough()))
    scene.pass(1.3)
    scene.fix()
    scene.send(.demand(Scene.client, Demand(border: Demand.Border(metres: 12))))
    // 2.5 s at 3 m/s², and the same.
    #expect((7...10).contains(scene.sleepThrough()))
  }

  @Test("A fix that does not determine the side of a border is followed by a check after half the time")
  func uncertainSide() {
    var scene = Scene(demand: Demand(border: Demand.Border(metres: 5000)))
    scene.fixes(45)
    scene.send(.demand(Scene.client, Demand(border: Demand.Border(metres: 2))))
    #expect((2...4).contains(scene.sleepThrough()))
  }

  @Test("RG-14 a crossing that dwells is checked when its time is over")
  func dwell() {
    var scene = Scene(demand: Demand(border: Demand.Border(metres: 5000)))
    scene.fixes(45)
    scene.send(.demand(Scene.client, Demand(border: Demand.Border(metres: 40, isCrossing: true))))
    #expect((17...20).contains(scene.sleepThrough()))
  }

  @Test("RG-13 a crossing is checked again once it can count; fixes in between do not delay it, and a return ends it")
  func crossing() {
    var scene = Scene(demand: Demand(border: Demand.Border(metres: 5000)))
    scene.fixes(45)
    scene.send(.demand(Scene.client, Demand(border: Demand.Border(metres: 5, isCrossing: true))))
    scene.pass(10)
    scene.send(.demand(Scene.client, Demand(border: Demand.Border(metres: 9, isCrossing: true))))
    #expect((7...10.3).contains(scene.sleepThrough()))
    scene.pass(1.3)
    scene.fix()
    scene.send(.demand(Scene.client, Demand(border: Demand.Border(metres: 20_000))))
    #expect(scene.sleepThrough() > 300)
  }

  @Test("A faster fix raises the bound")
  func faster() {
    var scene = Scene(demand: Demand(border: Demand.Border(metres: 20_000)))
    scene.fixes(45, speed: 100)
    scene.send(.demand(Scene.client, Demand(border: Demand.Border(metres: 20_000))))
    // 20 km at 100 m/s, and up to ten seconds.
    #expect(scene.sleepThrough() < 210)
  }

  @Test("SC-3 significant changes are sought every five minutes, every fifteen while stationary")
  func significant() {
    var scene = Scene(demand: Demand(significantChange: true))
    scene.fixes(45)
    var intervals: [Double] = []
    for _ in 0..<5 {
      let began = scene.seconds
      _ = scene.sleepThrough()
      scene.pass(1.3)
      scene.fix()
      intervals.append(scene.seconds - began)
    }
    #expect((295...300).contains(intervals[0]))
    #expect((880...900).contains(intervals[4]))
    _ = scene.sleepThrough()
    scene.pass(1.3)
    scene.fix(north: 2000, speed: 10)
    #expect((290...300).contains(scene.sleepThrough()))
  }

  @Test("SU-2 a new client gets a fresh fix at once, from any sleep")
  func fresh() {
    var scene = Scene(demand: .every(3000))
    scene.fixes(45)
    #expect(scene.isAsleep)
    scene.pass(100)
    scene.send(.demand(Scene.other, Demand(significantChange: true)))
    #expect(scene.isContinuous)
    scene.send(.wakeConfirmed)
    scene.fixes(1)
    #expect(scene.isAsleep)
  }

  @Test("SU-14 a client whose service starts anew gets a fresh fix, also if it starts while a fix is handled")
  func freshAgain() {
    var demand = Demand(significantChange: true)
    var scene = Scene(demand: demand)
    scene.fixes(45)
    #expect(scene.isAsleep)
    scene.pass(100)
    scene.startAgain(&demand)
    #expect(scene.isContinuous)
    scene.send(.wakeConfirmed)
    scene.pass(1)
    scene.fix()
    scene.startAgain(&demand)
    #expect(!scene.isAsleep)
    scene.fixes(1)
    #expect(scene.isAsleep)
  }

  @Test("The strictest of contradicting demands decides")
  func strictest() {
    var scene = Scene(demand: .every(3600))
    scene.send(.demand(Scene.other, .updates(.navigation)))
    scene.fixes(100)
    #expect(scene.mode == .continuous(everySeconds: 1))
    scene.send(.demand(Scene.other, nil))
    #expect(scene.isAsleep)
  }

  @Test("SU-6 a kilometre's accuracy lets the receiver sleep while it moves")
  func kilometre() {
    var scene = Scene(demand: .updates(.metres(3000)))
    scene.fixes(45, speed: 10)
    #expect(scene.isAsleep)
    // 300 m at no more than an acceleration of 3 m/s² from 10 m/s.
    #expect((2...12).contains(scene.sleepThrough()))
  }

  @Test("A distance filter is checked by the time its distance takes")
  func filter() {
    var scene = Scene(demand: .updates(.metres(100), filter: 1000))
    scene.fixes(45)
    #expect(scene.isAsleep)
    #expect((20...26).contains(scene.sleepThrough()))
  }

  @Test("RQ-7 after a one-shot the receiver sleeps")
  func oneShot() {
    var scene = Scene(demand: Demand(oneShot: .best))
    scene.searches(8, satellites: 9, strong: 8)
    scene.fixes(3)
    scene.send(.demand(Scene.client, nil))
    #expect(scene.isAsleep)
  }

  @Test("No receiver: reported once, and served when it comes")
  func noReceiver() {
    var scene = Scene(nil, demand: .updates())
    scene.pass(100)
    scene.send(.demand(Scene.other, .every(60)))
    #expect(scene.reports == [.noReceiver])
    scene.send(.receiverFound(.m10))
    #expect(scene.isContinuous)
    scene.fixes(100)
    scene.send(.receiverLost)
    scene.pass(10)
    #expect(scene.count(.noReceiver) == 2)
  }
}

@Suite("Deferral: the receiver collects, line and host sleep")
struct DeferralTests {
  private func collecting(_ capabilities: ReceiverCapabilities = .m10, _ demand: Demand = .deferring()) -> Scene {
    var scene = Scene(capabilities, demand: demand)
    scene.fixes(100, speed: 1.2)
    return scene
  }

  @Test("DF-11 the buffer is sized for the deferral, and the line is silent")
  func sized() {
    let scene = collecting()
    #expect(scene.batch == WantedState.Batch(epochs: 309, extended: true))
    #expect(scene.mode == .cyclicTracking(everySeconds: 2))
    #expect(scene.power.wanted.isSilent)
    #expect(scene.reports.isEmpty)
  }

  private func secondsToDeadline(_ scene: Scene) -> Double {
    scene.power.deadline.map { $0.seconds(since: .zero) - scene.seconds } ?? 0
  }

  @Test("DF-8 it is read early enough to end in time, and reported once; in between the host is not woken")
  func time() {
    var scene = collecting()
    // The line's rate is unknown: 280 fixes at 9600 baud take half a minute.
    scene.pass(secondsToDeadline(scene) + 0.1)
    #expect((565...570).contains(scene.seconds))
    #expect(scene.count(.retrieveBatch) == 1)
    scene.pass(3)
    scene.send(.batchRetrieved(count: 280, lost: 0))
    #expect(scene.reports.isEmpty)
    // With a line that takes a hundredth of a second per fix, the remaining fixes are read right before the end.
    scene.pass(secondsToDeadline(scene) + 0.01)
    #expect((599...600).contains(scene.seconds))
    #expect(scene.count(.retrieveBatch) == 2)
    scene.pass(0.3)
    scene.send(.batchRetrieved(count: 16, lost: 0))
    #expect(scene.reports.isEmpty)
    scene.pass(secondsToDeadline(scene))
    #expect(scene.count(.retrieveBatch) == 2)
    #expect((599.95...599.96).contains(scene.seconds))
    #expect(scene.reports == [.deferralDue(Scene.client)])
  }

  @Test("DF-8 on a slow line it is read once, and in time")
  func slowLine() {
    var scene = collecting()
    scene.pass(secondsToDeadline(scene))
    scene.pass(31)
    scene.send(.batchRetrieved(count: 283, lost: 0))
    scene.pass(secondsToDeadline(scene))
    #expect((599.95...599.96).contains(scene.seconds))
    #expect(scene.count(.retrieveBatch) == 1)
    #expect(scene.reports == [.deferralDue(Scene.client)])
  }

  @Test("DF-20 a deferral that follows at once leaves the batch running")
  func again() {
    var scene = collecting()
    scene.pass(572)
    scene.send(.batchRetrieved(count: 280, lost: 0))
    scene.send(.demand(Scene.client, .updates()))
    let batch = scene.batch
    scene.send(.demand(Scene.client, .deferring(from: scene.seconds)))
    scene.pass(500)
    #expect(scene.batch == batch)
    #expect(scene.count(.retrieveBatch) == 1)
    scene.pass(110)
    #expect(scene.count(.retrieveBatch) == 2)
  }

  @Test("A buffer that is too small for the time is read before it is full")
  func small() {
    var scene = collecting(.m8Batching, .deferring(seconds: 3600))
    guard let batch = scene.batch, case .continuous(let period) = scene.mode else {
      Issue.record("\(scene.power.wanted)")
      return
    }
    #expect(batch.epochs == 156)
    scene.pass(Double(156 * period))
    #expect(scene.count(.retrieveBatch) == 1)
  }

  @Test("DF-8 until travelled: no position check before the distance can have been covered")
  func travelled() {
    var scene = collecting(.m10, .deferring(metres: 1000, seconds: nil))
    let wake = scene.power.deadline.map { $0.seconds(since: .zero) - scene.seconds } ?? 0
    #expect((60...330).contains(wake))
    scene.pass(wake + 0.1)
    #expect(scene.count(.retrieveBatch) == 1)
    scene.fix(north: 1300, speed: 1.2)
    scene.send(.batchRetrieved(count: 150, lost: 0))
    #expect(scene.count(.deferralDue(Scene.client)) == 1)
  }

  @Test(
    "DF-8 a distance that is covered before its read is watched live", arguments: [ReceiverCapabilities.m10, .m8, .f9])
  func travelledSoon(_ receiver: ReceiverCapabilities) {
    var scene = Scene(receiver)
    scene.fixes(60, speed: 10)
    scene.send(.demand(Scene.client, .deferring(metres: 150, seconds: nil)))
    let began = scene.seconds
    while scene.count(.deferralDue(Scene.client)) == 0, scene.seconds < began + 100 {
      scene.pass(1)
      if scene.batch == nil { scene.fix(north: 600 + (scene.seconds - began) * 10, speed: 10) }
    }
    #expect(scene.seconds - began <= 17)
  }

  @Test("Fixes lost by overrun are reported with their number")
  func lost() {
    var scene = collecting()
    scene.send(.batchRetrieved(count: 309, lost: 17))
    #expect(scene.reports == [.fixesLost(17)])
  }

  @Test("A refused buffer is halved, twice, and then the host keeps the fixes: reported once")
  func refused() {
    var scene = collecting()
    scene.send(.refused(.batching))
    scene.fixes(60, speed: 1.2)
    #expect(scene.batch?.epochs == 154)
    scene.send(.refused(.batching))
    scene.fixes(60, speed: 1.2)
    #expect(scene.batch?.epochs == 77)
    scene.send(.refused(.batching))
    scene.fixes(60, speed: 1.2)
    #expect(scene.batch == nil)
    #expect(scene.reports.prefix(2) == [.refused(.batching), .deferralKeptByHost(Scene.client)])
    scene.fixes(600, speed: 1.2)
    #expect(scene.count(.deferralDue(Scene.client)) == 1)
    #expect(scene.count(.deferralKeptByHost(Scene.client)) == 1)
  }

  @Test("DF-24 where the receiver cannot collect, or another client needs fixes, the host keeps them")
  func host() {
    let scene = collecting(.m8)
    #expect(scene.batch == nil)
    #expect(scene.reports == [.deferralKeptByHost(Scene.client)])
    var both = Scene(demand: .deferring())
    both.send(.demand(Scene.other, .updates(.navigation)))
    both.fixes(100)
    #expect(both.batch == nil)
    #expect(both.reports == [.deferralKeptByHost(Scene.client)])
  }

  @Test("A read that breaks off is repeated; after the third the remaining fixes are given up, with their number")
  func cut() {
    var scene = collecting()
    scene.pass(572)
    scene.send(.retrievalCut)
    scene.pass(3)
    #expect(scene.count(.retrieveBatch) == 2)
    scene.send(.retrievalCut)
    scene.pass(3)
    scene.send(.retrievalCut)
    #expect(scene.count(.retrieveBatch) == 3)
    #expect(scene.reports.contains { if case .batchGone(let most) = $0 { most > 250 && most <= 309 } else { false } })
  }

  @Test("A read that is never answered ends after a time")
  func unanswered() {
    var scene = collecting()
    scene.pass(1000)
    #expect(scene.count(.retrieveBatch) >= 3)
    #expect(scene.reports.contains(.refused(.batching)))
    #expect(scene.count(.cutRetrieval) == 1, "the session goes on reading")
  }

  @Test(
    "A last read that is never answered ends after a time as well, and the receiver sleeps", arguments: [0.0, 30, 200])
  func unansweredLast(_ collected: Double) {
    var scene = collecting()
    scene.pass(collected)
    scene.send(.demand(Scene.client, nil))
    scene.pass(300)
    #expect(scene.count(.retrieveBatch) == 3)
    #expect(scene.count(.refused(.batching)) == 1)
    #expect(scene.count(.cutRetrieval) == 1)
    #expect(scene.isAsleep)
    #expect(!scene.isSpinning)
  }

  @Test("A client that dies during a deferral: its fixes are read, then the receiver sleeps")
  func dies() {
    var scene = collecting()
    scene.pass(200)
    scene.send(.demand(Scene.client, nil))
    scene.pass(3)
    #expect(scene.count(.retrieveBatch) == 1)
    #expect(!scene.isAsleep)
    scene.send(.batchRetrieved(count: 100, lost: 0))
    #expect(scene.isAsleep)
  }

  @Test("A receiver that restarts while it collects: the lost fixes are reported, and it collects again")
  func reboots() {
    var scene = collecting()
    scene.pass(200)
    let commands = scene.actions.count
    scene.send(.rebooted)
    #expect(scene.reports.contains { if case .batchGone(let most) = $0 { (95...140).contains(most) } else { false } })
    #expect(scene.actions.count > commands + 1)
    scene.fixes(60, speed: 1.2)
    #expect(scene.batch != nil)
  }

  @Test("Unplugged while it collects: reported once, with the number")
  func unplugged() {
    var scene = collecting()
    scene.pass(200)
    scene.send(.receiverLost)
    scene.send(.receiverLost)
    #expect(scene.reports.filter { if case .batchGone = $0 { true } else { false } }.count == 1)
  }
}
