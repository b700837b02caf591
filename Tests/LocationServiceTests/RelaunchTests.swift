// SPDX-License-Identifier: Apache-2.0
import MonotonicTime
import Positioning
import Power
import ReceiverStream
import Testing

@testable import LocationService

/// A program that ended and is started again, by the service manager or manually: the events that it missed.
@Suite("A program that is started again")
struct RelaunchTests {
  private static let client = ClientID(0)
  private static let home = Coordinate(latitudeDegrees: 48, longitudeDegrees: 11)
  private static let region = Region("home", .circle(Circle(centre: home, radiusMetres: 200)))

  private static func moment(_ seconds: Int) -> Moment {
    let nanoseconds = Int64(seconds) * 1_000_000_000
    return Moment(
      Instant(nanoseconds: UInt64(nanoseconds)),
      utc: UTCTime(nanosecondsSince1970: 1_780_000_000_000_000_000 + nanoseconds))
  }

  private static func fix(_ seconds: Int, north degrees: Double) -> Fix {
    var fix = Fix()
    fix.time = moment(seconds).utc
    fix.kind = .threeD
    fix.latitudeDegrees = home.latitudeDegrees + degrees
    fix.longitudeDegrees = home.longitudeDegrees
    fix.horizontalAccuracyMetres = 3
    return fix
  }

  /// The service of the second run, with the state that the first one stored, read back from its text.
  private static func core(_ state: RegionState) -> ServiceCore {
    var restored = PositioningEngine.Restored()
    restored.authorization = Authorization.Record(status: .authorizedAlways)
    restored.regions = StateText.regions(in: StateText.text(of: [Regions.Record(region, state: state)]))
    restored.newest = Location(fix(0, north: 0.1), received: moment(0).utc)
    let all = HostCapabilities(
      hasSatelliteReceiver: true, hasSignificantChanges: true, hasCompass: false, hasBluetooth: false)
    let engine = PositioningEngine(
      keys: UsageKeys(), hostCapabilities: all, application: .background, restored: restored, at: .zero)
    return ServiceCore(
      engine: engine, coordinator: PowerCoordinator(at: .zero),
      storedAuthorization: StateText.text(of: Authorization.Record(status: .authorizedAlways)))
  }

  /// Returns a delegate's events within a few seconds at home, stationary.
  private static func events(_ core: inout ServiceCore, from start: Int, seconds: Int) -> [DelegateEvent] {
    var events: [DelegateEvent] = []
    for second in start..<start + seconds {
      core.receive(fix(second, north: 0), sky: Sky(), isUpdate: false, source: nil, at: moment(second))
      core.wake(at: moment(second))
      for case .program(_, .output(.event(_, let event, _))) in core.actions(at: moment(second)) {
        events.append(event)
      }
    }
    return events
  }

  @Test("BG-5 RG-18 with a manager and a delegate, the crossing of a border in the meantime is delivered")
  func region() {
    var core = Self.core(.outside)
    core.change { engine in
      engine.add(Self.client)
      engine.call(.setDelegate([.takesLocations, .takesErrors]), by: Self.client, at: .zero)
    }
    #expect(core.engine.regions.monitored == [Self.region])
    #expect(core.actions(at: Self.moment(1)).contains(.openReceiver))
    let events = Self.events(&core, from: 2, seconds: 40)
    #expect(events.count { $0 == .didEnter(Self.region) } == 1)
    // There is no crossing if the position is the same.
    var same = Self.core(.inside)
    same.change { engine in
      engine.add(Self.client)
      engine.call(.setDelegate([.takesLocations, .takesErrors]), by: Self.client, at: .zero)
    }
    #expect(!Self.events(&same, from: 2, seconds: 40).contains(.didEnter(Self.region)))
  }

  @Test("RG-18 before there is a manager no event is delivered, and none is lost")
  func withoutManager() {
    var core = Self.core(.outside)
    #expect(Self.events(&core, from: 1, seconds: 5) == [])
    core.change { engine in
      engine.add(Self.client)
      engine.call(.setDelegate([.takesLocations, .takesErrors]), by: Self.client, at: Self.moment(6).instant)
    }
    #expect(Self.events(&core, from: 6, seconds: 40).contains(.didEnter(Self.region)))
  }

  @Test("SC-7 after a new start of significant changes the last known place is delivered, then the new one at once")
  func significant() {
    var core = Self.core(.outside)
    core.change { engine in
      engine.add(Self.client)
      engine.call(.setDelegate([.takesLocations, .takesErrors]), by: Self.client, at: .zero)
      engine.call(.startSignificantChanges, by: Self.client, at: .zero)
    }
    var delivered: [Double] = []
    for case .program(_, .output(.event(_, .didUpdateLocations(let locations), _))) in core.actions(at: Self.moment(1))
    {
      delivered += locations.map { ($0.coordinate.latitudeDegrees - 48) * 10 }
    }
    for case .didUpdateLocations(let locations) in Self.events(&core, from: 2, seconds: 3) {
      delivered += locations.map { ($0.coordinate.latitudeDegrees - 48) * 10 }
    }
    #expect(delivered.map { ($0 * 10).rounded() } == [10, 0])
  }
}
