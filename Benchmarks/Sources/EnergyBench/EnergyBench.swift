// SPDX-License-Identifier: Apache-2.0
import Power
import ReceiverSimulator

/// The energy bench: simulated days of programs with their location service, compared with a receiver that is always on,
/// with the receiver's own power save mode and with a lower bound.
public struct EnergyBench: Sendable {
  public var policy: PowerPolicy
  public var seed: UInt64
  public var baud: LineRate

  /// The bench compares equal receivers: the constellations match the table of currents, unless `policy`
  /// changes it.
  public init(policy: PowerPolicy? = nil, seed: UInt64 = 1, baud: LineRate = .raised) {
    var standard = PowerPolicy.standard
    standard.mayReduceConstellations = false
    self.policy = policy ?? standard
    self.seed = seed
    self.baud = baud
  }

  /// The models of the table, with their capabilities.
  public static let models: [ReceiverCapabilities] = [.m8, .m9, .m10, .f9]
  /// Receivers of other makers that a command puts into standby. Some of their currents are assumed (docs/reference/power.md).
  public static let otherMakers: [ReceiverCapabilities] = [.mt3339, .mt3333, .ag3352]

  /// Runs a day of one receiver; nil for a receiver that is not simulated.
  public func run(_ day: Day, _ capabilities: ReceiverCapabilities) -> EnergyRow? {
    dayRun(day, capabilities).map { row(day, capabilities, $0.runDay()) }
  }

  private func dayRun(_ day: Day, _ capabilities: ReceiverCapabilities) -> DayRun? {
    Self.simulated[capabilities.name].map { DayRun(day: day, model: $0, policy: policy, seed: seed, baud: baud) }
  }

  static let simulated: [String: ReceiverModel] = [
    "M8": .m8, "M9": .m9, "M10": .m10, "F9": .f9p, "MT3339": .mt3339, "MT3333": .mt3333, "AG3352": .ag3352,
  ]

  /// Runs a day; returns its states over time as a picture (SVG), nil for a receiver that is not simulated.
  public func picture(_ day: Day, _ capabilities: ReceiverCapabilities) -> String? {
    guard let run = dayRun(day, capabilities) else { return nil }
    let metrics = run.runDay()
    return StatePicture(row: row(day, capabilities, metrics), log: run.powerLog, seconds: day.seconds).svg
  }

  private func row(_ day: Day, _ capabilities: ReceiverCapabilities, _ metrics: Metrics) -> EnergyRow {
    var oracle = Oracle(day: day, capabilities: capabilities, policy: policy, knowsSky: true)
    var blind = Oracle(day: day, capabilities: capabilities, policy: policy, knowsSky: false)
    return EnergyRow(
      model: capabilities.name, scenario: day.name, metrics: metrics,
      alwaysOnMilliamperes: Baselines.alwaysOn(day, capabilities.currents, capabilities.startTimes) / day.seconds,
      mainSupplyAlwaysOnMilliamperes: Baselines.alwaysOn(
        day, capabilities.currents.mainSupplyOnly, capabilities.startTimes) / day.seconds,
      ownPowerSaveMilliamperes: Baselines.ownPowerSave(day, capabilities).map { $0 / day.seconds },
      oracleMilliamperes: oracle.run() / day.seconds, blindOracleMilliamperes: blind.run() / day.seconds)
  }
}

/// A line of the bench's table.
public struct EnergyRow: Sendable {
  public var model: String
  public var scenario: String
  public var metrics: Metrics
  public var alwaysOnMilliamperes: Double
  /// The same without the supply of the pins.
  public var mainSupplyAlwaysOnMilliamperes: Double
  public var ownPowerSaveMilliamperes: Double?
  public var oracleMilliamperes: Double
  /// The bound without knowledge of the sky.
  public var blindOracleMilliamperes: Double

  public var averageMilliamperes: Double { metrics.averageMilliamperes }
  public var shareOfAlwaysOn: Double { averageMilliamperes / alwaysOnMilliamperes }
  /// The share of the main supply alone, of which standby is a larger part.
  public var mainSupplyShareOfAlwaysOn: Double {
    metrics.mainChargeMilliampereSeconds / metrics.seconds / mainSupplyAlwaysOnMilliamperes
  }
  public var timesOracle: Double { averageMilliamperes / oracleMilliamperes }
  public var timesBlindOracle: Double { averageMilliamperes / blindOracleMilliamperes }
  /// On a battery of 2,000 mAh, for the receiver only.
  public var batteryDays: Double { 2000 / averageMilliamperes / 24 }
}
