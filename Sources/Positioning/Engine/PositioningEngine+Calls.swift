// SPDX-License-Identifier: Apache-2.0
import MonotonicTime
import ReceiverStream

/// The calls of clients.
extension PositioningEngine {
  /// Handles a call of a manager; calls of removed managers have no effect.
  public mutating func call(_ call: ClientCall, by id: ClientID, at now: Instant) {
    guard let index = index(of: id) else { return }
    if call.isTooLong {
      if let event = call.refusal(isDenied: regionPermission == .refused) { clients[index].emit(event, &outputs) }
      return
    }
    if case .startRanging(let target) = call, rangingRoom <= 0, !clients[index].services.isRanged(target) {
      clients[index].emit(.rangingDidFail(target, .rangingFailure), &outputs)
      return
    }
    if clients[index].call(
      call, hostCapabilities: hostCapabilities, cached: cachedSample, aged: cache.aged.map(reducedIfNeeded), at: now,
      &outputs)
    {
      askIfStarted(call, by: index, at: now)
      watchRegions(at: now)
      return
    }
    switch call {
    case .requestWhenInUse: request(.whenInUse, for: call, by: index, at: now)
    case .requestAlways: request(.always, for: call, by: index, at: now)
    case .requestTemporaryFullAccuracy(let purpose, let token): requestFullAccuracy(purpose, token, by: id)
    case .startVisits: startVisits(by: index, at: now)
    case .stopVisits:
      guard visits.isRunning else { break }
      visits.stop()
      outputs.append(.store(.visits))
    case .startMonitoring(let region, let margin): startMonitoring(region, margin, for: call, by: index, at: now)
    case .stopMonitoring(let region): stopMonitoring(region)
    case .requestState(let region): requestState(of: region, by: index, at: now)
    default: break
    }
  }

  /// The number of targets that the app's managers may still range.
  var rangingRoom: Int { max(0, Ranging.limit - clients.reduce(0) { $0 + $1.services.rangedTargets.count }) }

  private mutating func startVisits(by index: Int, at now: Instant) {
    if !visits.isRunning {
      visits.start()
      watchStartedAt = now
      outputs.append(.store(.visits))
    }
    switch authorization.status {
    case .denied, .restricted: clients[index].fail(.denied, &outputs)
    case .notDetermined: askIfStarted(.startVisits, by: index, at: now)
    case .authorizedAlways, .authorizedWhenInUse: clients[index].adviseIfNotInUse(for: .waking, &outputs)
    }
  }

  // MARK: Permission

  /// Whether a prompt can be shown now.
  var mayAsk: Bool { application == .foreground || settings.asksInBackground }

  /// Makes a request and shows its prompt, or reports that it is not shown. Returns the missing keys, if any.
  private mutating func request(_ request: Authorization.Request, by client: ClientID?, at now: Instant) -> String? {
    var reply = Authorization.Reply.none
    let mayAsk = mayAsk
    change(at: now) { reply = $0.request(request, isInForeground: mayAsk) }
    switch reply {
    case .none, .refused: break
    case .cannotAsk: outputs.append(.advice(client, .permissionCannotBeAsked(grant(for: request))))
    case .prompt(let prompt): outputs.append(.prompt(prompt))
    case .missingKey(let key): return key
    }
    return nil
  }

  /// - Parameter call: the call that makes the request, explicitly or as a side effect.
  private mutating func request(
    _ request: Authorization.Request, for call: ClientCall, by index: Int, at now: Instant
  ) {
    let client = clients[index].id
    guard let key = self.request(request, by: client, at: now) else { return }
    outputs.append(.advice(client, .missingUsageKey(key, method: call.method)))
    clients[index].failToAsk(missingKeys: key, &outputs)
  }

  /// The permission that a request without a prompt needs: "when in use" would deliver nothing to a program without a
  /// terminal.
  private func grant(for request: Authorization.Request) -> AuthorizationStatus {
    application == .foreground && request == .whenInUse ? .authorizedWhenInUse : .authorizedAlways
  }

