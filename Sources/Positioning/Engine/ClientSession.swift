// SPDX-License-Identifier: Apache-2.0

import MonotonicTime

/// The state of one manager: its services and their delivery.
struct ClientSession: Sendable {
  let id: ClientID
  let cells: CellGrid
  /// The services that the client has started; whether they run depends on permission.
  var services = StartedServices()

  var updates = LocationUpdates()
  var oneShot = OneShot()
  var significant = SignificantChanges()
  var pausing = Pausing()
  var deferral: Deferral
  var heading = HeadingUpdates()
  var ranging = Ranging()
  var outage = Outage()

  private(set) var permissions: DeliveryRules
  private var allowsBackground: Bool?
  private var showsIndicator = false
  private(set) var standardDelivery = Delivery.none
  private(set) var wakingDelivery = Delivery.none
  private(set) var runningDelivery = Delivery.none
  private var isNotInUseReported = false
  private var isNotRequestedReported = false
  /// Whether a request for a location was dropped because the permission prompt is open.
  var hasDroppedRequest = false

  /// Samples that wait until the app runs again (C7).
  var held: [Sample] = []
  var activity: SourceActivity
  /// The last location that an earlier engine has delivered.
  var deliveredBefore: Location?
  /// Until this time a live location that is not newer than that one is a repetition.
  var repetitionEnds = Instant.zero
  /// Shows whether such locations are live.
  var backwardStep = BackwardStep()

  /// The maximum number of locations kept for a suspended app: seventeen minutes at 1 Hz; then the oldest are dropped.
  static var heldLimit: Int { 1024 }

  init(_ id: ClientID, permissions: DeliveryRules, settings: PositioningSettings, activity: SourceActivity) {
    self.id = id
    self.permissions = permissions
    self.activity = activity
    cells = settings.cells
    deferral = Deferral(capacity: settings.deferralCapacity, measure: settings.deferralMeasure)
    pausing.secondsForAll = settings.pauseSeconds
    decideDeliveries()
  }

  // MARK: Events

  /// Emits an event for the delegate at the time of delivery: one may be assigned in the same turn (GE-3).
  ///
  /// - Parameters:
  ///   - makers: the services whose end recalls it.
  ///   - number: the number of an event that has waited.
  func emit(
    _ event: DelegateEvent, by makers: Makers = [], number: Int? = nil, _ outputs: inout [PositioningOutput]
  ) {
    outputs.append(
      .event(
        id, event,
        Ticket(
          run: makers.contains(.standard) ? services.run : nil,
          significantRun: makers.contains(.significant) ? services.significantRun : nil,
          isAnswer: makers.contains(.request), waitingNumber: number)))
  }

  /// Emits the status for the current delegate; a later delegate receives it when it is assigned (AU-2, AU-3).
  func emitAuthorization(
    _ status: AuthorizationStatus, _ accuracy: AccuracyAuthorization, _ outputs: inout [PositioningOutput]
  ) {
    guard services.delegate != nil else { return }
    outputs.append(.event(id, .didChangeAuthorization(status, accuracy), Ticket(delegate: services.delegates)))
  }

  /// The services that have made an event.
  struct Makers: OptionSet {
    var rawValue: UInt8
    static var standard: Makers { Makers(rawValue: 1) }
    static var significant: Makers { Makers(rawValue: 2) }
    /// `requestLocation`, which ends where the standard service does (RQ-11).
    static var request: Makers { Makers(rawValue: 4) }
  }

  /// Emits an error, with advice if the delegate lacks the method (SU-26).
  func fail(_ error: PositioningError, by makers: Makers = [], _ outputs: inout [PositioningOutput]) {
    adviseIfErrorsAreMissed(&outputs)
    emit(.didFail(error), by: makers, &outputs)
  }

  /// Emits the error for a prompt whose usage descriptions are missing (AU-8).
  func failToAsk(missingKeys: String, _ outputs: inout [PositioningOutput]) {
    adviseIfErrorsAreMissed(&outputs)
    emit(.didFailToAsk(missingKeys: missingKeys), &outputs)
  }

  private func adviseIfErrorsAreMissed(_ outputs: inout [PositioningOutput]) {
    guard let delegate = services.delegate, !delegate.contains(.takesErrors) else { return }
    outputs.append(.advice(id, .delegateLacks("locationManager(_:didFailWithError:)")))
  }

