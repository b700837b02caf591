// SPDX-License-Identifier: Apache-2.0

/// A call of a client's delegate.
public enum DelegateEvent: Equatable, Codable, Sendable {
  /// Never empty, oldest first (SU-16).
  case didUpdateLocations([Location])
  case didFail(PositioningError)
  /// `promptDeclined`: these Info.plist keys are missing, so there was no prompt (AU-8).
  case didFailToAsk(missingKeys: String)
  case didPauseLocationUpdates
  case didResumeLocationUpdates
  case didFinishDeferredUpdates(PositioningError?)
  case didUpdateHeading(Heading)
  /// The answer is the call `showsCalibration`.
  case shouldDisplayHeadingCalibration
  case didStartMonitoring(Region)
  case didEnter(Region)
  case didExit(Region)
  case didDetermineState(RegionState, Region)
  /// Nil for the whole service (RG-26).
  case monitoringDidFail(Region?, PositioningError)
  case didRange([Beacon], Ranging.Target)
  case rangingDidFail(Ranging.Target, PositioningError)
  case didVisit(Visit)
  case didChangeAuthorization(AuthorizationStatus, AccuracyAuthorization)
}

/// The owner of an event. Between its emission and its delivery the client may stop the service or remove its delegate:
/// `PositioningEngine.isCurrent` and `isWanted` return whether it may still be delivered (SU-15, TH-3). A delegate that
/// was assigned meanwhile receives it in place of the former delegate.
public struct Ticket: Hashable, Codable, Sendable {
  /// The assignment that receives it; nil for the delegate at the time of delivery.
  var delegate: UInt32?
  /// The run of the standard service; nil if its stop does not recall the event.
  var run: UInt32?
  /// The run of the significant-change service; nil if its stop does not recall the event. An event of both services is
  /// recalled when both have stopped.
  var significantRun: UInt32?
  /// Whether it is the outcome of `requestLocation`.
  public var isAnswer = false
  /// The number of an event that has waited while the program did not run, which the program uses to acknowledge it;
  /// nil for any other event.
  package var waitingNumber: Int?

  /// Whether the same stops recall both events.
  public func goes(with other: Ticket) -> Bool { self == other && !isAnswer }

  /// The ticket of an event that only the stop of a run of the standard service recalls.
  package static func run(_ run: UInt32) -> Ticket { Ticket(run: run) }

  /// The run, if the ticket is one of ``run(_:)``.
  package var onlyRun: UInt32? {
    guard let run, self == .run(run) else { return nil }
    return run
  }
}

/// An action of the engine, for its driver to carry out in order.
public enum PositioningOutput: Equatable, Sendable {
  case event(ClientID, DelegateEvent, Ticket)
  /// Show a prompt; the answer goes to `authorizationAnswered`.
  case prompt(Authorization.Prompt)
  /// A request for full accuracy ended; without an error if there was a prompt. The refusal is the reason for an error; nil if the
  /// prompt could not be shown.
  case temporaryAccuracy(ClientID, token: Int, PositioningError?, refusal: AccuracyRefusal?)
  case showCalibration(ClientID)
  case hideCalibration(ClientID)
  /// An element of a stream of live updates.
  case live(Int, LiveUpdate)
  /// A monitor has a waiting event.
  case monitorHasEvent(String)
  /// One line for the log, with a remedy.
  case advice(ClientID?, Advice)
  /// Stored state has changed.
  case store(StoredState)
}

/// The parts of the state that are stored between runs.
public enum StoredState: Hashable, Sendable {
  case regions, visits, authorization
  case monitor(String)
}

/// Advice for programmers and users, where the delegate gets no event or the event lacks the reason.
public enum Advice: Hashable, Sendable {
  /// A request without a usage description (AU-8), and its method.
  case missingUsageKey(String, method: String)
  /// A service was started without a permission request (AU-9).
  case permissionNotRequested
  /// The same in the background, where the start makes the request implicitly later (C1).
  case permissionWaitsForForeground
  /// A request for permission that is not shown to the user here (AU-13), and the permission that a command grants.
  case permissionCannotBeAsked(AuthorizationStatus)
  /// A request was dropped for the same reason as a start (RQ-13).
  case requestDropped
  /// A request was dropped because the prompt is unanswered (RQ-13).
  case requestBeforeAnswer
  /// WhenInUse, and the app is in the background.
  case notInUse
  /// Background updates without the mode (BG-1).
  case missingBackgroundMode
  /// The delegate lacks a method that the service needs (SU-26, RQ-16, DF-23).
  case delegateLacks(String)
  /// There is no source for the service (SC-11).
  case notAvailable(String)

  /// The problem and its remedy, for any program.
  public var message: String { message(granting: GrantCommand(program: "NAME")) }

  /// The problem and its remedy.
  ///
  /// - Parameter command: the command that grants the program its permission.
  public func message(granting command: GrantCommand) -> String {
    switch self {
    case .missingUsageKey(let key, let method):
      "\(method) cannot ask for permission: add \(key) to Info.plist or the environment"
    case .permissionNotRequested:
      "location updates wait for permission: call requestWhenInUseAuthorization() or requestAlwaysAuthorization()"
    case .permissionWaitsForForeground:
      "location updates wait for permission: the prompt is shown when the program is in the foreground; without a terminal "
        + "run `\(command.line(.authorizedAlways))`"
    case .permissionCannotBeAsked(let status):
      "the question for permission cannot be shown here (no terminal, or the program is in its background): run "
        + "`\(command.line(status))`"
    case .requestDropped:
      "requestLocation() was dropped: permission has not been asked for; call requestWhenInUseAuthorization() first"
    case .requestBeforeAnswer:
      "requestLocation() was dropped: the question for permission has no answer yet; call it again once it is granted"
    case .notInUse:
      "nothing is delivered in the background with permission for when in use: run in the foreground, or run "
        + "`\(command.line(.authorizedAlways))`"
    case .missingBackgroundMode:
      "allowsBackgroundLocationUpdates has no effect: add location to UIBackgroundModes in Info.plist"
    case .delegateLacks(let method):
      "the delegate does not implement \(method): the event is dropped; implement the method"
    case .notAvailable(let service):
      "\(service) has no source here and does not start: attach a receiver, or check availability before"
    }
  }
}
