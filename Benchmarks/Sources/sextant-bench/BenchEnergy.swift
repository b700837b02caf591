// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import EnergyBench
import Power

/// `sextant bench energy`: simulated days of programs with their location service.
struct BenchEnergy: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "energy",
    abstract: "Measure the charge that receivers need for simulated days.",
    discussion: """
      Each day runs in virtual time as a program has it: a manager's calls, the rules of Core Location, the power policy, the \
      session, the line, and a simulated receiver with its data sheet's currents and times to first fix. Beside it: the share \
      of always on, the receiver's own power save mode, and the charge relative to a lower bound that knows the sky but not \
      when movement starts. docs/reference/power.md explains the table.
      """)

  @Option(help: "M8, M9, M10 or F9; without it all four. Of other makers: MT3339, MT3333, AG3352.")
  var model: String?

  @Option(
    help: """
      A scenario, by the name that the simulator has too (\(Day.names.joined(separator: ", "))); without it the days of the \
      table.
      """)
  var scenario: String?

  @Option(help: "Chance of the day, as a number.")
  var seed: UInt64 = 1

  @Flag(help: "The policy may choose fewer constellations where the accuracy asked for allows it.")
  var reducedConstellations = false

  @Option(
    help: """
      A line of this rate, which programs do not raise; 0 for the receiver's own. Without it they raise a slow one to 115200.
      """)
  var baud: UInt32?

  @Flag(help: "Instead: the first five minutes after a hot start, without and with the report of orbits.")
  var hotStart = false

  @Flag(help: "Instead: the first fix after three days, without and with assistance, and days with few positions.")
  var firstFix = false

  @Flag(help: "Print the result as JSON.")
  var json = false

  @Option(help: "Write the receiver's states over the day as a picture; for one model and one day.")
  var svg: String?

  @Option(help: "Instead: run this many random days with random faults, and check the invariants.")
  var randomDays: Int?

  func validate() throws {
    if let randomDays, randomDays < 1 { throw ValidationError("--random-days is 1 or more.") }
  }

  func run() throws {
    if let randomDays { return try check(randomDays) }
    let models = try chosenModels()
    if hotStart { return try Output.write(startTable(models)) }
    if firstFix { return try Output.write(firstFixTable(models)) }
    let days = try chosenDays()
    var policy = PowerPolicy.standard
    policy.mayReduceConstellations = reducedConstellations
    let bench = EnergyBench(policy: policy, seed: seed, baud: lineRate)
    if let svg {
      guard models.count == 1, days.count == 1, let picture = bench.picture(days[0], models[0]) else {
        throw ValidationError("--svg needs --model and --scenario.")
      }
      try Output.write(picture, to: svg)
      return
    }
    let rows = models.flatMap { model in days.compactMap { bench.run($0, model) } }
    if json {
      var line = JSONText()
      line.energy(rows)
      try Output.write(line.text)
    } else {
      try Output.write(EnergyTable(rows: rows).text)
    }
  }

  private var lineRate: LineRate { baud.map { LineRate.fixed($0 == 0 ? nil : $0) } ?? .raised }

  private func startTable(_ models: [ReceiverCapabilities]) -> String {
    let bench = EnergyBench(seed: seed, baud: lineRate)
    let rows = models.flatMap { bench.hotStarts($0) }
    guard json else { return HotStartTable(rows: rows).text }
    var line = JSONText()
    line.hotStarts(rows)
    return line.text
  }

  private func firstFixTable(_ models: [ReceiverCapabilities]) -> String {
    let bench = EnergyBench(seed: seed, baud: lineRate)
    let (starts, days) = (models.flatMap { bench.firstFixes($0) }, models.flatMap { bench.rareFixes($0) })
    guard json else { return FirstFixTable(starts: starts, days: days).text }
    var line = JSONText()
    line.firstFixes(starts, days)
    return line.text
  }

  private func chosenModels() throws -> [ReceiverCapabilities] {
    guard let model else { return EnergyBench.models }
    let all = EnergyBench.models + EnergyBench.otherMakers
    guard let found = all.first(where: { $0.name == model.uppercased() }) else {
      throw ValidationError("No model '\(model)': there are \(all.map(\.name).joined(separator: ", ")).")
    }
    return [found]
  }

  private func chosenDays() throws -> [Day] {
    guard let scenario else { return Day.all }
    guard let found = Day.named(scenario) else {
      throw ValidationError("No scenario '\(scenario)': there are \(Day.names.joined(separator: ", ")).")
    }
    return [found]
  }

  private func check(_ count: Int) throws {
    var broken = 0
    for index in 0..<count {
      let violations = RandomDay(seed: seed &+ UInt64(index)).run()
      for violation in violations.prefix(5) { try Output.write("seed \(seed &+ UInt64(index)): \(violation)\n") }
      if !violations.isEmpty { broken += 1 }
    }
    try Output.write("\(count) days, \(broken) with a broken rule\n")
    if broken > 0 { throw ExitCode(70) }
  }
}

extension JSONText {
  /// The contract's object of `bench energy --json`.
  mutating func energy(_ rows: [EnergyRow]) {
    beginObject()
    beginArray("rows")
    for row in rows {
      beginObject()
      field("model", text: row.model)
      field("scenario", text: row.scenario)
      field("averageMilliamperes", row.averageMilliamperes, digits: 4)
      field("shareOfAlwaysOn", row.shareOfAlwaysOn, digits: 5)
      field("timesOracle", row.timesOracle, digits: 4)
      field("timesBlindOracle", row.timesBlindOracle, digits: 4)
      if let own = row.ownPowerSaveMilliamperes {
        field("shareOfOwnPowerSave", row.averageMilliamperes / own, digits: 5)
      }
      field("batteryDays", row.batteryDays, digits: 1)
      field("fixesDelivered", row.metrics.fixesDelivered)
      field("fixesLate", row.metrics.fixesLate)
      field("fixesLost", row.metrics.fixesLost)
      field("worstStalenessSeconds", row.metrics.worstStalenessSeconds, digits: 1)
      if let seconds = row.metrics.worstMovementSeconds { field("worstMovementSeconds", seconds, digits: 1) }
      if let seconds = row.metrics.worstCrossingSeconds { field("worstCrossingSeconds", seconds, digits: 1) }
      if let seconds = row.metrics.worstSkyReturnSeconds { field("worstSkyReturnSeconds", seconds, digits: 1) }
      field("movementsMissed", row.metrics.movementsMissed)
      field("crossingsMissed", row.metrics.crossingsMissed)
      field("hostWakeups", row.metrics.hostWakeups)
      field("hostWakeupsInWorstHour", row.metrics.hostWakeupsInWorstHour)
      endObject()
    }
    endArray()
    endObject()
    endLine()
  }
}