  func emit(_ samples: [Sample], by makers: Makers = .standard, _ outputs: inout [PositioningOutput]) {
    if !samples.isEmpty { emit(.didUpdateLocations(samples.map(\.location)), by: makers, &outputs) }
  }

  // MARK: Permission

  var isAuthorized: Bool { permissions.status.isAuthorized }
  /// AU-19: no ranging with reduced accuracy.
  var mayRange: Bool { isAuthorized && permissions.accuracy == .full }
  /// While the permission is undetermined, ranging waits for it.
  var isRangingRefused: Bool { permissions.status != .notDetermined && !mayRange }
  /// Whether a started service waits for permission.
  var waitsForPermission: Bool {
    !isAuthorized
      && (services.wantsStandard || services.wantsSignificant || heading.isRunning || !services.rangedTargets.isEmpty)
  }
  var isBackground: Bool { permissions.application != .foreground }

  mutating func setAllowsBackground(_ allows: Bool, at now: Instant, _ outputs: inout [PositioningOutput]) {
    allowsBackground = allows
    if allows, !permissions.hasLocationMode { outputs.append(.advice(id, .missingBackgroundMode)) }
    deliveriesMayChange(at: now)
    watchOutage(at: now)
  }

  mutating func setShowsIndicator(_ shows: Bool, at now: Instant) {
    showsIndicator = shows
    deliveriesMayChange(at: now)
    watchOutage(at: now)
  }

  private mutating func deliveriesMayChange(at now: Instant) {
    let wasDelivering = standardDelivery == .deliver
    decideDeliveries()
    if !wasDelivering, standardDelivery == .deliver { pausing.restart(at: now) }
  }

  private mutating func decideDeliveries() {
    standardDelivery = permissions.delivery(
      .standard, allowsBackground: allowsBackground, showsIndicator: showsIndicator)
    wakingDelivery = permissions.delivery(.waking, allowsBackground: allowsBackground)
    runningDelivery = permissions.delivery(.running, allowsBackground: allowsBackground)
  }

  /// Applies a change of authorization or of the app's state; the event about the change itself was emitted before
  /// (AU-15).
  ///
  /// - Parameters:
  ///   - awaitsVisits: the app monitors visits, which each of its clients receives.
  ///   - advisesForApp: the app monitors regions, visits or conditions, and this client reports that it is not in use.
  mutating func apply(
    _ permissions: DeliveryRules, cached: Sample?, awaitsVisits: Bool, advisesForApp: Bool, at now: Instant,
    _ outputs: inout [PositioningOutput]
  ) {
    let wasAuthorized = isAuthorized
    let wasOpen = self.permissions.status == .notDetermined
    let (mightRange, wasRangingRefused) = (mayRange, isRangingRefused)
    let hadAccuracy = self.permissions.accuracy
    self.permissions = permissions
    if permissions.status != .notDetermined { hasDroppedRequest = false }
    deliveriesMayChange(at: now)
    if permissions.accuracy != hadAccuracy {
      if permissions.accuracy == .reduced { reduceWhatWaits() }
      updates.expectFreshFix()
    }
    if !wasRangingRefused, isRangingRefused {
      for target in services.rangedTargets { emit(.rangingDidFail(target, .rangingFailure), &outputs) }
    }
    if !mightRange, mayRange { ranging.restart(services.rangedTargets, at: now) }
    if wasAuthorized, !isAuthorized { permissionLost(awaitsVisits: awaitsVisits, &outputs) }
    if wasOpen { permissionRefused(awaitsVisits: awaitsVisits, &outputs) }
    if !wasAuthorized, isAuthorized {
      if services.wantsStandard { beginStandard(cached: cached, at: now, &outputs) }
      if services.wantsSignificant { beginSignificant(cached: cached, at: now, &outputs) }
    }
    if standardDelivery == .deliver {
      if let last = held.last { significant.delivered(last, at: now) }
      emit(held, &outputs)
      held = []
    }
    if permissions.application == .foreground, isAuthorized { deliverKept(at: now, &outputs) }
    adviseIfNotInUse(for: advisesForApp ? .waking : nil, &outputs)
    watchOutage(at: now)
  }

  /// Whether a service runs, or waits for permission, so that a refusal is reported as an error of the manager.
  private func usesLocation(awaitsVisits: Bool) -> Bool {
    services.wantsStandard || services.wantsSignificant || heading.isRunning || awaitsVisits
  }

