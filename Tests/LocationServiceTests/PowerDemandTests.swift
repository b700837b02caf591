// SPDX-License-Identifier: Apache-2.0
import MonotonicTime
import Power
import Testing

@testable import LocationService
@testable import Positioning

@Suite("Clients' demands for the power policy")
struct PowerDemandTests {
  private static let manager = ClientID(0)

  private static func at(_ seconds: Double) -> Instant { Instant(nanoseconds: UInt64(seconds * 1e9)) }

  private static func standard(_ delivery: Demand.Delivery = .live) -> Demand {
    Demand(updates: .init(delivery: delivery))
  }

  @Test("Each client's demand is reported: the program's, and its managers'; what needs no position is not")
  func reported() {
    var demands = PowerDemands()
    let shared = Demand(everySeconds: 120)
    let manager = Demand(significantChange: true)
    var compass = Demand()
    compass.headingFilterDegrees = 1
    compass.beacons = true
    let managers = [(id: Self.manager, demand: manager), (id: ClientID(1), demand: compass)]
    let events = demands.update(managers, shared: shared, at: .zero)
    #expect(events == [.demand(ClientID(0), shared), .demand(ClientID(1), manager)])
  }

  @Test("The states of the standard service; a stream has none of them")
  func states() {
    var demands = PowerDemands()
    func update(_ demand: Demand, shared: Demand = .init()) {
      _ = demands.update([(id: Self.manager, demand: demand)], shared: shared, at: .zero)
    }
    update(Self.standard())
    #expect(demands.hasStandard && !demands.isPaused && !demands.isDeferring)
    update(Self.standard(.paused))
    #expect(demands.hasStandard && demands.isPaused && !demands.isDeferring)
    update(Self.standard(.deferred(.init(remainingMetres: 700, ends: nil))))
    #expect(demands.hasStandard && !demands.isPaused && demands.isDeferring)
    update(Demand(), shared: Demand(updates: .init(.stream, delivery: .paused)))
    #expect(!demands.hasStandard && !demands.isPaused && !demands.isDeferring)
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
    #expect(demands.update([], shared: .init(), at: Self.at(9)) == [.demand(ClientID(1), nil)])
  }

  @Test("SU-14 a service that starts again before the end of its demand is reported causes an event")
  func startedAgain() {
    var demands = PowerDemands()
    func update(_ demand: Demand?, at seconds: Double) -> [PowerEvent] {
      demands.update(demand.map { [(id: Self.manager, demand: $0)] } ?? [], shared: .init(), at: Self.at(seconds))
    }
    var demand = Self.standard()
    demand.startedAt = .zero
    #expect(update(demand, at: 0).count == 1)
    demand.startedAt = Self.at(1)
    #expect(update(demand, at: 1) == [.demand(ClientID(1), demand)])
    #expect(update(nil, at: 2).isEmpty)
    demand.startedAt = Self.at(3)
    #expect(update(demand, at: 3) == [.demand(ClientID(1), demand)])
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
      #expect(demands.update([], shared: .init(), at: due) == [.demand(ClientID(1), nil)])
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
