// SPDX-License-Identifier: Apache-2.0

// A monitor inside an actor of the program.
import CoreLocation

actor GeofenceStore {
  private var monitor: CLMonitor?
  private(set) var events: [CLMonitor.Event] = []

  func start(around centre: CLLocationCoordinate2D) async {
    let monitor = await CLMonitor("Geofences")
    self.monitor = monitor
    for identifier in await monitor.identifiers { await monitor.remove(identifier) }
    await monitor.add(
      CLMonitor.CircularGeographicCondition(center: centre, radius: 500), identifier: "work", assuming: .unsatisfied)
    await monitor.add(
      CLMonitor.CircularGeographicCondition(center: CLLocationCoordinate2D(latitude: 0, longitude: 0), radius: 500),
      identifier: "null", assuming: .unsatisfied)
    await monitor.add(CLMonitor.BeaconIdentityCondition(uuid: UUID()), identifier: "beacon")
  }

  func wait(for identifier: String) async throws -> CLMonitor.Event.State? {
    guard let monitor else { return nil }
    for try await event in await monitor.events where event.identifier == identifier {
      events.append(event)
      let lastEvent = await monitor.record(for: identifier)?.lastEvent
      print(
        "\(event.identifier) \(event.state == .satisfied) recorded \(lastEvent?.state == event.state) at \(event.date < Date())"
      )
      return event.state
    }
    return nil
  }

  var identifiers: [String] { get async { await monitor?.identifiers ?? [] } }
}

@main
struct Program {
  static func main() async throws {
    let session = CLServiceSession(authorization: .always)
    let store = GeofenceStore()
    await store.start(around: CLLocationCoordinate2D(latitude: 48.1642, longitude: 11.6056))
    _ = try await store.wait(for: "work")
    print(await store.identifiers.sorted())
    session.invalidate()
  }
}