  /// Handles the refusal of a permission that services have waited for (SU-18).
  mutating func permissionRefused(awaitsVisits: Bool, _ outputs: inout [PositioningOutput]) {
    guard !isAuthorized, permissions.status != .notDetermined, usesLocation(awaitsVisits: awaitsVisits) else { return }
    fail(.denied, &outputs)
  }

  mutating func permissionLost(awaitsVisits: Bool, _ outputs: inout [PositioningOutput]) {
    // A request has an outcome in every status (RQ-1); a started service waits for the next grant (AU-16).
    let isRequest = oneShot.isPending
    let isUsed = usesLocation(awaitsVisits: awaitsVisits) || isRequest
    if deferral.isActive {
      _ = deferral.end()
      emit(.didFinishDeferredUpdates(.deferredNotUpdatingLocation), &outputs)
    }
    oneShot.cancel()
    updates.stop()
    significant.stop()
    pausing.stop()
    held = []
    services.permissionLost()
    if isRequest || isUsed && permissions.status != .notDetermined {
      fail(.denied, by: isRequest ? .request : [], &outputs)
    }
  }

  /// Whether nothing is delivered although the client is authorized; reported once per stay in the background.
  func needsInUse(_ delivery: Delivery) -> Bool { isAuthorized && delivery == .none }

  /// - Parameter service: a service of the app, in addition to the client's services.
  mutating func adviseIfNotInUse(for service: DeliveryRules.Service? = nil, _ outputs: inout [PositioningOutput]) {
    if permissions.application == .foreground { isNotInUseReported = false }
    let wantsRunning = heading.isRunning || !services.rangedTargets.isEmpty
    guard !isNotInUseReported,
      (services.wantsStandard || oneShot.isPending || service == .standard) && needsInUse(standardDelivery)
        || (services.wantsSignificant || service == .waking) && needsInUse(wakingDelivery)
        || wantsRunning && needsInUse(runningDelivery)
    else { return }
    isNotInUseReported = true
    outputs.append(.advice(id, .notInUse))
  }

  /// Starts or stops the outage timer, depending on whether the client waits for fixes.
  mutating func watchOutage(at now: Instant) {
    let isStandardWaiting = updates.isRunning && !pausing.isPaused && standardDelivery == .deliver
    let isSignificantWaiting = significant.isRunning && wakingDelivery != .none
    if isStandardWaiting || isSignificantWaiting {
      outage.start(activity, at: now)
    } else {
      // After a reported outage the first fix is delivered regardless of the filter, however long delivery is
      // interrupted before it (SU-17).
      if outage.isReported { updates.expectFreshFix() }
      outage.stop()
    }
  }

  /// Whether to advise that there was no permission request: once (AU-9).
  mutating func adviseNotRequested() -> Bool {
    defer { isNotRequestedReported = true }
    return !isNotRequestedReported
  }

  // MARK: The standard service

  mutating func beginStandard(cached: Sample?, at now: Instant, _ outputs: inout [PositioningOutput]) {
    guard updates.start(at: now) else { return }
    pausing.start(at: now)
    watchOutage(at: now)
    guard let cached, standardDelivery != .none else { return }
    updates.delivered(cached: cached)
    deliverOrHold([cached], &outputs)
  }

  /// Ends the run: its undelivered events are recalled (SU-15), except those emitted from now on.
  mutating func endStandard(at now: Instant, _ outputs: inout [PositioningOutput]) {
    endDeferral(.deferredNotUpdatingLocation, at: now, &outputs)
    updates.stop()
    pausing.stop()
    held = []
    watchOutage(at: now)
  }

  /// Delivers the kept fixes, then the end (DF-16, DF-17).
  mutating func endDeferral(_ error: PositioningError, at now: Instant, _ outputs: inout [PositioningOutput]) {
    guard deferral.isActive else { return }
    deliverKept(at: now, &outputs)
    _ = deferral.end()
    emit(.didFinishDeferredUpdates(error), &outputs)
  }

  private mutating func deliverKept(at now: Instant, _ outputs: inout [PositioningOutput]) {
    let kept = deferral.take()
    if let last = kept.last { markDelivered(last, at: now) }
    emit(kept, &outputs)
  }

  /// Records a sample of the standard service that reaches the client. One that is held has not reached it, and may be
  /// a significant change.
  mutating func markDelivered(_ sample: Sample, at now: Instant) {
    updates.delivered(sample)
    if standardDelivery == .deliver { significant.delivered(sample, at: now) }
  }

