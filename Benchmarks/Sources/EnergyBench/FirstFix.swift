// SPDX-License-Identifier: Apache-2.0
import HostSimulator
import MonotonicTime
import Power
import Receiver
import ReceiverSimulator
import ReceiverStream

/// The assistance that a receiver gets at its start.
public enum Assistance: String, Sendable, CaseIterable {
  case none, own, predicted, broadcast
}

/// A start after three days without the main supply: the time to the first fix and its charge, means of several starts.
public struct FirstFixRow: Sendable {
  public var model: String
  /// Whether the backup supply has kept clock and memory.
  public var hasBackup: Bool
  public var assistance: Assistance
  public var seconds: Double
  public var milliampereSeconds: Double
}

/// A day of a tracker that needs few positions.
public struct RareFixesRow: Sendable {
  public var model: String
  public var hours: Double
  public var assistance: Assistance
  public var metrics: Metrics
}

extension Day {
  /// A container that is located at intervals of some hours.
  static func rareFixes(hours: Double) -> Day {
    Day(
      name: "asset-tracker-\(Int(hours))-h", seconds: 2 * 86_400, path: Path(),
      clients: [Client(.requests(everySeconds: hours * 3600 + 0.01, accuracyMetres: 100))])
  }
}

extension EnergyBench {
  private static let starts = 50

  /// Measures starts after three days; empty for a receiver that is not simulated.
  public func firstFixes(_ capabilities: ReceiverCapabilities) -> [FirstFixRow] {
    guard let model = Self.simulated[capabilities.name] else { return [] }
    return [true, false].flatMap { hasBackup in
      Assistance.allCases.map { assistance in
        let runs = (0..<Self.starts).map { number in
          FirstFixRun(model, assistance, hasBackup: hasBackup, seed: seed &+ UInt64(number)).run()
        }
        return FirstFixRow(
          model: capabilities.name, hasBackup: hasBackup, assistance: assistance,
          seconds: runs.reduce(0) { $0 + $1.seconds } / Double(runs.count),
          milliampereSeconds: runs.reduce(0) { $0 + $1.charge } / Double(runs.count))
      }
    }
  }

  /// Runs two days with a position each six hours; empty for a receiver that is not simulated.
  public func rareFixes(_ capabilities: ReceiverCapabilities) -> [RareFixesRow] {
    guard let model = Self.simulated[capabilities.name] else { return [] }
    return [Assistance.own, .predicted, .broadcast].map { assistance in
      let day = Day.rareFixes(hours: 6)
      let run = DayRun(day: day, model: model, policy: policy, seed: seed, baud: baud, assistance: assistance)
      return RareFixesRow(model: capabilities.name, hours: 6, assistance: assistance, metrics: run.runDay())
    }
  }
}

/// One start.
private struct FirstFixRun {
  private static let away = Milliseconds(3 * 86_400_000)

  private let host: VirtualHost<FixLog, VirtualLine>
  private let assistance: Assistance
  private let hasBackup: Bool

  init(_ model: ReceiverModel, _ assistance: Assistance, hasBackup: Bool, seed: UInt64) {
    (self.assistance, self.hasBackup) = (assistance, hasBackup)
    let place = ReceiverSimulator.Place(latitudeDegrees: 47, longitudeDegrees: 8, altitudeMetres: 500)
    let line = VirtualLine(
      model: model, scenario: Scenario(stayingAt: place), seed: seed, startUTCSeconds: DayPrograms.startSeconds)
    var settings = SessionSettings(intent: .serve, line: .serial)
    settings.desired = { .saving(for: $0) }
    settings.assistance = AssistanceSettings(records: [], clockAccuracySeconds: 0.1, readsDatabaseAtEnd: true)
    host = VirtualHost(FixLog(), line, settings: settings, startUTCSeconds: DayPrograms.startSeconds)
  }

  func run() -> (seconds: Double, charge: Double) {
    // A first use, to its end.
    host.run(150)
    let description = host.read { $0.description }
    host.finish()
    var settings = AssistanceSettings(records: [], clockAccuracySeconds: nil, readsDatabaseAtEnd: false)
    if assistance != .none {
      settings.clockAccuracySeconds = 0.1
      if let description { settings.records = [record(description)] }
    }
    host.inject(.powerCycle(for: Self.away, losingBackup: !hasBackup))
    let back = host.now + Self.away
    if assistance == .broadcast { settings.ephemerides = .broadcast(at: DayPrograms.utc(back)) }
    if assistance == .predicted { settings.predictions = .simulated(at: DayPrograms.utc(back)) }
    host.settings.assistance = settings
    host.machine.fixAt = nil
    host.skip(to: back)
    let charge = host.line.receiver.chargeMilliampereSeconds
    host.run(120) { $0.machine.fixAt != nil }
    let fixAt = host.machine.fixAt ?? host.now
    return (fixAt.seconds(since: back), host.line.receiver.chargeMilliampereSeconds - charge)
  }

  private func record(_ description: ReceiverDescription) -> AssistanceRecord {
    var record = AssistanceRecord(key: AssistanceRecord.Key(description))
    record.place = host.machine.fix.flatMap { AssistanceRecord.Place($0) }
    record.database = host.read { $0.memory.database } ?? []
    record.databaseTime = DayPrograms.utc(host.now)
    return record
  }
}

/// The first fix of a session.
private struct FixLog: HostMachine {
  var fixAt: Instant?
  var fix: Fix?

  mutating func receive(_ report: borrowing EpochAssembler.Report, _ sky: borrowing Sky, at now: Instant) {
    guard report.fix.hasPosition else { return }
    fix = report.fix
    fixAt = fixAt ?? now
  }

  mutating func receive(_ action: SessionAction, from session: borrowing ReceiverSession, at now: Instant) {}
}

extension EphemerisStock {
  /// The ephemerides of all simulated satellites, as a caster has them.
  static func broadcast(at utc: UTCTime) -> EphemerisStock {
    var stock = EphemerisStock()
    var stream = FrameStream()
    let bytes = BroadcastSource.frames(at: utc)
    unsafe stream.receive(bytes.span.bytes) { if let frame = $0.rtcm3 { stock.receive(frame, at: utc) } }
    return stock
  }
}

extension PredictedOrbits {
  /// A week of predictions of all simulated satellites.
  static func simulated(at utc: UTCTime) -> PredictedOrbits {
    let bytes = PredictionSource.frames(from: utc, days: 7)
    guard let answer = try? unsafe AssistNowAnswer(bytes.span.bytes) else { return PredictedOrbits() }
    return PredictedOrbits(answer, at: utc)
  }
}
