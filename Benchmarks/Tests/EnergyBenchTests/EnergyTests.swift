// SPDX-License-Identifier: Apache-2.0
import EnergyBench
import Power
import Testing

@Suite("The energy bench: days of programs, from a manager's calls to a simulated receiver")
struct EnergyTests {
  private static func row(
    _ name: String, _ capabilities: ReceiverCapabilities = .m10, seed: UInt64 = 1, baud: LineRate = .raised
  ) throws -> EnergyRow {
    let day = try #require(Day.named(name))
    return try #require(EnergyBench(seed: seed, baud: baud).run(day, capabilities))
  }

  /// Checks that every promise of a day holds.
  private static func expectPromises(_ row: EnergyRow) {
    let (metrics, name) = (row.metrics, "\(row.model) \(row.scenario)")
    #expect(metrics.fixesDelivered > 0, "\(name)")
    #expect(metrics.fixesLate == 0, "\(name)")
    #expect(metrics.fixesLost == 0, "\(name)")
    #expect(metrics.movementsMissed == 0, "\(name)")
    #expect(metrics.crossingsMissed == 0, "\(name)")
    #expect(metrics.worstMovementSeconds ?? 0 <= (row.scenario.hasSuffix("accelerometer") ? 10 : 300), "\(name)")
    #expect(metrics.worstCrossingSeconds ?? 0 <= 30, "\(name)")
    #expect(metrics.worstSkyReturnSeconds ?? 0 <= 360, "\(name)")
  }

  /// Checks that a day is within 1.3 times its lower bound; indoors it is the bound that does not know the sky.
  private static func expectBound(_ row: EnergyRow) {
    let times = row.scenario == "indoor" ? row.timesBlindOracle : row.timesOracle
    #expect(times <= 1.3, "\(row.model) \(row.scenario)")
    #expect(times > 0.98, "\(row.model) \(row.scenario): no lower bound")
  }

  @Test(
    "With an M10 each day keeps its share of always on, by the whole supply and by the main supply alone, its bound and its promises",
    arguments: [
      ("asset-tracker", 0.02), ("parked-van", 0.025), ("parked-van-accelerometer", 0.01), ("indoor", 0.04),
      ("geofence-far", 0.03), ("geofence-near", 1), ("commuter", 0.25), ("hiker-deferral", 0.65), ("delivery-round", 1),
    ])
  func shares(name: String, share: Double) throws {
    let row = try Self.row(name)
    #expect(row.shareOfAlwaysOn <= share)
    #expect(row.mainSupplyShareOfAlwaysOn <= share)
    Self.expectBound(row)
    Self.expectPromises(row)
    if name == "hiker-deferral" {
      #expect(row.metrics.hostWakeupsInWorstHour <= 8)
      #expect(row.metrics.fixesDelivered > 17_000)
    }
  }

  @Test(
    "Promises and bound hold with other receivers, on the days where the length of a position check matters most",
    arguments: [
      (ReceiverCapabilities.m8, "asset-tracker"), (.m8, "parked-van"), (.m8, "parked-van-accelerometer"),
      (.m8, "indoor"), (.m8, "geofence-near"), (.m9, "parked-van"), (.m9, "indoor"), (.m9, "geofence-far"),
      (.f9, "asset-tracker"), (.f9, "geofence-far"), (.f9, "geofence-near"),
    ])
  func receivers(capabilities: ReceiverCapabilities, name: String) throws {
    let row = try Self.row(name, capabilities)
    Self.expectBound(row)
    Self.expectPromises(row)
  }

  @Test("Promises hold whatever the chance of the day", arguments: [2, 3] as [UInt64])
  func seeds(seed: UInt64) throws {
    for name in ["asset-tracker", "parked-van", "parked-van-accelerometer", "indoor", "geofence-far"] {
      Self.expectPromises(try Self.row(name, seed: seed))
    }
  }

  @Test(
    "Promises and shares hold on a line that stays at 9600 baud",
    arguments: [
      ("asset-tracker", 0.02), ("parked-van", 0.025), ("parked-van-accelerometer", 0.01), ("indoor", 0.04),
      ("geofence-far", 0.03),
    ])
  func slowLine(name: String, share: Double) throws {
    let row = try Self.row(name, baud: .fixed(9600))
    #expect(row.shareOfAlwaysOn <= share)
    Self.expectPromises(row)
  }

