// SPDX-License-Identifier: Apache-2.0

import MonotonicTime
import ReceiverStream

/// Core Location's behaviour for one app: all its managers, its regions, visits, monitors and sessions, and the cache.
///
/// Clients' calls, fixes, headings, sightings, permission, the app's state and the time are the inputs; `outputs` are
/// the actions, in order, which the driver takes. No delegate is called from within a call (GE-3): the driver delivers
/// on the client's run loop, and calls `isCurrent` before each event.
public struct PositioningEngine: Sendable {
  /// The stored state of an earlier run.
  public struct Restored: Sendable {
    /// The newest location of the system.
    public var newest: Location?
    public var authorization: Authorization.Record?
    public var regions: [Regions.Record] = []
    public var visits: Visits.Record?

    public init() {}
  }

  /// Actions, oldest first; the driver takes them.
  public var outputs: [PositioningOutput] = []
  public internal(set) var authorization: Authorization
  public private(set) var application: ApplicationState
  public internal(set) var regions: Regions
  public internal(set) var visits: Visits
  var cache: LocationCache
  public private(set) var hostCapabilities: HostCapabilities

  let settings: PositioningSettings
  var clients: [ClientSession] = []
  var monitors: [Monitor] = []
  var streams: [(id: Int, updates: LiveUpdates)] = []
  var sessions = ServiceSessions()
  var declination = Declination()
  var activity = SourceActivity.searching
  /// The latest end of the current read of a receiver's memory.
  var batchEnds: Instant?
  /// The keys that were reported as missing for sessions.
  var missingKeys: Set<String> = []
  /// Whether the user declined a session's prompt for full accuracy.
  var isFullAccuracyRefused = false
  /// The client of a request for full accuracy, and the token of its answer.
  var accuracyRequest: (client: ClientID, token: Int)?
  /// The registered regions that wait for permission.
  var awaitedRegions: [AwaitedRegion] = []
  /// Whether the lack of a request was reported for conditions.
  var isConditionReported = false
  /// Whether conditions were evaluated until now.
  private var isMonitoring = false
  /// Whether regions were evaluated until now.
  private var areRegionsWatched = false
  /// The start of the newest of the app's circles and visits, which needs a fix (RG-2, MO-2).
  var watchStartedAt: Instant
  /// The outage of the streams of live updates.
  var streamOutage = Outage()
  var stateRequests = StateRequests()

  public init(
    keys: UsageKeys, hostCapabilities: HostCapabilities, application: ApplicationState,
    settings: PositioningSettings = .init(),
    authorizationOverride: AuthorizationStatus? = nil, restored: Restored = .init(), at now: Instant
  ) {
    self.settings = settings
    self.hostCapabilities = hostCapabilities
    self.application = application
    authorization = Authorization(keys: keys, restored: restored.authorization, override: authorizationOverride)
    regions = Regions(maximumRadiusMetres: settings.maximumRegionRadiusMetres, restored: restored.regions, at: now)
    visits = Visits(restored: restored.visits)
    cache = LocationCache(restored: restored.newest)
    watchStartedAt = now
    isMonitoring = mayMonitor
  }

  // MARK: Managers

  /// Adds a manager.
  public mutating func add(_ id: ClientID) {
    guard index(of: id) == nil else { return }
    clients.append(ClientSession(id, permissions: permissions, settings: settings, activity: activity))
  }

  /// Removes a manager: its services stop, except regions and visits, which the app keeps (GE-7).
  public mutating func remove(_ id: ClientID) {
    clients.removeAll { $0.id == id }
    awaitedRegions.removeAll { $0.client == id }
    stateRequests.remove(id)
    if !hasDelegate { areRegionsWatched = false }
  }

  func index(of id: ClientID) -> Int? { clients.firstIndex { $0.id == id } }

  /// Whether an event may still be delivered. Call it immediately before the delivery.
  public func isCurrent(_ ticket: Ticket, for id: ClientID) -> Bool {
    index(of: id).map { clients[$0].services.isCurrent(ticket) } ?? false
  }