  mutating func beginSignificant(cached: Sample?, at now: Instant, _ outputs: inout [PositioningOutput]) {
    guard significant.start(at: now) else { return }
    watchOutage(at: now)
    guard let cached, wakingDelivery != .none else { return }
    significant.delivered(cached: cached)
    emit([cached], by: .significant, &outputs)
  }

  mutating func deliverOrHold(_ samples: [Sample], _ outputs: inout [PositioningOutput]) {
    switch standardDelivery {
    case .deliver: emit(samples, &outputs)
    case .hold:
      held += samples
      if held.count > Self.heldLimit { held.removeFirst(held.count - Self.heldLimit) }
    case .none: break
    }
  }

  mutating func carryOut(_ action: Pausing.Action, at now: Instant, _ outputs: inout [PositioningOutput]) {
    switch action {
    case .none: return
    case .pause:
      endDeferral(.deferredNotUpdatingLocation, at: now, &outputs)
      emit(.didPauseLocationUpdates, &outputs)
    case .resume:
      updates.expectFreshFix()
      emit(.didResumeLocationUpdates, &outputs)
    }
    watchOutage(at: now)
  }
}

/// The calls that concern only one client.
extension ClientSession {
  /// - Returns: false for a call that concerns the whole app.
  mutating func call(
    _ call: ClientCall, hostCapabilities: HostCapabilities, cached: Sample?, aged: Sample?, at now: Instant,
    _ outputs: inout [PositioningOutput]
  ) -> Bool {
    services.apply(
      call,
      StartedServices.Conditions(
        status: permissions.status, accuracy: permissions.accuracy, hostCapabilities: hostCapabilities))
    if call.endsRequest { hasDroppedRequest = false }
    switch call {
    // One callback with the current status for each delegate that is assigned (AU-2).
    case .setDelegate: emitAuthorization(permissions.status, permissions.accuracy, &outputs)
    case .setDesiredAccuracy(let metres):
      updates.desiredAccuracyMetres = metres
      oneShot.aim(desiredAccuracyMetres: metres)
      checkDeferral(at: now, &outputs)
    case .setDistanceFilter(let metres):
      updates.distanceFilterMetres = metres
      checkDeferral(at: now, &outputs)
    case .setActivity(let activity): carryOut(pausing.setActivity(activity, at: now), at: now, &outputs)
    case .setPausesAutomatically(let may): carryOut(pausing.setMayPause(may, at: now), at: now, &outputs)
    case .setAllowsBackgroundUpdates(let allows): setAllowsBackground(allows, at: now, &outputs)
    case .setShowsBackgroundIndicator(let shows): setShowsIndicator(shows, at: now)
    case .setHeadingFilter(let degrees): heading.filterDegrees = degrees
    case .setHeadingOrientation(let orientation): heading.setOrientation(orientation)

    case .startUpdatingLocation: startStandard(cached: cached, at: now, &outputs)
    case .stopUpdatingLocation:
      oneShot.cancel()
      endStandard(at: now, &outputs)
    case .requestLocation: requestLocation(aged: aged, at: now, &outputs)
    case .allowDeferredUpdates(let metres, let seconds):
      allowDeferral(metres, seconds, hostCapabilities: hostCapabilities, position: aged, at: now, &outputs)
    case .disallowDeferredUpdates: endDeferral(.deferredCanceled, at: now, &outputs)

    case .startSignificantChanges: startSignificant(hostCapabilities, cached: cached, at: now, &outputs)
    case .stopSignificantChanges:
      significant.stop()
      watchOutage(at: now)

    case .startHeading:
      guard hostCapabilities.hasCompass else { break }
      heading.start()
      // No service delivers without permission, and each reports it (GE-1).
      if permissions.status == .denied || permissions.status == .restricted { fail(.denied, &outputs) }
      adviseIfNotInUse(&outputs)
    case .stopHeading:
      if heading.calibrated() == .hide { outputs.append(.hideCalibration(id)) }
      heading.stop()
    case .showsCalibration(let shows):
      if heading.calibrationAnswered(shows) == .show { outputs.append(.showCalibration(id)) }
    case .dismissCalibration:
      if heading.dismissCalibration() == .hide { outputs.append(.hideCalibration(id)) }

    case .startRanging(let target): startRanging(target, hostCapabilities, at: now, &outputs)
    case .stopRanging: ranging.targetsChanged(services.rangedTargets, at: now)

    case .requestWhenInUse, .requestAlways, .requestTemporaryFullAccuracy, .startVisits, .stopVisits,
      .startMonitoring, .stopMonitoring, .requestState:
      return false
    }
    return true
  }

