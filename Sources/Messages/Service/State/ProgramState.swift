// SPDX-License-Identifier: Apache-2.0

import Positioning
import ReceiverStream

/// The part of the engine's state that a program reads, so that reading never waits.
package struct ProgramState: Equatable, Codable, Sendable {
  /// The state of a manager.
  package struct Manager: Hashable, Codable, Sendable {
    package var services = StartedServices()
    /// The last location that a running service has delivered.
    package var delivered: Location?
    package var heading: Heading?
    /// Whether `requestLocation` is pending.
    package var isRequestPending = false
    /// Nil if there is no deferral.
    package var deferral: Deferral?

    package init() {}
  }

  /// A deferral of a manager.
  package struct Deferral: Hashable, Codable, Sendable {
    /// The remaining path; nil if endless. It changes without a message.
    package var remainingMetres: Double?

    package init(remainingMetres: Double) {
      self.remainingMetres = remainingMetres.isFinite ? remainingMetres : nil
    }
  }

  /// The state of a monitor.
  package struct Monitor: Hashable, Codable, Sendable {
    /// The conditions, in the order in which they were added, with their last handled events.
    package var records: [Positioning.Monitor.Record] = []
    /// The events that the program may receive.
    package var waiting: [Positioning.Monitor.Event] = []

    package init() {}
  }

  /// The number of the program's last message that is included.
  package var includes = 0
  package var status = AuthorizationStatus.notDetermined
  package var accuracy = AccuracyAuthorization.full
  package var servicesAreEnabled = true
  /// The open prompt.
  package var prompt: Authorization.Prompt?
  package var hostCapabilities = HostCapabilities(
    hasSatelliteReceiver: false, hasSignificantChanges: false, hasCompass: false, hasBluetooth: false)
  package var maximumRegionRadiusMetres = -1.0
  package var regions: [Region] = []
  package var visitsAreRunning = false
  /// The newest location at the program's accuracy; nil if there is no permission. It changes without a message.
  package var newest: Location?
  package var managers: [Int: Manager] = [:]
  package var monitors: [String: Monitor] = [:]
  /// The obstacles of the sessions.
  package var sessions: Diagnostic = []
  package var problem: ReceiverProblem?

  package init() {}

  var conditions: StartedServices.Conditions {
    StartedServices.Conditions(status: status, accuracy: accuracy, hostCapabilities: hostCapabilities)
  }

  /// Whether regions are refused for lack of permission.
  var refusesRegions: Bool { status != .notDetermined && !(status.isAuthorized && accuracy == .full) }

  func monitors(_ region: Region) -> Bool { regions.contains { $0.isSame(as: region) } }

  /// The manager's `location` (rules LC); nil without permission (LC-6).
  package func location(of manager: Int) -> Location? {
    guard status.isAuthorized else { return nil }
    return managers[manager]?.delivered ?? newest
  }
}

/// The expected effect of the program's own actions, visible in its reads before the service has answered.
extension ProgramState {
  /// - Parameters:
  ///   - action: an action of the program.
  ///   - date: the current time, UTC.
  mutating func predict(_ action: ClientAction, at date: UTCTime) {
    switch action {
    case .addManager(let id): managers[id] = Manager()
    case .resumeManager(let id, let resumption):
      var manager = managers[id] ?? Manager()
      manager.services = resumption.services
      managers[id] = manager
    case .removeManager(let id): managers[id] = nil
    case .call(let id, let call): predict(call, by: id)
    case .openMonitor(let name): monitors[name] = monitors[name] ?? Monitor()
    case .addCondition(let condition, let identifier, let state, let name):
      let event = Positioning.Monitor.Event(identifier: identifier, state: state, date: date)
      monitors[name]?.add(Positioning.Monitor.Record(condition: condition, lastEvent: event))
    case .removeCondition(let identifier, let name): monitors[name]?.remove(identifier)
    case .takeEvent(let event, let name): monitors[name]?.complete(event)
    case .beginLiveUpdates, .endLiveUpdates, .beginSession, .endSession, .beginBackgroundActivity,
      .resumeBackgroundActivity, .endBackgroundActivity, .application, .answer, .refreshNewest,
      .refreshHostCapabilities, .takeWaitingEvent:
      break
    }
  }

  /// A request to a service whose state has not arrived waits for it, because only the service knows whether it is
  /// permitted.
  mutating func assumePermission(for action: ClientAction) {
    guard case .call(let id, .requestLocation) = action, managers[id]?.services.wantsStandard == false else { return }
    managers[id]?.isRequestPending = true
  }

