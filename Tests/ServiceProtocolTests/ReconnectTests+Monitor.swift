// SPDX-License-Identifier: Apache-2.0
import Messages
import MonotonicTime
import Positioning
import ReceiverStream
import TestSupport
import Testing

// The events of a monitor, over the loss of the connection.
extension ReconnectTests {
  /// A program whose monitor m has the event that home is satisfied.
  private func monitored() -> Connected {
    var program = Connected()
    program.mirror.openMonitor("m")
    program.mirror.addCondition(
      Connected.region("home", north: 0).shape, identifier: "home", assuming: .unsatisfied, to: "m")
    program.carryAll()
    stay(&program)
    return program
  }

  private func stay(_ program: inout Connected) {
    for _ in 0..<30 {
      program.wait(1)
      program.carryAll()
      program.fix(0)
      program.carryAll()
    }
  }

  private func recorded(_ program: Connected) -> Monitor.State? {
    program.mirror.monitorRecord("home", of: "m")?.lastEvent.state
  }

  @Test("MO-5 while a program handles an event, its record and the service's have the event before it")
  func handled() {
    var program = monitored()
    #expect(program.mirror.takeEvent(of: "m", by: 3)?.state == .satisfied)
    stay(&program)
    #expect(recorded(program) == .unsatisfied)
    #expect(program.engine.monitor("m")?.record("home")?.lastEvent.state == .unsatisfied)
    // Iterations do not get it again, and the condition is not evaluated meanwhile (MO-4).
    #expect(program.mirror.takeEvent(of: "m", by: 4) == nil)
    #expect(program.mirror.takeEvent(of: "m", by: 3) == nil)
    #expect(recorded(program) == .satisfied)
    program.carryAll()
    #expect(program.stored["m"]?.first?.lastEvent.state == .satisfied)
  }

  @Test(
    "MO-3 a condition whose name is too long for the service is not sent, and not monitored", arguments: [false, true])
  func longNames(_ isMonitorLong: Bool) {
    let long = String(repeating: "x", count: 2049)
    let (monitor, identifier) = isMonitorLong ? (long, "home") : ("m", long)
    var program = Connected()
    program.mirror.openMonitor(monitor)
    program.carryAll()
    #expect(program.mirror.isMonitorLoaded(monitor))
    program.mirror.addCondition(
      Connected.region("home", north: 0).shape, identifier: identifier, assuming: .unknown, to: monitor)
    #expect(program.mirror.messages.isEmpty)
    program.carryAll()
    #expect(program.others.contains(.monitorHasEvent(monitor)))
    program.fix(0)
    program.carryAll()
    program.kill()
    program.restart()
    stay(&program)
    #expect(program.mirror.monitorIdentifiers(monitor) == [identifier])
    let event = program.mirror.takeEvent(of: monitor, by: 3)
    #expect(event?.state == .unmonitored && event?.diagnostic == .conditionUnsupported)
    #expect(program.mirror.monitorRecord(identifier, of: monitor)?.lastEvent.state == .unknown)
    #expect(program.mirror.takeEvent(of: monitor, by: 3) == nil)
    stay(&program)
    #expect(program.mirror.monitorRecord(identifier, of: monitor)?.lastEvent.state == .unmonitored)
    program.mirror.removeCondition(identifier, from: monitor)
    stay(&program)
    #expect(program.mirror.monitorIdentifiers(monitor) == [])
  }

  @Test("MO-2 the record of a condition has the date of its addition, before and after the service's answer")
  func addedDate() {
    var program = Connected()
    program.mirror.openMonitor("m")
    program.carryAll()
    program.wait(100)
    let home = Connected.region("home", north: 0).shape
    program.mirror.addCondition(home, identifier: "home", assuming: .unknown, to: "m")
    #expect(program.mirror.monitorRecord("home", of: "m")?.lastEvent.date == program.now.utc)
    program.carryAll()
    #expect(program.mirror.monitorRecord("home", of: "m")?.lastEvent.date == program.now.utc)
    // Also while the service is unreachable, and after a location.
    program.fix(0)
    program.carryAll()
    program.kill()
    program.wait(100)
    program.mirror.addCondition(home, identifier: "home", assuming: .satisfied, to: "m")
    #expect(program.mirror.monitorRecord("home", of: "m")?.lastEvent.date == program.now.utc)
  }

  @Test("MO-5 the end of an iteration completes its event")
  func iterationEnded() {
    var program = monitored()
    _ = program.mirror.takeEvent(of: "m", by: 3)
    program.mirror.completeEvent(of: "m", by: 3)
    program.carryAll()
    #expect(recorded(program) == .satisfied)
    #expect(program.engine.waitingEvents(of: "m", at: program.now.utc) == [])
  }

  @Test("Events report that the state cannot be stored, and are completed as others")
  func notPersistent() {
    var program = monitored()
    program.served.losesState = true
    program.carryAll()
    #expect(program.mirror.takeEvent(of: "m")?.diagnostic == .persistenceUnavailable)
    // The service can store again while the program handles the event.
    program.served.losesState = false
    program.carryAll()
    program.mirror.completeEvent(of: "m")
    program.carryAll()
    #expect(program.engine.waitingEvents(of: "m", at: program.now.utc) == [])
    #expect(program.engine.monitor("m")?.record("home")?.lastEvent.diagnostic == [])
    #expect(program.mirror.takeEvent(of: "m") == nil && recorded(program) == .satisfied)
  }

