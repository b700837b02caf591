// SPDX-License-Identifier: Apache-2.0
import EnergyBench
import PowerControl
import Testing

@Suite("The energy bench")
struct EnergyTests {
  private static let bench = EnergyBench()

  private func row(_ name: String, _ capabilities: ReceiverCapabilities = .m10, seed: UInt64 = 1) throws -> EnergyRow {
    EnergyBench(seed: seed).run(try #require(Day.named(name)), capabilities)
  }

  /// A rule must hold also without V_IO, where standby is a larger share of the charge.
  private static let m10s: [ReceiverCapabilities] = {
    var mainOnly = ReceiverCapabilities.m10
    mainOnly.currents = mainOnly.currents.mainSupplyOnly
    return [.m10, mainOnly]
  }()

  @Test(
    "The share of always on stays below the limit with an M10, by its whole supply and by its main supply alone",
    arguments: [
      ("asset-tracker", 0.02), ("parked-van", 0.025), ("parked-van-accelerometer", 0.01), ("indoor", 0.04),
      ("geofence-far", 0.03), ("commuter", 0.25), ("hiker-deferral", 0.65),
    ])
  func shares(name: String, share: Double) throws {
    for capabilities in Self.m10s {
      let row = try row(name, capabilities)
      #expect(row.shareOfAlwaysOn <= share, "\(capabilities.currents.inputOutput) mA V_IO: \(row.shareOfAlwaysOn)")
    }
  }

  @Test("Every promise holds on every day with every receiver", arguments: EnergyBench.models)
  func promises(capabilities: ReceiverCapabilities) throws {
    for day in Day.all {
      for seed in [1, 2, 3] as [UInt64] {
        let metrics = EnergyBench(seed: seed).run(day, capabilities).metrics
        #expect(metrics.fixesLate == 0, "\(day.name)")
        #expect(metrics.fixesLost == 0, "\(day.name)")
        #expect(metrics.movementsMissed == 0, "\(day.name)")
        #expect(metrics.crossingsMissed == 0, "\(day.name)")
        #expect(metrics.worstMovementSeconds ?? 0 <= 300, "\(day.name)")
        #expect(metrics.worstCrossingSeconds ?? 0 <= 30, "\(day.name)")
        #expect(metrics.worstSkyReturnSeconds ?? 0 <= 360, "\(day.name)")
      }
    }
  }

  @Test("The charge is at most 1.3 times the lower bound without knowledge of the sky")
  func bound() throws {
    for capabilities in EnergyBench.models {
      for day in Day.all {
        let row = EnergyBench().run(day, capabilities)
        let times = day.name == "indoor" ? row.timesBlindOracle : row.timesOracle
        #expect(times <= 1.3, "\(capabilities.name) \(day.name)")
        #expect(times > 0.98, "\(capabilities.name) \(day.name): no lower bound")
      }
    }
  }

  @Test("Movement is detected within ten seconds with an accelerometer")
  func accelerometer() throws {
    let seconds = try #require(try row("parked-van-accelerometer").metrics.worstMovementSeconds)
    #expect(seconds <= 10)
  }

  @Test("A hiker's host wakes at most eight times an hour")
  func hiker() throws {
    let metrics = try row("hiker-deferral").metrics
    #expect(metrics.hostWakeupsInWorstHour <= 8)
    #expect(metrics.fixesDelivered > 17_000)
  }

  @Test("A fix comes within six minutes after the sky returns at any time")
  func skyReturn() {
    for offset in stride(from: 0.0, to: 340, by: 23) {
      let day = Day(
        name: "cellar", seconds: 40_000, path: Path(), sky: [(600, .none), (30_000 + offset, .open)],
        clients: [Day.Client(.demand(Demand(updates: Demand.Updates(pausing: .automatic))))])
      let seconds = EnergyBench().run(day, .m10).metrics.worstSkyReturnSeconds
      #expect(seconds ?? .infinity <= 360, "\(offset)")
    }
  }

  @Test("A departure at any time is detected within five minutes")
  func departures() {
    for offset in stride(from: 0.0, to: 300, by: 23) {
      var path = Path()
      path.rest(until: 20_000 + offset)
      path.go(to: Path.Place(east: 8000, north: 0), speed: 15)
      let day = Day(
        name: "departure", seconds: 24_000, path: path,
        clients: [Day.Client(.demand(Demand(updates: Demand.Updates(pausing: .automatic))))])
      let metrics = EnergyBench().run(day, .m10).metrics
      #expect(metrics.worstMovementSeconds ?? .infinity <= 300, "\(offset)")
    }
  }

  @Test("The same seed gives the same day")
  func deterministic() throws {
    #expect(
      try row("commuter", seed: 7).metrics.chargeMilliampereSeconds
        == row("commuter", seed: 7).metrics.chargeMilliampereSeconds)
  }

  @Test("Always on and its shares have the current of the data sheet")
  func baseline() throws {
    let row = try row("parked-van")
    #expect(abs(row.alwaysOnMilliamperes - 11.2) < 0.01)
    #expect(abs(row.averageMilliamperes * 24 * row.batteryDays - 2000) < 0.01)
  }

  @Test("The picture shows the day")
  func picture() throws {
    let svg = EnergyBench().picture(try #require(Day.named("commuter")), .m10)
    #expect(svg.hasPrefix("<svg") && svg.hasSuffix("</svg>\n"))
    #expect(svg.contains("M10, commuter"))
    #expect(svg.utf8.count < 200_000)
  }
}

@Suite("Random days")
struct RandomDayTests {
  @Test("The invariants hold", arguments: 0..<6)
  func rules(part: Int) {
    // CI runs ten thousand of them in a release build; see .ci.
    for seed in 0..<25 {
      let seed = UInt64(part * 25 + seed) + 500_000
      #expect(RandomDay(seed: seed).run().isEmpty, "seed \(seed)")
    }
  }
}
