// SPDX-License-Identifier: Apache-2.0
import Messages
import MonotonicTime
import Positioning
import ReceiverStream
import TestSupport
import Testing

@Suite("The service goes and returns")
struct ReconnectTests {
  @Test("A problem of connecting is logged once, and again after a connection")
  func problems() {
    var problems = ConnectionProblems()
    var isNew: [Bool] = []
    for _ in 0..<2 {
      isNew += [problems.begin(.refused), problems.begin(.refused)]
      isNew += [problems.begin(.unreachable), problems.begin(.unreachable)]
      problems.end()
    }
    #expect(isNew == [true, false, true, false, true, false, true, false])
  }

  @Test("SU-1 each fix is delivered once over deaths at random points", arguments: 0..<40)
  func once(_ seed: UInt64) {
    var random = SeededRandomNumberGenerator(seed: seed)
    var program = Connected()
    let ids = [program.add(), program.add()]
    for id in ids { program.call(.startUpdatingLocation, by: id) }
    program.carryAll()
    var expected: [String] = []
    var delivered: [ClientID: [String]] = [:]
    for step in 0..<100 {
      program.wait(1)
      let isAway = Int.random(in: 0..<5, using: &random) == 0
      if isAway { program.kill() }
      program.wait(Double.random(in: 0..<3, using: &random))
      if isAway { program.restart() }
      // Messages in transit are lost with the service; therefore they arrive before it can be killed.
      program.carryAll()
      program.fix(Double(step))
      expected.append("at \(step) \(program.instant.nanoseconds / 1_000_000)")
      program.carryAll()
      if Bool.random(using: &random) {
        for id in ids { delivered[id, default: []] += program.delivered(id) }
      }
    }
    for id in ids {
      delivered[id, default: []] += program.delivered(id)
      #expect(delivered[id] == ["status authorizedAlways full"] + expected)
    }
  }

  @Test("SU-19 after a return of the service with an earlier time locations come again within seconds")
  func steppedBack() {
    var program = Connected()
    let id = program.add()
    program.call(.startUpdatingLocation, by: id)
    program.carryAll()
    program.wait(1)
    program.fix(0)
    program.carryAll()
    #expect(program.delivered(id).count == 2)
    program.kill()
    program.wait(1)
    program.restart()
    program.carryAll()
    for second in 1...8 {
      program.wait(1)
      let earlier = Connected.moment(program.instant.moved(by: -900))
      program.engine.receive(Connected.location(Double(second), at: earlier), at: program.now)
      program.serve()
      program.carryAll()
    }
    let delivered = program.delivered(id)
    #expect(delivered.count >= 4 && delivered.last?.hasPrefix("at 8 ") == true, "\(delivered)")
  }

  @Test("SU-15 a stop recalls what the service sent before it has the stop")
  func stop() {
    var program = Connected()
    let id = program.add()
    program.call(.startUpdatingLocation, by: id)
    program.carryAll()
    program.wait(1)
    program.fix(1)
    program.call(.stopUpdatingLocation, by: id)
    program.fix(2)
    program.carryAll()
    #expect(program.delivered(id) == ["status authorizedAlways full"])
  }

  @Test("SU-15 a run that began meanwhile gets no events of the one before")
  func runs() {
    var program = Connected()
    let id = program.add()
    program.call(.startUpdatingLocation, by: id)
    program.carryAll()
    _ = program.delivered(id)
    program.call(.stopUpdatingLocation, by: id)
    program.call(.startUpdatingLocation, by: id)
    program.wait(1)
    program.fix(1)
    program.carryToService()
    program.serve()
    program.wait(1)
    program.fix(2)
    program.carryAll()
    // The earlier fix is the cached one of the new run (SU-1).
    #expect(program.delivered(id) == ["at 1 1001000", "at 2 1002000"])
  }

  @Test("TH-3 a delegate that is removed receives nothing that was on its way")
  func delegate() {
    var program = Connected()
    let id = program.add()
    program.call(.startUpdatingLocation, by: id)
    program.carryAll()
    program.wait(1)
    program.fix(1)
    program.call(.setDelegate(nil), by: id)
    program.carryAll()
    #expect(program.delivered(id) == [])
  }