  /// Whether the outcome of a manager's request is among the outputs.
  public func answers(_ id: ClientID) -> Bool {
    outputs.contains { if case .event(id, _, let ticket) = $0 { ticket.isAnswer } else { false } }
  }

  /// Whether the service of an event still runs: headings, beacons, regions and visits are not delivered after their
  /// stop.
  public func isWanted(_ event: DelegateEvent, by id: ClientID) -> Bool {
    switch event {
    case .didEnter(let region), .didExit(let region): regions.monitored.contains { $0.isSame(as: region) }
    case .didVisit: visits.isRunning
    default: index(of: id).map { clients[$0].services.isWanted(event) } ?? false
    }
  }

  // MARK: Properties of managers

  /// The manager's `location` (rules LC); nil without permission (LC-6).
  public func location(of id: ClientID) -> Location? {
    index(of: id).flatMap { clients[$0].location(newest: reducedNewest) }
  }

  /// The newest location, regardless of permission.
  public var newest: Location? { cache.newest }

  /// Handles a location that another program of the user has stored (LC-2).
  public mutating func learn(_ location: Location) { cache.learn(location) }

  /// The time at which this program measured the newest location; nil if another program or an earlier run measured it.
  public var newestMeasured: Instant? { cache.measuredHere }

  /// The manager's `heading`.
  public func heading(of id: ClientID) -> Heading? { index(of: id).flatMap { clients[$0].heading.last } }

  /// The manager's `headingOrientation` as it was set, even if that did not change the reference.
  public func headingOrientation(of id: ClientID) -> DeviceOrientation {
    index(of: id).map { clients[$0].heading.orientation } ?? .portrait
  }

  /// The manager's ranging targets.
  public func rangedTargets(of id: ClientID) -> [Ranging.Target] {
    index(of: id).map { clients[$0].services.rangedTargets } ?? []
  }

  /// `maximumRegionMonitoringDistance`; −1 if monitoring is not supported (RG-7).
  public var maximumRegionRadiusMetres: Double {
    hostCapabilities.hasSignificantChanges ? regions.maximumRadiusMetres : -1
  }

  // MARK: Permission and the app's state

  var permissions: DeliveryRules {
    DeliveryRules(
      status: authorization.status, accuracy: authorization.accuracy, application: application,
      hasBackgroundActivity: sessions.hasActivity, hasLocationMode: authorization.keys.hasLocationMode)
  }

  /// Handles the arrival or loss of receivers, compasses or Bluetooth.
  ///
  /// A client that started headings without a compass receives them from a compass that is connected later: a
  /// receiver's first heading shows that it provides one. Conditions that could not be monitored earlier are now
  /// monitored.
  public mutating func setHostCapabilities(_ hostCapabilities: HostCapabilities) {
    self.hostCapabilities = hostCapabilities
    monitorWhatWaits()
    guard hostCapabilities.hasCompass else { return }
    for index in clients.indices where clients[index].services.wantsHeading { clients[index].heading.start() }
  }

  /// Handles a possible change of the app's state: "allow once" ends, and waiting events are delivered.
  public mutating func setApplication(_ state: ApplicationState, at now: Instant) {
    application = state
    if state == .foreground { authorization.mayBeShown() }
    if !permissions.isInUse { change(at: now) { $0.useEnded() } }
    permissionsChanged(at: now)
    askForSessions(at: now)
    askForPendingStarts(at: now)
    reportToSilentStreams(at: now)
  }

  /// Whether something may be withheld until the app is in the foreground (AU-17, BG-3).
  public var waitsForForeground: Bool {
    waitsForQuestion
      || authorization.status == .authorizedWhenInUse && !permissions.isInUse
        && !(clients.isEmpty && streams.isEmpty && monitors.isEmpty)
  }

  /// Whether another state of the app would change what is delivered (AU-17, BG-3, DF-11).
  public var dependsOnApplication: Bool {
    waitsForQuestion || authorization.status == .authorizedWhenInUse || clients.contains { $0.deferral.isActive }
  }

