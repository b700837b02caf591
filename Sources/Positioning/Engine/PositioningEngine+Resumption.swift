// SPDX-License-Identifier: Apache-2.0
import MonotonicTime
import ReceiverStream

/// The state of a client that outlives the process of its engine: the program keeps it and passes it to the next
/// engine.
package struct ClientResumption: Hashable, Codable, Sendable {
  /// The services, with the counters of the tickets that the program still has.
  package var services: StartedServices
  /// The authorization that the delegate has received.
  package var status: AuthorizationStatus
  package var accuracy: AccuracyAuthorization
  /// Calls that set something, each at most once.
  package var settings: [ClientCall]
  /// The last location that the delegate has received.
  package var delivered: Location?

  package init(
    services: StartedServices, status: AuthorizationStatus, accuracy: AccuracyAuthorization, settings: [ClientCall],
    delivered: Location? = nil
  ) {
    self.services = services
    self.status = status
    self.accuracy = accuracy
    self.settings = settings
    self.delivered = delivered
  }
}

extension PositioningEngine {
  /// Adds a manager of an earlier engine: its services continue, and its delegate receives the authorization only if
  /// that has changed (AU-3).
  package mutating func resume(_ id: ClientID, _ resumption: ClientResumption, at now: Instant) {
    remove(id)
    add(id)
    guard let index = index(of: id) else { return }
    let before = StartedServices.Conditions(
      status: resumption.status, accuracy: resumption.accuracy, hostCapabilities: hostCapabilities)
    // Settings repeat no advice.
    var repeated: [PositioningOutput] = []
    for call in resumption.settings {
      _ = clients[index].call(
        call, hostCapabilities: hostCapabilities, cached: nil, aged: nil, at: now, &repeated)
    }
    if before.status != authorization.status || before.accuracy != authorization.accuracy {
      clients[index].services = resumption.services
      clients[index].emitAuthorization(authorization.status, authorization.accuracy, &outputs)
    }
    clients[index].deliveredBefore = resumption.delivered
    // The run continues: its next location may be a kept one that is older than the cached location.
    clients[index].resume(
      resumption.services, before, cached: resumption.delivered == nil ? cachedSample : nil,
      awaitsVisits: visits.isRunning, at: now, &outputs)
    watchRegions(at: now)
  }

  /// Continues a background activity of an earlier engine.
  package mutating func resumeBackgroundActivity(_ id: Int, at now: Instant) {
    sessions.beginActivity(id, isInForeground: true)
    permissionsChanged(at: now)
  }

  /// The events that a monitor's client may receive now; each is repeated until it is handled.
  ///
  /// - Parameter now: the date of events that report why monitoring is not possible.
  package func waitingEvents(of name: String, at now: UTCTime) -> [Monitor.Event] {
    guard let monitor = monitor(name) else { return [] }
    let hindrance: Diagnostic = mayMonitor ? [] : diagnostic.subtracting(.locationUnavailable)
    return monitor.waitingEvents(hindrance, at: now)
  }

  /// Records that the client has handled an event of `waitingEvents`, of this engine or of an earlier one.
  package mutating func complete(_ event: Monitor.Event, of name: String, at now: Instant) {
    guard let index = monitors.firstIndex(where: { $0.name == name }) else { return }
    monitors[index].complete(event, isHindered: !mayMonitor, at: now)
    outputs.append(.store(.monitor(name)))
  }

  /// The last location that a running service has delivered to a manager.
  package func deliveredLocation(of id: ClientID) -> Location? {
    index(of: id).flatMap { clients[$0].delivered?.location ?? clients[$0].deliveredBefore }
  }

  /// The newest location at the program's accuracy; nil without permission.
  package var permittedNewest: Location? { authorization.status.isAuthorized ? reducedNewest : nil }

  package func services(of id: ClientID) -> StartedServices? { index(of: id).map { clients[$0].services } }

  /// Whether a manager's `requestLocation` is pending.
  package func isRequestPending(_ id: ClientID) -> Bool {
    index(of: id).map { clients[$0].oneShot.isPending } ?? false
  }

  /// The remaining metres of a manager's deferral, infinite if never reached; nil if there is no deferral.
  package func deferralMetres(of id: ClientID) -> Double? {
    index(of: id).flatMap { clients[$0].deferral.remainingMetres }
  }

  /// The managers.
  package var clientIDs: [ClientID] { clients.map(\.id) }
}

extension ClientSession {
  /// Continues the services of an earlier engine.
  fileprivate mutating func resume(
    _ services: StartedServices, _ before: StartedServices.Conditions, cached: Sample?, awaitsVisits: Bool,
    at now: Instant, _ outputs: inout [PositioningOutput]
  ) {
    self.services = services
    ranging.targetsChanged(services.rangedTargets, at: now)
    if isRangingRefused {
      for target in services.rangedTargets where !before.refuses(target) {
        emit(.rangingDidFail(target, .rangingFailure), &outputs)
      }
    }
    if services.wantsHeading, before.hostCapabilities.hasCompass { heading.start() }
    if isAuthorized {
      if services.wantsStandard { beginStandard(cached: cached, at: now, &outputs) }
      if services.wantsSignificant { beginSignificant(cached: cached, at: now, &outputs) }
    } else if before.status.isAuthorized {
      permissionLost(awaitsVisits: awaitsVisits, &outputs)
    } else if before.status == .notDetermined {
      permissionRefused(awaitsVisits: awaitsVisits, &outputs)
    }
  }
}
