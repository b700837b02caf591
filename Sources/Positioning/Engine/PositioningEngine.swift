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

  var permissions: Permissions {
    Permissions(
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
    reportToSilentStreams(at: now)
    askForSessions(at: now)
    askForPendingStarts(at: now)
  }

  /// Whether something may be withheld until the app is in the foreground (AU-17, BG-3).
  public var waitsForForeground: Bool {
    waitsForQuestion
      || authorization.status == .authorizedWhenInUse && !permissions.isInUse
        && !(clients.isEmpty && streams.isEmpty && monitors.isEmpty)
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
    answerAccuracyRequest(answer == .notShown ? .promptDeclined : nil)
  }

  private mutating func answerAccuracyRequest(_ error: PositioningError?) {
    guard let request = accuracyRequest else { return }
    accuracyRequest = nil
    outputs.append(.temporaryAccuracy(request.client, token: request.token, error))
  }

  /// Handles an external change of settings.
  public mutating func authorizationChanged(to record: Authorization.Record, at now: Instant) {
    change(at: now) { $0.changed(to: record) }
    // This change withdrew the prompt, which gets no answer (AU-20).
    answerAccuracyRequest(authorization.accuracy == .full ? nil : .promptDeclined)
  }

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
    let regionsBefore = regionPermission
    body(&authorization)
    if authorization.record != before.2 { outputs.append(.store(.authorization)) }
    guard authorization.status != before.0 || authorization.accuracy != before.1 else { return }
    for client in clients {
      client.emitAuthorization(authorization.status, authorization.accuracy, &outputs)
    }
    permissionsChanged(at: now)
    if authorization.accuracy != before.1 {
      for index in streams.indices { streams[index].updates.accuracyChanged() }
    }
    regionPermissionChanged(from: regionsBefore, wasAuthorized: before.0.isAuthorized)
    reportToStreams(at: now)
    askForSessions(at: now)
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
    if areWatched, !areRegionsWatched { regions.restart(at: now) }
    areRegionsWatched = areWatched
  }

  /// The cached fix at the app's accuracy.
  var cachedSample: Sample? { cache.sample.map(reducedIfNeeded) }
  var reducedNewest: Location? { cachedSample?.location }

  func reducedIfNeeded(_ sample: Sample) -> Sample {
    authorization.accuracy == .reduced ? ReducedAccuracy.reduced(sample) : sample
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
