// SPDX-License-Identifier: Apache-2.0
import Positioning

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