  private mutating func predict(_ call: ClientCall, by id: Int) {
    guard var manager = managers[id] else { return }
    let isRunning = manager.services.wantsStandard && status.isAuthorized
    manager.services.apply(call, conditions)
    switch call {
    case .startUpdatingLocation: manager.isRequestPending = false
    case .stopUpdatingLocation:
      manager.isRequestPending = false
      manager.deferral = nil
      manager.delivered = nil
    case .stopSignificantChanges: if !manager.services.wantsStandard { manager.delivered = nil }
    case .requestLocation: if status.isAuthorized, !isRunning { manager.isRequestPending = true }
    case .allowDeferredUpdates: manager.isRequestPending = false
    case .disallowDeferredUpdates: manager.deferral = nil
    case .startVisits: visitsAreRunning = true
    case .stopVisits: visitsAreRunning = false
    case .startMonitoring(let region, _): startMonitoring(region)
    case .stopMonitoring(let region): regions.removeAll { $0.isSame(as: region) }
    default: break
    }
    managers[id] = manager
  }

  private mutating func startMonitoring(_ region: Region) {
    let isSupported = region.shape.isBeacon ? hostCapabilities.hasBluetooth : hostCapabilities.hasSignificantChanges
    guard isSupported, region.shape.isPossible(maximumRadiusMetres: maximumRegionRadiusMetres)
    else { return }
    if let index = regions.firstIndex(where: { $0.isSame(as: region) }) {
      regions[index] = region
    } else if regions.count < Regions.limit {
      regions.append(region)
    }
  }
}

extension ProgramState.Monitor {
  mutating func add(_ record: Positioning.Monitor.Record) {
    let identifier = record.lastEvent.identifier
    waiting.removeAll { $0.identifier == identifier }
    if let index = records.firstIndex(where: { $0.lastEvent.identifier == identifier }) {
      records[index] = record
    } else {
      records.append(record)
    }
  }

  mutating func remove(_ identifier: String) {
    waiting.removeAll { $0.identifier == identifier }
    records.removeAll { $0.lastEvent.identifier == identifier }
  }

  /// Records a handled event. An event of the same condition that another process of the service created in its place
  /// is obsolete.
  mutating func complete(_ event: Positioning.Monitor.Event) {
    waiting.removeAll { $0 == event || event.state != .unmonitored && $0.identifier == event.identifier }
    guard let index = records.firstIndex(where: { $0.lastEvent.identifier == event.identifier }) else { return }
    records[index].lastEvent = event
  }
}

extension ProgramState {
  /// A value that may have become nil; without a change there is no `Changed`.
  package struct Changed<Value: Equatable & Codable & Sendable>: Equatable, Codable, Sendable {
    package var value: Value?
  }

  /// The parts of a state that differ from an earlier one; nil if unchanged.
  package struct Changes: Equatable, Codable, Sendable {
    package var includes: Int?
    package var status: AuthorizationStatus?
    package var accuracy: AccuracyAuthorization?
    package var servicesAreEnabled: Bool?
    package var prompt: Changed<Authorization.Prompt>?
    package var hostCapabilities: HostCapabilities?
    package var maximumRegionRadiusMetres: Double?
    package var regions: [Region]?
    package var visitsAreRunning: Bool?
    package var newest: Changed<Location>?
    /// The managers that differ, each in full.
    package var managers: [Int: Manager]?
    package var removedManagers: [Int]?
    /// The monitors that differ, each in full.
    package var monitors: [String: Monitor]?
    package var sessions: Diagnostic?
    package var problem: Changed<ReceiverProblem>?

    package init() {}

    package var isEmpty: Bool { self == Changes() }
  }