  /// Handles the user's answer to the prompt that was an output.
  ///
  /// - Parameters:
  ///   - answer: the answer.
  ///   - prompt: the answered prompt; nil for the open one. Answers to a prompt that was withdrawn after a change of
  ///     settings are ignored.
  ///   - now: the current instant.
  public mutating func authorizationAnswered(
    _ answer: Authorization.Answer, to prompt: Authorization.Prompt? = nil, at now: Instant
  ) {
    if let prompt, prompt != authorization.asked { return }
    var question: Authorization.Prompt?
    change(at: now) { question = $0.answered(answer) }
    if answer == .notShown, let question { promptWasNotShown(question) }
    guard case .temporaryFullAccuracy = question?.request else { return }
    isFullAccuracyRefused = answer == .deny
    answerAccuracyRequest(answer == .notShown ? .promptDeclined : nil, nil)
  }

  private mutating func answerAccuracyRequest(_ error: PositioningError?, _ refusal: AccuracyRefusal?) {
    guard let request = accuracyRequest else { return }
    accuracyRequest = nil
    outputs.append(.temporaryAccuracy(request.client, token: request.token, error, refusal: refusal))
  }

  /// Handles an external change of settings.
  public mutating func authorizationChanged(to record: Authorization.Record, at now: Instant) {
    change(at: now) { $0.changed(to: record) }
    // This change withdrew the prompt, which gets no answer (AU-20).
    if authorization.accuracy == .full {
      answerAccuracyRequest(nil, nil)
    } else {
      answerAccuracyRequest(.promptDeclined, authorization.status.isAuthorized ? .isWithdrawn : .notAuthorized)
    }
  }

  /// Handles a decision of the user that equals the stored one: temporary permissions end.
  public mutating func authorizationRepeated(at now: Instant) { change(at: now) { $0.useEnded() } }

  /// Sets the global switch (GE-1).
  public mutating func setServicesEnabled(_ isEnabled: Bool, at now: Instant) {
    change(at: now) { $0.setServicesEnabled(isEnabled) }
  }

  /// Sets a policy that the user cannot change.
  public mutating func setRestricted(_ isRestricted: Bool, at now: Instant) {
    change(at: now) { $0.setRestricted(isRestricted) }
  }

  /// Sets whether the system lets this program open its receiver; if not, the authorization reads as denied.
  public mutating func setReceiverForbidden(_ isForbidden: Bool, at now: Instant) {
    change(at: now) { $0.setReceiverForbidden(isForbidden) }
  }

  /// Applies a change; each delegate receives a change of status once (AU-3).
  mutating func change(at now: Instant, _ body: (inout Authorization) -> Void) {
    let before = (authorization.status, authorization.accuracy, authorization.record)
    let wasAsking = authorization.asked != nil
    let regionsBefore = regionPermission
    body(&authorization)
    if authorization.record != before.2 { outputs.append(.store(.authorization)) }
    guard authorization.status != before.0 || authorization.accuracy != before.1 else {
      // A prompt was opened, or could not be shown: streams wait for another reason.
      if wasAsking != (authorization.asked != nil) { reportToSilentStreams(at: now) }
      return
    }
    for client in clients {
      client.emitAuthorization(authorization.status, authorization.accuracy, &outputs)
    }
    permissionsChanged(at: now)
    if authorization.accuracy != before.1 {
      for index in streams.indices { streams[index].updates.accuracyChanged() }
    }
    regionPermissionChanged(from: regionsBefore, wasAuthorized: before.0.isAuthorized)
    // A prompt that is opened now is the reason that streams report (LV-3).
    askForSessions(at: now)
    reportToStreams(at: now)
    // Conditions that are not monitored now report the reason.
    if !mayMonitor { for monitor in monitors { outputs.append(.monitorHasEvent(monitor.name)) } }
  }

