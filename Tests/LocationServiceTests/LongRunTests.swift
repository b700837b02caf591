// SPDX-License-Identifier: Apache-2.0
import Foundation
import HostSimulator
import LinuxIO
import MonotonicTime
import Positioning
import ReceiverSimulator
import ReceiverStream
import Testing

@testable import LocationService

/// The whole chain over a long time: the core of the service with three programs, session, line and receiver, with a fault of
/// receiver or line about every ten minutes and a program that is restarted. Thirty days of it are printed
/// (`SEXTANT_LONG_RUN_HOURS=720 make test OPTIMISED=1 FILTER=LongRunTests`).
struct LongRunTests {
  /// Hours of virtual time.
  private static let hours = ProcessInfo.processInfo.environment["SEXTANT_LONG_RUN_HOURS"].flatMap { Int($0) } ?? 1

  @Test("In a long run with faults every program gets its fixes back, none is wrong or repeated, and memory stays")
  func longRun() throws {
    let run = LongRun(seed: 1)
    var readings: [Int] = []
    for hour in 1...Self.hours {
      run.passHour()
      readings.append(try Self.memoryKilobytes())
      if hour % 24 == 0 { print("day \(hour / 24): \(run.summary), RssAnon \(readings[hour - 1]) kB") }
    }
    #expect(run.problems == [])
    #expect(run.faults >= Self.hours * 3)
    #expect(run.fixes.allSatisfy { $0 > 0 }, "\(run.fixes)")
    // Other tests run in the same process, unless this test runs alone for a long time.
    if readings.count > 24 { #expect(readings.last! <= readings[23] + 1024, "\(readings)") }
  }

  /// RssAnon of proc_pid_status(5).
  private static func memoryKilobytes() throws -> Int {
    let status = try String(contentsOfFile: "/proc/self/status", encoding: .utf8)
    let line = try #require(status.split(separator: "\n").first { $0.hasPrefix("RssAnon:") })
    return try #require(Int(line.filter(\.isNumber)))
  }
}

private final class LongRun {
  private(set) var faults = 0
  private(set) var restarts = 0
  private(set) var longestRecoverySeconds = 0.0
  /// The violations, at most the first ten.
  private(set) var problems: [String] = []
  /// The number of locations of each program.
  private(set) var fixes = [0, 0, 0]

  private let scene: ServiceScene
  private let scenario = Scenario.named("walk")!
  private var random: SeededRandomNumberGenerator
  private var last: [UTCTime?] = [nil, nil, nil]
  private static let programs: [ProgramID] = [.own, ProgramID(1), ProgramID(2)]
  private let restarted: Program

  init(seed: UInt64) {
    random = SeededRandomNumberGenerator(seed: seed)
    scene = ServiceScene(.m10, scenario: scenario, programs: 3)
    var engine = PositioningEngine(
      keys: .init(),
      hostCapabilities: HostCapabilities(
        hasSatelliteReceiver: true, hasSignificantChanges: true, hasCompass: false, hasBluetooth: false),
      application: .background, settings: PositioningSettings(), authorizationOverride: .authorizedAlways, at: .zero)
    engine.add(ServiceLog.client)
    engine.call(.setDelegate([.takesLocations, .takesErrors]), by: ServiceLog.client, at: .zero)
    engine.outputs = []
    restarted = Program(ProgramID(2), engine)
    scene.call(.setPausesAutomatically(false))
    scene.call(.startUpdatingLocation)
    scene.call(.setDistanceFilter(metres: 25), of: ProgramID(1))
    scene.call(.setPausesAutomatically(false), of: ProgramID(1))
    scene.call(.startUpdatingLocation, of: ProgramID(1))
    begin(ProgramID(2))
    scene.run(120)
  }

  /// The program that is restarted: a region and coarse updates.
  private func begin(_ program: ProgramID) {
    scene.call(.setDesiredAccuracy(metres: 100), of: program)
    scene.call(.setPausesAutomatically(false), of: program)
    scene.call(.startUpdatingLocation, of: program)
  }

  var summary: String {
    "\(faults) faults, \(restarts) restarts, \(fixes) fixes, longest recovery \(Int(longestRecoverySeconds)) s"
  }

  private func note(_ problem: String) { if problems.count < 10 { problems.append("\(scene.now): \(problem)") } }

  /// An hour, and the recovery after its last fault.
  func passHour() {
    let end = scene.now + Milliseconds(3_600_000)
    while scene.now < end {
      scene.run(Double(300 + random.next(below: 600)))
      if random.next(below: 4) == 0 {
        scene.remove(ProgramID(2))
        scene.run(Double(random.next(below: 60)))
        scene.add(restarted)
        begin(ProgramID(2))
        restarts += 1
      }
      let seconds = 1 + random.next(below: 30)
      scene.inject(RandomDay.fault(lasting: Milliseconds(UInt64(seconds) * 1000), &random))
      faults += 1
      scene.run(Double(seconds))
      check()
      let from = scene.now
      if !scene.run(150, until: { $0.locations.count > 2 }) { note("no fix in 150 s after a fault") }
      longestRecoverySeconds = max(longestRecoverySeconds, scene.now.seconds(since: from))
      check()
    }
  }

  /// Compares the new locations of each program with the truth and the previous one, and discards them.
  private func check() {
    for (index, program) in Self.programs.enumerated() {
      for location in scene.locations(of: program) {
        fixes[index] += 1
        if let before = last[index], location.timestamp <= before { note("\(program): a location is repeated or late") }
        last[index] = location.timestamp
        let seconds = Double(location.timestamp.nanosecondsSince1970) / 1e9 - Double(ServiceLog.startSeconds)
        let truth = scenario.truth(atSeconds: seconds)
        let north = (location.coordinate.latitudeDegrees - truth.latitudeDegrees) * 111_200
        let scale = 111_200 * cos(truth.latitudeDegrees * .pi / 180)
        let east = (location.coordinate.longitudeDegrees - truth.longitudeDegrees) * scale
        let error = (north * north + east * east).squareRoot()
        if error > 10 * location.horizontalAccuracyMetres + 40 { note("\(program): \(Int(error)) m beside the truth") }
      }
    }
    scene.clearEvents()
  }
}