  @Test("MO-5 an event that a program was handling when it was killed comes again in its next run")
  func killedWhileHandling() {
    var program = monitored()
    _ = program.mirror.takeEvent(of: "m")
    // Without a message of the program the service keeps the event.
    program.carryAll()
    let waiting = program.engine.waitingEvents(of: "m", at: program.now.utc)
    #expect(waiting.map(\.state) == [.satisfied])
    #expect(program.stored["m"]?.first?.lastEvent.state == .unsatisfied)
  }

  @Test("MO-5 an event that is handled while the service is killed does not come again")
  func serviceKilledWhileHandling() {
    var program = monitored()
    #expect(program.mirror.takeEvent(of: "m")?.state == .satisfied)
    program.kill()
    program.restart()
    stay(&program)
    #expect(recorded(program) == .unsatisfied)
    #expect(program.mirror.takeEvent(of: "m") == nil)
    stay(&program)
    #expect(program.mirror.takeEvent(of: "m") == nil)
    #expect(recorded(program) == .satisfied && program.stored["m"]?.first?.lastEvent.state == .satisfied)
  }

  @Test("MO-2 MO-5 a condition that is replaced while its event is handled keeps its own state")
  func replacedWhileHandled() {
    var program = monitored()
    _ = program.mirror.takeEvent(of: "m")
    program.mirror.addCondition(
      Connected.region("home", north: 5000).shape, identifier: "home", assuming: .unsatisfied, to: "m")
    #expect(program.mirror.takeEvent(of: "m") == nil)
    program.carryAll()
    #expect(recorded(program) == .unsatisfied)
    #expect(program.engine.monitor("m")?.record("home")?.lastEvent.state == .unsatisfied)
  }

  @Test(
    "RG-8 RG-1 a region that waits for permission begins with it, also in another process of the service, and is refused once",
    arguments: [AuthorizationStatus.notDetermined, .denied])
  func awaitedRegion(_ status: AuthorizationStatus) {
    var program = Connected(status)
    let id = program.add()
    program.call(.startMonitoring(Connected.region("home", north: 0)), by: id)
    program.carryAll()
    let refusal = status == .denied ? ["monitoring home failed regionMonitoringDenied"] : []
    #expect(program.delivered(id) == ["status \(status) full"] + refusal)
    #expect(program.mirror.monitoredRegions.map(\.identifier) == ["home"])
    program.kill()
    program.restart()
    program.carryAll()
    #expect(program.delivered(id) == [])
    program.engine.authorizationChanged(to: .init(status: .authorizedAlways), at: program.instant)
    program.serve()
    program.carryAll()
    #expect(program.delivered(id) == ["status authorizedAlways full", "monitoring home"])
  }

  @Test("LV-1 LV-3 a stream goes on, and its reason is not repeated")
  func stream() {
    var program = Connected(.denied)
    let stream = program.mirror.beginLiveUpdates(.standard, at: program.instant)
    program.carryAll()
    #expect(program.others.contains(.live(stream, LiveUpdate(location: nil, diagnostic: .authorizationDenied))))
    program.others = []
    program.kill()
    program.restart()
    program.carryAll()
    #expect(program.others == [])
    program.engine.authorizationChanged(to: Authorization.Record(status: .authorizedAlways), at: program.instant)
    program.wait(1)
    program.fix(1)
    program.carryAll()
    #expect(
      program.others.contains { if case .live(stream, let update) = $0 { update.location != nil } else { false } })
  }

  @Test("an epoch that a filter rejects sends no message, a delivered one sends one without the state")
  func messages() {
    var program = Connected()
    let id = program.add()
    program.call(.setDistanceFilter(metres: 100), by: id)
    program.call(.startUpdatingLocation, by: id)
    program.carryAll()
    program.wait(1)
    program.fix(0)
    program.carryAll()
    let before = program.sentUpdates
    program.wait(1)
    program.fix(5)
    #expect(program.sentUpdates == before)
    program.wait(1)
    program.fix(200)
    #expect(program.sentUpdates == before + 1)
    #expect(program.toProgram.last?.changes.isEmpty == true)
    program.carryAll()
    #expect(program.mirror.location(of: id) == Connected.location(200, at: program.now))
  }

  @Test("LC-2 the newest location comes when it is asked for")
  func newest() {
    var program = Connected()
    let id = program.add()
    program.carryAll()
    program.wait(1)
    program.fix(7)
    program.carryAll()
    #expect(program.mirror.location(of: id) == nil)
    program.mirror.refreshNewest()
    program.mirror.refreshNewest()
    program.carryAll()
    #expect(program.mirror.location(of: id) == Connected.location(7, at: program.now))
  }

  @Test("calls while the service is away do not queue")
  func bounded() {
    var program = Connected()
    let id = program.add()
    program.carryAll()
    program.kill()
    for number in 0..<10_000 {
      program.call(.setDistanceFilter(metres: Double(number)), by: id)
      program.call(number % 2 == 0 ? .startUpdatingLocation : .stopUpdatingLocation, by: id)
      program.call(.startMonitoring(Connected.region("home", north: 0)), by: id)
    }
    program.restart()
    #expect(program.toService.count < 10)
    program.carryAll()
    #expect(program.engine.regions.monitored.map(\.identifier) == ["home"])
    #expect(program.engine.services(of: id)?.wantsStandard == false)
  }

  @Test("a service of another version is refused with the program to update")
  func version() {
    var mirror = ProgramMirror(application: .foreground, at: .zero)
    var reply = OpenReply(serviceVersion: "9", state: ProgramState())
    reply.version = 9
    #expect(mirror.opened(reply, at: .zero)?.contains("build the program") == true)
    #expect(!mirror.isOpen)
  }
}
