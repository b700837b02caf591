// SPDX-License-Identifier: Apache-2.0
import MonotonicTime
import Power
import Testing

@testable import LocationService
@testable import Positioning

@Suite("Clients' demands for the power policy")
struct PowerDemandTests {
  private static let manager = Positioning.ClientID(0)

  private static func at(_ seconds: Double) -> Instant { Instant(nanoseconds: UInt64(seconds * 1e9)) }

  private static func standard(
    accuracy: Double = -1, filter: Double = -1, isPaused: Bool = false, deferral: Positioning.Demand.Deferral? = nil
  ) -> Positioning.Demand {
    var demand = Positioning.Demand()
    demand.standard = .init(
      desiredAccuracyMetres: accuracy, distanceFilterMetres: filter, activity: .fitness, mayPause: true,
      isPaused: isPaused, deferral: deferral)
    return demand
  }

  /// Returns the policy's demand for a manager's demand.
  private static func translated(_ demand: Positioning.Demand, at seconds: Double = 0) -> PolicyDemand? {
    var demands = PowerDemands()
    let events = demands.update([(manager, demand)], shared: .init(), at: at(seconds))
    guard case .demand(PolicyClient(1), let reported)? = events.first, events.count == 1 else { return nil }
    return reported
  }

  @Test("SU-5 the accuracies by their meaning, the filter, and pausing")
  func standard() {
    #expect(Self.translated(Self.standard(accuracy: -2))?.updates?.accuracy == .navigation)
    #expect(Self.translated(Self.standard(accuracy: -1))?.updates?.accuracy == .best)
    #expect(Self.translated(Self.standard(accuracy: 100))?.updates?.accuracy == .metres(100))
    #expect(Self.translated(Self.standard(filter: 50))?.updates?.distanceFilterMetres == 50)
    #expect(Self.translated(Self.standard())?.updates?.activity == .fitness)
    #expect(Self.translated(Self.standard())?.movement == false)
    #expect(Self.translated(Self.standard(isPaused: true)) == PolicyDemand(movement: true))
  }