  /// Handles an open prompt that is not shown to the program's user: another program or a command answers it (AU-13).
  public mutating func promptIsNotShown() {
    guard let request = authorization.asked?.request, authorization.noteNotShown() else { return }
    outputs.append(.advice(nil, .permissionCannotBeAsked(grant(for: request))))
    refuseDroppedRequests()
  }

  /// Handles a prompt that could not be shown.
  mutating func promptWasNotShown(_ prompt: Authorization.Prompt) {
    if case .temporaryFullAccuracy = prompt.request { return }
    guard authorization.noteNotShown() else { return }
    outputs.append(.advice(nil, .permissionCannotBeAsked(grant(for: prompt.request))))
    refuseDroppedRequests()
  }

  /// Refuses the location requests that were dropped while the prompt was open: their programs might wait forever.
  private mutating func refuseDroppedRequests() {
    for index in clients.indices where clients[index].hasDroppedRequest {
      clients[index].hasDroppedRequest = false
      clients[index].fail(.denied, by: .request, &outputs)
    }
  }

  /// The reason why a request for temporary full accuracy is refused now; nil if the user is asked (AU-20).
  public func refusal(ofFullAccuracy purpose: String) -> AccuracyRefusal? {
    authorization.refusal(ofFullAccuracy: purpose, isInForeground: mayAsk)
  }

  private mutating func requestFullAccuracy(_ purpose: String, _ token: Int, by id: ClientID) {
    let reply = authorization.request(
      .temporaryFullAccuracy(purpose: purpose), isInForeground: mayAsk)
    if case .prompt(let prompt) = reply {
      accuracyRequest = (id, token)
      outputs.append(.prompt(prompt))
    } else {
      outputs.append(
        .temporaryAccuracy(id, token: token, .promptDeclined, refusal: refusal(ofFullAccuracy: purpose)))
    }
  }

  /// Handles a start without a permission request (C1, AU-9).
  mutating func askIfStarted(_ call: ClientCall, by index: Int, at now: Instant) {
    switch call {
    case .startUpdatingLocation, .startSignificantChanges, .startVisits, .startMonitoring: break
    case .startHeading: if !hostCapabilities.hasCompass { return }
    case .startRanging: if !hostCapabilities.hasBluetooth { return }
    case .requestLocation: return dropRequest(by: index)
    default: return
    }
    guard authorization.status == .notDetermined, authorization.asked == nil else { return }
    if authorization.keys.isEmpty {
      request(.whenInUse, for: call, by: index, at: now)
    } else if let implicit = implicitRequest {
      if mayAsk {
        request(implicit, for: call, by: index, at: now)
      } else if clients[index].adviseNotRequested() {
        outputs.append(.advice(clients[index].id, .permissionWaitsForForeground))
      }
    } else if !authorization.isRequested, clients[index].adviseNotRequested() {
      outputs.append(.advice(clients[index].id, .permissionNotRequested))
    }
  }

  /// A location request while the permission is undetermined is dropped (RQ-13). A program whose prompt is not shown is
  /// refused, because it might wait forever.
  private mutating func dropRequest(by index: Int) {
    guard authorization.status == .notDetermined else { return }
    if authorization.isAnsweredElsewhere {
      clients[index].fail(.denied, by: .request, &outputs)
    } else {
      let isRequested = authorization.isRequested
      clients[index].hasDroppedRequest = isRequested
      outputs.append(.advice(clients[index].id, isRequested ? .requestBeforeAnswer : .requestDropped))
    }
  }

  /// The same for a condition, which does not belong to a manager.
  private mutating func askIfConditionAdded(at now: Instant) {
    guard authorization.status == .notDetermined, authorization.asked == nil else { return }
    if authorization.keys.isEmpty {
      adviseMissingKey(Authorization.missing(.whenInUse), method: "CLMonitor.add(_:identifier:)")
    } else if let implicit = implicitRequest {
      _ = request(implicit, by: nil, at: now)
    } else if !authorization.isRequested, !isConditionReported {
      isConditionReported = true
      outputs.append(.advice(nil, .permissionNotRequested))
    }
  }

