/// What is needed of the hardware.
extension PositioningEngine {
  /// What one manager needs now; nothing for one that is gone.
  public func demand(of id: ClientID) -> Demand {
    index(of: id).map { clients[$0].demand } ?? Demand()
  }

  /// What the app needs besides its managers: regions, monitors, visits, live updates.
  public var sharedDemand: Demand {
    var demand = Demand()
    let permissions = permissions
    if mayMonitor {
      demand.border = border
      demand.beacons = regions.hasBeacons || monitors.contains { $0.hasBeacons }
    }
    demand.visits = visits.isRunning && permissions.delivery(.waking, allowsBackground: nil) != .none
    if permissions.delivery(.standard, allowsBackground: nil) == .deliver, !streams.isEmpty {
      demand.liveIsStationary = streams.allSatisfy(\.updates.isStationary)
      demand.live = !demand.liveIsStationary
    }
    return demand
  }

  /// What each manager needs, those that need nothing too.
  public var demandsOfManagers: [(id: ClientID, demand: Demand)] { clients.map { ($0.id, $0.demand) } }

  /// What everybody needs, a manager each and the app last; those that need nothing are left out.
  public var demands: [Demand] {
    (clients.map(\.demand) + [sharedDemand]).filter { !$0.isEmpty }
  }

  private var border: Demand.Border? {
    guard let point = cache.sample?.point else {
      let hasCircles = !regions.circlesBySize.isEmpty || monitors.contains { $0.hasCircles }
      return hasCircles ? Demand.Border(metres: nil, isCrossing: false) : nil
    }
    var nearest = regions.nearestBorder(from: point)
    for monitor in monitors {
      guard let other = monitor.nearestBorder(from: point) else { continue }
      nearest = (min(nearest?.metres ?? .infinity, other.metres), nearest?.isCrossing ?? false || other.isCrossing)
    }
    return nearest.map { Demand.Border(metres: $0.metres, isCrossing: $0.isCrossing) }
  }
}