  @Test("SU-15 events that wait for the delegate outlive the service")
  func queue() {
    var program = Connected()
    let id = program.add()
    program.call(.startUpdatingLocation, by: id)
    program.carryAll()
    program.wait(1)
    program.fix(1)
    program.carryAll()
    program.kill()
    program.restart()
    program.carryAll()
    #expect(program.delivered(id) == ["status authorizedAlways full", "at 1 1001000"])
    program.call(.stopUpdatingLocation, by: id)
    #expect(program.mirror.location(of: id) != nil)
  }

  @Test("AU-3 a status that changed while the service was away is reported once, an unchanged one is not")
  func status() {
    var program = Connected()
    let id = program.add()
    program.carryAll()
    #expect(program.delivered(id) == ["status authorizedAlways full"])
    program.kill()
    program.restart()
    program.carryAll()
    #expect(program.delivered(id) == [])
    program.kill()
    program.engine.authorizationChanged(to: Authorization.Record(status: .denied), at: program.instant)
    program.restart()
    program.carryAll()
    #expect(program.delivered(id) == ["status denied full"])
    #expect(program.mirror.authorizationStatus == .denied)
  }

  @Test("AU-16 a permission that was lost while the service was away ends the services")
  func lost() {
    var program = Connected()
    let id = program.add()
    program.call(.startUpdatingLocation, by: id)
    program.carryAll()
    _ = program.delivered(id)
    program.kill()
    program.engine.authorizationChanged(to: Authorization.Record(status: .denied), at: program.instant)
    program.restart()
    program.carryAll()
    #expect(program.delivered(id) == ["status denied full", "failed denied"])
    program.engine.authorizationChanged(to: Authorization.Record(status: .authorizedAlways), at: program.instant)
    program.carryAll()
    program.wait(1)
    program.fix(4)
    program.carryAll()
    #expect(program.delivered(id) == ["status authorizedAlways full", "at 4 1001000"])
  }

  @Test("AU-2 a delegate that is assigned while the service is away gets the status once")
  func assigned() {
    var program = Connected()
    program.kill()
    let id = program.add()
    #expect(program.delivered(id) == ["status authorizedAlways full"])
    program.restart()
    program.carryAll()
    #expect(program.delivered(id) == [])
  }

  @Test("RQ-1 RQ-8 a request in flight is made again and has one outcome")
  func request() {
    var program = Connected()
    let id = program.add()
    program.call(.setDesiredAccuracy(metres: 100), by: id)
    program.carryAll()
    _ = program.delivered(id)
    program.call(.requestLocation, by: id)
    program.call(.requestLocation, by: id)
    program.carryAll()
    program.kill()
    program.call(.requestLocation, by: id)
    program.wait(2)
    program.restart()
    program.carryAll()
    program.wait(1)
    program.fix(3, accuracy: 50)
    program.carryAll()
    program.call(.requestLocation, by: id)
    program.wait(20)
    program.carryAll()
    #expect(program.delivered(id) == ["at 3 1003000"])
    program.kill()
    program.restart()
    program.carryAll()
    program.wait(20)
    program.carryAll()
    #expect(program.delivered(id) == [])
  }

  @Test("RQ-1 a request to a service that has never been there is made at its first connection")
  func requestBeforeService() {
    var program = Connected(isOpened: false)
    let id = program.add()
    program.call(.setDesiredAccuracy(metres: 100), by: id)
    program.call(.requestLocation, by: id)
    program.wait(1)
    program.restart()
    program.carryAll()
    program.wait(1)
    program.fix(3, accuracy: 50)
    program.carryAll()
    #expect(program.delivered(id).suffix(1) == ["at 3 1002000"])
  }

