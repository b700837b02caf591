// SPDX-License-Identifier: Apache-2.0
import Messages
import MonotonicTime
import Positioning
import Testing

/// Each service in each state of the permission, through each change of the state and a second change: a program
/// receives through the location service the same events as a program with the engine in its own process, which
/// PermissionTableTests compares with Apple's documents.
@Suite("The permission of each service of a served program")
struct ServedPermissionTests {
  enum Service: CaseIterable {
    case standard, request, significant, region, beaconRegion, visits, ranging, condition, heading, live, deferral
  }

  /// The same program with the location service and without it.
  private struct Programs {
    private static let home = Connected.region("home", north: 0, radius: 100)
    private static let beacon = BeaconIdentity(uuid: BeaconUUID(high: 1, low: 2), major: 3, minor: 4)
    private static let shop = Region("shop", .beacon(beacon))

    let service: Service
    var served: Connected
    var direct: Direct
    private let id: ClientID
    private var place = 0.0

    init(_ service: Service, _ status: AuthorizationStatus) {
      self.service = service
      let record = Authorization.Record(status: status == .restricted ? .notDetermined : status)
      served = Connected(record.status)
      direct = Direct(engine: Connected.engine(record, at: served.instant))
      id = served.mirror.addManager()
      direct.engine.add(id)
      if status == .restricted { setRestricted(true) }
      call(.setDelegate([.takesLocations, .takesErrors]))
      served.carryAll()
    }

    private mutating func call(_ call: ClientCall) {
      served.call(call, by: id)
      direct.call(call, by: id, at: served.instant)
    }

    private mutating func setRestricted(_ isRestricted: Bool) {
      served.engine.setRestricted(isRestricted, at: served.instant)
      direct.engine.setRestricted(isRestricted, at: served.instant)
      direct.takeOutputs()
    }

    mutating func start() {
      switch service {
      case .standard: call(.startUpdatingLocation)
      case .request: call(.requestLocation)
      case .significant: call(.startSignificantChanges)
      case .region: call(.startMonitoring(Self.home))
      case .beaconRegion: call(.startMonitoring(Self.shop))
      case .visits: call(.startVisits)
      case .ranging: call(.startRanging(.constraint(Self.beacon)))
      case .condition:
        served.mirror.openMonitor("places")
        served.mirror.addCondition(Self.home.shape, identifier: "home", assuming: .unknown, to: "places")
        direct.engine.openMonitor("places", at: served.instant)
        direct.engine.addCondition(Self.home.shape, identifier: "home", to: "places", at: served.now)
      case .heading: call(.startHeading)
      case .live:
        let stream = served.mirror.beginLiveUpdates(.standard, at: served.instant)
        direct.engine.beginLiveUpdates(stream, .standard, at: served.instant)
      case .deferral:
        call(.startUpdatingLocation)
        call(.allowDeferredUpdates(metres: .infinity, seconds: .infinity))
      }
      direct.takeOutputs()
    }

    mutating func change(to new: AuthorizationStatus) {
      guard new != .restricted else { return setRestricted(true) }
      served.engine.authorizationChanged(to: .init(status: new), at: served.instant)
      direct.engine.authorizationChanged(to: .init(status: new), at: served.instant)
      direct.takeOutputs()
      setRestricted(false)
    }

    private mutating func fix(_ north: Double, after seconds: Double = 1) {
      direct.wait(seconds, from: served.instant)
      served.wait(seconds)
      direct.engine.receive(Connected.location(north, at: served.now), at: served.now)
      direct.takeOutputs()
      served.fix(north)
    }

    private mutating func sight(after seconds: Double) {
      direct.wait(seconds, from: served.instant)
      served.wait(seconds)
      let sighting = BeaconSighting(
        uuid: Self.beacon.uuid, major: 3, minor: 4, strengthDecibelMilliwatts: -60,
        strengthAtOneMetreDecibelMilliwatts: -59, received: served.now)
      served.engine.receive(sighting)
      served.serve()
      direct.engine.receive(sighting)
      direct.takeOutputs()
    }

    /// Causes something to report.
    mutating func runEvents() {
      switch service {
      case .standard, .live, .deferral:
        place += 100
        fix(place)
      case .significant:
        place += 1000
        fix(place, after: 400)
      case .request: for _ in 0..<12 { fix(place) }
      case .region, .condition: for north in [500.0, 0, 500] { for _ in 0..<7 { fix(north, after: 5) } }
      case .beaconRegion: for seconds in [1.0, 31] { sight(after: seconds) }
      case .visits: for step in 0..<47 { fix(step < 40 ? 0 : 2000, after: 10) }
      case .ranging: for _ in 0..<2 { sight(after: 1) }
      case .heading:
        place += 10
        let sample = HeadingSample(magneticDegrees: place, accuracyDegrees: 1, timestamp: served.now.utc)
        served.engine.receive(sample)
        served.serve()
        direct.engine.receive(sample)
        direct.takeOutputs()
      }
    }

    /// The events since the last call, as text: with the location service, and without it.
    mutating func words() -> (served: [String], direct: [String]) {
      served.carryAll()
      var words = (served: served.delivered(id), direct: direct.delivered(id))
      for case .live(_, let update) in served.others { words.served.append("\(update)") }
      served.others = []
      words.direct += direct.live.map { "\($0)" }
      direct.live = []
      while let event = served.mirror.takeEvent(of: "places") {
        words.served.append("\(event.state) \(event.diagnostic)")
        served.carryAll()
      }
      served.carryAll()
      while let event = direct.engine.takeEvent(of: "places")
        ?? direct.engine.takeHindrance(of: "places", at: served.now.utc)
      {
        words.direct.append("\(event.state) \(event.diagnostic)")
      }
      direct.takeOutputs()
      return words
    }
  }

  @Test(
    "SU-18 RG-8 AU-15 AU-16 RQ-1 RQ-13 RQ-14 through the location service each service in each state over each change of it",
    arguments: Service.allCases, AuthorizationStatus.allCases)
  func table(service: Service, first: AuthorizationStatus) {
    for second in AuthorizationStatus.allCases where second != first {
      for third in AuthorizationStatus.allCases where third != second {
        var programs = Programs(service, first)
        let place = "\(service): \(first), \(second), \(third)"
        programs.start()
        expectSameWords(&programs, "\(place): the start")
        // A request is answered after the change.
        if service != .request { expectEvents(&programs, first, "\(place): in the first state") }
        for status in [second, third] {
          programs.change(to: status)
          let words = expectSameWords(&programs, "\(place): the change to \(status)")
          #expect(!words.isEmpty, "\(place): the change to \(status) is not reported")
          expectEvents(&programs, status, "\(place): in \(status)")
        }
      }
    }
  }

  @discardableResult
  private func expectSameWords(_ programs: inout Programs, _ place: String) -> [String] {
    let words = programs.words()
    #expect(words.served == words.direct, "\(place)")
    return words.served
  }

  private func expectEvents(_ programs: inout Programs, _ status: AuthorizationStatus, _ place: String) {
    programs.runEvents()
    let words = expectSameWords(&programs, place)
    // A request and a deferral have one end.
    guard programs.service != .request, programs.service != .deferral else { return }
    #expect(words.isEmpty == !status.isAuthorized, "\(place): \(words)")
  }
}