  mutating func permissionsChanged(at now: Instant) {
    let permissions = permissions
    if mayMonitor, !isMonitoring {
      for index in monitors.indices { monitors[index].restart(at: now) }
    }
    isMonitoring = mayMonitor
    watchRegions(at: now)
    let cached = cachedSample
    let hasAppServices = visits.isRunning || !regions.isEmpty || monitors.contains { !$0.records.isEmpty }
    for index in clients.indices {
      clients[index].apply(
        permissions, cached: cached, awaitsVisits: visits.isRunning,
        advisesForApp: hasAppServices && index == clients.startIndex, at: now, &outputs)
    }
    watchStreamOutage(at: now)
  }

  /// Starts or ends the evaluation of regions.
  mutating func watchRegions(at now: Instant) {
    let areWatched = mayMonitor && hasDelegate
    if areWatched, !areRegionsWatched {
      regions.restart(at: now)
      if regions.hasUnknownCircle { watchStartedAt = now }
    }
    areRegionsWatched = areWatched
  }

  /// The cached fix at the app's accuracy.
  var cachedSample: Sample? { cache.sample.map(reducedIfNeeded) }
  var reducedNewest: Location? { cachedSample?.location }

  func reducedIfNeeded(_ sample: Sample) -> Sample {
    authorization.accuracy == .reduced ? settings.cells.reduced(sample) : sample
  }

  // MARK: Time

  /// The time at which `wake` is due; nil if it is not due.
  public var deadline: Instant? {
    var next = Instant.earlier(.earlier(streamOutage.deadline, batchEnds), stateRequests.deadline)
    for index in clients.indices {
      next = Instant.earlier(next, clients[index].deadline(awaitsBatch: batchEnds != nil))
    }
    guard mayMonitor else { return next }
    for index in monitors.indices { next = Instant.earlier(next, monitors[index].deadline) }
    return hasDelegate ? Instant.earlier(next, regions.deadline) : next
  }

  /// Advances the time.
  public mutating func wake(at now: Moment) {
    if let ends = batchEnds, now.instant >= ends { batchEnds = nil }
    for index in clients.indices {
      clients[index].wake(at: now.instant, awaitsBatch: batchEnds != nil, &outputs)
    }
    if mayMonitor { crossings { regions, body in regions.wake(at: now.instant, body) } }
    wakeStateRequests(at: now.instant)
    for index in monitors.indices where mayMonitor {
      if monitors[index].wake(at: now) { outputs.append(.monitorHasEvent(monitors[index].name)) }
    }
    if streamOutage.wake(at: now.instant) { reportToStreams(at: now.instant) }
  }
}

/// `requestState` (RG-12).
extension PositioningEngine {
  /// Answers at once if the state is known, or if no fix can show it: a region that is not monitored, or regions that may
  /// not be watched now, whose last side is unreliable. Otherwise the answer waits for the first fix.
  mutating func requestState(of region: Region, by index: Int, at now: Instant) {
    let state = mayMonitor ? regions.state(of: region) : .unknown
    if state == .unknown, mayMonitor, regions.monitors(region), !stateRequests.isFull {
      stateRequests.add(region, by: clients[index].id, at: now)
    } else {
      clients[index].emit(.didDetermineState(state, region), &outputs)
    }
  }

  /// Answers the requests whose region now has a state. Crossings are reported earlier, and only for regions that
  /// already had a state.
  mutating func answerStateRequests() {
    guard !stateRequests.isEmpty else { return }
    let regions = regions
    report(stateRequests.answers { regions.state(of: $0) })
  }

  /// Answers the requests that have timed out with `unknown`.
  mutating func wakeStateRequests(at now: Instant) { report(stateRequests.wake(at: now)) }

  /// Ends monitoring. Waiting requests get `unknown`.
  mutating func stopMonitoring(_ region: Region) {
    guard regions.stop(region) else { return }
    awaitedRegions.removeAll { $0.region.isSame(as: region) }
    outputs.append(.store(.regions))
    report(stateRequests.end(region))
  }

