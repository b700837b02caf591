// SPDX-License-Identifier: Apache-2.0
import EnergyBench
import PowerControl
import Testing

@Suite("The simulated days through the session, the line and a simulated receiver")
struct ChainTests {
  @Test(
    "An M10 keeps its shares and its promises through the session too, and agrees with the bench's own receiver",
    arguments: [
      ("asset-tracker", 0.02), ("parked-van", 0.025), ("parked-van-accelerometer", 0.01), ("indoor", 0.04),
      ("geofence-far", 0.03),
    ])
  func shares(name: String, share: Double) throws {
    let day = try #require(Day.named(name))
    let plant = EnergyBench().run(day, .m10)
    let chain = try #require(EnergyBench().runThroughReceiver(day, .m10, baud: 115_200))
    #expect(chain.shareOfAlwaysOn <= share)
    #expect(abs(chain.averageMilliamperes / plant.averageMilliamperes - 1) < 0.12)
    #expect(chain.metrics.fixesDelivered > 0 && chain.metrics.fixesLate == 0 && chain.metrics.fixesLost == 0)
    #expect(chain.metrics.movementsMissed == 0 && chain.metrics.crossingsMissed == 0)
    #expect(chain.metrics.worstMovementSeconds ?? 0 <= (day.hasAccelerometer ? 10 : 300))
    #expect(chain.metrics.worstCrossingSeconds ?? 0 <= 30 && chain.metrics.worstSkyReturnSeconds ?? 0 <= 360)
  }

  @Test(
    "The charge through the session is within 1.3 times the lower bound on the days where the length of a poll matters most",
    arguments: [
      (ReceiverCapabilities.m8, "parked-van"), (.m8, "parked-van-accelerometer"), (.m8, "indoor"),
      (.m10, "geofence-near"),
      (.f9, "delivery-round"),
    ])
  func bound(capabilities: ReceiverCapabilities, name: String) throws {
    let day = try #require(Day.named(name))
    let chain = try #require(EnergyBench().runThroughReceiver(day, capabilities, baud: 115_200))
    #expect((name == "indoor" ? chain.timesBlindOracle : chain.timesOracle) <= 1.3)
    #expect(chain.metrics.fixesLate == 0 && chain.metrics.crossingsMissed == 0)
    #expect(chain.metrics.worstSkyReturnSeconds ?? 0 <= 360)
  }

  @Test(
    "After a hot start the receiver's report of its orbits begins savings at the first fix, and otherwise half a minute later",
    arguments: EnergyBench.models)
  func hotStart(capabilities: ReceiverCapabilities) throws {
    for row in EnergyBench().hotStarts(capabilities, baud: 115_200) {
      let (silent, reporting) = (row.silent, row.reporting)
      let fix = try #require(reporting.start.fixSeconds)
      let canSave = capabilities.cyclicLongestSeconds != nil || !["ten-metres", "deferral"].contains(row.scenario)
      guard canSave else {
        #expect(reporting.start.savingSeconds == nil, "\(row.scenario)")
        continue
      }
      #expect(try #require(reporting.start.savingSeconds) <= fix + 6, "\(row.scenario)")
      #expect(try #require(silent.start.savingSeconds) >= fix + 25, "\(row.scenario)")
      #expect(reporting.chargeMilliampereSeconds < silent.chargeMilliampereSeconds, "\(row.scenario)")
    }
  }

  @Test("A receiver that is not simulated has no simulated day")
  func unknown() throws {
    #expect(EnergyBench().runThroughReceiver(try #require(Day.named("indoor")), .plainNMEA, baud: nil)?.model == nil)
  }
}