  @Test("A fix comes within six minutes after the sky returns at any time")
  func skyReturn() {
    for offset in stride(from: 0.0, to: 340, by: 23) {
      let day = Day(
        name: "cellar", seconds: 40_000, path: Path(), sky: [(600, .none), (30_000 + offset, .open)],
        clients: [Day.Client(.updates(.init()))])
      let seconds = EnergyBench().run(day, .m10)?.metrics.worstSkyReturnSeconds
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
        name: "departure", seconds: 24_000, path: path, clients: [Day.Client(.updates(.init()))])
      let metrics = EnergyBench().run(day, .m10)?.metrics
      #expect(metrics?.worstMovementSeconds ?? .infinity <= 300, "\(offset)")
    }
  }

  @Test("The same seed gives the same day")
  func deterministic() throws {
    #expect(
      try Self.row("parked-van", seed: 7).metrics.chargeMilliampereSeconds
        == Self.row("parked-van", seed: 7).metrics.chargeMilliampereSeconds)
  }

  @Test("Always on and its shares have the current of the data sheet")
  func baseline() throws {
    let row = try Self.row("parked-van")
    #expect(abs(row.alwaysOnMilliamperes - 11.2) < 0.01)
    #expect(abs(row.averageMilliamperes * 24 * row.batteryDays - 2000) < 0.01)
  }

  @Test("A client that is not paused keeps its receiver on, and one that may be paused lets it sleep")
  func pauses() throws {
    let still = try #require(Day.named("still"))
    var strict = still
    strict.clients = [Day.Client(.updates(.init(mayPause: false)))]
    strict.seconds = 7200
    let on = try #require(EnergyBench().run(strict, .m10))
    #expect(on.shareOfAlwaysOn > 0.95 && on.metrics.fixesDelivered > 7000)
    let paused = try #require(EnergyBench().run(still, .m10))
    #expect(paused.shareOfAlwaysOn < 0.04 && paused.metrics.fixesDelivered < 1000)
  }

  @Test("Two programs with the same demand cost what one costs")
  func twoPrograms() throws {
    var day = try #require(Day.named("parked-van"))
    day.seconds = 20_000
    let one = try #require(EnergyBench().run(day, .m10))
    day.clients += day.clients
    let two = try #require(EnergyBench().run(day, .m10))
    #expect(abs(two.averageMilliamperes / one.averageMilliamperes - 1) < 0.01)
    #expect(two.metrics.fixesDelivered == 2 * one.metrics.fixesDelivered)
  }

  @Test(
    "Receivers of other makers rest in standby, which is most of what they need", arguments: EnergyBench.otherMakers)
  func otherMakers(capabilities: ReceiverCapabilities) throws {
    let day = try #require(Day.named("asset-tracker"))
    let row = try #require(EnergyBench().run(day, capabilities))
    #expect(row.shareOfAlwaysOn < 0.12 && row.timesBlindOracle < 1.1, "\(row)")
    #expect(row.metrics.fixesDelivered == 96 && row.metrics.fixesLate == 0 && row.metrics.fixesLost == 0)
  }

  @Test("The picture shows the day")
  func picture() throws {
    var day = try #require(Day.named("commuter"))
    day.seconds = 36_000
    let svg = try #require(EnergyBench().picture(day, .m10))
    #expect(svg.hasPrefix("<svg") && svg.hasSuffix("</svg>\n"))
    #expect(svg.contains("M10, commuter"))
    #expect(svg.utf8.count < 200_000)
  }

  @Test(
    "After a hot start the receiver's report of its orbits begins savings at the first fix, and otherwise half a minute later",
    arguments: EnergyBench.models)
  func hotStart(capabilities: ReceiverCapabilities) throws {
    for row in EnergyBench().hotStarts(capabilities) {
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
    let day = try #require(Day.named("indoor"))
    #expect(EnergyBench().run(day, .plainNMEA)?.model == nil)
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
