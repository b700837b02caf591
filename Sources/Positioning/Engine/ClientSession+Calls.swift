// SPDX-License-Identifier: Apache-2.0
import MonotonicTime

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
      checkDeferral(&outputs)
    case .setDistanceFilter(let metres):
      updates.distanceFilterMetres = metres
      checkDeferral(&outputs)
    case .setActivity(let activity): pausing.activity = activity
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
    case .disallowDeferredUpdates: endDeferral(.deferredCanceled, &outputs)

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
      finish(outcome, &outputs)
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
    endDeferral(.deferredCanceled, &outputs)
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
  private mutating func checkDeferral(_ outputs: inout [PositioningOutput]) {
    guard deferral.isActive,
      let error = Deferral.refusal(
        isUpdating: true, hasSatelliteReceiver: true, delegateTakesLocations: true,
        desiredAccuracyMetres: updates.desiredAccuracyMetres, isUnfiltered: updates.isUnfiltered)
    else { return }
    endDeferral(error, &outputs)
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
