// SPDX-License-Identifier: Apache-2.0
import PowerControl
import ReceiverSimulator

/// The energy bench: simulated days under the power policy, compared with a receiver that is always on, with the
/// receiver's own power save mode and with a lower bound.
public struct EnergyBench: Sendable {
  public var policy: PowerPolicy
  public var seed: UInt64

  /// The bench compares equal receivers: the set of constellations is that of the table of currents, unless `policy`
  /// changes it.
  public init(policy: PowerPolicy? = nil, seed: UInt64 = 1) {
    var standard = PowerPolicy.standard
    standard.mayReduceConstellations = false
    self.policy = policy ?? standard
    self.seed = seed
  }

  /// The models of the table, with their capabilities.
  public static let models: [ReceiverCapabilities] = [.m8, .m9, .m10, .f9]

  /// One day of one receiver.
  public func run(_ day: Day, _ capabilities: ReceiverCapabilities) -> EnergyRow {
    var run = Run(day: day, capabilities: capabilities, policy: policy, seed: seed)
    let metrics = run.runDay()
    return row(day, capabilities, metrics)
  }

  /// Runs the same day with the session, the line and the simulated receiver; nil for a receiver that is not
  /// simulated.
  ///
  /// - Parameter baud: The configured rate of the line; nil for the receiver's default.
  public func runThroughReceiver(_ day: Day, _ capabilities: ReceiverCapabilities, baud: UInt32?) -> EnergyRow? {
    guard let model = Self.simulated[capabilities.name] else { return nil }
    return row(day, capabilities, ChainRun(day: day, model: model, policy: policy, seed: seed, baud: baud).runDay())
  }

  static let simulated: [String: ReceiverModel] = ["M8": .m8, "M9": .m9, "M10": .m10, "F9": .f9p]

  /// Runs the same day; returns also its states over time as a picture (SVG).
  public func picture(_ day: Day, _ capabilities: ReceiverCapabilities) -> String {
    var run = Run(day: day, capabilities: capabilities, policy: policy, seed: seed, keepsLog: true)
    let metrics = run.runDay()
    return StatePicture(row: row(day, capabilities, metrics), log: run.plant.log, seconds: day.seconds).svg
  }

  private func row(_ day: Day, _ capabilities: ReceiverCapabilities, _ metrics: Metrics) -> EnergyRow {
    var oracle = Oracle(day: day, capabilities: capabilities, policy: policy, knowsSky: true)
    var blind = Oracle(day: day, capabilities: capabilities, policy: policy, knowsSky: false)
    return EnergyRow(
      model: capabilities.name, scenario: day.name, metrics: metrics,
      alwaysOnMilliamperes: Baselines.alwaysOn(day, capabilities) / day.seconds,
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
  public var ownPowerSaveMilliamperes: Double?
  public var oracleMilliamperes: Double
  /// The bound without knowledge of the sky.
  public var blindOracleMilliamperes: Double

  public var averageMilliamperes: Double { metrics.averageMilliamperes }
  public var shareOfAlwaysOn: Double { averageMilliamperes / alwaysOnMilliamperes }
  public var timesOracle: Double { averageMilliamperes / oracleMilliamperes }
  public var timesBlindOracle: Double { averageMilliamperes / blindOracleMilliamperes }
  /// On a battery of 2,000 mAh, for the receiver only.
  public var batteryDays: Double { 2000 / averageMilliamperes / 24 }
}
