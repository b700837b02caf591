// SPDX-License-Identifier: Apache-2.0
import Positioning

/// A manager's side of the service, called on the service's thread. It passes each call on to the manager's run loop.
package protocol LocationServiceClient: AnyObject, Sendable {
  /// An event for the delegate. The client calls `LocationService.beginDelivery` immediately before it delivers the event.
  func receive(_ event: DelegateEvent, _ ticket: Ticket)
  /// The end of a request for full accuracy; without an error if the user was asked, with the reason if the request was refused.
  func temporaryAccuracyAnswered(token: Int, _ error: PositioningError?, _ refusal: AccuracyRefusal?)
  /// Shows or hides the request to calibrate the compass.
  func calibrationShows(_ shows: Bool)
}

/// The location service of one program, in the program itself or in the daemon.
///
/// Managers call it from any thread. A call never waits for a receiver, a disk or the daemon, never calls a delegate, and its
/// effect is visible in every later read.
package protocol LocationService: AnyObject, Sendable {
  /// Writes a human-readable line.
  var log: @Sendable (String) -> Void { get }

  // MARK: Managers

  /// Adds a manager, which receives its events until it is removed.
  func add(_ client: any LocationServiceClient) -> ClientID
  func remove(_ id: ClientID)
  /// Performs a manager's call.
  func call(_ call: ClientCall, by id: ClientID)
  /// Begins the delivery of an event; for an answer it ends the request (RQ-8). Returns whether it may still be delivered.
  func beginDelivery(of event: DelegateEvent, _ ticket: Ticket, to id: ClientID) -> Bool

  // MARK: Properties of managers

  /// Adopts a newer location that another program has measured: the newest location is system-wide (LC-2).
  func refreshNewest()
  func location(of id: ClientID) -> Location?
  func heading(of id: ClientID) -> Heading?
  func rangedTargets(of id: ClientID) -> [Ranging.Target]

  // MARK: Properties of the program

  var authorizationStatus: AuthorizationStatus { get }
  var accuracyAuthorization: AccuracyAuthorization { get }
  var servicesAreEnabled: Bool { get }
  /// The current capabilities of the host.
  func hostCapabilities() -> HostCapabilities
  /// The largest radius of a region, metres; −1 where regions are not monitored.
  var maximumRegionRadiusMetres: Double { get }
  var monitoredRegions: [Region] { get }

  // MARK: The API since iOS 17

  /// Starts a stream of live updates. Returns the number that ends it.
  func beginLiveUpdates(_ configuration: LiveUpdates.Configuration, _ reader: any LiveUpdateReader) -> Int
  func endLiveUpdates(_ id: Int)
  /// Starts a service session, which requests its goal until it ends. Returns the number that ends it.
  func beginSession(goal: ServiceGoal, fullAccuracyPurpose: String?) -> Int
  func endSession(_ id: Int)
  /// Starts a background activity, which keeps the app in use. Returns the number that ends it.
  func beginBackgroundActivity() -> Int
  func endBackgroundActivity(_ id: Int)
  /// Sends the sessions' current diagnostic and each change to a reader. Returns the number that ends it.
  func beginSessionDiagnostics(_ reader: any SessionReader) -> Int
  func endSessionDiagnostics(_ id: Int)
  /// Opens the monitor of a name with its stored conditions, unless it is open (MO-1).
  func openMonitor(_ name: String)
  /// Monitors a condition, which replaces a condition with the same identifier (MO-2).
  func addCondition(
    _ condition: Region.Shape, identifier: String, assuming assumed: Monitor.State, to name: String)
  func removeCondition(_ identifier: String, from name: String)
  func conditionIdentifiers(of monitor: String) -> [String]
  func conditionRecord(_ identifier: String, of monitor: String) -> Monitor.Record?
  /// Starts an iteration of a monitor's events, whose reader is called whenever an event may be available. Returns its
  /// number.
  func beginMonitorEvents(of name: String, _ reader: any MonitorReader) -> Int
  /// Returns the next event for an iteration; nil if there is none. The iteration's previous event counts as handled
  /// (MO-5).
  func takeEvent(of name: String, by iteration: Int) -> Monitor.Event?
  /// Ends an iteration, whose last event counts as handled.
  func endMonitorEvents(_ id: Int)

  // MARK: The end

  /// Calls a function with the reason why the receiver cannot be opened, and with nil once it is open.
  func observeProblem(_ listener: @escaping @Sendable (ReceiverProblem?) -> Void)
  /// Ends the service: stores the state and restores the receiver. Waits at most six seconds; settings not restored by
  /// then are in the crash-recovery record.
  func finish()
}

/// The reader of a stream of live updates, called on the service's thread.
package protocol LiveUpdateReader: AnyObject, Sendable {
  func receive(_ update: LiveUpdate)
}

/// The reader of a monitor's events, called on the service's thread.
package protocol MonitorReader: AnyObject, Sendable {
  /// An event may be available.
  func hasEvents()
}

/// The reader of the sessions' diagnostics, called under the service's lock: it must be short and must not call the
/// service.
package protocol SessionReader: AnyObject, Sendable {
  func receive(_ diagnostic: Diagnostic)
}

/// The objects of a program that the service calls, keyed by number. The service has them under its lock, and calls all but the readers
/// of sessions without it.
package struct ProgramReaders: Sendable {
  package var clients: [ClientID: any LocationServiceClient] = [:]
  package var streams: [Int: any LiveUpdateReader] = [:]
  package var monitors: [Int: (name: String, reader: any MonitorReader)] = [:]
  package var sessions: [Int: any SessionReader] = [:]
  private var numbers = 0

  package init() {}

  /// Returns a number that no other caller got.
  package mutating func takeNumber() -> Int {
    defer { numbers &+= 1 }
    return numbers
  }

  /// Adds a reader of the sessions' diagnostic, which begins with the present one.
  package mutating func add(_ reader: any SessionReader, _ diagnostic: Diagnostic) -> Int {
    let id = takeNumber()
    sessions[id] = reader
    reader.receive(diagnostic)
    return id
  }

  package mutating func add(_ reader: any MonitorReader, of name: String) -> Int {
    let id = takeNumber()
    monitors[id] = (name, reader)
    return id
  }

  package func monitorReaders(of name: String) -> [any MonitorReader] {
    monitors.values.filter { $0.name == name }.map(\.reader)
  }

  /// Passes a diagnostic to the sessions. Returns the readers of monitors, to which it also applies.
  package func receive(_ diagnostic: Diagnostic) -> [any MonitorReader] {
    for reader in sessions.values { reader.receive(diagnostic) }
    return monitors.values.map(\.reader)
  }
}