  /// Reports a missing key once, for services without a manager.
  private mutating func adviseMissingKey(_ key: String, method: String) {
    if missingKeys.insert(key).inserted { outputs.append(.advice(nil, .missingUsageKey(key, method: method))) }
  }

  /// The request that a start makes implicitly (C1): one permission for everything, as on macOS.
  private var implicitRequest: Authorization.Request? {
    if authorization.keys.usage != nil { return .always }
    return settings.startAsksForPermission && !authorization.keys.isEmpty ? .whenInUse : nil
  }

  /// Whether a service that was started in the background waits for a prompt, which is shown only in the foreground
  /// (AU-13).
  var waitsForQuestion: Bool {
    guard authorization.status == .notDetermined, authorization.asked == nil, !mayAsk else {
      return false
    }
    return implicitRequest != nil && hasPendingStart || sessionsRequest != nil
  }

  private var hasPendingStart: Bool {
    visits.isRunning || !awaitedRegions.isEmpty || clients.contains(where: \.waitsForPermission)
      || monitors.contains { !$0.records.isEmpty }
  }

  /// Handles the app's change to the foreground: services that were started earlier make their request now.
  mutating func askForPendingStarts(at now: Instant) {
    guard authorization.status == .notDetermined, authorization.asked == nil, mayAsk,
      let implicit = implicitRequest, hasPendingStart
    else { return }
    guard let index = clients.firstIndex(where: \.waitsForPermission) ?? clients.indices.first else {
      _ = request(implicit, by: nil, at: now)
      return
    }
    request(implicit, for: .startUpdatingLocation, by: index, at: now)
  }

  // MARK: The modern API

  /// Starts the iteration of a stream of live updates (LV-1). The stream opens its own session, unless the app declares
  /// explicit ones (LV-4).
  public mutating func beginLiveUpdates(_ id: Int, _ configuration: LiveUpdates.Configuration, at now: Instant) {
    guard !streams.contains(where: { $0.id == id }) else { return }
    streams.append((id, LiveUpdates(configuration)))
    watchStreamOutage(at: now)
    if authorization.keys.requiresExplicitSession {
      reportToStreams(at: now)
    } else {
      sessions.begin(-1 - id, goal: .whenInUse)
      askForSessions(at: now)
      reportToSilentStreams(at: now)
    }
  }

  /// Ends the iteration.
  public mutating func endLiveUpdates(_ id: Int) {
    streams.removeAll { $0.id == id }
    sessions.end(-1 - id)
    if streams.isEmpty { streamOutage.stop() }
  }

  /// Whether the program has declared explicit sessions and has none, so that streams have no location (LV-4).
  private var lacksSession: Bool { authorization.keys.requiresExplicitSession && sessions.isEmpty }

  /// Whether streams receive locations now.
  var deliversToStreams: Bool {
    !lacksSession && permissions.delivery(.standard, allowsBackground: nil) == .deliver
  }

  /// Starts or ends the outage timer of streams. A stream that waits for the user's answer has no outage (LV-3).
  mutating func watchStreamOutage(at now: Instant) {
    if !streams.isEmpty, deliversToStreams {
      streamOutage.start(activity, at: now)
    } else {
      streamOutage.stop()
    }
  }

  /// The reason why a stream has no location; empty if a location is available.
  var diagnostic: Diagnostic {
    var diagnostic: Diagnostic = []
    switch authorization.status {
    case .denied:
      diagnostic =
        authorization.servicesAreEnabled ? .authorizationDenied : [.authorizationDenied, .authorizationDeniedGlobally]
    case .restricted: diagnostic = .authorizationRestricted
    case .notDetermined:
      diagnostic = authorization.asked == nil ? .serviceSessionRequired : .authorizationRequestInProgress
    case .authorizedWhenInUse: if !permissions.isInUse { diagnostic = .insufficientlyInUse }
    case .authorizedAlways: break
    }
    if streamOutage.isReported { diagnostic.insert(.locationUnavailable) }
    if authorization.accuracy == .reduced { diagnostic.insert(.accuracyLimited) }
    return diagnostic
  }