  private mutating func startStandard(cached: Sample?, at now: Instant, _ outputs: inout [PositioningOutput]) {
    oneShot.cancel()
    switch permissions.status {
    case .denied, .restricted: fail(.denied, &outputs)
    case .notDetermined: break
    case .authorizedAlways, .authorizedWhenInUse:
      if updates.isRunning {
        carryOut(pausing.resume(at: now), at: now, &outputs)
      } else {
        beginStandard(cached: cached, at: now, &outputs)
      }
      adviseIfNotInUse(&outputs)
    }
  }

  private mutating func requestLocation(aged: Sample?, at now: Instant, _ outputs: inout [PositioningOutput]) {
    switch permissions.status {
    case .denied, .restricted: fail(.denied, &outputs)
    // `PositioningEngine` reports why the request is dropped.
    case .notDetermined: break
    case .authorizedAlways, .authorizedWhenInUse:
      guard !updates.isRunning else { return }
      // The app is not in use, so it gets no fix (RQ-14).
      guard standardDelivery != .none else {
        fail(.denied, by: .request, &outputs)
        return adviseIfNotInUse(for: .standard, &outputs)
      }
      let outcome = oneShot.request(
        desiredAccuracyMetres: updates.desiredAccuracyMetres, cached: aged, at: now)
      finish(outcome, at: now, &outputs)
      adviseIfNotInUse(&outputs)
    }
  }

  private mutating func startSignificant(
    _ hostCapabilities: HostCapabilities, cached: Sample?, at now: Instant, _ outputs: inout [PositioningOutput]
  ) {
    guard hostCapabilities.hasSignificantChanges else {
      outputs.append(.advice(id, .notAvailable("significant-change monitoring")))
      return
    }
    switch permissions.status {
    case .denied, .restricted: fail(.denied, &outputs)
    case .notDetermined: break
    case .authorizedAlways, .authorizedWhenInUse:
      beginSignificant(cached: cached, at: now, &outputs)
      adviseIfNotInUse(&outputs)
    }
  }

  private mutating func allowDeferral(
    _ metres: Double, _ seconds: Double, hostCapabilities: HostCapabilities, position: Sample?, at now: Instant,
    _ outputs: inout [PositioningOutput]
  ) {
    oneShot.cancel()
    endDeferral(.deferredCanceled, at: now, &outputs)
    let delegate = services.delegate
    let takesLocations = delegate?.contains(.takesLocations) ?? false
    if let error = Deferral.refusal(
      isUpdating: updates.isRunning && !pausing.isPaused, hasSatelliteReceiver: hostCapabilities.hasSatelliteReceiver,
      delegateTakesLocations: takesLocations, desiredAccuracyMetres: updates.desiredAccuracyMetres,
      isUnfiltered: updates.isUnfiltered)
    {
      if delegate != nil, !takesLocations {
        outputs.append(.advice(id, .delegateLacks("locationManager(_:didUpdateLocations:)")))
      }
      emit(.didFinishDeferredUpdates(error), &outputs)
      return
    }
    // An older fix is not the position at the time of the call: the path then begins with the next fix (DF-8).
    let isRecent = position.map { now.milliseconds(since: $0.measured) <= OneShot.cacheAge.count } ?? false
    deferral.allow(distanceMetres: metres, seconds: seconds, position: isRecent ? position : nil, at: now)
  }

  /// Ends the deferral after a setting that excludes it (DF-22).
  private mutating func checkDeferral(at now: Instant, _ outputs: inout [PositioningOutput]) {
    guard deferral.isActive,
      let error = Deferral.refusal(
        isUpdating: true, hasSatelliteReceiver: true, delegateTakesLocations: true,
        desiredAccuracyMetres: updates.desiredAccuracyMetres, isUnfiltered: updates.isUnfiltered)
    else { return }
    endDeferral(error, at: now, &outputs)
  }

  private mutating func startRanging(
    _ target: Ranging.Target, _ hostCapabilities: HostCapabilities, at now: Instant,
    _ outputs: inout [PositioningOutput]
  ) {
    if !hostCapabilities.hasBluetooth {
      emit(.rangingDidFail(target, .rangingUnavailable), &outputs)
    } else {
      if target.identity == nil || isRangingRefused { emit(.rangingDidFail(target, .rangingFailure), &outputs) }
      ranging.targetsChanged(services.rangedTargets, at: now)
      adviseIfNotInUse(&outputs)
    }
  }
}
