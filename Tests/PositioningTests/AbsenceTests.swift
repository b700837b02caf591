// SPDX-License-Identifier: Apache-2.0
import MonotonicTime
import ReceiverStream
import Testing

@testable import Positioning

/// A program that does not run, and the events that wait for it.
@Suite("Events for a program that does not run")
struct AbsenceTests {
  private static let home = Coordinate(latitudeDegrees: 48, longitudeDegrees: 11)
  private static let region = Region("home", .circle(Circle(centre: home, radiusMetres: 200)))
  private static let manager = ClientID(0)

  private static func moment(_ seconds: Int) -> Moment {
    let nanoseconds = Int64(seconds) * 1_000_000_000
    return Moment(
      Instant(nanoseconds: UInt64(nanoseconds)),
      utc: UTCTime(nanosecondsSince1970: 1_780_000_000_000_000_000 + nanoseconds))
  }

  private static func location(_ seconds: Int, north degrees: Double) -> Location {
    Location(
      Coordinate(latitudeDegrees: home.latitudeDegrees + degrees, longitudeDegrees: home.longitudeDegrees),
      horizontalAccuracyMetres: 3, timestamp: moment(seconds).utc)
  }

  /// The engine of a program with this stored state, without managers.
  private static func engine(
    _ state: RegionState = .outside, regions: [Region] = [region], visits: Bool = false, newest: Location? = nil
  ) -> PositioningEngine {
    var restored = PositioningEngine.Restored()
    restored.authorization = Authorization.Record(status: .authorizedAlways)
    restored.regions = regions.map { Regions.Record($0, state: state) }
    restored.visits = visits ? Visits.Record(isRunning: true, current: nil) : nil
    restored.newest = newest
    let all = HostCapabilities(
      hasSatelliteReceiver: true, hasSignificantChanges: true, hasCompass: false, hasBluetooth: true)
    return PositioningEngine(
      keys: UsageKeys(), hostCapabilities: all, application: .background, restored: restored, at: .zero)
  }

  /// The events that wait after fixes at a place.
  private static func waiting(
    _ engine: inout PositioningEngine, from start: Int, seconds: Int, north degrees: Double
  ) -> [WaitingEvent] {
    var events: [WaitingEvent] = []
    for second in start..<start + seconds {
      engine.receive(location(second, north: degrees), at: moment(second))
      engine.wake(at: moment(second))
      let outputs = engine.outputs
      engine.outputs = []
      for output in outputs { events += engine.waitingEvents(of: output, at: moment(second).utc) }
    }
    return events
  }

  /// The events, numbered from 1.
  private static func numbered(_ events: [WaitingEvent]) -> [NumberedEvent] {
    zip(1..., events).map { NumberedEvent(number: $0, $1) }
  }

  private static func events(_ engine: inout PositioningEngine) -> [DelegateEvent] {
    defer { engine.outputs = [] }
    return engine.outputs.compactMap { if case .event(_, let event, _) = $0 { event } else { nil } }
  }

  @Test(
    "RG-17 RG-18 a border that is crossed while the program does not run is an event, and is delivered to its next manager"
  )
  func region() {
    var absent = Self.engine()
    absent.beginAbsence(Self.manager, wantsSignificant: false, monitors: [], waiting: [], at: .zero)
    #expect(absent.outputs.isEmpty && absent.sharedDemand.border != nil)
    let events = Self.waiting(&absent, from: 1, seconds: 40, north: 0)
    #expect(events.first == .delegate(.didEnter(Self.region)))

    var engine = Self.engine(.inside)
    engine.add(Self.manager)
    #expect(engine.deliver(waiting: Self.numbered(events), at: .zero).isEmpty && Self.events(&engine).isEmpty)
    engine.call(.setDelegate([.takesLocations]), by: Self.manager, at: .zero)
    _ = Self.events(&engine)
    #expect(engine.deliver(waiting: Self.numbered(events), at: .zero) == Set(1...events.count))
    #expect(Self.events(&engine).first == .didEnter(Self.region))
    #expect(engine.deliver(waiting: [], at: .zero).isEmpty && Self.events(&engine).isEmpty)
  }

  @Test("RG-19 after a power cut between an event and the region's state, the crossing does not come twice")
  func powerCut() {
    var absent = Self.engine(.outside)
    absent.beginAbsence(
      Self.manager, wantsSignificant: false, monitors: [], waiting: [.delegate(.didEnter(Self.region))], at: .zero)
    #expect(Self.waiting(&absent, from: 1, seconds: 40, north: 0).isEmpty)
    let back = Self.waiting(&absent, from: 50, seconds: 40, north: 0.01)
    #expect(back.first == .delegate(.didExit(Self.region)))
  }