  /// The changes that turn this state into another one.
  package func changes(to new: ProgramState) -> Changes {
    var changes = Changes()
    if new.includes != includes { changes.includes = new.includes }
    if new.status != status { changes.status = new.status }
    if new.accuracy != accuracy { changes.accuracy = new.accuracy }
    if new.servicesAreEnabled != servicesAreEnabled { changes.servicesAreEnabled = new.servicesAreEnabled }
    if new.prompt != prompt { changes.prompt = Changed(value: new.prompt) }
    if new.hostCapabilities != hostCapabilities { changes.hostCapabilities = new.hostCapabilities }
    if new.maximumRegionRadiusMetres != maximumRegionRadiusMetres {
      changes.maximumRegionRadiusMetres = new.maximumRegionRadiusMetres
    }
    if new.regions != regions { changes.regions = new.regions }
    if new.visitsAreRunning != visitsAreRunning { changes.visitsAreRunning = new.visitsAreRunning }
    if new.newest != newest { changes.newest = Changed(value: new.newest) }
    let managers = new.managers.filter { $0.value != self.managers[$0.key] }
    if !managers.isEmpty { changes.managers = managers }
    let removed = self.managers.keys.filter { new.managers[$0] == nil }.sorted()
    if !removed.isEmpty { changes.removedManagers = removed }
    let monitors = new.monitors.filter { $0.value != self.monitors[$0.key] }
    if !monitors.isEmpty { changes.monitors = monitors }
    if new.sessions != sessions { changes.sessions = new.sessions }
    if new.problem != problem { changes.problem = Changed(value: new.problem) }
    return changes
  }

  package mutating func apply(_ changes: Changes) {
    includes = changes.includes ?? includes
    status = changes.status ?? status
    accuracy = changes.accuracy ?? accuracy
    servicesAreEnabled = changes.servicesAreEnabled ?? servicesAreEnabled
    if let prompt = changes.prompt { self.prompt = prompt.value }
    hostCapabilities = changes.hostCapabilities ?? hostCapabilities
    maximumRegionRadiusMetres = changes.maximumRegionRadiusMetres ?? maximumRegionRadiusMetres
    regions = changes.regions ?? regions
    visitsAreRunning = changes.visitsAreRunning ?? visitsAreRunning
    if let newest = changes.newest { self.newest = newest.value }
    for id in changes.removedManagers ?? [] { managers[id] = nil }
    for (id, manager) in changes.managers ?? [:] { managers[id] = manager }
    for (name, monitor) in changes.monitors ?? [:] { monitors[name] = monitor }
    sessions = changes.sessions ?? sessions
    if let problem = changes.problem { self.problem = problem.value }
  }

  /// Applies the state change that an event implies, so that a delivered location needs no separate change. Both sides
  /// do this before they apply or create the changes.
  package mutating func apply(_ event: ServiceEvent) {
    guard case .delegate(let id, let event, let ticket) = event else { return }
    managers[id]?.apply(event, ticket)
    if case .didUpdateLocations(let locations) = event, let last = locations.last { noteNewest(last) }
  }

  private mutating func noteNewest(_ location: Location) {
    if let newest, newest.timestamp > location.timestamp { return }
    newest = location
  }
}

extension ProgramState.Manager {
  mutating func apply(_ event: DelegateEvent, _ ticket: Ticket) {
    if ticket.isAnswer {
      isRequestPending = false
      return
    }
    switch event {
    case .didUpdateLocations(let locations): delivered = locations.last ?? delivered
    case .didUpdateHeading(let heading): self.heading = heading
    case .didFinishDeferredUpdates: deferral = nil
    default: break
    }
  }
}

extension ProgramState.Changes {
  mutating func apply(_ event: ServiceEvent) {
    guard case .delegate(let id, let event, let ticket) = event else { return }
    managers?[id]?.apply(event, ticket)
    guard let newest, case .didUpdateLocations(let locations) = event, let last = locations.last else { return }
    if let time = newest.value?.timestamp, time > last.timestamp { return }
    self.newest = ProgramState.Changed(value: last)
  }

  mutating func join(_ later: ProgramState.Changes) {
    includes = later.includes ?? includes
    status = later.status ?? status
    accuracy = later.accuracy ?? accuracy
    servicesAreEnabled = later.servicesAreEnabled ?? servicesAreEnabled
    prompt = later.prompt ?? prompt
    hostCapabilities = later.hostCapabilities ?? hostCapabilities
    maximumRegionRadiusMetres = later.maximumRegionRadiusMetres ?? maximumRegionRadiusMetres
    regions = later.regions ?? regions
    visitsAreRunning = later.visitsAreRunning ?? visitsAreRunning
    newest = later.newest ?? newest
    for id in later.removedManagers ?? [] { managers?[id] = nil }
    if let removed = later.removedManagers { removedManagers = (removedManagers ?? []) + removed }
    if let managers = later.managers { self.managers = (self.managers ?? [:]).merging(managers) { $1 } }
    if let monitors = later.monitors { self.monitors = (self.monitors ?? [:]).merging(monitors) { $1 } }
    sessions = later.sessions ?? sessions
    problem = later.problem ?? problem
  }
}