  @Test("RQ-6 a request to a service that never comes fails, and one line says why")
  func requestWithoutService() {
    var program = Connected(isOpened: false)
    let id = program.add()
    program.call(.requestLocation, by: id)
    program.wait(9.9)
    #expect(program.delivered(id).filter { $0.hasPrefix("failed") } == [])
    program.wait(0.2)
    #expect(program.delivered(id) == ["failed locationUnknown"])
    let text = "the location service is away since 10 s: start sextantd, and see its log"
    #expect(program.others == [.log(text)])
    program.wait(100)
    #expect(program.others == [.log(text)])
  }

  @Test("RQ-13 a request to a service that has never been there is dropped without permission, RQ-11 and by a stop")
  func droppedBeforeService() {
    var program = Connected(.notDetermined, isOpened: false)
    let (dropped, stopped) = (program.add(), program.add())
    program.call(.requestLocation, by: dropped)
    program.call(.requestLocation, by: stopped)
    program.call(.stopUpdatingLocation, by: stopped)
    program.restart()
    program.carryAll()
    program.wait(20)
    program.fix(1)
    program.carryAll()
    for id in [dropped, stopped] {
      #expect(program.delivered(id).filter { !$0.hasPrefix("status") } == [])
      #expect(program.mirror.state.managers[id.number]?.isRequestPending == false)
    }
  }

  @Test("SC-1 BE-1 what starts before a service has ever been there runs from its first connection on")
  func startsBeforeService() {
    var program = Connected(isOpened: false)
    let (running, stopped) = (program.add(), program.add())
    let beacons = Ranging.Target.constraint(BeaconIdentity(uuid: BeaconUUID(high: 1, low: 2)))
    for id in [running, stopped] {
      program.call(.startSignificantChanges, by: id)
      program.call(.startRanging(beacons), by: id)
    }
    program.call(.stopSignificantChanges, by: stopped)
    program.call(.stopRanging(beacons), by: stopped)
    program.restart()
    program.carryAll()
    let services = [running, stopped].map { program.engine.services(of: $0) }
    #expect(services.map { $0?.wantsSignificant } == [true, false])
    #expect(services.map { $0?.rangedTargets } == [[beacons], []])
  }

