import Positioning

/// What the service's thread has to do, in this order.
enum ServiceAction: Equatable {
  /// Hand an event to a client's mailbox.
  case deliver(ClientID, DelegateEvent, Ticket)
  case temporaryAccuracy(ClientID, token: Int, PositioningError?)
  case showCalibration(ClientID, Bool)
  case live(Int, LiveUpdate)
  /// A monitor of this name has an event that waits.
  case monitorHasEvent(String)
  /// What stands in the way of sessions has changed.
  case sessions(Diagnostic)
  /// Ask the user.
  case prompt(Authorization.Prompt)
  /// A line for the log.
  case say(String)
  /// Replace a file of the state folder.
  case store(StateFile, String)
  /// Positions are needed; no longer needed.
  case openReceiver, releaseReceiver
}

/// A file of the state folder.
enum StateFile: Hashable {
  /// The newest location, which all programs share (LC-2).
  case newestLocation
  case regions, visits, authorization
  /// The conditions of a CLMonitor by its name.
  case monitor(String)

  /// Its path in the state folder.
  func path(of app: AppDescription) -> String {
    switch self {
    case .newestLocation: "newest-location"
    case .regions: "apps/\(app.folderName)/regions"
    case .visits: "apps/\(app.folderName)/visits"
    case .authorization: "apps/\(app.folderName)/authorization"
    case .monitor(let name): "apps/\(app.folderName)/monitors/\(AppDescription.fileName(of: name))"
    }
  }
}
