// SPDX-License-Identifier: Apache-2.0
import MonotonicTime
import ReceiverStream

/// The calls of clients.
extension PositioningEngine {
  /// Takes a call of a manager; calls of removed managers have no effect.
  public mutating func call(_ call: ClientCall, by id: ClientID, at now: Instant) {
    guard let index = index(of: id) else { return }
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
    case .startMonitoring(let region, let margin): startMonitoring(region, margin, by: clients[index], at: now)
    case .stopMonitoring(let region): stopMonitoring(region)
    case .requestState(let region): requestState(of: region, by: index, at: now)
    default: break
    }
  }

  private mutating func startVisits(by index: Int, at now: Instant) {
    if !visits.isRunning {
      visits.start()
      outputs.append(.store(.visits))
    }
    switch authorization.status {
    case .denied, .restricted: clients[index].fail(.denied, &outputs)
    case .notDetermined: askIfStarted(.startVisits, by: index, at: now)
    case .authorizedAlways, .authorizedWhenInUse: break
    }
  }

  // MARK: Permission

  /// Whether a question can be shown now.
  private var mayAsk: Bool { application == .foreground || settings.asksInBackground }

  /// - Parameter call: the call that makes the request, by itself or as a side effect.
  private mutating func request(
    _ request: Authorization.Request, for call: ClientCall, by index: Int, at now: Instant
  ) {
    var reply = Authorization.Reply.none
    let mayAsk = mayAsk
    change(at: now) { reply = $0.request(request, isInForeground: mayAsk) }
    switch reply {
    case .none, .refused: break
    case .prompt(let prompt): outputs.append(.prompt(prompt))
    case .missingKey(let key):
      outputs.append(.advice(clients[index].id, .missingUsageKey(key, method: call.method)))
      clients[index].failToAsk(missingKeys: key, &outputs)
    }
  }

  private mutating func requestFullAccuracy(_ purpose: String, _ token: Int, by id: ClientID) {
    let reply = authorization.request(
      .temporaryFullAccuracy(purpose: purpose), isInForeground: mayAsk)
    if case .prompt(let prompt) = reply {
      accuracyRequest = (id, token)
      outputs.append(.prompt(prompt))
    } else {
      outputs.append(.temporaryAccuracy(id, token: token, .promptDeclined))
    }
  }

  /// Handles a start without a permission request (C1, AU-9).
  private mutating func askIfStarted(_ call: ClientCall, by index: Int, at now: Instant) {
    switch call {
    case .startUpdatingLocation, .startSignificantChanges, .startVisits: break
    case .startHeading: if !hostCapabilities.hasCompass { return }
    default: return
    }
    guard authorization.status == .notDetermined, authorization.asked == nil else { return }
    if authorization.keys.isEmpty {
      request(.whenInUse, for: call, by: index, at: now)
    } else if let implicit = implicitRequest {
      request(implicit, for: call, by: index, at: now)
      if !mayAsk, clients[index].adviseNotRequested() {
        outputs.append(.advice(clients[index].id, .permissionWaitsForForeground))
      }
    } else if clients[index].adviseNotRequested() {
      outputs.append(.advice(clients[index].id, .permissionNotRequested))
    }
  }

  /// The request that a start makes by itself (C1): one permission for everything, as on macOS.
  private var implicitRequest: Authorization.Request? {
    if authorization.keys.usage != nil { return .always }
    return settings.startAsksForPermission && !authorization.keys.isEmpty ? .whenInUse : nil
  }

  /// Whether a service that was started in the background waits for a prompt, which is shown in the foreground only
  /// (AU-13).
  var waitsForQuestion: Bool {
    guard authorization.status == .notDetermined, authorization.asked == nil, !mayAsk else {
      return false
    }
    return implicitRequest != nil && hasPendingStart || sessionsRequest != nil
  }

  private var hasPendingStart: Bool { visits.isRunning || clients.contains(where: \.waitsForPermission) }

  /// The app has come to the foreground: services that were started before make their request now.
  mutating func askForPendingStarts(at now: Instant) {
    guard authorization.status == .notDetermined, authorization.asked == nil, mayAsk,
      let implicit = implicitRequest, hasPendingStart, !clients.isEmpty
    else { return }
    let index = clients.firstIndex(where: \.waitsForPermission) ?? 0
    request(implicit, for: .startUpdatingLocation, by: index, at: now)
  }

  // MARK: Regions

  /// Whether there is something to monitor it with (RG-21).
  private func isSupported(_ shape: Region.Shape) -> Bool {
    shape.isBeacon ? hostCapabilities.hasBluetooth : hostCapabilities.hasSignificantChanges
  }

  private mutating func startMonitoring(
    _ region: Region, _ marginMetres: Double?, by client: ClientSession, at now: Instant
  ) {
    guard authorization.status.isAuthorized, authorization.accuracy == .full else {
      client.emit(.monitoringDidFail(region, .regionMonitoringDenied), &outputs)
      return
    }
    guard isSupported(region.shape) else {
      client.emit(.monitoringDidFail(region, .regionMonitoringFailure), &outputs)
      return
    }
    do {
      try regions.start(region, marginMetres: marginMetres, at: now)
      outputs.append(.store(.regions))
      client.emit(.didStartMonitoring(region), &outputs)
    } catch {
      client.emit(.monitoringDidFail(region, error), &outputs)
    }
  }

  // MARK: The modern API

  /// Begins the iteration of a stream of live updates (LV-1). The stream opens a session of its own, unless the app
  /// declares explicit ones (LV-4).
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

  /// Starts or ends the outage timer of streams. A stream that waits for the user's answer has no outage (LV-3).
  mutating func watchStreamOutage(at now: Instant) {
    if !streams.isEmpty, permissions.delivery(.standard, allowsBackground: nil) == .deliver {
      streamOutage.start(activity, at: now)
    } else {
      streamOutage.stop()
    }
  }

  /// The reason for the absence of a location for a stream; empty if a location is available.
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

  /// Reports the reason to streams that fall silent (LV-3).
  mutating func reportToSilentStreams(at now: Instant) {
    if permissions.delivery(.standard, allowsBackground: nil) != .deliver { reportToStreams(at: now) }
  }

  mutating func reportToStreams(at now: Instant) {
    let diagnostic = diagnostic
    guard !diagnostic.subtracting(.accuracyLimited).isEmpty else { return }
    for index in streams.indices {
      if let update = streams[index].updates.unavailable(diagnostic) {
        outputs.append(.live(streams[index].id, update))
      }
    }
  }

  /// Begins a CLServiceSession; it requires its goal until it ends (SS-1).
  ///
  /// - Parameters:
  ///   - id: the session.
  ///   - goal: the required authorization.
  ///   - fullAccuracyPurpose: the purpose key of the prompt for full accuracy, if it is required.
  ///   - now: the present instant.
  public mutating func beginSession(
    _ id: Int, goal: ServiceGoal, fullAccuracyPurpose: String? = nil, at now: Instant
  ) {
    sessions.begin(id, goal: goal, fullAccuracyPurpose: fullAccuracyPurpose)
    askForSessions(at: now)
  }

  /// Ends a session that was invalidated or released.
  public mutating func endSession(_ id: Int) { sessions.end(id) }

  /// The obstacles of the sessions.
  public var sessionDiagnostic: Diagnostic {
    var diagnostic = diagnostic.subtracting([.locationUnavailable, .accuracyLimited])
    if sessions.isAlwaysMissing(authorization.status), authorization.record.hasAskedForUpgrade {
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
    guard let request = sessionsRequest else { return }
    let mayAsk = mayAsk
    var reply = Authorization.Reply.none
    change(at: now) { reply = $0.request(request, isInForeground: mayAsk) }
    switch reply {
    case .none, .refused: break
    case .prompt(let prompt): outputs.append(.prompt(prompt))
    case .missingKey(let key):
      if missingKeys.insert(key).inserted {
        outputs.append(
          .advice(nil, .missingUsageKey(key, method: "CLLocationUpdate.liveUpdates() or a CLServiceSession")))
      }
    }
  }

  /// Begins a CLBackgroundActivitySession, which keeps the app in use if it begins in the foreground (SS-2).
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

  /// Opens a CLMonitor: the open one of this name, or a new one with its stored records (MO-1).
  public mutating func openMonitor(_ name: String, restored: [Monitor.Record] = [], at now: Instant) {
    guard monitor(name) == nil else { return }
    monitors.append(
      Monitor(name, restored: restored, room: conditionRoom, at: now) { [self] in canMonitor($0) })
    if monitors[monitors.count - 1].hasWaiting { outputs.append(.monitorHasEvent(name)) }
  }

  /// The number of conditions that the app may still monitor (MO-3).
  private var conditionRoom: Int { Regions.limit - monitors.reduce(0) { $0 + $1.monitoredCount } }

  private func canMonitor(_ condition: Region.Shape) -> Bool {
    isSupported(condition) && regions.isPossible(condition)
  }

  /// Monitors the conditions that a new receiver or adapter makes possible.
  mutating func monitorWhatWaits() {
    for index in monitors.indices {
      let count = monitors[index].hostCapabilitiesCame(room: conditionRoom) { [self] in canMonitor($0) }
      if count > 0 { outputs.append(.store(.monitor(monitors[index].name))) }
    }
  }

  /// The monitor of a name in its present state; nil when none was opened.
  public func monitor(_ name: String) -> Monitor? { monitors.first { $0.name == name } }

  /// Adds a condition (MO-2); more than twenty an app are not monitored (MO-3).
  public mutating func addCondition(
    _ condition: Region.Shape, identifier: String, assuming state: Monitor.State = .unknown, to name: String,
    at now: Moment
  ) {
    guard let index = monitors.firstIndex(where: { $0.name == name }) else { return }
    var refusal: Diagnostic?
    if conditionRoom <= 0, !monitors[index].monitors(identifier) { refusal = .conditionLimitExceeded }
    if !canMonitor(condition) { refusal = .conditionUnsupported }
    monitors[index].add(condition, identifier: identifier, assuming: state, refusal: refusal, at: now)
    outputs.append(.store(.monitor(name)))
    if monitors[index].hasWaiting || !mayMonitor { outputs.append(.monitorHasEvent(name)) }
  }

  /// Ends the monitoring of a condition.
  public mutating func removeCondition(_ identifier: String, from name: String) {
    guard let index = monitors.firstIndex(where: { $0.name == name }) else { return }
    monitors[index].remove(identifier)
    outputs.append(.store(.monitor(name)))
  }

  /// Takes the next event for a client that iterates the monitor's events; nil when no event waits.
  public mutating func takeEvent(of name: String) -> Monitor.Event? {
    guard let index = monitors.firstIndex(where: { $0.name == name }), let event = monitors[index].take() else {
      return nil
    }
    outputs.append(.store(.monitor(name)))
    return event
  }

  /// The same while nothing may be monitored: an event for each condition, with the reason.
  public mutating func takeHindrance(of name: String, at now: UTCTime) -> Monitor.Event? {
    guard !mayMonitor, let index = monitors.firstIndex(where: { $0.name == name }),
      let event = monitors[index].takeHindrance(diagnostic.subtracting(.locationUnavailable), at: now)
    else { return nil }
    outputs.append(.store(.monitor(name)))
    return event
  }
}
