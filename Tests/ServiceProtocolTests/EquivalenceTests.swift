// SPDX-License-Identifier: Apache-2.0
import Messages
import MonotonicTime
import Positioning
import ReceiverStream
import TestSupport
import Testing

@Suite("A program with the service and one without it")
struct EquivalenceTests {
  private static func call(_ random: inout SeededRandomNumberGenerator) -> ClientCall {
    let region = Connected.region("r\(Int.random(in: 0..<3, using: &random))", north: 500)
    let metres: Double = [-1, 0, 10, 100, .infinity][Int.random(in: 0..<5, using: &random)]
    let beacons = Ranging.Target.constraint(BeaconIdentity(uuid: BeaconUUID(high: 1, low: 2)))
    let calls: [ClientCall] = [
      .setDelegate([.takesLocations, .takesErrors]), .setDelegate(nil), .setDesiredAccuracy(metres: metres),
      .setDistanceFilter(metres: metres), .startUpdatingLocation, .startUpdatingLocation, .stopUpdatingLocation,
      .requestLocation, .requestLocation, .allowDeferredUpdates(metres: 300, seconds: 20),
      .allowDeferredUpdates(metres: .infinity, seconds: .infinity), .disallowDeferredUpdates,
      .startSignificantChanges, .stopSignificantChanges, .startVisits, .stopVisits, .startHeading, .stopHeading,
      .startMonitoring(region), .stopMonitoring(region), .requestState(region), .setActivity(.fitness),
      .setPausesAutomatically(Bool.random(using: &random)), .startRanging(beacons), .stopRanging(beacons),
      .setAllowsBackgroundUpdates(Bool.random(using: &random)),
    ]
    return calls.randomElement(using: &random) ?? .stopVisits
  }

  @Test("SU-15 TH-3 RQ-8 RG-1 AU-3 the same events whatever the latency of messages", arguments: 0..<60)
  func latency(_ seed: UInt64) {
    var random = SeededRandomNumberGenerator(seed: seed)
    var program = Connected()
    var direct = Direct(engine: Connected.engine(Authorization.Record(status: .authorizedAlways), at: program.instant))
    let ids = [program.mirror.addManager(), program.mirror.addManager()]
    for id in ids { direct.engine.add(id) }
    for step in 0..<300 {
      switch Int.random(in: 0..<20, using: &random) {
      case 0..<9:
        let call = Self.call(&random)
        let id = ids.randomElement(using: &random) ?? ids[0]
        program.call(call, by: id)
        direct.call(call, by: id, at: program.instant)
        if Bool.random(using: &random) { program.carryToService(1) }
        if Bool.random(using: &random) { program.serve() }
      case 9..<14:
        program.carryToService()
        program.serve()
        let duration = [0.2, 1.0, 5.0][Int.random(in: 0..<3, using: &random)]
        direct.wait(duration, from: program.instant)
        program.wait(duration)
        let north = Double.random(in: 0..<1000, using: &random)
        direct.engine.receive(Connected.location(north, at: program.now), at: program.now)
        direct.takeOutputs()
        program.fix(north)
      case 14:
        program.carryAll()
        let state: ApplicationState = Bool.random(using: &random) ? .foreground : .background
        direct.engine.setApplication(state, at: program.instant)
        direct.takeOutputs()
        program.mirror.setApplication(state)
        program.carryAll()
      case 15:
        program.carryAll()
        let statuses: [AuthorizationStatus] = [.authorizedAlways, .authorizedWhenInUse, .denied, .notDetermined]
        let status = statuses[Int.random(in: 0..<4, using: &random)]
        let record = Authorization.Record(status: status, accuracy: Bool.random(using: &random) ? .full : .reduced)
        direct.engine.authorizationChanged(to: record, at: program.instant)
        direct.takeOutputs()
        program.engine.authorizationChanged(to: record, at: program.instant)
        program.carryAll()
      case 16:
        // A slow program: its messages are merged.
        while program.toProgram.count > 1 {
          let last = program.toProgram.removeLast()
          program.toProgram[program.toProgram.count - 1].join(last)
        }
        program.carryToProgram()
      case 17: program.carryToProgram(1)
      default:
        program.mirror.refreshNewest()
        program.carryAll()
        for id in ids {
          #expect(program.delivered(id) == direct.delivered(id), "step \(step)")
          #expect(program.mirror.location(of: id) == direct.engine.location(of: id), "step \(step)")
          #expect(program.mirror.rangedTargets(of: id) == direct.engine.rangedTargets(of: id))
          #expect(program.mirror.heading(of: id) == direct.engine.heading(of: id))
        }
        #expect(program.mirror.monitoredRegions == direct.engine.regions.monitored)
        #expect(program.mirror.authorizationStatus == direct.engine.authorization.status)
      }
    }
  }
}
