// SPDX-License-Identifier: Apache-2.0

// Live updates with a service session, as in the documents of iOS 18: the session states what the program needs, an element
// has a location or the reason why it has none, and the session's diagnostics report a refusal.
import CoreLocation

final class LocationsHandler: Sendable {
  private let session = CLServiceSession(authorization: .whenInUse)

  func startLocationUpdates() {
    Task {
      for try await diagnostic in session.diagnostics {
        if diagnostic.authorizationRequestInProgress { print("session: the user is asked") }
        if diagnostic.authorizationDenied { print("session: denied") }
        if diagnostic.insufficientlyInUse { print("session: not in use") }
      }
      print("session: over")
    }
    Task {
      for try await update in CLLocationUpdate.liveUpdates() {
        if let location = update.location {
          print("latitude \(location.coordinate.latitude)")
          break
        }
        if update.authorizationDenied { print("update: denied") }
        if update.authorizationDeniedGlobally { print("update: denied for all programs") }
        if update.authorizationRequestInProgress { print("update: the user is asked") }
      }
      session.invalidate()
    }
  }
}

let handler = LocationsHandler()
handler.startLocationUpdates()
RunLoop.main.run()
