// SPDX-License-Identifier: Apache-2.0
import MonotonicTime
import Positioning
import ReceiverSimulator
import ReceiverStream
import Testing

@testable import LocationService

@Suite("Many programs with one receiver, in virtual time")
struct ManyProgramsTests {
  private static let deferring = ProgramID(0)
  private static let watcher = ProgramID(1)
  private static let standard = ProgramID(2)
  private static let all = [deferring, watcher, standard]

  private static let walk = "start 48.1642,11.6056 512m\nhot\nwalk by 4000m,2000m\n"
  private static let drive = "start 48.1642,11.6056 512m\nhot\nstay 60s\ndrive by 4000m,0m at 20m/s\nstay forever\n"

  private static let trips = """
    start 48.1642,11.6056 512m
    hot
    stay 40min
    drive by 3000m,0m at 15m/s
    stay 60min
    walk by 500m,0m
    stay forever
    """

  private static let home = Region(
    "home", .circle(Circle(centre: Coordinate(latitudeDegrees: 48.1642, longitudeDegrees: 11.6056), radiusMetres: 300)))

  private static func scene(_ text: String, _ model: ReceiverModel = .m10) throws -> ServiceScene {
    ServiceScene(model, scenario: try Scenario(parsing: text), programs: 3)
  }

  /// Makes a program request its services.
  private static func start(_ program: ProgramID, _ scene: ServiceScene) {
    if program == watcher {
      scene.call(.startMonitoring(home), of: program)
    } else {
      scene.call(.startUpdatingLocation, of: program)
    }
  }

  /// The run of several programs on the same path: a deferral of a minute from the 30th second on, a region, and each
  /// update.
  private static func run(_ programs: [ProgramID], _ model: ReceiverModel) throws -> ServiceScene {
    let scene = try scene(drive, model)
    for program in programs { start(program, scene) }
    scene.run(30)
    if programs.contains(deferring) {
      scene.call(.allowDeferredUpdates(metres: .greatestFiniteMagnitude, seconds: 60), of: deferring)
    }
    scene.run(150)
    return scene
  }

  private static func seconds(_ scene: ServiceScene, _ program: ProgramID) -> [Int64] {
    scene.locations(of: program).map { ($0.timestamp.nanosecondsSince1970 + 500_000_000) / 1_000_000_000 }
  }

  private static func otherEvents(_ scene: ServiceScene, _ program: ProgramID) -> [DelegateEvent] {
    scene.events(of: program).map(\.event).filter { if case .didUpdateLocations = $0 { false } else { true } }
  }

