// SPDX-License-Identifier: Apache-2.0

// A program with an asynchronous main: live updates, a monitor, sessions.
import CoreLocation

@main
struct Program {
  static func main() async throws {
    let session = CLServiceSession(authorization: .whenInUse)
    let activity = CLBackgroundActivitySession()
    defer {
      session.invalidate()
      activity.invalidate()
    }
    for try await diagnostic in session.diagnostics {
      if diagnostic.authorizationDenied || diagnostic.insufficientlyInUse { print("not permitted") }
      break
    }

    var last: CLLocation?
    for try await update in CLLocationUpdate.liveUpdates(.fitness) {
      if update.authorizationDenied { print("denied") }
      guard let location = update.location else { continue }
      print("live \(location.coordinate.latitude) \(location.coordinate.longitude) stationary: \(update.stationary)")
      last = location
      break
    }

    guard let last else { return }
    let monitor = await CLMonitor("Places")
    let circle = CLMonitor.CircularGeographicCondition(center: last.coordinate, radius: 1000)
    await monitor.add(circle, identifier: "here")
    for try await event in await monitor.events {
      switch event.state {
      case .satisfied: print("inside \(event.identifier)")
      case .unsatisfied: print("outside \(event.identifier)")
      case .unknown, .unmonitored: print("no answer for \(event.identifier)")
      @unknown default: break
      }
      break
    }
    if let record = await monitor.record(for: "here"),
      let condition = record.condition as? CLMonitor.CircularGeographicCondition
    {
      print("recorded \(record.lastEvent.state.rawValue), radius \(condition.radius)")
    }
    await monitor.remove("here")
    print("left: \(await monitor.identifiers)")
  }
}
