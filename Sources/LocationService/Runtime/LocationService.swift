// SPDX-License-Identifier: Apache-2.0
import Positioning

/// A manager's side of the service, called on the service's thread. It passes each call on to the manager's run loop.
package protocol LocationServiceClient: AnyObject, Sendable {
  /// An event for the delegate. The client asks `LocationService.isCurrent` immediately before it delivers the event.
  func receive(_ event: DelegateEvent, _ ticket: Ticket)
  /// The end of a request for full accuracy; without an error if the user was asked.
  func temporaryAccuracyAnswered(token: Int, _ error: PositioningError?)
  /// Shows or hides the request to calibrate the compass.
  func calibrationShows(_ shows: Bool)
}

/// The location service of one program, in the program itself or in the daemon.
///
/// Managers call it from any thread. A call never waits for a receiver, a disk or the daemon, never calls a delegate, and its
/// effect shows in each later read.
package protocol LocationService: AnyObject, Sendable {
  /// Writes a line for people.
  var log: @Sendable (String) -> Void { get }

  // MARK: Managers

  /// Adds a manager, which receives its events until it is removed.
  func add(_ client: any LocationServiceClient) -> ClientID
  func remove(_ id: ClientID)
  /// Takes a manager's call.
  func call(_ call: ClientCall, by id: ClientID)
  /// Whether an event may still be delivered.
  func isCurrent(_ event: DelegateEvent, _ ticket: Ticket, for id: ClientID) -> Bool

  // MARK: Properties of managers

  /// Takes over a newer location that another program has measured, as the newest location is the system's (LC-2).
  func refreshNewest()
  func location(of id: ClientID) -> Location?
  func heading(of id: ClientID) -> Heading?
  func rangedTargets(of id: ClientID) -> [Ranging.Target]

  // MARK: Properties of the program

  var authorizationStatus: AuthorizationStatus { get }
  var accuracyAuthorization: AccuracyAuthorization { get }
  var servicesAreEnabled: Bool { get }
  /// Why a request for temporary full accuracy is refused now; nil if the user is asked (AU-20).
  func refusal(ofFullAccuracy purpose: String) -> AccuracyRefusal?
  /// What the host can measure with at this moment.
  func hostCapabilities() -> HostCapabilities
  /// The largest radius of a region, metres; −1 where regions are not monitored.
  var maximumRegionRadiusMetres: Double { get }
  var monitoredRegions: [Region] { get }

  // MARK: The API since iOS 17

  /// Begins a stream of live updates. Returns the number that ends it.
  func beginLiveUpdates(_ configuration: LiveUpdates.Configuration, _ reader: any LiveUpdateReader) -> Int
  func endLiveUpdates(_ id: Int)
  /// Begins a service session, which asks for its goal until it ends. Returns the number that ends it.
  func beginSession(goal: ServiceGoal, fullAccuracyPurpose: String?) -> Int
  func endSession(_ id: Int)
  /// Begins a background activity, which keeps the app in use. Returns the number that ends it.
  func beginBackgroundActivity() -> Int
  func endBackgroundActivity(_ id: Int)
  /// Gives a reader the sessions' diagnostic as it is now, and each change. Returns the number that ends it.
  func beginSessionDiagnostics(_ reader: any SessionReader) -> Int
  func endSessionDiagnostics(_ id: Int)
  /// Opens a monitor by its name with its stored conditions, unless it is open (MO-1).
  func openMonitor(_ name: String)
  /// Monitors a condition, which replaces one of the same identifier (MO-2).
  func addCondition(
    _ condition: Region.Shape, identifier: String, assuming assumed: Monitor.State, to name: String)
  func removeCondition(_ identifier: String, from name: String)
  func conditionIdentifiers(of monitor: String) -> [String]
  func conditionRecord(_ identifier: String, of monitor: String) -> Monitor.Record?
  /// Begins an iteration of a monitor's events, whose reader is called whenever there may be one. Returns its number.
  func beginMonitorEvents(of name: String, _ reader: any MonitorReader) -> Int
  /// Takes the next event for an iteration; nil without an event. The iteration's event before it is handled (MO-5).
  func takeEvent(of name: String, by iteration: Int) -> Monitor.Event?
  /// Ends an iteration, whose event is handled.
  func endMonitorEvents(_ id: Int)

  // MARK: The end

  /// Has a function called with the reason why the receiver cannot be opened, and with nil once it is open.
  func observeProblem(_ listener: @escaping @Sendable (ReceiverProblem?) -> Void)
  /// Ends the service: stores what is known and restores the receiver. Waits for that, six seconds at most; what is not
  /// restored by then is in the crash-recovery record.
  func finish()
}

/// The reader of a stream of live updates, called on the service's thread.
package protocol LiveUpdateReader: AnyObject, Sendable {
  func receive(_ update: LiveUpdate)
}

/// The reader of a monitor's events, called on the service's thread.
package protocol MonitorReader: AnyObject, Sendable {
  /// There may be an event to take.
  func hasEvents()
}

/// The reader of the sessions' diagnostics, called under the service's lock: it has to be brief and to call nothing.
package protocol SessionReader: AnyObject, Sendable {
  func receive(_ diagnostic: Diagnostic)
}
