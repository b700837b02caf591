// SPDX-License-Identifier: Apache-2.0
import MonotonicTime
import Positioning
import Testing

/// Each service in each state of the permission, through each change of the state and a second change.
///
/// The expectation is Apple's documents: a service is started in every state, a refusal is reported once, nothing is reported
/// while the prompt is open, and started services work from the grant on.
@Suite("The permission of each service")
struct PermissionTableTests {
  enum Service: CaseIterable {
    case standard, request, significant, region, beaconRegion, visits, ranging, condition, heading, live, deferral
  }

  /// A program with one service.
  private struct Program {
    private static let home = Region("home", .circle(Circle(centre: Scene.north(0), radiusMetres: 100)))
    private static let beacon = BeaconIdentity(uuid: BeaconUUID(high: 1, low: 2), major: 3, minor: 4)
    private static let shop = Region("shop", .beacon(beacon))

    let service: Service
    var scene: Scene
    private(set) var status: AuthorizationStatus
    private var isPending = false
    /// Whether monitoring has begun, or a deferral.
    private var hasBegun = false
    /// Whether the condition has no state.
    private var isFresh = true
    /// The last location of the program, and whether it moves away next.
    private var cached: Int?
    private var place = 0.0

    init(_ service: Service, _ status: AuthorizationStatus) {
      self.service = service
      self.status = status
      scene = Scene(status == .restricted ? .notDetermined : status)
      if status == .restricted { scene.engine.setRestricted(true, at: scene.instant) }
      // Without a search no outage is reported.
      scene.engine.sourceBecame(.idle, at: scene.instant)
      scene.engine.outputs = []
    }

    private static func isRefused(_ status: AuthorizationStatus) -> Bool { status == .denied || status == .restricted }

    // MARK: What the program does

    mutating func start() {
      switch service {
      case .standard: scene.call(.startUpdatingLocation)
      case .request: scene.call(.requestLocation)
      case .significant: scene.call(.startSignificantChanges)
      case .region: scene.call(.startMonitoring(Self.home))
      case .beaconRegion: scene.call(.startMonitoring(Self.shop))
      case .visits: scene.call(.startVisits)
      case .ranging: scene.call(.startRanging(.constraint(Self.beacon)))
      case .condition:
        scene.engine.openMonitor("places", at: scene.instant)
        scene.engine.addCondition(Self.home.shape, identifier: "home", to: "places", at: scene.now)
      case .heading: scene.call(.startHeading)
      case .live: scene.engine.beginLiveUpdates(1, .standard, at: scene.instant)
      case .deferral:
        scene.call(.startUpdatingLocation)
        scene.call(.allowDeferredUpdates(metres: .infinity, seconds: .infinity))
      }
    }

    mutating func change(to new: AuthorizationStatus) {
      if new == .restricted {
        scene.engine.setRestricted(true, at: scene.instant)
      } else {
        scene.engine.authorizationChanged(to: .init(status: new), at: scene.instant)
        scene.engine.setRestricted(false, at: scene.instant)
      }
    }

    /// The events since the last call, as text.
    mutating func words() -> [String] {
      var words: [String] = []
      for case .live(_, let update) in scene.engine.outputs { words.append(update.location == nil ? "none" : "live") }
      words += scene.delivered()
      if service == .condition {
        while let event = scene.engine.takeEvent(of: "places")
          ?? scene.engine.takeHindrance(of: "places", at: scene.now.utc)
        {
          words.append("\(event.state)")
        }
      }
      scene.engine.outputs = []
      return words
    }

    // MARK: What it receives

    mutating func expectedAtStart() -> [String] {
      isPending = service == .request && status.isAuthorized
      hasBegun = status.isAuthorized
      let isRefused = Self.isRefused(status)
      switch service {
      case .standard, .request, .significant, .visits, .heading: return isRefused ? ["failed 1"] : []
      case .region, .beaconRegion:
        let name = service == .region ? "home" : "shop"
        return isRefused ? ["monitoring \(name) failed 4"] : status.isAuthorized ? ["monitoring \(name)"] : []
      case .ranging: return isRefused ? ["ranging failed 17"] : []
      case .condition: return status.isAuthorized ? [] : ["unmonitored"]
      case .live: return status.isAuthorized ? [] : ["none"]
      case .deferral: return (isRefused ? ["failed 1"] : []) + (status.isAuthorized ? [] : ["finished 12"])
      }
    }