  @Test("Each program gets what it gets alone, whatever others ask for", arguments: [ReceiverModel.m10, .f9p])
  func sameAsAlone(model: ReceiverModel) throws {
    let together = try Self.run(Self.all, model)
    for program in Self.all {
      let alone = try Self.run([program], model)
      #expect(Self.otherEvents(together, program) == Self.otherEvents(alone, program), "program \(program.number)")
      let (found, wanted) = (Self.seconds(together, program), Self.seconds(alone, program))
      #expect(!wanted.isEmpty || program == Self.watcher)
      // A receiver that changes its output for the single program may send one fix less at that point.
      #expect(Set(found).isSuperset(of: wanted), "program \(program.number)")
      #expect(
        found.count - wanted.count <= 1, "program \(program.number) has \(found.count) locations, alone \(wanted.count)"
      )
      // A reader that starts within an epoch may have no date yet; that fix has the host's time.
      let times = together.locations(of: program).map(\.timestamp).dropFirst()
      #expect(zip(times, times.dropFirst()).allSatisfy { $0 < $1 }, "program \(program.number)")
    }
    #expect(Self.otherEvents(together, Self.watcher).contains(.didExit(Self.home)))
  }

  @Test("A deferral ends at its time also when another program has each fix as it comes")
  func deferralBesideUpdates() throws {
    let scene = try Self.scene(Self.walk)
    Self.start(Self.deferring, scene)
    Self.start(Self.standard, scene)
    #expect(scene.run(90) { !$0.locations.isEmpty })
    scene.run(5)
    scene.clearEvents()
    let called = scene.now
    scene.call(.allowDeferredUpdates(metres: .greatestFiniteMagnitude, seconds: 60), of: Self.deferring)
    scene.run(50)
    #expect(scene.locations(of: Self.deferring).isEmpty)
    #expect(scene.locations(of: Self.standard).count >= 49)
    #expect(scene.run(20) { $0.count(.didFinishDeferredUpdates(nil)) == 1 })
    #expect(scene.now.seconds(since: called) <= 60.1)
    #expect(scene.locations(of: Self.deferring).count >= 59)
    #expect(
      Self.seconds(scene, Self.deferring) == Array(Self.seconds(scene, Self.standard).prefix(scene.locations.count)))
  }

  @Test("The receiver sleeps only when all programs allow it")
  func sleep() throws {
    let scene = try Self.scene(Self.walk)
    for program in Self.all { scene.call(.startUpdatingLocation, of: program) }
    #expect(scene.run(90) { !$0.locations.isEmpty })
    for program in Self.all {
      scene.run(120) { $0.isAsleep }
      #expect(!scene.isAsleep, "it sleeps before program \(program.number) allows it")
      scene.call(.stopUpdatingLocation, of: program)
    }
    #expect(scene.run(60) { $0.isAsleep })
    scene.call(.startUpdatingLocation, of: Self.standard)
    scene.clearEvents()
    #expect(scene.run(60) { !$0.locations(of: Self.standard).isEmpty })
    #expect(scene.locations(of: Self.deferring).isEmpty)
  }

  /// The mean current of a receiver for four hours, in milliamperes; the calls of each program.
  private static func milliamperes(
    _ model: ReceiverModel, _ calls: [[ClientCall]], seconds: Double = 4 * 3600
  ) throws -> Double {
    let scene = ServiceScene(model, scenario: try Scenario(parsing: trips), programs: UInt32(calls.count))
    for (number, calls) in calls.enumerated() {
      for call in calls { scene.call(call, of: ProgramID(UInt32(number))) }
    }
    scene.run(seconds)
    return scene.line.receiver.chargeMilliampereSeconds / seconds
  }

  @Test(
    "Three programs need at most 1.05 times the charge of one with all their demands",
    arguments: [ReceiverModel.m10, .m8])
  func charge(model: ReceiverModel) throws {
    let programs: [[ClientCall]] = [
      [.startMonitoring(Self.home), .startSignificantChanges], [.startVisits],
      [
        .setDesiredAccuracy(metres: 100), .setDistanceFilter(metres: 50), .setPausesAutomatically(true),
        .startUpdatingLocation,
      ],
    ]
    let together = try Self.milliamperes(model, programs)
    let one = try Self.milliamperes(model, [programs.flatMap(\.self)])
    let awake = try Self.milliamperes(
      model, [[.setPausesAutomatically(false), .startUpdatingLocation]], seconds: 600)
    #expect(together <= 1.05 * one)
    #expect(one < awake / 5)
  }

  @Test("A program that leaves ends its demand, also in a deferral", arguments: [true, false])
  func leaves(defers: Bool) throws {
    let scene = try Self.scene(Self.walk)
    Self.start(Self.deferring, scene)
    #expect(scene.run(90) { !$0.locations.isEmpty })
    if defers {
      scene.call(.allowDeferredUpdates(metres: .greatestFiniteMagnitude, seconds: 600), of: Self.deferring)
      scene.run(30)
    }
    scene.remove(Self.deferring)
    #expect(scene.run(60) { $0.isAsleep })
    // Fixes are not kept if nothing waits for them.
    #expect(scene.journal == nil)
    #expect(scene.keptLocations == 0)
    scene.clearEvents()
    Self.start(Self.standard, scene)
    #expect(scene.run(60) { $0.locations(of: Self.standard).count > 10 })
    // The first one is the cached fix.
    let seconds = Self.seconds(scene, Self.standard).dropFirst()
    #expect(zip(seconds, seconds.dropFirst()).allSatisfy { $1 == $0 + 1 })
  }

  @Test("A program that loses its permission is told, and others see nothing of it")
  func permissionLost() throws {
    let scene = try Self.scene(Self.walk)
    let plain = UsageKeys()
    let host = HostCapabilities(
      hasSatelliteReceiver: true, hasSignificantChanges: true, hasCompass: false, hasBluetooth: false)
    let asked = ProgramID(3)
    var restored = PositioningEngine.Restored()
    restored.authorization = Authorization.Record(status: .authorizedAlways)
    var engine = PositioningEngine(
      keys: plain, hostCapabilities: host, application: .background, restored: restored, at: .zero)
    engine.add(ServiceLog.client)
    engine.call(.setDelegate([.takesLocations, .takesErrors]), by: ServiceLog.client, at: .zero)
    engine.outputs = []
    scene.add(Program(asked, engine))
    Self.start(Self.standard, scene)
    scene.call(.startUpdatingLocation, of: asked)
    #expect(scene.run(90) { !$0.locations(of: asked).isEmpty })
    scene.run(5)
    scene.clearEvents()
    scene.setAuthorization(.denied, of: asked)
    scene.run(30)
    #expect(scene.locations(of: asked).isEmpty)
    #expect(scene.events(of: asked).map(\.event).contains(.didFail(.denied)))
    #expect(Self.otherEvents(scene, Self.standard).isEmpty)
    let seconds = Self.seconds(scene, Self.standard)
    #expect(seconds.count >= 29)
    #expect(zip(seconds, seconds.dropFirst()).allSatisfy { $1 == $0 + 1 })
    scene.call(.stopUpdatingLocation, of: Self.standard)
    #expect(scene.run(60) { $0.isAsleep }, "a program without permission keeps the receiver awake")
  }

  @Test("Fixes of a batch are noted as delivered when each deferring program has them")
  func noted() throws {
    let scene = try Self.scene(Self.walk)
    for program in [Self.deferring, Self.standard] { scene.call(.startUpdatingLocation, of: program) }
    #expect(scene.run(90) { !$0.locations.isEmpty })
    scene.run(12)
    scene.clearEvents()
    scene.call(.allowDeferredUpdates(metres: .greatestFiniteMagnitude, seconds: 40), of: Self.deferring)
    scene.call(.allowDeferredUpdates(metres: .greatestFiniteMagnitude, seconds: 90), of: Self.standard)
    #expect(scene.run(50) { $0.count(.didFinishDeferredUpdates(nil)) == 1 })
    #expect(scene.locations(of: Self.standard).isEmpty)
    scene.run(2)
    #expect(scene.journal != nil, "the second program does not have the fixes yet")
    #expect(scene.run(60) { !$0.locations(of: Self.standard).isEmpty })
    scene.run(15)
    #expect(scene.journal == nil && scene.keptLocations == 0)
    for program in [Self.deferring, Self.standard] {
      let seconds = Self.seconds(scene, program)
      #expect(seconds.count >= 85)
      #expect(zip(seconds, seconds.dropFirst()).allSatisfy { $1 == $0 + 1 }, "program \(program.number)")
    }
  }

  @Test(
    "A manager's number has no effect on the demands of another program",
    arguments: [Int(UInt32.max), -1, Int.max, 1 << 32])
  func numbers(number: Int) {
    var power = PowerDemands()
    let now = Instant(nanoseconds: 1_000_000_000)
    var demand = Demand()
    demand.everySeconds = 120
    let first = ProgramDemand(
      program: ProgramID(2), managers: [(ClientID(number), demand)], shared: .init())
    let second = ProgramDemand(program: ProgramID(3), managers: [], shared: demand)
    let events = power.update([first, second], at: now)
    #expect(events.count == 2)
    let left = power.update([first], at: now)
    #expect(left.count == 1)
  }
}