  /// Reports the reason to streams whose delivery stops (LV-3).
  mutating func reportToSilentStreams(at now: Instant) {
    if !deliversToStreams { reportToStreams(at: now) }
  }

  mutating func reportToStreams(at now: Instant) {
    var diagnostic = diagnostic
    if lacksSession, authorization.status.isAuthorized { diagnostic.insert(.serviceSessionRequired) }
    guard !diagnostic.subtracting(.accuracyLimited).isEmpty else { return }
    for index in streams.indices {
      if let update = streams[index].updates.unavailable(diagnostic) {
        outputs.append(.live(streams[index].id, update))
      }
    }
  }

  /// Starts a CLServiceSession, which requires its goal until it ends (SS-1).
  ///
  /// - Parameters:
  ///   - id: the session.
  ///   - goal: the required authorization.
  ///   - fullAccuracyPurpose: the purpose key of the prompt for full accuracy, if it is required.
  ///   - now: the current instant.
  public mutating func beginSession(
    _ id: Int, goal: ServiceGoal, fullAccuracyPurpose: String? = nil, at now: Instant
  ) {
    sessions.begin(id, goal: goal, fullAccuracyPurpose: fullAccuracyPurpose)
    askForSessions(at: now)
    sessionsChanged(at: now)
  }

  /// Ends a session that was invalidated or released.
  public mutating func endSession(_ id: Int, at now: Instant) {
    sessions.end(id)
    sessionsChanged(at: now)
  }

  private mutating func sessionsChanged(at now: Instant) {
    guard authorization.keys.requiresExplicitSession else { return }
    watchStreamOutage(at: now)
    reportToSilentStreams(at: now)
  }

  /// The obstacles of the sessions.
  public var sessionDiagnostic: Diagnostic {
    var diagnostic = diagnostic.subtracting([.locationUnavailable, .accuracyLimited])
    // An open prompt is neither granted nor refused yet.
    if authorization.asked != nil, sessionsRequest != nil {
      diagnostic.insert(.authorizationRequestInProgress)
    } else if sessions.isAlwaysMissing(authorization.status), authorization.record.hasAskedForUpgrade {
      diagnostic.insert(.alwaysAuthorizationDenied)
    }
    if sessions.fullAccuracyPurpose != nil, authorization.accuracy == .reduced, isFullAccuracyRefused {
      diagnostic.insert(.fullAccuracyDenied)
    }
    return diagnostic
  }

  /// There is one prompt for full accuracy.
  private var sessionsRequest: Authorization.Request? {
    if let request = sessions.request(authorization.status) { return request }
    guard authorization.accuracy == .reduced, !isFullAccuracyRefused else { return nil }
    return sessions.fullAccuracyPurpose.map { .temporaryFullAccuracy(purpose: $0) }
  }

  mutating func askForSessions(at now: Instant) {
    guard let request = sessionsRequest, let key = self.request(request, by: nil, at: now) else { return }
    adviseMissingKey(key, method: "CLLocationUpdate.liveUpdates() or a CLServiceSession")
  }

  /// Starts a CLBackgroundActivitySession, which keeps the app in use if it begins in the foreground (SS-2).
  public mutating func beginBackgroundActivity(_ id: Int, at now: Instant) {
    sessions.beginActivity(id, isInForeground: application == .foreground)
    permissionsChanged(at: now)
  }

  /// Ends an activity that was invalidated or released.
  public mutating func endBackgroundActivity(_ id: Int, at now: Instant) {
    sessions.endActivity(id)
    if !permissions.isInUse { change(at: now) { $0.useEnded() } }
    permissionsChanged(at: now)
    reportToSilentStreams(at: now)
  }