    mutating func expectedAtChange(to new: AuthorizationStatus) -> [String] {
      let old = status
      status = new
      let isLost = old.isAuthorized && !new.isAuthorized
      let isGranted = !old.isAuthorized && new.isAuthorized
      // A refusal that follows another one is not a new refusal.
      let isRefusal = Self.isRefused(new) && !Self.isRefused(old)
      let words = ["status \(new)"]
      switch service {
      case .standard, .significant:
        return words + (isRefusal ? ["failed 1"] : isGranted ? cached.map { ["at \($0)"] } ?? [] : [])
      case .visits, .heading: return words + (isRefusal ? ["failed 1"] : [])
      case .request:
        defer { if isLost { isPending = false } }
        return words + (isLost && isPending ? ["failed 1"] : [])
      case .region, .beaconRegion:
        let name = service == .region ? "home" : "shop"
        defer { if isGranted { hasBegun = true } }
        if isRefusal { return words + ["monitoring \(hasBegun ? "all" : name) failed 4"] }
        return words + (isGranted && !hasBegun ? ["monitoring \(name)"] : [])
      case .ranging: return words + (isRefusal ? ["ranging failed 17"] : [])
      case .condition:
        if !new.isAuthorized { isFresh = true }
        return words + (new.isAuthorized ? [] : ["unmonitored"])
      case .live: return (new.isAuthorized ? [] : ["none"]) + words
      case .deferral:
        defer { if isLost { hasBegun = false } }
        return words + (isLost && hasBegun ? ["finished 12"] : []) + (isRefusal ? ["failed 1"] : [])
      }
    }

    /// Causes something to report. Returns the event that the program must receive, and the event that it receives.
    mutating func runEvents() -> (expected: [String], received: [String]) {
      let isAuthorized = status.isAuthorized
      func expected(_ words: [String]) -> [String] { isAuthorized ? words : [] }
      switch service {
      case .standard, .live:
        scene.wait(1)
        place += 100
        scene.fix(place)
        if isAuthorized { cached = Int(place) }
        return (expected([service == .live ? "live" : "at \(Int(place))"]), words())
      case .significant:
        scene.wait(400)
        place += 1000
        scene.fix(place)
        if isAuthorized { cached = Int(place) }
        return (expected(["at \(Int(place))"]), words())
      case .request:
        scene.fixes(12) { $0 }
        defer { isPending = false }
        let received = words()
        // One location, the best available.
        return (isPending && isAuthorized ? ["at"] : [], received.map { $0.hasPrefix("at") ? "at" : $0 })
      case .region:
        scene.fixes(3) { _ in 500 }
        scene.fixes(30) { _ in 0 }
        scene.fixes(30) { _ in 500 }
        return (expected(["entered home", "home is inside", "left home", "home is outside"]), words())
      case .condition:
        var received: [String] = []
        for (count, north) in [(3, 500.0), (30, 0), (30, 500)] {
          scene.fixes(count) { _ in north }
          received += words()
        }
        defer { isFresh = isFresh && !isAuthorized }
        return (expected((isFresh ? ["unsatisfied"] : []) + ["satisfied", "unsatisfied"]), received)
      case .beaconRegion:
        sight()
        scene.wait(31)
        sight()
        return (expected(["left shop", "shop is outside", "entered shop", "shop is inside"]), words())
      case .visits:
        scene.fixes(400) { _ in 0 }
        scene.fixes(70) { _ in 2000 }
        return (expected(["arrived", "departed"]), words())
      case .ranging:
        sight()
        scene.wait(1)
        return (expected(["ranged 4:near"]), words())
      case .heading:
        place += 10
        scene.engine.receive(
          HeadingSample(magneticDegrees: place, accuracyDegrees: 1, timestamp: scene.now.utc))
        return (expected(["heading \(Int(place))"]), words())
      // A deferral has one end.
      case .deferral: return ([], [])
      }
    }

    private mutating func sight() {
      scene.engine.receive(
        BeaconSighting(
          uuid: Self.beacon.uuid, major: 3, minor: 4, strengthDecibelMilliwatts: -60,
          strengthAtOneMetreDecibelMilliwatts: -59, received: scene.now))
    }
  }

  private static let statuses = AuthorizationStatus.allCases

