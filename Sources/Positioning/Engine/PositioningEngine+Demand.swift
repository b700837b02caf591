// SPDX-License-Identifier: Apache-2.0

/// The demand for hardware.
extension PositioningEngine {
  /// The current demand of one manager; empty for a removed one.
  public func demand(of id: ClientID) -> Demand {
    index(of: id).map { clients[$0].demand } ?? Demand()
  }

  /// The demand of the app apart from its managers: regions, monitors, visits, live updates.
  public var sharedDemand: Demand {
    var demand = Demand()
    let permissions = permissions
    if mayMonitor {
      demand.border = border
      demand.beacons = regions.hasBeacons || monitors.contains { $0.hasBeacons }
    }
    if visits.isRunning, permissions.delivery(.waking, allowsBackground: nil) != .none {
      demand.everySeconds = Visits.fixSeconds
    }
    if permissions.delivery(.standard, allowsBackground: nil) == .deliver, !streams.isEmpty {
      demand.updates = Demand.Updates(
        .stream, delivery: streams.allSatisfy(\.updates.isStationary) ? .paused : .live)
    }
    return demand
  }

  /// The demand of each manager, including empty ones.
  public var demandsOfManagers: [(id: ClientID, demand: Demand)] {
    // Read in place: a session is large, and this function is called at every fix.
    clients.indices.map { (clients[$0].id, clients[$0].demand) }
  }

  /// Whether a manager receives headings now.
  public var asksForHeading: Bool { clients.indices.contains { clients[$0].asksForHeading } }

  /// All non-empty demands: one per manager, then the app's.
  public var demands: [Demand] {
    (clients.indices.map { clients[$0].demand } + [sharedDemand]).filter { !$0.isEmpty }
  }

  private var border: Demand.Border? {
    guard let point = cache.sample?.point, !stateRequests.needsFix else {
      let hasCircles = !regions.circlesBySize.isEmpty || monitors.contains { $0.hasCircles }
      return hasCircles ? Demand.Border(metres: nil) : nil
    }
    var nearest = regions.nearestBorder(from: point)
    for monitor in monitors {
      guard let other = monitor.nearestBorder(from: point) else { continue }
      nearest = (min(nearest?.metres ?? .infinity, other.metres), nearest?.isCrossing ?? false || other.isCrossing)
    }
    return nearest.map { Demand.Border(metres: $0.metres, isCrossing: $0.isCrossing) }
  }
}
