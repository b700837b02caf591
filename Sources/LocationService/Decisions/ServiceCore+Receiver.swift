import MonotonicTime
import Positioning
import PowerControl
import Receiver
import ReceiverPower
import ReceiverStream

// Between the receiver, its power and the clients.
extension ServiceCore {
  // MARK: From the receiver

  /// An epoch of the receiver's line.
  ///
  /// - Parameter isUpdate: more of an epoch that came before.
  mutating func receive(
    _ fix: Fix, sky: borrowing Sky, isUpdate: Bool, source: Location.Source?, at now: Moment
  ) {
    self.source = source
    coordinator.receive(fix, sky: sky, isUpdate: isUpdate, at: now.instant)
    drain(at: now)
    // Behind the location, which tells how far magnetic north is off.
    receiveHeading(of: fix, at: now)
  }

  /// What the session with the receiver tells.
  mutating func receive(_ events: ReceiverEvent, at now: Moment) {
    switch events {
    case .session(let report, let desired, let receiver, let port):
      coordinator.receive(report, desired: desired, receiver: receiver, port: port, at: now.instant)
    case .batch(let event): coordinator.receive(event, at: now.instant)
    case .lost:
      choice.lost(0)
      coordinator.lost(at: now.instant)
      receiverHeadingLost(at: now.instant)
    }
    drain(at: now)
  }

  /// An earlier process of this program left the receiver collecting, or had not delivered all that it collected.
  mutating func hasLeftoverBatch() {
    coordinator.expectLeftover()
    batch.isLeftover = true
    batch.begin()
  }

  // MARK: From clients

  /// What a manager was asked. A call that ends a deferral waits until what the receiver holds for it is read, and calls
  /// behind it keep their order.
  mutating func call(_ call: ClientCall, by id: Positioning.ClientID, at now: Instant) {
    let isOwed =
      coordinator.holdsFixes && call.endsDeferral && engine.demand(of: id).standard?.deferral?.mayBatch == true
    guard isOwed || batch.hasWaitingCalls else { return engine.call(call, by: id, at: now) }
    batch.wait(call, of: id, at: now)
    coordinator.readOut(at: now)
  }

  mutating func applyWaitingCalls(at now: Instant) {
    for (call, id) in batch.takeCalls(isReading: coordinator.isReadingOut) { engine.call(call, by: id, at: now) }
  }

  /// Tells the policy what has changed of what is needed; whether anything has.
  mutating func updateDemands(at now: Instant) -> Bool {
    let events = power.update(demandsOfManagers, shared: engine.sharedDemand, at: now)
    for event in events { coordinator.handle(event, at: now) }
    return !events.isEmpty
  }

  // MARK: What comes of it

  mutating func drain(at now: Moment) {
    while let output = coordinator.nextOutput(at: now.instant) { take(output, at: now) }
    engineIsTold(coordinator.isSilenceWanted ? .idle : .searching, at: now.instant)
  }

  private mutating func take(_ output: CoordinatorOutput, at now: Moment) {
    switch output {
    case .command(let command): extra.append(.receiver(command))
    // One that is put back as it was found is woken for that.
    case .report(let report): if isReceiverWanted, let text = report.text { extra.append(.log(text)) }
    case .live(let fix, let instant):
      noteMovement(fix, at: now.instant)
      replay(at: now)
      let isChosen =
        !fix.hasPosition || choice.takes(accuracyMetres: fix.horizontalAccuracyMetres, of: 0, at: now.instant)
      if isChosen { deliver(fix, received: now.earlier(at: instant), at: now) }
      _ = updateDemands(at: now.instant)
    case .collects(let journal):
      batch.begin()
      extra.append(.keepBatch(journal))
    case .collectsNoMore: break
    case .readOutBegins: engine.batchBegins(until: now.instant + BatchDelivery.longestWait)
    case .batched(let entry, let journal):
      noteMovement(entry.fix, at: now.instant)
      // Some of what that process had kept may have come behind what it had read.
      if let time = entry.fix.time { replay(until: time, at: now) }
      batch.read(entry.fix, journal)
      deliverRemembered(entry.fix, isLeftover: batch.isLeftover, at: now)
    case .lost(let count, let loss): extra.append(.log(loss.text(count)))
    case .startedAnew:
      extra.append(
        .log("the receiver started anew; what it had kept until then is lost, an unknown number of fixes"))
    case .readOutEnds:
      if batch.isLeftover { replay(at: now) }
      batch.isLeftover = false
      engine.batchEnded(at: now)
      applyWaitingCalls(at: now.instant)
      _ = updateDemands(at: now.instant)
    }
  }