  @Test("DF-10 a deferral counts only in the background, with its remaining distance and time")
  func deferral() {
    let ends = Self.at(100)
    let background = Positioning.Demand.Deferral(remainingMetres: 700, ends: ends, mayBatch: true, capacity: 1024)
    let reported = Self.translated(Self.standard(deferral: background), at: 40)?.updates?.deferral
    #expect(reported?.untilTravelledMetres == 700)
    #expect(reported.map { (59.9...60).contains($0.timeoutSeconds ?? 0) } == true)
    let never = Positioning.Demand.Deferral(remainingMetres: .infinity, ends: nil, mayBatch: true, capacity: 1024)
    #expect(
      Self.translated(Self.standard(deferral: never))?.updates?.deferral
        == .init(untilTravelledMetres: nil, timeoutSeconds: nil))
    let foreground = Positioning.Demand.Deferral(remainingMetres: 700, ends: ends, mayBatch: false, capacity: 1024)
    let live = Self.translated(Self.standard(deferral: foreground))
    #expect(live?.updates != nil && live?.updates?.deferral == nil)
  }

  @Test("RG-13 a crossing is checked again once it can count, and then without a pause")
  func crossing() {
    var demands = PowerDemands()
    var shared = Positioning.Demand()
    func reported(metres: Double, isCrossing: Bool, at seconds: Double) -> PolicyDemand.Border? {
      shared.border = .init(metres: metres, isCrossing: isCrossing)
      let events = demands.update([], shared: shared, at: Self.at(seconds))
      guard case .demand(PolicyClient(0), let demand)? = events.first else { return nil }
      return demand?.border
    }
    #expect(reported(metres: 20_000, isCrossing: false, at: 0) == .init(distanceMetres: 20_000))
    #expect(reported(metres: 5, isCrossing: true, at: 100)?.dwellSeconds == 20.3)
    // A fix in between does not delay it.
    #expect(
      reported(metres: 9, isCrossing: true, at: 110).flatMap(\.dwellSeconds).map { abs($0 - 10.3) < 0.01 } == true)
    #expect(reported(metres: 12, isCrossing: true, at: 121)?.dwellSeconds == 0)
    #expect(reported(metres: 400, isCrossing: false, at: 125) == .init(distanceMetres: 400))
  }

  @Test("Significant changes, visits and streams of live updates")
  func others() {
    var demands = PowerDemands()
    var shared = Positioning.Demand()
    shared.visits = true
    shared.liveIsStationary = true
    var manager = Positioning.Demand()
    manager.significantChange = .init(nextPossible: nil)
    let events = demands.update([(Self.manager, manager)], shared: shared, at: .zero)
    guard case .demand(PolicyClient(0), let app)? = events.first,
      case .demand(PolicyClient(1), let client)? = events.last
    else {
      Issue.record("\(events)")
      return
    }
    #expect(app?.everySeconds == 120)
    #expect(app?.movement == true && app?.updates == nil)
    #expect(client?.significantChange == true)
  }

  @Test("A demand is reported once; the end of the last one a little later")
  func linger() {
    var demands = PowerDemands()
    let one = [(id: Self.manager, demand: Self.standard())]
    #expect(demands.update(one, shared: .init(), at: .zero).count == 1)
    #expect(demands.update(one, shared: .init(), at: Self.at(1)).isEmpty)
    #expect(demands.update([], shared: .init(), at: Self.at(2)).isEmpty)
    #expect(demands.deadline == Self.at(7))
    // A new demand in between causes no event.
    #expect(demands.update(one, shared: .init(), at: Self.at(3)).isEmpty)
    #expect(demands.deadline == nil)
    #expect(demands.update([], shared: .init(), at: Self.at(4)).isEmpty)
    #expect(demands.update([], shared: .init(), at: Self.at(9)) == [.demand(PolicyClient(1), nil)])
  }

  @Test("The end of a demand is reported at once for a program that asks at known times, unless another one lingers")
  func withoutLinger() {
    var demands = PowerDemands()
    func program(_ number: UInt32, lingers: Bool, isActive: Bool = true) -> ProgramDemand {
      ProgramDemand(
        program: ProgramID(number), lingers: lingers,
        managers: isActive ? [(id: Self.manager, demand: Self.standard())] : [],
        shared: .init())
    }
    #expect(demands.update([program(0, lingers: false)], at: .zero).count == 1)
    #expect(demands.update([program(0, lingers: false, isActive: false)], at: Self.at(1)).count == 1)
    #expect(demands.update([program(0, lingers: false), program(1, lingers: true)], at: Self.at(2)).count == 2)
    #expect(demands.update([], at: Self.at(3)).isEmpty)
    #expect(demands.deadline == Self.at(8))
  }

  @Test("The end of a rare demand is reported at once, until one demand follows another closely again")
  func rare() {
    var demands = PowerDemands()
    let one = [(id: Self.manager, demand: Self.standard())]
    func end(at seconds: Double) -> Double? {
      _ = demands.update(one, shared: .init(), at: Self.at(seconds - 1))
      guard demands.update([], shared: .init(), at: Self.at(seconds)).isEmpty, let due = demands.deadline else {
        return nil
      }
      #expect(demands.update([], shared: .init(), at: due) == [.demand(PolicyClient(1), nil)])
      return due.seconds(since: Self.at(seconds))
    }
    #expect(end(at: 10) == 5)
    #expect(end(at: 20).map { $0 <= 0.2 } == true)
    #expect(end(at: 900).map { $0 <= 0.2 } == true)
    // Three seconds after the last end.
    #expect(end(at: 904) == 5)
    #expect(end(at: 930).map { $0 <= 0.2 } == true)
  }
}