  @Test("BE-4 without Bluetooth ranging fails once, also if it begins while the service is away or ends with it unread")
  func rangingWithoutBluetooth() {
    var capabilities = Connected.everything
    capabilities.hasBluetooth = false
    var program = Connected(hostCapabilities: capabilities)
    let ids = (0..<3).map { _ in program.add() }
    program.carryAll()
    for id in ids { _ = program.delivered(id) }
    let beacons = Ranging.Target.constraint(BeaconIdentity(uuid: BeaconUUID(high: 1, low: 2)))
    program.call(.startRanging(beacons), by: ids[0])
    program.carryAll()
    program.call(.startRanging(beacons), by: ids[1])
    program.kill()
    program.call(.startRanging(beacons), by: ids[2])
    program.restart()
    program.carryAll()
    for id in ids { #expect(program.waiting[id]?.map(\.event) == [.rangingDidFail(beacons, .rangingUnavailable)]) }
  }

  @Test("RQ-6 SU-17 without the service a request and a started service fail, once, and one line says so")
  func away() {
    var program = Connected()
    let (standard, request, idle) = (program.add(), program.add(), program.add())
    program.call(.startUpdatingLocation, by: standard)
    program.carryAll()
    for id in [standard, request, idle] { _ = program.delivered(id) }
    program.kill()
    program.call(.requestLocation, by: request)
    program.wait(9.9)
    #expect(program.delivered(request) == [])
    program.wait(0.2)
    #expect(program.delivered(request) == ["failed locationUnknown"])
    program.wait(19.8)
    #expect(program.delivered(standard) == [])
    program.wait(100)
    #expect(program.delivered(standard) == ["failed locationUnknown"])
    #expect(program.others.filter { if case .log = $0 { true } else { false } }.count == 1)
    program.restart()
    program.carryAll()
    program.wait(100)
    program.carryAll()
    #expect(program.delivered(standard) == [], "the outage was reported")
    program.fix(1)
    program.carryAll()
    #expect(program.delivered(standard).count == 1)
    #expect(program.delivered(request) == [])
    #expect(program.delivered(idle) == [])
  }

  @Test("RG-1 RG-9 GE-7 regions are not started again, and a stop while the service is away holds")
  func regions() {
    var program = Connected()
    let id = program.add()
    let (home, work) = (Connected.region("home", north: 0), Connected.region("work", north: 5000))
    program.call(.startMonitoring(home), by: id)
    program.call(.startMonitoring(work), by: id)
    program.carryAll()
    #expect(program.delivered(id) == ["status authorizedAlways full", "monitoring home", "monitoring work"])
    program.kill()
    program.call(.stopMonitoring(work), by: id)
    #expect(program.mirror.monitoredRegions == [home])
    // The program keeps regions, even without the manager.
    program.mirror.removeManager(id)
    let other = program.add()
    program.restart()
    #expect(program.mirror.monitoredRegions == [home])
    program.carryAll()
    #expect(program.engine.regions.monitored == [home])
    #expect(program.delivered(other) == ["status authorizedAlways full"])
  }

  @Test("RG-10 a crossing while the service is away is delivered after its return")
  func crossing() {
    var program = Connected()
    let id = program.add()
    program.call(.startMonitoring(Connected.region("home", north: 0)), by: id)
    program.carryAll()
    for _ in 0..<60 {
      program.wait(1)
      program.fix(1000)
      program.carryAll()
    }
    _ = program.delivered(id)
    program.kill()
    program.restart()
    for _ in 0..<60 {
      program.wait(1)
      program.carryAll()
      program.fix(0)
      program.carryAll()
    }
    #expect(program.delivered(id) == ["entered home", "home is inside"])
  }

  @Test(
    "RG-11 crossings are as without a restart of the service, whichever of them the region reports",
    arguments: [(true, true), (true, false), (false, true)], [Int?.none, 0, 1, 2, 3])
  func crossingsOverRestart(reports: (entry: Bool, exit: Bool), restart: Int?) {
    var program = Connected()
    let id = program.add()
    var region = Connected.region("home", north: 0)
    (region.notifiesOnEntry, region.notifiesOnExit) = reports
    program.call(.startMonitoring(region), by: id)
    program.carryAll()
    var events: [[String]] = []
    for (number, north) in [1000.0, 0, 1000, 0, 1000].enumerated() {
      for _ in 0..<60 {
        program.wait(1)
        program.fix(north)
        program.carryAll()
      }
      events.append(program.delivered(id).filter { $0.hasSuffix(" home") })
      if number == restart {
        program.kill()
        program.restart()
        program.carryAll()
      }
    }
    let (entry, exit) = (reports.entry ? ["entered home"] : [], reports.exit ? ["left home"] : [])
    #expect(events.dropFirst() == [entry, exit, entry, exit])
  }

  @Test("SU-17 each start is followed by its own report of an outage, also after a return of the service")
  func outageOfEachStart() {
    var program = Connected()
    let id = program.add()
    let failures = { (program: inout Connected) in program.delivered(id).count { $0.hasPrefix("failed") } }
    for isRestarted in [false, false, true, false] {
      if isRestarted {
        program.kill()
        program.restart()
      }
      program.call(.startUpdatingLocation, by: id)
      program.carryAll()
      program.wait(29)
      program.carryAll()
      #expect(failures(&program) == 0)
      program.wait(2)
      program.carryAll()
      #expect(failures(&program) == 1)
      program.wait(100)
      program.carryAll()
      #expect(failures(&program) == 0)
      program.call(.stopUpdatingLocation, by: id)
      program.carryAll()
      program.wait(2)
    }
  }

  @Test(
    "RG-10 a crossing is delivered once if the service is killed before or after its message", arguments: [false, true])
  func unstoredCrossing(isSent: Bool) {
    var program = Connected()
    let (id, other) = (program.add(), program.add())
    program.call(.startMonitoring(Connected.region("home", north: 0)), by: id)
    program.carryAll()
    func visit(_ north: Double, until end: (PositioningEngine) -> Bool) {
      for _ in 0..<60 where !end(program.engine) {
        program.wait(1)
        program.carryAll()
        program.fix(north)
      }
    }
    func state(_ engine: PositioningEngine) -> RegionState? { engine.regions.records.first?.state }
    visit(1000) { state($0) == .outside }
    program.carryAll()
    for manager in [id, other] { _ = program.delivered(manager) }
    let disk = program.disk
    visit(0) { state($0) == .inside }
    if isSent { program.carryAll() }
    program.kill(with: disk)
    program.restart()
    visit(0) { state($0) == .inside }
    program.carryAll()
    for manager in [id, other] { #expect(program.delivered(manager) == ["entered home", "home is inside"]) }
    // The next crossings are new.
    visit(1000) { state($0) == .outside }
    visit(0) { state($0) == .inside }
    program.carryAll()
    let expected = ["left home", "home is outside", "entered home", "home is inside"]
    for manager in [id, other] { #expect(program.delivered(manager) == expected) }
    // An answer is not a repetition.
    program.call(.requestState(Connected.region("home", north: 0)), by: id)
    program.carryAll()
    #expect(program.delivered(id) == ["home is inside"])
  }

  @Test("RG-12 each request for a state has one answer over the death of the service", arguments: [false, true])
  func stateRequests(_ isAnswered: Bool) {
    var program = Connected()
    let id = program.add()
    let home = Connected.region("home", north: 0)
    program.call(.startMonitoring(home), by: id)
    program.carryAll()
    _ = program.delivered(id)
    program.call(.requestState(home), by: id)
    program.carryAll()
    if isAnswered {
      program.wait(30)
      program.carryAll()
    }
    program.call(.requestState(home), by: id)
    program.carryAll()
    program.kill()
    program.restart()
    program.carryAll()
    program.fix(0)
    program.carryAll()
    #expect(program.delivered(id) == ["home is \(isAnswered ? "unknown" : "inside")", "home is inside"])
  }

  @Test("RG-6 texts that are too long for the service are not sent, and their calls are refused")
  func longTexts() {
    var program = Connected()
    let id = program.add()
    program.carryAll()
    _ = program.delivered(id)
    let long = Connected.region(String(repeating: "x", count: 2049), north: 0)
    let calls: [ClientCall] = [
      .startMonitoring(long), .stopMonitoring(long), .requestState(long), .startRanging(.region(long)),
      .stopRanging(.region(long)),
    ]
    for call in calls { program.call(call, by: id) }
    #expect(program.toService.isEmpty)
    let events = program.waiting[id]?.map(\.event)
    #expect(
      events == [
        .monitoringDidFail(long, .regionMonitoringFailure), .didDetermineState(.unknown, long),
        .rangingDidFail(.region(long), .rangingFailure),
      ])
    program.call(.requestTemporaryFullAccuracy(purpose: long.identifier, token: 1), by: id)
    _ = program.mirror.beginSession(goal: .whenInUse, fullAccuracyPurpose: long.identifier)
    program.carryAll()
    #expect(
      program.others.contains {
        if case .temporaryAccuracy(id, token: 1, .promptDeclined, .isFull?) = $0 { true } else { false }
      })
    #expect(program.mirror.isOpen && program.mirror.monitoredRegions.isEmpty)
  }

  @Test("GE-7 objects that the service does not add have no effect on the others, also after its return")
  func refusedObjects() {
    var program = Connected()
    let id = program.add()
    program.call(.startUpdatingLocation, by: id)
    program.carryAll()
    _ = program.delivered(id)
    func refuse() {
      program.carryAll()
      let refused = program.add()
      program.call(.startUpdatingLocation, by: refused)
      program.mirror.openMonitor("m")
      program.call(.setDistanceFilter(metres: 1), by: id)
      #expect(!program.mirror.isMonitorLoaded("m"))
      while let message = program.toService.first {
        if program.served.adds(message.action) {
          _ = program.served.note(program.toService.removeFirst())
        } else {
          program.carryToService(1)
        }
      }
      program.serve()
      program.carryAll()
      #expect(program.mirror.isMonitorLoaded("m"))
      program.call(.stopUpdatingLocation, by: refused)
      program.wait(1)
      program.fix(100)
      program.carryAll()
      #expect(program.delivered(refused) == [] && program.delivered(id).count == 1)
    }
    refuse()
    program.kill()
    program.restart()
    program.wait(1)
    program.carryAll()
    program.fix(200)
    program.carryAll()
    #expect(program.delivered(id).count == 1)
  }

  @Test("GE-7 the service counts each object of a program once")
  func objects() {
    var program = Connected()
    let id = program.add()
    program.mirror.openMonitor("m")
    program.carryAll()
    let count = program.served.objectCount
    let shape = Connected.region("home", north: 0).shape
    let condition = ClientAction.addCondition(shape, identifier: "home", assuming: .unknown, monitor: "m")
    #expect(!program.served.adds(.addManager(id.number)) && !program.served.adds(.openMonitor("m")))
    #expect(program.served.adds(condition) && program.served.adds(.beginLiveUpdates(id.number, .standard)))
    program.mirror.addCondition(shape, identifier: "home", assuming: .unknown, to: "m")
    program.carryAll()
    #expect(program.served.objectCount == count + 1 && !program.served.adds(condition))
  }

  @Test("RG-10 a crossing is new after its region was started again while the service is away")
  func restartedRegion() {
    var program = Connected()
    let id = program.add()
    let home = Connected.region("home", north: 0)
    program.call(.startMonitoring(home), by: id)
    program.carryAll()
    func stay(_ north: Double) {
      for _ in 0..<60 {
        program.wait(1)
        program.carryAll()
        program.fix(north)
      }
      program.carryAll()
    }
    stay(1000)
    stay(0)
    #expect(program.delivered(id).contains("entered home"))
    program.kill()
    program.call(.stopMonitoring(home), by: id)
    program.call(.startMonitoring(home), by: id)
    program.restart()
    program.carryAll()
    stay(1000)
    _ = program.delivered(id)
    stay(0)
    #expect(program.delivered(id) == ["entered home", "home is inside"])
  }

  @Test(
    "VI-3 a visit is delivered once if the service is killed before or after its message", arguments: [false, true])
  func unstoredVisit(isSent: Bool) {
    var program = Connected()
    let id = program.add()
    program.call(.startVisits, by: id)
    program.carryAll()
    func stay(_ north: Double, minutes: Int) {
      for minute in 0..<minutes {
        program.wait(60)
        program.carryAll()
        // Between two places it moves.
        program.fix(north + (north < 0 ? Double(minute) * 500 : 0))
      }
    }
    stay(-50_000, minutes: 20)
    program.carryAll()
    _ = program.delivered(id)
    let disk = program.disk
    for _ in 0..<60 where program.engine.visits.record.current == nil { stay(0, minutes: 1) }
    #expect(program.engine.visits.record.current != nil)
    if isSent { program.carryAll() }
    program.kill(with: disk)
    program.restart()
    stay(0, minutes: 60)
    program.carryAll()
    #expect(program.delivered(id) == ["arrived"])
    stay(-90_000, minutes: 60)
    program.carryAll()
    #expect(program.delivered(id).first == "departed")
  }

  @Test("DF-8 a deferral goes on with the remaining criteria")
  func deferral() {
    var program = Connected(.authorizedAlways, .background)
    let id = program.add()
    program.call(.startUpdatingLocation, by: id)
    program.call(.allowDeferredUpdates(metres: .infinity, seconds: 60), by: id)
    program.carryAll()
    program.wait(1)
    program.fix(1)
    program.carryAll()
    _ = program.delivered(id)
    program.wait(29)
    program.kill()
    program.restart()
    program.carryAll()
    program.wait(10)
    program.fix(2)
    program.carryAll()
    program.wait(19.9)
    program.carryAll()
    // The fix that the service had kept is the cached one after its restart.
    #expect(program.delivered(id) == ["at 1 1001000"])
    program.wait(0.2)
    program.carryAll()
    #expect(program.delivered(id) == ["finished ", "at 2 1040000"])
    program.kill()
    program.restart()
    program.carryAll()
    #expect(program.mirror.state.managers[id.number]?.deferral == nil)
  }

  @Test("SS-2 a background activity keeps the program in use, over a death of the service too, until it ends")
  func activity() {
    var program = Connected(.authorizedWhenInUse, .foreground)
    let id = program.add()
    program.call(.setAllowsBackgroundUpdates(true), by: id)
    let activity = program.mirror.beginBackgroundActivity()
    program.carryAll()
    program.mirror.setApplication(.background)
    program.carryAll()
    program.call(.startUpdatingLocation, by: id)
    program.carryAll()
    program.wait(1)
    program.fix(1)
    program.carryAll()
    #expect(program.delivered(id).last == "at 1 1001000")
    program.kill()
    program.restart()
    program.carryAll()
    program.wait(1)
    program.fix(2)
    program.carryAll()
    #expect(program.delivered(id).last == "at 2 1002000")
    program.mirror.endBackgroundActivity(activity)
    program.carryAll()
    program.kill()
    program.restart()
    program.carryAll()
    _ = program.delivered(id)
    program.call(.stopUpdatingLocation, by: id)
    program.call(.startUpdatingLocation, by: id)
    program.wait(1)
    program.fix(3)
    program.carryAll()
    #expect(!program.delivered(id).contains { $0.hasPrefix("at ") })
  }

  @Test(
    "DF-7 DF-16 DF-17 a deferral that is cancelled or stopped while the service is away has its end at once",
    arguments: [
      (ClientCall.disallowDeferredUpdates, "finished deferredCanceled"),
      (.allowDeferredUpdates(metres: .infinity, seconds: 5), "finished deferredCanceled"),
      (.stopUpdatingLocation, "finished deferredNotUpdatingLocation"),
    ])
  func endedDeferral(call: ClientCall, end: String) {
    var program = Connected(.authorizedAlways, .background)
    let id = program.add()
    program.call(.startUpdatingLocation, by: id)
    program.call(.allowDeferredUpdates(metres: .infinity, seconds: 60), by: id)
    program.carryAll()
    _ = program.delivered(id)
    program.kill()
    program.call(call, by: id)
    #expect(program.delivered(id) == [end])
    program.restart()
    program.carryAll()
    #expect(!program.delivered(id).contains { $0.hasPrefix("finished") })
  }

  @Test("MO-4 an event of a monitor waits until it is taken, and is taken once")
  func monitor() {
    var program = Connected()
    program.mirror.openMonitor("m")
    let home = Connected.region("home", north: 0).shape
    program.mirror.addCondition(home, identifier: "home", assuming: .unknown, to: "m")
    program.carryAll()
    #expect(program.mirror.monitorIdentifiers("m") == ["home"])
    for _ in 0..<30 {
      program.wait(1)
      program.fix(0)
      program.carryAll()
    }
    #expect(program.others.contains(.monitorHasEvent("m")))
    program.others = []
    program.kill()
    program.restart()
    program.carryAll()
    for _ in 0..<30 {
      program.wait(1)
      program.fix(0)
      program.carryAll()
    }
    let event = program.mirror.takeEvent(of: "m")
    #expect(event?.state == .satisfied)
    #expect(program.mirror.takeEvent(of: "m") == nil)
    #expect(program.mirror.monitorRecord("home", of: "m")?.lastEvent == event)
    // The service is killed before it has the message.
    program.kill()
    program.restart()
    for _ in 0..<30 {
      program.wait(1)
      program.carryAll()
      program.fix(0)
      program.carryAll()
    }
    #expect(program.mirror.takeEvent(of: "m") == nil)
    #expect(program.stored["m"]?.first?.lastEvent == event)
  }
}