  /// What an earlier process had kept for a deferral and not delivered comes before what is new: all of it, or up to a time.
  private mutating func replay(until time: UTCTime? = nil, at now: Moment) {
    guard engine.authorization.status.isAuthorized, power.hasStandard else { return }
    for location in batch.takeRestored(until: time) { deliver(location, at: now) }
  }

  /// A speed that is clearly one is movement, also where the place does not show it yet (rule PA-7).
  private mutating func noteMovement(_ fix: Fix, at now: Instant) {
    guard power.isPaused, let facts = FixObservation(fix), coordinator.power.moves(facts) else { return }
    engine.movementNoticed(at: now)
  }

  private mutating func engineIsTold(_ activity: SourceActivity, at now: Instant) {
    guard activity != sourceActivity else { return }
    sourceActivity = activity
    engine.sourceBecame(activity, at: now)
  }

  /// What is delivered of the receiver's memory is noted behind its delivery.
  mutating func noteDelivered(_ actions: [ServiceAction]) {
    if batch.areAllDelivered(isDeferring: power.isDeferring) { extra.append(.forgetLocations) }
    guard batch.isKept else { return }
    var newest: UTCTime?
    for action in actions {
      guard case .deliver(_, .didUpdateLocations(let locations), _) = action, let last = locations.last else {
        continue
      }
      newest = max(newest ?? last.timestamp, last.timestamp)
    }
    if !power.isDeferring || newest != nil, let journal = batch.delivered(until: power.isDeferring ? newest : nil) {
      extra.append(.noteBatch(journal))
    }
    let collects = coordinator.isCollecting
    if !coordinator.isReadingOut, batch.isAllDelivered(collects: collects) {
      extra.append(.forgetBatch(collects: collects))
    }
  }
}

/// What the session with the receiver tells, and what its line does.
enum ReceiverEvent: Sendable {
  case session(SessionReport, desired: DesiredConfiguration?, receiver: ReceiverDescription?, port: ReceiverPortNumber?)
  case batch(BatchEvent)
  /// The receiver is gone.
  case lost
}

extension BatchLoss {
  fileprivate func text(_ count: Int) -> String {
    let fixes = "\(count) fix\(count == 1 ? "" : "es") lost"
    return switch self {
    case .overrun: "\(fixes): the receiver's memory was full"
    case .line: "\(fixes) on the way from the receiver"
    }
  }
}

extension PowerReport {
  /// The line for people; nil for what clients are told, or the receiver's own news.
  fileprivate var text: String? {
    switch self {
    case .batchGone(let count):
      "at most \(count) fix\(count == 1 ? "" : "es") lost: the receiver started anew while it kept them"
    case .refused(let refusal): "the receiver refuses \(refusal.text); it is tried again in an hour"
    case .doesNotSleep: "the receiver does not sleep although it is asked to; it stays on"
    case .wakesByItself: "the receiver wakes although nobody wakes it (is something else talking to it?)"
    case .doesNotWake: "the receiver does not wake; check its supply, or switch it off and on"
    case .answersAgain: "the receiver answers again"
    case .paused, .resumed, .skyLost, .skyBack, .deferralDue, .deferralKeptByHost, .fixesLost, .hostIsNeeded,
      .noReceiver:
      nil
    }
  }
}

extension Refusal {
  fileprivate var text: String {
    switch self {
    case .backup: "to sleep"
    case .cyclicTracking: "cyclic tracking"
    case .onOff: "on/off operation"
    case .batching: "to batch"
    case .constellations: "its constellations"
    case .powerSwitch: "to be switched off"
    }
  }
}