  private mutating func report(_ answers: [StateRequests.Answer]) {
    for answer in answers {
      guard let client = clients.first(where: { $0.id == answer.client }) else { continue }
      client.emit(.didDetermineState(answer.state, answer.region), &outputs)
    }
  }
}

/// The demand for hardware.
extension PositioningEngine {
  /// The current demand of one manager; empty for a removed one.
  public func demand(of id: ClientID) -> Demand {
    index(of: id).map { clients[$0].demand } ?? Demand()
  }

  /// The demand of the app apart from its managers: regions, monitors, visits, live updates.
  public var sharedDemand: Demand {
    var demand = Demand()
    let permissions = permissions
    if mayMonitor {
      demand.border = border
      demand.beacons = regions.hasBeacons || monitors.contains { $0.hasBeacons }
    }
    if visits.isRunning, permissions.delivery(.waking, allowsBackground: nil) != .none {
      demand.everySeconds = Visits.fixSeconds
    }
    if !streams.isEmpty, deliversToStreams {
      demand.updates = Demand.Updates(
        .stream, delivery: streams.allSatisfy(\.updates.isStationary) ? .paused : .live)
    }
    if demand.border != nil || demand.everySeconds != nil { demand.startedAt = watchStartedAt }
    return demand
  }

  /// The demand of each manager, including empty ones.
  public var demandsOfManagers: [(id: ClientID, demand: Demand)] {
    // Read in place: a session is large, and this function is called at every fix.
    clients.indices.map { (clients[$0].id, clients[$0].demand) }
  }

  /// Whether a manager receives headings now.
  public var asksForHeading: Bool { clients.indices.contains { clients[$0].asksForHeading } }

  /// All non-empty demands: one per manager, then the app's.
  public var demands: [Demand] {
    (clients.indices.map { clients[$0].demand } + [sharedDemand]).filter { !$0.isEmpty }
  }

  private var border: Demand.Border? {
    guard let point = cache.sample?.point, !stateRequests.needsFix else {
      let hasCircles = !regions.circlesBySize.isEmpty || monitors.contains { $0.hasCircles }
      return hasCircles ? Demand.Border(metres: nil) : nil
    }
    var nearest = regions.nearestBorder(from: point)
    for monitor in monitors {
      guard let other = monitor.nearestBorder(from: point) else { continue }
      nearest = (min(nearest?.metres ?? .infinity, other.metres), nearest?.isCrossing ?? false || other.isCrossing)
    }
    return nearest.map { Demand.Border(metres: $0.metres, isCrossing: $0.isCrossing) }
  }
}

/// The registration of regions. A region is registered regardless of the permission, and monitored once permission is
/// granted (RG-8): a program may start monitoring before the user has answered.
extension PositioningEngine {
  /// A region whose monitoring has not started, and the manager that receives the event when it does.
  struct AwaitedRegion: Sendable {
    var client: ClientID
    var region: Region
  }

  /// The permission for regions.
  enum RegionPermission {
    /// The user has not decided.
    case open
    case refused
    case granted
  }

  var regionPermission: RegionPermission {
    if authorization.status == .notDetermined { return .open }
    return authorization.status.isAuthorized && authorization.accuracy == .full ? .granted : .refused
  }

  /// Whether there is hardware to monitor the region (RG-21).
  func isSupported(_ shape: Region.Shape) -> Bool {
    shape.isBeacon ? hostCapabilities.hasBluetooth : hostCapabilities.hasSignificantChanges
  }

