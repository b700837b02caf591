// SPDX-License-Identifier: Apache-2.0
import MonotonicTime

/// The inputs of a client, except its own calls.
extension ClientSession {
  /// Handles a sample. It allocates nothing for a client that does not receive the sample.
  ///
  /// - Parameters:
  ///   - sample: the location for delivery.
  ///   - actual: the measured location: a coarse one does not show movement.
  ///   - isRemembered: the sample comes from a receiver's memory.
  ///   - now: the current instant.
  mutating func receive(
    _ sample: Sample, actual: Sample, isRemembered: Bool, at now: Instant, _ outputs: inout [PositioningOutput]
  ) {
    if standardDelivery != .none || wakingDelivery != .none {
      // After a reported outage the first fix is delivered regardless of the filter (SU-17).
      if outage.isReported { updates.expectFreshFix() }
      outage.fixArrived(at: now)
    }
    if oneShot.isPending, standardDelivery != .none {
      finish(oneShot.receive(sample, isReduced: permissions.accuracy == .reduced, at: now), at: now, &outputs)
    }
    // Locations that were kept for another client are received again (SU-16). Later an earlier time is not a repetition
    // (SU-19).
    if let before = deliveredBefore, isRemembered || now < repetitionEnds,
      sample.location.timestamp <= before.timestamp
    {
      guard !isRemembered, backwardStep.noteArrival(of: sample.location.timestamp, at: now) else { return }
      repetitionEnds = .zero
    }
    var wantsForStandard = false
    if updates.isRunning, standardDelivery != .none {
      // A suspended app gets no events of pauses, so it is not paused.
      if standardDelivery == .deliver { carryOut(pausing.receive(actual, at: now), at: now, &outputs) }
      wantsForStandard =
        !pausing.isPaused && updates.wants(sample)
        && (permissions.accuracy == .full || updates.coarse.take(sample))
    }
    let wantsForSignificant =
      significant.isRunning && wakingDelivery != .none && significant.wants(sample, at: now)
    if wantsForSignificant {
      // Both services deliver through the same method, and each fix once (SC-1, GE-5).
      emit([sample], by: wantsForStandard ? [.standard, .significant] : .significant, &outputs)
      significant.delivered(sample, at: now)
    }
    if wantsForStandard {
      deliverStandard(sample, isDelivered: wantsForSignificant, isRemembered: isRemembered, at: now, &outputs)
    }
  }

  private mutating func deliverStandard(
    _ sample: Sample, isDelivered: Bool, isRemembered: Bool, at now: Instant, _ outputs: inout [PositioningOutput]
  ) {
    guard deferral.isActive else {
      markDelivered(sample, at: now)
      if !isDelivered { deliverOrHold([sample], &outputs) }
      return
    }
    // Samples that an earlier process kept arrive one after the other, and count as measured now.
    let hasMore = isRemembered && sample.measured >= now
    switch deferral.receive(sample, isBackground: isBackground, keeps: !isDelivered, hasMore: hasMore) {
    case .keep: if isDelivered { markDelivered(sample, at: now) }
    case .deliver:
      markDelivered(sample, at: now)
      deliverOrHold([sample], &outputs)
    case .flush(let samples):
      markDelivered(sample, at: now)
      deliverOrHold(samples, &outputs)
    case .finish(let samples):
      markDelivered(sample, at: now)
      emit(.didFinishDeferredUpdates(nil), &outputs)
      deliverOrHold(samples, &outputs)
    }
  }

  mutating func finish(_ outcome: OneShot.Outcome?, at now: Instant, _ outputs: inout [PositioningOutput]) {
    switch outcome {
    case nil: break
    case .location(let sample):
      if let delegate = services.delegate, !delegate.contains(.takesLocations) {
        outputs.append(.advice(id, .delegateLacks("locationManager(_:didUpdateLocations:)")))
      }
      var makers: Makers = [.standard, .request]
      if wakingDelivery != .none, significant.wants(sample, at: now) { makers.insert(.significant) }
      significant.delivered(sample, at: now)
      emit([sample], by: makers, &outputs)
    case .locationUnknown:
      // A program that is no longer in use gets no fix.
      fail(standardDelivery == .none ? .denied : .locationUnknown, by: [.standard, .request], &outputs)
    }
  }

  mutating func sourceBecame(_ activity: SourceActivity, at now: Instant) {
    self.activity = activity
    outage.sourceBecame(activity, at: now)
  }