  @Test(
    "SU-18 RG-8 AU-15 AU-16 RQ-1 RQ-13 RQ-14 each service in each state over each change of it",
    arguments: Service.allCases, AuthorizationStatus.allCases)
  func table(service: Service, first: AuthorizationStatus) {
    for second in Self.statuses where second != first {
      for third in Self.statuses where third != second {
        var program = Program(service, first)
        let place = "\(service): \(first), \(second), \(third)"
        program.start()
        #expect(program.words() == program.expectedAtStart(), "\(place): the start")
        // A request is answered after the change.
        if service != .request { expectEvents(&program, "\(place): in the first state") }
        for status in [second, third] {
          program.change(to: status)
          let expected = program.expectedAtChange(to: status)
          #expect(program.words() == expected, "\(place): the change to \(status)")
          expectEvents(&program, "\(place): in \(status)")
        }
      }
    }
  }

  private func expectEvents(_ program: inout Program, _ place: String) {
    let (expected, received) = program.runEvents()
    #expect(received == expected, "\(place)")
  }

  @Test("SU-18 a refusal at the prompt is reported once to each manager that has started a service")
  func refusedAtPrompt() {
    let starts: [ClientCall] = [.startUpdatingLocation, .startSignificantChanges, .startHeading]
    for start in starts {
      var scene = Scene(.notDetermined, managers: 2)
      scene.call(.requestWhenInUse)
      for call in [start, start, .startUpdatingLocation] { scene.call(call) }
      scene.engine.authorizationAnswered(.deny, at: scene.instant)
      #expect(scene.delivered(0) == ["status denied", "failed 1"])
      #expect(scene.delivered(1) == ["status denied"])
      // The stop, and a further start.
      scene.call(.stopUpdatingLocation)
      #expect(scene.delivered() == [])
      scene.call(.startUpdatingLocation)
      #expect(scene.delivered() == ["failed 1"])
    }
  }

  @Test("SU-18 services that are stopped before the answer report nothing")
  func stoppedBeforeAnswer() {
    var scene = Scene(.notDetermined)
    scene.call(.requestAlways)
    let home = Region("home", .circle(Circle(centre: Scene.north(0), radiusMetres: 100)))
    let target = Ranging.Target.constraint(BeaconIdentity(uuid: BeaconUUID(high: 1, low: 1)))
    for call in [
      ClientCall.startUpdatingLocation, .startSignificantChanges, .startVisits, .startHeading, .startMonitoring(home),
      .startRanging(target), .stopUpdatingLocation, .stopSignificantChanges, .stopVisits, .stopHeading,
      .stopMonitoring(home), .stopRanging(target),
    ] {
      scene.call(call)
    }
    scene.engine.authorizationAnswered(.deny, at: scene.instant)
    #expect(scene.delivered() == ["status denied"])
  }

  @Test(
    "AU-17 RQ-14 with permission for when in use, each service of a program in the background reports that once",
    arguments: Service.allCases)
  func notInUse(service: Service) {
    var program = Program(service, .authorizedWhenInUse)
    program.scene.engine.setApplication(.background, at: program.scene.instant)
    program.start()
    let advice = program.scene.advice()
    let words = program.words()
    switch service {
    case .live: #expect(words == ["none"])
    case .condition: #expect(words == ["unmonitored"])
    case .request: #expect(words == ["failed 1"] && advice == [.notInUse])
    case .region: #expect(words == ["monitoring home"] && advice == [.notInUse])
    case .beaconRegion: #expect(words == ["monitoring shop"] && advice == [.notInUse])
    case .standard, .significant, .visits, .ranging, .heading, .deferral: #expect(words == [] && advice == [.notInUse])
    }
    program.scene.engine.setApplication(.background, at: program.scene.instant)
    #expect(program.scene.advice() == [])
  }

  @Test("RQ-14 a request of a program that has left the foreground ends with denied, and not for lack of a fix")
  func requestInBackground() {
    var scene = Scene(.authorizedWhenInUse)
    scene.call(.requestLocation)
    scene.engine.setApplication(.background, at: scene.instant)
    scene.wait(11)
    #expect(scene.delivered() == ["failed 1"])
  }

  @Test(
    "AU-9 each service that is started before a request names the request, once for each manager",
    arguments: Service.allCases)
  func notRequested(service: Service) {
    var program = Program(service, .notDetermined)
    program.start()
    let advice = program.scene.advice()
    program.start()
    switch service {
    // A request is dropped each time; a stream makes its own request.
    case .request: #expect(advice == [.requestDropped])
    case .live: #expect(advice == [] && program.scene.engine.authorization.asked != nil)
    default: #expect(advice == [.permissionNotRequested] && program.scene.advice() == [])
    }
  }
}
