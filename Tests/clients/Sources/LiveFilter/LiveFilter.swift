// SPDX-License-Identifier: Apache-2.0

// Live updates through sequence operators, and a task that is cancelled.
import CoreLocation

@main
enum LiveFilter {
  static func main() async throws {
    let updates = CLLocationUpdate.liveUpdates(.otherNavigation)
    var seen = 0
    for try await location in updates.compactMap(\.location).filter({ $0.horizontalAccuracy >= 0 }).prefix(3) {
      seen += 1
      _ = location.coordinate
    }
    print("live \(seen)")

    let task = Task {
      var count = 0
      for try await update in CLLocationUpdate.liveUpdates() {
        if update.stationary || update.isStationary { continue }
        if update.authorizationDenied || update.authorizationDeniedGlobally || update.authorizationRestricted { break }
        if update.insufficientlyInUse || update.locationUnavailable || update.accuracyLimited { continue }
        count += 1
      }
      return count
    }
    try await Task.sleep(nanoseconds: 3_000_000_000)
    task.cancel()
    print("cancelled after \(try await task.value > 0 ? "some" : "none")")
  }
}
