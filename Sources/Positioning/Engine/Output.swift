/// A call of a client's delegate.
public enum DelegateEvent: Equatable, Sendable {
  /// Never empty, the oldest first (SU-16).
  case didUpdateLocations([Location])
  case didFail(PositioningError)
  /// `promptDeclined`: these keys of Info.plist are missing, without which nobody is asked (AU-8).
  case didFailToAsk(missingKeys: String)
  case didPauseLocationUpdates
  case didResumeLocationUpdates
  case didFinishDeferredUpdates(PositioningError?)
  case didUpdateHeading(Heading)
  /// The answer comes back as the call `showsCalibration`.
  case shouldDisplayHeadingCalibration
  case didStartMonitoring(Region)
  case didEnter(Region)
  case didExit(Region)
  case didDetermineState(RegionState, Region)
  /// nil: the whole service (RG-26).
  case monitoringDidFail(Region?, PositioningError)
  case didRange([Beacon], Ranging.Target)
  case rangingDidFail(Ranging.Target, PositioningError)
  case didVisit(Visit)
  case didChangeAuthorization(AuthorizationStatus, AccuracyAuthorization)
}

/// What an event belongs to. Between its making and its delivery the client may stop the service, or have no delegate any
/// more: `PositioningEngine.isCurrent` and `isWanted` say whether it may still be delivered (SU-15, TH-3). A delegate that
/// was assigned meanwhile is told in place of the former.
public struct Ticket: Hashable, Sendable {
  /// The assignment that is told; nil for what goes to the delegate of the moment, whichever it is.
  var delegate: UInt32?
  /// Counts the runs of the standard service; nil for what its stop does not recall.
  var run: UInt32?
  /// Counts those of the significant-change service likewise. What both have made is recalled when both have stopped.
  var significantRun: UInt32?
  /// Whether it is the answer to `requestLocation`.
  public var isAnswer = false

  /// Whether the same stops recall both.
  public func goes(with other: Ticket) -> Bool { self == other && !isAnswer }
}

/// What the shell has to do, in this order.
public enum PositioningOutput: Equatable, Sendable {
  case event(ClientID, DelegateEvent, Ticket)
  /// Ask the user; the answer goes to `authorizationAnswered`.
  case prompt(Authorization.Prompt)
  /// A request for full accuracy ended: without an error when the user was asked.
  case temporaryAccuracy(ClientID, token: Int, PositioningError?)
  case showCalibration(ClientID)
  case hideCalibration(ClientID)
  /// An element of a stream of live updates.
  case live(Int, LiveUpdate)
  /// A monitor has an event that waits to be taken.
  case monitorHasEvent(String)
  /// One line for the log, with its cure.
  case advice(ClientID?, Advice)
  /// What is stored has changed.
  case store(StoredState)
}

/// The parts of what is kept between runs.
public enum StoredState: Hashable, Sendable {
  case regions, visits, authorization
  case monitor(String)
}

/// What a programmer or user should know, as the delegate is not told or cannot know why.
public enum Advice: Hashable, Sendable {
  /// A request without a text to show (AU-8), and what has made it.
  case missingUsageKey(String, method: String)
  /// Started while nobody was asked for permission (AU-9).
  case permissionNotRequested
  /// Started in the background while nobody was asked, which a start does by itself (C1).
  case permissionWaitsForForeground
  /// A request was dropped for the same reason (RQ-13).
  case requestDropped
  /// WhenInUse, and the app is in the background.
  case notInUse
  /// Background updates without the mode (BG-1).
  case missingBackgroundMode
  /// The delegate lacks a method that the service needs (SU-26, RQ-16, DF-23).
  case delegateLacks(String)
  /// No source for the service (SC-11).
  case notAvailable(String)

  /// What is wrong and what to do.
  public var message: String {
    switch self {
    case .missingUsageKey(let key, let method):
      "\(method) cannot ask for permission: add \(key) to Info.plist or the environment"
    case .permissionNotRequested:
      "location updates wait for permission: call requestWhenInUseAuthorization() or requestAlwaysAuthorization()"
    case .permissionWaitsForForeground:
      "location updates wait for permission, which is asked for when the program is in the foreground"
    case .requestDropped:
      "requestLocation() was dropped: permission has not been asked for; call requestWhenInUseAuthorization() first"
    case .notInUse:
      "nothing is delivered in the background with permission for when in use: request Always, or run in the foreground"
    case .missingBackgroundMode:
      "allowsBackgroundLocationUpdates has no effect: add location to UIBackgroundModes in Info.plist"
    case .delegateLacks(let method):
      "the delegate does not implement \(method), and misses what it would be told"
    case .notAvailable(let service):
      "\(service) has no source here and does not start: attach a receiver, or check availability before"
    }
  }
}