  mutating func startMonitoring(
    _ region: Region, _ marginMetres: Double?, for call: ClientCall, by index: Int, at now: Instant
  ) {
    let permission = regionPermission
    var failure: PositioningError?
    do throws(PositioningError) {
      guard isSupported(region.shape) else { throw .regionMonitoringFailure }
      try regions.start(region, marginMetres: marginMetres, at: now)
      if !region.shape.isBeacon { watchStartedAt = now }
      outputs.append(.store(.regions))
      awaitedRegions.removeAll { $0.region.isSame(as: region) }
      if permission != .granted { awaitedRegions.append(AwaitedRegion(client: clients[index].id, region: region)) }
    } catch {
      failure = error
    }
    if permission == .refused { failure = .regionMonitoringDenied }
    if let failure {
      clients[index].emit(.monitoringDidFail(region, failure), &outputs)
    } else if permission == .granted {
      clients[index].emit(.didStartMonitoring(region), &outputs)
      clients[index].adviseIfNotInUse(for: .waking, &outputs)
    } else {
      askIfStarted(call, by: index, at: now)
    }
  }

  /// Reports the effect of a change of permission on regions.
  ///
  /// - Parameters:
  ///   - before: the previous permission.
  ///   - wasAuthorized: whether the app was authorized before, with any accuracy.
  mutating func regionPermissionChanged(from before: RegionPermission, wasAuthorized: Bool) {
    let now = regionPermission
    if now == .granted {
      for awaited in awaitedRegions { emit(.didStartMonitoring(awaited.region), to: awaited.client) }
      awaitedRegions = []
      return
    }
    guard now == .refused else { return }
    if before == .open {
      for awaited in awaitedRegions {
        emit(.monitoringDidFail(awaited.region, .regionMonitoringDenied), to: awaited.client)
      }
    }
    // The failure of regions that were monitored, or registered earlier, is reported as a failure of the whole service
    // (RG-26).
    let hasOthers = regions.monitored.contains { region in !awaitedRegions.contains { $0.region.isSame(as: region) } }
    guard wasAuthorized || before == .open, !authorization.status.isAuthorized, hasOthers else { return }
    for client in clients { client.emit(.monitoringDidFail(nil, .regionMonitoringDenied), &outputs) }
  }

  private mutating func emit(_ event: DelegateEvent, to id: ClientID) {
    guard let index = index(of: id) else { return }
    clients[index].emit(event, &outputs)
  }
}

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

  /// The time after the resumption, in seconds, during which live locations that are not newer than the delivered one
  /// count as repetitions, unless they arrive as live ones do (`BackwardStep`). It ends so that a receiver whose time has stepped
  /// back is heard again.
  package static var repetitionSeconds: Double { 60 }

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
    var services = resumption.services
    let dropped = services.limitRanging(to: rangingRoom)
    let before = StartedServices.Conditions(
      status: resumption.status, accuracy: resumption.accuracy, hostCapabilities: hostCapabilities)
    // Settings repeat no advice.
    var repeated: [PositioningOutput] = []
    for call in resumption.settings {
      _ = clients[index].call(
        call, hostCapabilities: hostCapabilities, cached: nil, aged: nil, at: now, &repeated)
    }
    if before.status != authorization.status || before.accuracy != authorization.accuracy {
      clients[index].services = services
      clients[index].emitAuthorization(authorization.status, authorization.accuracy, &outputs)
    }
    clients[index].deliveredBefore = resumption.delivered
    clients[index].repetitionEnds = now.moved(by: ClientResumption.repetitionSeconds)
    // The run continues: its next location may be a kept one that is older than the cached location.
    clients[index].resume(
      services, before, cached: resumption.delivered == nil ? cachedSample : nil,
      awaitsVisits: visits.isRunning, at: now, &outputs)
    if let delivered = resumption.delivered, authorization.status.isAuthorized, before.status.isAuthorized,
      before.accuracy == authorization.accuracy
    {
      clients[index].continueFilters(from: Sample(delivered, measured: now), at: now)
    }
    for target in dropped { clients[index].emit(.rangingDidFail(target, .rangingFailure), &outputs) }
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
}

extension ClientSession {
  /// Measures distances and intervals from what an earlier engine has delivered (SU-8, SC-2, SC-3).
  fileprivate mutating func continueFilters(from delivered: Sample, at now: Instant) {
    if updates.isRunning { updates.delivered(delivered) }
    significant.delivered(delivered, at: now)
  }

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