  /// Opens a CLMonitor: the open monitor of this name, or a new one with its stored records (MO-1).
  public mutating func openMonitor(_ name: String, restored: [Monitor.Record] = [], at now: Instant) {
    guard monitor(name) == nil else { return }
    monitors.append(
      Monitor(name, restored: restored, room: conditionRoom, at: now) { [self] in canMonitor($0, of: name) })
    if monitors[monitors.count - 1].hasUnknownCircle { watchStartedAt = now }
    if monitors[monitors.count - 1].hasWaiting { outputs.append(.monitorHasEvent(name)) }
  }

  /// The number of conditions that the app may still monitor (MO-3).
  private var conditionRoom: Int { Regions.limit - monitors.reduce(0) { $0 + $1.monitoredCount } }

  private func canMonitor(_ condition: Region.Shape, _ identifier: String, of monitor: String) -> Bool {
    isSupported(condition) && regions.isPossible(condition)
      && !TextLimit.refuses(condition: identifier, of: monitor)
  }

  private func canMonitor(_ record: Monitor.Record, of monitor: String) -> Bool {
    canMonitor(record.condition, record.lastEvent.identifier, of: monitor)
  }

  /// Monitors the conditions that a new receiver or adapter makes possible.
  mutating func monitorWhatWaits() {
    for index in monitors.indices {
      let name = monitors[index].name
      let count = monitors[index].hostCapabilitiesCame(room: conditionRoom) { [self] in canMonitor($0, of: name) }
      if count > 0 { outputs.append(.store(.monitor(monitors[index].name))) }
    }
  }

  /// The monitor with a name in its current state; nil if it is not open.
  public func monitor(_ name: String) -> Monitor? { monitors.first { $0.name == name } }

  /// Adds a condition (MO-2); at most twenty per app are monitored (MO-3).
  public mutating func addCondition(
    _ condition: Region.Shape, identifier: String, assuming state: Monitor.State = .unknown, to name: String,
    at now: Moment
  ) {
    guard let index = monitors.firstIndex(where: { $0.name == name }) else { return }
    var refusal: Diagnostic?
    if conditionRoom <= 0, !monitors[index].monitors(identifier) { refusal = .conditionLimitExceeded }
    if !canMonitor(condition, identifier, of: name) { refusal = .conditionUnsupported }
    monitors[index].add(condition, identifier: identifier, assuming: state, refusal: refusal, at: now)
    outputs.append(.store(.monitor(name)))
    if refusal == nil {
      if !condition.isBeacon { watchStartedAt = now.instant }
      askIfConditionAdded(at: now.instant)
    }
    if let first = clients.indices.first { clients[first].adviseIfNotInUse(for: .waking, &outputs) }
    if monitors[index].hasWaiting || !mayMonitor { outputs.append(.monitorHasEvent(name)) }
  }

  /// Ends the monitoring of a condition.
  public mutating func removeCondition(_ identifier: String, from name: String) {
    guard let index = monitors.firstIndex(where: { $0.name == name }) else { return }
    monitors[index].remove(identifier)
    outputs.append(.store(.monitor(name)))
  }

  /// Returns the next event for an iteration of the monitor's events; the previous event counts as handled from then on
  /// (MO-5). Nil if no event waits.
  public mutating func takeEvent(of name: String, by iteration: Int = 0) -> Monitor.Event? {
    completeEvent(of: name, by: iteration)
    return monitors.firstIndex { $0.name == name }.flatMap { monitors[$0].take(by: iteration) }
  }

  /// The same while monitoring is not permitted: an event for each condition, with the reason.
  public mutating func takeHindrance(of name: String, by iteration: Int = 0, at now: UTCTime) -> Monitor.Event? {
    completeEvent(of: name, by: iteration)
    guard !mayMonitor, let index = monitors.firstIndex(where: { $0.name == name }) else { return nil }
    return monitors[index].takeHindrance(diagnostic.subtracting(.locationUnavailable), by: iteration, at: now)
  }

  /// Records that the iteration has handled its event: it fetches the next one, or has ended.
  public mutating func completeEvent(of name: String, by iteration: Int = 0) {
    guard let index = monitors.firstIndex(where: { $0.name == name }), monitors[index].complete(iteration) else {
      return
    }
    outputs.append(.store(.monitor(name)))
  }
}
