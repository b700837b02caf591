// SPDX-License-Identifier: Apache-2.0
import MonotonicTime
import Positioning
import ReceiverSimulator
import ReceiverStream
import Testing

@testable import LocationService

@Suite("Clients, policy and receiver together, in virtual time")
struct ReceiverServiceTests {
  private static func scenario(_ text: String) throws -> Scenario { try Scenario(parsing: text) }
  private static let walk = "start 48.1642,11.6056 512m\nhot\nwalk by 4000m,2000m\n"

  @Test(
    "DF-8 a minute's deferral in the background: a silent line, then all at once, oldest first",
    arguments: [ReceiverModel.m10, .m8Batching, .f9p, .nmea])
  func deferral(model: ReceiverModel) throws {
    let scene = ServiceScene(model, scenario: try Self.scenario(Self.walk))
    scene.call(.startUpdatingLocation)
    #expect(scene.run(90) { !$0.locations.isEmpty })
    scene.run(12)
    scene.clearEvents()
    scene.call(.allowDeferredUpdates(metres: .greatestFiniteMagnitude, seconds: 60))
    scene.run(8)
    let before = scene.receivedBytes
    scene.run(50)
    #expect(scene.locations.isEmpty, "something is delivered before the end")
    if model == .m10 || model == .m8Batching { #expect(scene.receivedBytes == before, "the line speaks") }
    #expect(scene.run(20) { $0.count(.didFinishDeferredUpdates(nil)) == 1 })
    #expect(scene.locations.count >= 55)
    scene.run(15)
    #expect(scene.seconds == Array(0..<scene.seconds.count), "locations are lost, doubled or not in order")
    #expect(scene.journal == nil)
  }

  @Test("Corrections are of use while a program needs the best accuracy and the receiver measures")
  func corrections() throws {
    let scene = ServiceScene(.f9p, scenario: try Self.scenario(Self.walk))
    func isUseful(always: Bool = false) -> Bool { scene.machine.core.needsCorrections(always: always) }
    #expect(!isUseful() && !isUseful(always: true))
    scene.call(.setDesiredAccuracy(metres: 100))
    scene.call(.startUpdatingLocation)
    #expect(scene.run(90) { !$0.locations.isEmpty })
    scene.run(5)
    #expect(!isUseful() && isUseful(always: true))
    for best in [-1, -2, 0.5] {
      scene.call(.setDesiredAccuracy(metres: best))
      scene.run(5)
      #expect(isUseful(), "accuracy \(best)")
    }
    scene.call(.stopUpdatingLocation)
    scene.run(1)
    #expect(!isUseful() && isUseful(always: true))
    // The receiver sleeps.
    scene.run(60)
    #expect(!isUseful(always: true))
    scene.call(.startUpdatingLocation)
    #expect(scene.run(60) { _ in isUseful() })
    scene.finish()
    #expect(!isUseful(always: true))
  }

  @Test(
    "DF-8 a deferral's time is the latest moment: the receiver's memory is read out before it",
    arguments: [ReceiverModel.m10, .m8Batching], [5.0, 60])
  func deferralIsInTime(model: ReceiverModel, runsBefore: Double) throws {
    let scene = ServiceScene(model, scenario: try Self.scenario(Self.walk))
    scene.call(.startUpdatingLocation)
    #expect(scene.run(90) { !$0.locations.isEmpty })
    scene.run(runsBefore)
    scene.clearEvents()
    let called = scene.now
    scene.call(.allowDeferredUpdates(metres: .greatestFiniteMagnitude, seconds: 60))
    #expect(scene.run(90) { $0.count(.didFinishDeferredUpdates(nil)) == 1 })
    let finished = try #require(scene.time(of: .didFinishDeferredUpdates(nil)))
    #expect(finished.seconds(since: called) <= 60.1, "rate \(scene.line.hostRate)")
    #expect(finished.seconds(since: called) >= 60)
    #expect(scene.seconds.count >= 56, "what was kept is not there yet")
    scene.run(15)
    #expect(scene.seconds == Array(0..<scene.seconds.count), "locations are lost, doubled or not in order")
  }

  @Test(
    "DF-8 at whatever part of a second a deferral ends, no epoch is lost between memory and line",
    arguments: [ReceiverModel.m10, .m8Batching])
  func deferralAtAnyPhase(model: ReceiverModel) throws {
    for phase in 0..<40 {
      let scene = ServiceScene(model, scenario: try Self.scenario(Self.walk))
      scene.call(.startUpdatingLocation)
      #expect(scene.run(90) { !$0.locations.isEmpty })
      scene.run(5 + Double(phase) * 0.025)
      scene.clearEvents()
      scene.call(.allowDeferredUpdates(metres: .greatestFiniteMagnitude, seconds: 60))
      #expect(scene.run(90) { $0.count(.didFinishDeferredUpdates(nil)) == 1 })
      scene.run(5)
      #expect(scene.seconds == Array(0..<scene.seconds.count), "after \(phase * 25) ms")
    }
  }

  @Test("DF-17 a client that stops a deferral first gets the fixes of the receiver's memory")
  func stopped() throws {
    let scene = ServiceScene(.m10, scenario: try Self.scenario(Self.walk))
    scene.call(.startUpdatingLocation)
    #expect(scene.run(90) { !$0.locations.isEmpty })
    scene.clearEvents()
    scene.call(.allowDeferredUpdates(metres: .greatestFiniteMagnitude, seconds: 60))
    scene.run(40)
    scene.call(.stopUpdatingLocation)
    #expect(scene.run(20) { $0.count(.didFinishDeferredUpdates(.deferredNotUpdatingLocation)) == 1 })
    #expect(scene.locations.count >= 38)
    #expect(scene.seconds == Array(0..<scene.seconds.count))
    #expect(scene.run(60) { $0.isAsleep })
  }

  @Test(
    "DF-17 locations that a deferral kept on this host are discarded after their delivery", arguments: [1, 7])
  func deliveredIsDiscarded(seconds: Double) throws {
    let scene = ServiceScene(.f9p, scenario: try Self.scenario(Self.walk))
    scene.call(.startUpdatingLocation)
    #expect(scene.run(90) { !$0.locations.isEmpty })
    scene.call(.allowDeferredUpdates(metres: .greatestFiniteMagnitude, seconds: 600))
    scene.run(20 + seconds / 10)
    #expect(scene.keptLocations >= 18)
    scene.clearEvents()
    scene.call(.stopUpdatingLocation)
    #expect(scene.locations.count >= 18)
    #expect(scene.keptLocations == 0)
    // The receiver still runs for some time without a client.
    scene.run(seconds)
    #expect(scene.keptLocations == 0)
  }

  @Test("Locations that a process had kept are delivered between the fixes of the receiver's memory, by their times")
  func restoredByTime() throws {
    func location(_ seconds: Int64) -> Location {
      var fix = Fix()
      (fix.latitudeDegrees, fix.longitudeDegrees, fix.kind) = (48, 11, .threeD)
      let time = UTCTime(nanosecondsSince1970: seconds * 1_000_000_000)
      fix.time = time
      return Location(fix, received: time)!
    }
    var batch = BatchDelivery(restored: [location(1000), location(1005), location(1009)])
    func seconds(_ until: Int64?) -> [Int64] {
      batch.takeRestored(until: until.map { UTCTime(nanosecondsSince1970: $0 * 1_000_000_000) })
        .map { $0.timestamp.nanosecondsSince1970 / 1_000_000_000 }
    }
    #expect(seconds(999).isEmpty)
    #expect(seconds(1005) == [1000, 1005])
    #expect(seconds(1005).isEmpty)
    #expect(seconds(nil) == [1009])
    #expect(seconds(nil).isEmpty)
  }

  @Test(
    "PA-7 a stationary client is paused with the receiver in backup; movement resumes it at the next position check",
    arguments: [ReceiverModel.m10, .f9p])
  func pause(model: ReceiverModel) throws {
    let text = "start 48.1642,11.6056 512m\nhot\nstay 400s\ndrive by 9000m,0m at 12m/s\nstay forever\n"
    let scene = ServiceScene(model, scenario: try Self.scenario(text), pauseSeconds: 30, probeSeconds: 20)
    scene.call(.startUpdatingLocation)
    #expect(scene.run(120) { $0.count(.didPauseLocationUpdates) == 1 })
    scene.run(60)
    let charge = scene.line.receiver.chargeMilliampereSeconds
    let began = scene.now
    scene.run(400 - scene.now.seconds(since: .zero))
    let mean = (scene.line.receiver.chargeMilliampereSeconds - charge) / scene.now.seconds(since: began)
    // Full power would be 9 mA and 85 mA.
    #expect(mean < (model == .m10 ? 2 : 17), "\(mean) mA while paused")
    #expect(scene.count(.didResumeLocationUpdates) == 0)
    #expect(scene.run(330) { $0.count(.didResumeLocationUpdates) == 1 })
    #expect(scene.now.seconds(since: .zero) - 400 < 310)
    let count = scene.locations.count
    scene.run(5)
    #expect(scene.locations.count >= count + 3)
  }

  @Test(
    "SC-11 after a hot start the receiver sleeps within 6 s of its first fix: it reports how long its orbits last",
    arguments: [ReceiverModel.m6, .m8, .m9, .m10, .f9p, .f10, .x20])
  func hotStart(model: ReceiverModel) throws {
    let scene = ServiceScene(model, scenario: try Self.scenario("start 48.1642,11.6056 512m\nhot\n"))
    scene.call(.startSignificantChanges)
    #expect(scene.run(30) { !$0.locations.isEmpty })
    #expect(scene.run(6) { $0.isAsleep })
  }

  @Test("SC-11 a receiver without UBX stays on: it does not report its orbits")
  func hotStartOfPlainReceiver() throws {
    let scene = ServiceScene(.nmea, scenario: try Self.scenario("start 48.1642,11.6056 512m\nhot\n"))
    scene.call(.startSignificantChanges)
    #expect(scene.run(30) { !$0.locations.isEmpty })
    // The probes of identification are over.
    scene.run(30)
    let sent = scene.sentBytes
    scene.run(60)
    #expect(!scene.isAsleep && scene.sentBytes == sent && sent < 1000)
  }

  @Test("SC-11 significant changes and a far region: the receiver sleeps, and the host does not wake in between")
  func rarePositionChecks() throws {
    let scene = ServiceScene(.m10, scenario: try Self.scenario("start 48.1642,11.6056 512m\nhot\nstay forever\n"))
    scene.call(.startSignificantChanges)
    let far = Circle(centre: Coordinate(latitudeDegrees: 48.4, longitudeDegrees: 11.6), radiusMetres: 200)
    scene.call(.startMonitoring(Region("far", .circle(far))))
    #expect(scene.run(200) { $0.isAsleep })
    scene.run(3)
    let wakeUps = scene.hostWakeUps
    scene.run(120)
    #expect(scene.isAsleep && scene.hostWakeUps == wakeUps)
    let charge = scene.line.receiver.chargeMilliampereSeconds
    scene.run(3600)
    // An hour at 9 mA would be 32 As.
    #expect(scene.line.receiver.chargeMilliampereSeconds - charge < 3000)
  }

  @Test(
    "SU-14 SC-5 LC-5 a service that stops and starts again gets a fresh fix at once, although the receiver sleeps",
    arguments: [0, 0.05, 3, 20], [ClientCall.startUpdatingLocation, .startSignificantChanges])
  func freshAgain(pause: Double, start: ClientCall) throws {
    let scene = ServiceScene(.m10, scenario: try Self.scenario("start 48.1642,11.6056 512m\nhot\nstay forever\n"))
    scene.call(.setDesiredAccuracy(metres: 100))
    scene.call(.setDistanceFilter(metres: 1000))
    scene.call(start)
    #expect(scene.run(90) { !$0.locations.isEmpty })
    #expect(scene.run(200) { $0.isAsleep })
    scene.run(20)
    scene.clearEvents()
    let stopped = ServiceLog.moment(scene.now).utc
    scene.call(start == .startUpdatingLocation ? .stopUpdatingLocation : .stopSignificantChanges)
    scene.run(pause)
    scene.call(start)
    #expect(scene.run(10) { $0.locations.contains { $0.timestamp > stopped } })
    #expect(scene.run(30) { $0.isAsleep })
  }

  @Test("MO-2 RG-2 a condition or region that is added while the receiver sleeps gets its first state at once")
  func addedInSleep() throws {
    let scene = ServiceScene(.m10, scenario: try Self.scenario("start 48.1642,11.6056 512m\nhot\nstay forever\n"))
    func circle(_ latitude: Double, _ radius: Double) -> Region.Shape {
      .circle(Circle(centre: Coordinate(latitudeDegrees: latitude, longitudeDegrees: 11.6056), radiusMetres: radius))
    }
    func add(_ shape: Region.Shape, _ identifier: String) {
      scene.change { $0.addCondition(shape, identifier: identifier, to: "m", at: $1) }
    }
    func hasEvents() -> Bool {
      !scene.machine.core.engine.waitingEvents(of: "m", at: ServiceLog.moment(scene.now).utc).isEmpty
    }
    func takeStates() -> [Monitor.State] {
      var states: [Monitor.State] = []
      scene.change { engine, _ in while let event = engine.takeEvent(of: "m") { states.append(event.state) } }
      return states
    }
    scene.change { engine, now in engine.openMonitor("m", at: now.instant) }
    add(circle(0, 300), "far")
    #expect(scene.run(90) { _ in hasEvents() } && scene.run(200) { $0.isAsleep })
    #expect(takeStates() == [.unsatisfied])
    // The second condition replaces the first one.
    for (latitude, identifier, state) in [(48.344, "near", Monitor.State.unsatisfied), (48.1642, "near", .satisfied)] {
      scene.run(20)
      #expect(scene.isAsleep)
      add(circle(latitude, 200), identifier)
      #expect(scene.run(10) { _ in hasEvents() })
      #expect(takeStates() == [state])
      #expect(scene.run(30) { $0.isAsleep })
    }
    scene.run(20)
    let home = Region("home", circle(48.1642, 200))
    scene.call(.startMonitoring(home))
    #expect(scene.run(10) { _ in scene.machine.core.engine.regions.state(of: home) == .inside })
    #expect(scene.run(30) { $0.isAsleep })
  }

  @Test(
    "RG-13 an entry into a region is delivered within 30 s, although the receiver slept",
    arguments: [ReceiverModel.m10, .nmea])
  func region(model: ReceiverModel) throws {
    // 1500 m to the border at 10 m/s: it is crossed 200 s after the start.
    let scene = ServiceScene(
      model,
      scenario: try Self.scenario(
        "start 48.0000,11.6056 512m\nhot\nstay 50s\ndrive by 3000m,0m at 10m/s\nstay forever\n"))
    let centre = Coordinate(latitudeDegrees: 48.0 + 2000 / 111_195.0, longitudeDegrees: 11.6056)
    let home = Region("home", .circle(Circle(centre: centre, radiusMetres: 500)))
    scene.call(.startMonitoring(home))
    #expect(scene.run(260) { $0.count(.didEnter(home)) == 1 }, "\(scene.events.map(\.event))")
    let late = (scene.time(of: .didEnter(home)) ?? .zero).seconds(since: .zero) - 200
    #expect((18...31).contains(late), "\(late) s after the crossing")
  }

  @Test(
    "SU-17 under no sky locationUnknown comes half a minute after each start, also while the receiver rests or its line is not read",
    arguments: [ReceiverModel.m8, .m9, .m10, .nmea, .mt3339, .ag3352, .at6558, .um980, .lg290p, .tau1201])
  func noSky(_ model: ReceiverModel) throws {
    let scene = ServiceScene(model, scenario: try Self.scenario("start 48.1642,11.6056 512m\nsky none\nstay forever\n"))
    scene.call(.setPausesAutomatically(false))
    for seconds in [600.0, 34, 150, 5] {
      scene.call(.startUpdatingLocation)
      let started = scene.now
      #expect(scene.run(31) { $0.count(.didFail(.locationUnknown)) == 1 })
      #expect(scene.now.seconds(since: started) >= 29.9)
      scene.run(seconds)
      #expect(scene.count(.didFail(.locationUnknown)) == 1)
      scene.call(.stopUpdatingLocation)
      scene.clearEvents()
      scene.run(3)
    }
  }

  @Test("SU-17 unplugged: locationUnknown once, and locations again when it is back")
  func unplugged() throws {
    let scene = ServiceScene(.m10, scenario: try Self.scenario(Self.walk), application: .foreground)
    scene.call(.startUpdatingLocation)
    #expect(scene.run(90) { $0.locations.count > 5 })
    scene.inject(.unplug(for: Milliseconds(seconds: 100)))
    scene.run(99)
    #expect(scene.count(.didFail(.locationUnknown)) == 1)
    scene.clearEvents()
    #expect(scene.run(60) { $0.locations.count > 5 })
    #expect(scene.count(.didFail(.locationUnknown)) == 0)
  }

  @Test("When the last client has gone the receiver sleeps; at the program's end it is awake")
  func end() throws {
    let scene = ServiceScene(.m10, scenario: try Self.scenario(Self.walk))
    scene.call(.requestLocation)
    #expect(scene.run(90) { !$0.locations.isEmpty })
    #expect(scene.run(60) { $0.isAsleep })
    scene.finish()
    #expect(!scene.isAsleep)
  }
}
