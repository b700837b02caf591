// SPDX-License-Identifier: Apache-2.0
import MonotonicTime
import Positioning
import Power
import Testing

/// Numbers that clients use, and extreme ones.
@Suite("Demands without a bound")
struct ExtremeDemandTests {
  private static let numbers: [Double] = [
    0, 1e-300, 1, 3000, 1e7, 2e10, 1e13, 1e300, .greatestFiniteMagnitude, .infinity, -1, -.infinity, .nan,
  ]

  private static func demands(_ number: Double) -> [Demand] {
    [
      Demand(everySeconds: number),
      Demand(border: .init(metres: number)),
      Demand(border: .init(metres: number, isCrossing: true)),
      Demand(oneShot: .metres(number)),
      .updates(.metres(number)),
      .updates(.metres(3000), filter: number),
      .updates(.best, filter: number),
      .deferring(metres: number, seconds: nil),
      .deferring(metres: nil, seconds: number),
      .deferring(metres: number, seconds: number),
    ]
  }

  @Test("Each is served for hours without an arithmetic error or an endless loop", arguments: numbers)
  func served(_ number: Double) {
    for capabilities in [ReceiverCapabilities.m10, .m8Batching, .plainNMEA] {
      for demand in Self.demands(number) {
        var scene = Scene(capabilities, demand: demand)
        scene.send(.orbits(usableSeconds: number))
        scene.send(.assistance(usableSeconds: number))
        scene.fixes(90, speed: 1)
        for _ in 0..<6 {
          scene.pass(1800)
          if scene.isAsleep { scene.send(.wakeConfirmed) }
          scene.fixes(3, speed: 1)
        }
        #expect(!scene.isSpinning)
      }
    }
  }

  @Test("A filter that is never passed, with a coarse accuracy, lets the receiver sleep without an end")
  func never() {
    var scene = Scene(demand: .updates(.metres(3000), filter: .greatestFiniteMagnitude))
    scene.fixes(200)
    #expect(scene.isAsleep)
  }

  @Test("A memory that cannot be read does not keep a silent receiver awake")
  func silentAfterCuts() {
    var scene = Scene(.m8Batching, demand: .deferring(metres: 100, seconds: nil))
    scene.fixes(120)
    for _ in 0..<40 {
      scene.pass(30)
      if scene.actions.last?.action == .retrieveBatch { scene.send(.retrievalCut) }
    }
    #expect(scene.reports.contains { if case .deferralKeptByHost = $0 { true } else { false } })
    #expect(!scene.isSpinning)
  }
}
