// SPDX-License-Identifier: Apache-2.0
import MonotonicTime
import Positioning

/// The combined decisions for all programs. They are computed after a change, not in each round of the service: most
/// rounds read a part of an epoch, which changes nothing.
struct ProgramsSummary: Sendable {
  private(set) var demands: [ProgramDemand] = []
  private(set) var needsPosition = false
  /// Whether a manager needs positions of the best accuracy now.
  private(set) var needsBestAccuracy = false
  /// Whether a manager receives headings now.
  private(set) var asksForHeading = false
  /// The smallest turn to report to a client of headings; nil if there is no client.
  private(set) var headingFilterDegrees: Double?
  private(set) var needsBeacons = false
  /// The earliest time at which an engine's `wake` is due.
  private(set) var deadline: Instant?

  init(_ programs: borrowing [Program]) {
    demands.reserveCapacity(programs.count)
    // Accessed by index: an iterator would return a copy, of a kilobyte.
    for index in programs.indices {
      let demand = ProgramDemand(
        program: programs[index].id, lingers: programs[index].lingers,
        managers: programs[index].engine.demandsOfManagers, shared: programs[index].engine.sharedDemand)
      for manager in demand.managers { note(manager.demand) }
      note(demand.shared)
      demands.append(demand)
      asksForHeading = asksForHeading || programs[index].engine.asksForHeading
      deadline = .earlier(deadline, programs[index].engine.deadline)
    }
  }

  private mutating func note(_ demand: Demand) {
    needsPosition = needsPosition || demand.needsPosition
    needsBestAccuracy = needsBestAccuracy || demand.needsBestAccuracy
    needsBeacons = needsBeacons || demand.beacons
    if let degrees = demand.headingFilterDegrees {
      headingFilterDegrees = min(headingFilterDegrees ?? .infinity, max(0, degrees))
    }
  }

  /// The programs' demands on the receiver.
  ///
  /// - Parameter isAwakeForHeading: whether a client of headings gets the receiver's own, which must then be awake all
  ///   the time.
  func demands(isAwakeForHeading: Bool) -> [ProgramDemand] {
    guard isAwakeForHeading else { return demands }
    return demands.map { demand in
      var demand = demand
      for manager in demand.managers.indices where demand.managers[manager].demand.headingFilterDegrees != nil {
        demand.managers[manager].demand.updates = Demand.Updates(.stream)
      }
      return demand
    }
  }
}