  mutating func receive(_ sample: HeadingSample, declinationDegrees: Double?, _ outputs: inout [PositioningOutput]) {
    guard runningDelivery == .deliver,
      let update = heading.receive(
        sample, declinationDegrees: declinationDegrees, showsTrueNorth: updates.isRunning)
    else { return }
    emit(.didUpdateHeading(update), &outputs)
  }

  /// The time of the next `wake`.
  ///
  /// - Parameter awaitsBatch: as in `wake`.
  func deadline(awaitsBatch: Bool) -> Instant? {
    var next = Instant.earlier(oneShot.deadline, awaitsBatch ? nil : deferral.deadline)
    if updates.isRunning, standardDelivery == .deliver { next = Instant.earlier(next, pausing.deadline) }
    if wakingDelivery != .none { next = Instant.earlier(next, significant.deadline) }
    if isRanging { next = Instant.earlier(next, ranging.deadline) }
    return Instant.earlier(next, outage.deadline)
  }

  /// - Parameter awaitsBatch: a receiver's memory is being read: its fixes were measured before a deferral's end.
  mutating func wake(at now: Instant, awaitsBatch: Bool, _ outputs: inout [PositioningOutput]) {
    finish(oneShot.wake(at: now), at: now, &outputs)
    if !awaitsBatch, let kept = deferral.wake(at: now) {
      if let last = kept.last { markDelivered(last, at: now) }
      emit(.didFinishDeferredUpdates(nil), &outputs)
      deliverOrHold(kept, &outputs)
    }
    if outage.wake(at: now) { fail(.locationUnknown, &outputs) }
    if updates.isRunning, standardDelivery == .deliver {
      carryOut(pausing.wake(isOutage: outage.isReported, at: now), at: now, &outputs)
    }
    if wakingDelivery != .none, let sample = significant.wake(at: now) {
      emit([sample], by: .significant, &outputs)
      significant.delivered(sample, at: now)
      deferral.drop(sample)
      held.removeAll { $0 == sample }
    }
    if isRanging {
      for report in ranging.wake(services.rangedTargets, at: now) {
        emit(.didRange(report.beacons, report.target), &outputs)
      }
    }
  }

  /// Accuracy was reduced: earlier locations that wait for delivery become as coarse as later ones (AU-19).
  mutating func reduceWhatWaits() {
    oneShot.reduce(to: cells)
    updates.reduce(to: cells)
    significant.reduce(to: cells)
    deferral.reduce(to: cells)
    held = cells.reduced(held)
  }

  /// Whether beacons may be reported now: with full accuracy, and while the app runs.
  var isRanging: Bool { runningDelivery == .deliver && mayRange }

  // MARK: Properties of the manager

  /// The manager's `location`: the last delivered one while a service runs (SU-10, SU-23, DF-25), else the newest of
  /// the system (LC-2).
  func location(newest: Location?) -> Location? {
    isAuthorized ? delivered?.location ?? newest : nil
  }

  /// The last sample that a running service has delivered.
  var delivered: Sample? {
    guard let standard = updates.lastDelivered else { return significant.lastDelivered }
    guard let other = significant.lastDelivered else { return standard }
    return standard.measured >= other.measured ? standard : other
  }

  /// Whether headings are delivered now.
  var asksForHeading: Bool { heading.isRunning && runningDelivery == .deliver }

  var demand: Demand {
    var demand = Demand()
    if updates.isRunning, standardDelivery != .none {
      demand.updates = Demand.Updates(
        accuracy: Demand.Accuracy(desiredMetres: updates.desiredAccuracyMetres),
        distanceFilterMetres: max(updates.distanceFilterMetres, 0), activity: pausing.activity, delivery: delivery)
      demand.startedAt = updates.startedAt
    }
    if let metres = oneShot.desiredAccuracyMetres, oneShot.deadline != nil, standardDelivery != .none {
      demand.oneShot = Demand.Accuracy(desiredMetres: metres)
    }
    if significant.isRunning, wakingDelivery != .none {
      demand.significantChange = true
      demand.startedAt = max(demand.startedAt ?? .zero, significant.startedAt)
    }
    if asksForHeading { demand.headingFilterDegrees = heading.filterDegrees }
    demand.beacons = !services.rangedTargets.isEmpty && isRanging
    return demand
  }

  /// How the standard service delivers. In the foreground deferred locations are delivered live (DF-10).
  private var delivery: Demand.Delivery {
    if pausing.isPaused { return .paused }
    guard isBackground, let metres = deferral.remainingMetres else { return .live }
    return .deferred(Demand.Deferral(remainingMetres: metres.isFinite ? metres : nil, ends: deferral.deadline))
  }
}