  @Test(
    "SC-1 SC-8 significant changes wait; they come once with the newest location, the oldest first, at the next start")
  func significant() {
    var absent = Self.engine(regions: [], newest: Self.location(0, north: 0))
    absent.beginAbsence(Self.manager, wantsSignificant: true, monitors: [], waiting: [], at: .zero)
    // The cached location is not an event.
    #expect(absent.outputs.isEmpty && absent.demands.contains { $0.significantChange })
    let first = Self.waiting(&absent, from: 1, seconds: 1, north: 0.01)
    let second = Self.waiting(&absent, from: 400, seconds: 1, north: 0.02)
    #expect(first == [.delegate(.didUpdateLocations([Self.location(1, north: 0.01)]))])
    #expect(second.count == 1)

    for newest in [Self.location(400, north: 0.02), nil] {
      var engine = Self.engine(regions: [], newest: newest)
      engine.add(Self.manager)
      engine.call(.setDelegate([.takesLocations]), by: Self.manager, at: .zero)
      _ = Self.events(&engine)
      #expect(engine.deliver(waiting: Self.numbered(first + second), at: .zero).isEmpty)
      engine.call(.startSignificantChanges, by: Self.manager, at: .zero)
      #expect(engine.deliver(waiting: Self.numbered(first + second), at: .zero) == [1, 2])
      let numbers = engine.outputs.compactMap { output -> Int? in
        if case .event(_, .didUpdateLocations, let ticket) = output { ticket.waitingNumber } else { nil }
      }
      #expect(numbers == [1, 2])
      let times = Self.events(&engine).flatMap { event -> [UTCTime] in
        if case .didUpdateLocations(let locations) = event { locations.map(\.timestamp) } else { [] }
      }
      #expect(times == [Self.moment(1).utc, Self.moment(400).utc])
    }
  }

  @Test("SC-3 the five minutes between significant changes go on when the program ends")
  func significantInterval() {
    var engine = Self.engine(regions: [], newest: Self.location(0, north: 0))
    #expect(engine.significantDeliveredAt == nil)
    engine.add(Self.manager)
    engine.call(.setDelegate([.takesLocations]), by: Self.manager, at: .zero)
    engine.call(.startSignificantChanges, by: Self.manager, at: .zero)
    engine.receive(Self.location(10, north: 0), at: Self.moment(10))
    #expect(engine.significantDeliveredAt == Self.moment(10).instant)

    var absent = Self.engine(regions: [], newest: Self.location(20, north: 0))
    absent.beginAbsence(
      Self.manager, wantsSignificant: true, significantDeliveredAt: engine.significantDeliveredAt, monitors: [],
      waiting: [], at: Self.moment(20).instant)
    #expect(absent.demands.contains { $0.significantChange })
    #expect(absent.significantDeliveredAt == Self.moment(10).instant)
    #expect(Self.waiting(&absent, from: 30, seconds: 280, north: 0.01).isEmpty)
    #expect(
      Self.waiting(&absent, from: 310, seconds: 1, north: 0.01) == [
        .delegate(.didUpdateLocations([Self.location(310, north: 0.01)]))
      ])
  }

  @Test("VI-2 a visit goes on without the program and waits for it")
  func visit() {
    var absent = Self.engine(regions: [], visits: true)
    #expect(absent.isRegistered)
    absent.beginAbsence(Self.manager, wantsSignificant: false, monitors: [], waiting: [], at: .zero)
    let events = Self.waiting(&absent, from: 1, seconds: 310, north: 0)
    #expect(events.count == 1)
    guard case .delegate(.didVisit(let visit))? = events.first else { return #expect(Bool(false), "\(events)") }
    // The same arrival after a power cut, before it was stored.
    var again = Self.engine(regions: [], visits: true)
    again.beginAbsence(Self.manager, wantsSignificant: false, monitors: [], waiting: events, at: .zero)
    #expect(again.visits.current == visit)
    #expect(Self.waiting(&again, from: 400, seconds: 310, north: 0).isEmpty)
  }

  @Test("MO-4 the event of a condition waits until the program opens the monitor")
  func condition() throws {
    let start = Monitor.Event(identifier: "yard", state: .unsatisfied, date: Self.moment(0).utc)
    let record = Monitor.Record(condition: Self.region.shape, lastEvent: start)
    var absent = Self.engine(regions: [])
    absent.beginAbsence(
      Self.manager, wantsSignificant: false, monitors: [("work", [record])], waiting: [], at: .zero)
    #expect(absent.isRegistered)
    let events = Self.waiting(&absent, from: 1, seconds: 40, north: 0)
    guard case .monitor("work", let event)? = events.first else { return #expect(Bool(false), "\(events)") }
    #expect(event.state == .satisfied && events.count == 1)

    var engine = Self.engine(regions: [])
    #expect(engine.deliver(waiting: Self.numbered(events), at: .zero).isEmpty)
    engine.openMonitor("work", restored: [record], at: .zero)
    #expect(engine.deliver(waiting: Self.numbered(events), at: .zero) == Set(1...events.count))
    #expect(engine.outputs.contains(.monitorHasEvent("work")))
    #expect(engine.takeEvent(of: "work") == event && engine.takeEvent(of: "work") == nil)
  }
}
