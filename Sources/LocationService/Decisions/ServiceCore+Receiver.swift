// SPDX-License-Identifier: Apache-2.0
import MonotonicTime
import Positioning
import Power
import Receiver
import ReceiverStream

// The decisions that connect the receiver, its power policy and the clients.
extension ServiceCore {
  mutating func receive(_ event: ReceiverEvent, at now: Moment) {
    switch event {
    case .session(let report, let desired, let receiver, let port):
      if case .silent = report { lastKind = nil }
      coordinator.receive(report, desired: desired, receiver: receiver, port: port, at: now.instant)
    case .batch(let event): coordinator.receive(event, at: now.instant)
    case .lost:
      deliverHeldEpoch(at: now)
      receive(.standbyLost(0), at: now)
      coordinator.lost(at: now.instant)
      changeSensing(at: now.instant) { $0.receiverHeadingLost() }
    case .isInModem(let isInModem): coordinator.setInModem(isInModem)
    case .engineRefused: coordinator.handle(.refused(.powerSwitch), at: now.instant)
    case .assistance(let seconds): coordinator.handle(.assistance(usableSeconds: seconds), at: now.instant)
    }
    drain(at: now)
  }

  /// Handles a manager's call. A call that ends a deferral waits until the fixes that the receiver stores for it are
  /// read, and later calls queue after it.
  package mutating func call(_ call: ClientCall, by id: ManagerID, at now: Instant) {
    guard let index = index(of: id.program) else { return }
    let isOwed =
      coordinator.holdsFixes && call.endsDeferral
      && programs.list[index].engine.demand(of: id.client).isDeferring
    guard isOwed || batch.hasWaitingCalls(of: id.program) else {
      return programs.change(index) { $0.engine.call(call, by: id.client, at: now) }
    }
    batch.wait(call, of: id, at: now)
    coordinator.readOut(at: now)
  }

  mutating func applyWaitingCalls(at now: Instant) {
    for (call, id) in batch.takeCalls(isReading: coordinator.isReadingOut, at: now) {
      change(id.program) { $0.call(call, by: id.client, at: now) }
    }
  }

  mutating func take(_ output: CoordinatorOutput, at now: Moment) {
    switch output {
    case .command(let command): enqueue(.receiver(command))
    // A released receiver is woken to be restored, which is not reported.
    case .report(let report): if receivers.isOpen, let text = report.text { enqueue(.log(text)) }
    case .live(let fix, let instant):
      noteMovement(fix, at: now.instant)
      replay(at: now)
      receive(fix, received: now.earlier(at: instant), at: now)
      updateDemands(at: now.instant)
    case .collects(let journal):
      // Fixes from the receiver's memory arrive in order.
      deliverHeldEpoch(at: now)
      batch.begin()
      programs.forgetDelivered()
      enqueue(.keepBatch(journal))
    case .collectsNoMore: break
    case .readOutBegins:
      deliverHeldEpoch(at: now)
      readOutBegins(until: now.instant + BatchDelivery.longestWait)
    case .batched(let entry, let journal):
      noteMovement(entry.fix, at: now.instant)
      // A location that the earlier process kept can be older or newer than a fix that it had read.
      if let time = entry.fix.time { replay(until: time, at: now) }
      batch.read(entry.fix, journal)
      deliverRemembered(entry.fix, at: now)
    case .lost(let count, let loss): enqueue(.log(loss.text(count)))
    case .startedAnew:
      enqueue(.log("the receiver has restarted; the fixes that it had stored are lost, an unknown number"))
    case .readOutEnds:
      if batch.isLeftover { replay(at: now) }
      batch.readOutEnded()
      readOutEnded(at: now)
      applyWaitingCalls(at: now.instant)
      updateDemands(at: now.instant)
    }
  }

  /// The power state of the first receiver.
  var powerStatus: PowerStatus { receivers.isOpen ? coordinator.status : .absent }

  /// Delivers locations that an earlier process kept for a deferral, before newer ones: up to a time, or all of them.
  mutating func replay(until time: UTCTime? = nil, at now: Moment) {
    guard isAnyAuthorized, power.hasStandard else { return }
    for location in batch.takeRestored(until: time) { deliver(location, received: now.instant, at: now) }
    if time == nil, readOutEnds != nil, !coordinator.isReadingOut { readOutEnded(at: now) }
  }

  /// A speed can show movement before the position does (rule PA-7).
  private mutating func noteMovement(_ fix: Fix, at now: Instant) {
    guard power.isPaused, let observation = FixObservation(fix), coordinator.power.moves(observation) else { return }
    changeEngines { $0.movementNoticed(at: now) }
  }

  /// Records which fixes of the receiver's memory were delivered, after their delivery.
  mutating func noteDelivered(_ actions: [ServiceAction]) {
    if batch.takeStoredDelivered(isDeferring: power.isDeferring) { enqueue(.discardLocations) }
    guard batch.isKept else { return }
    for case .program(let id, .output(.event(_, .didUpdateLocations(let locations), _))) in actions {
      guard let index = index(of: id), let newest = locations.last?.timestamp else { continue }
      programs.noteDelivered(newest, to: index)
    }
    // A fix is delivered when each program with a deferral has received it.
    let deferring = programs.deliveredToDeferring
    let newest = deferring.contains(nil) ? nil : deferring.compactMap(\.self).min()
    if !power.isDeferring || newest != nil, let journal = batch.delivered(until: newest) {
      enqueue(.noteBatch(journal))
    }
    let collects = coordinator.isCollecting
    if !coordinator.isReadingOut, batch.takeReadOutDelivered(collects: collects) {
      enqueue(.discardBatch(collects: collects))
    }
  }
}

extension BatchLoss {
  fileprivate func text(_ count: Int) -> String {
    let fixes = "\(count) fix\(count == 1 ? "" : "es") lost"
    return switch self {
    case .overrun: "\(fixes): the receiver's memory was full"
    case .line: "\(fixes) on the way from the receiver"
    case .pause: "\(fixes) while the receiver's memory was read"
    }
  }
}

extension PowerReport {
  /// The line for the log; nil for a report to clients, or a report that also arrives as a receiver event.
  fileprivate var text: String? {
    switch self {
    case .batchGone(let count):
      "at most \(count) fix\(count == 1 ? "" : "es") lost: the receiver has restarted and its memory is empty"
    case .refused(let refusal): "the receiver refuses \(refusal.text); the next try is in an hour"
    case .doesNotSleep: "the receiver does not go to sleep by its command; it stays on"
    case .wakesByItself: "the receiver wakes without a command (does another program send to it?)"
    case .doesNotWake: "the receiver does not wake; check its supply, or switch it off and on"
    case .answersAgain: "the receiver answers again"
    case .skyLost, .skyBack, .deferralDue, .deferralKeptByHost, .fixesLost, .hostIsNeeded,
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
