import FileSystem
import MonotonicTime
import Positioning
import SerialPort

/// The service's thread: it waits, reads the receiver, and carries out what `ServiceCore` decides.
struct ServiceThread: ~Copyable {
  private let service: LocationService
  private var poller: Poller
  private let receiver: ReceiverSource
  /// Receivers that stand by.
  private var others: [ReceiverSource]
  private let bus = BusSource()
  private let sensors: SensorThread
  private var isStateComplained = false
  private var administration: AdministrationWatch
  private var hotplugWatcher: HotplugWatcher

  init(_ service: LocationService) throws { self.init(service, try Poller()) }

  private init(_ service: LocationService, _ own: consuming Poller) {
    poller = own
    self.service = service
    let settings = service.settings
    others = settings.others.enumerated().map { index, source in ReceiverSource(source, number: index + 1, settings) }
    sensors = SensorThread(service)
    receiver = ReceiverSource(
      settings.source, settings,
      batchFolder: settings.stateFolder.map { "\($0)/apps/\(service.app.folderName)/batch" },
      deferredFile: settings.stateFolder.map { "\($0)/\(StateFile.deferred.path(of: service.app))" })
    administration = AdministrationWatch(service.store, stateFolder: service.settings.stateFolder, &poller)
    hotplugWatcher = HotplugWatcher(
      isNeeded: service.settings.source == .firstFound,
      hasReceiver: service.read { $0.hostCapabilities.hasSatelliteReceiver }, &poller, at: System.now().instant)
    // What was changed between the start and the watch.
    service.administration(administration.look(), at: System.now().instant)
    service.waits(at: poller.waker)
  }

  /// Runs until the service was finished and its receiver is as it was found.
  mutating func run() {
    while true {
      let now = System.now()
      service.lookAtApplication(at: now.instant)
      carryOut(service.actions(at: now), at: now)
      if service.isFinished, receiver.isReleased, others.allSatisfy(\.isReleased) { return }
      var due = Instant.earlier(service.deadline(after: now.instant), receiver.deadline)
      for other in others { due = .earlier(due, other.deadline) }
      due = .earlier(due, hotplugWatcher.deadline)
      due = .earlier(due, bus.deadline)
      guard let events = try? poller.wait(deadline: due?.nanoseconds) else {
        return service.log("the location service has ended: the system refuses to wait for its receiver")
      }
      round(events)
    }
  }

  private mutating func round(_ events: [Poller.Event]) {
    let now = System.now()
    let service = service
    let origin = receiver.origin
    lookForReceivers(events, at: now.instant)
    for event in events {
      if event == .readable(AdministrationWatch.token) {
        service.administration(administration.hear(), at: now.instant)
        continue
      }
      receiver.handle(event, &poller, at: now.instant) { service.receive($0, $1, origin, at: now) }
    }
    receiver.wake(&poller, at: now.instant) { service.receive($0, $1, origin, at: now) }
    for other in others { round(other, events, at: now) }
    while let events = receiver.nextEvent() {
      switch events {
      case .log(let text): service.log(text)
      case .receiver(let events): service.receive(events, at: now)
      case .hasLeftoverBatch: service.hasLeftoverBatch()
      // With another receiver there is something left to be permitted.
      case .permitted(false) where !others.isEmpty: break
      case .permitted(let isPermitted): service.receiverIsPermitted(isPermitted, at: now.instant)
      case .trouble(let trouble): service.receiverIs(trouble)
      }
    }
    bus.wake(&poller, at: now.instant)
    while let events = bus.nextEvent() { tell(events, at: now) }
    service.wake(at: now)
  }

  private mutating func lookForReceivers(_ events: [Poller.Event], at now: Instant) {
    let (receiver, others) = (receiver, others)
    let found = hotplugWatcher.look(events, &poller, at: now) { port in
      receiver.holds(port) || others.contains { $0.holds(port) }
    }
    if found.isFirst {
      service.receiverCame()
      // Who waits for it is not to wait for the next try.
      receiver.lookAgain()
    }
    for node in found.others {
      self.others.append(ReceiverSource(.device(node), number: self.others.count + 1, service.settings))
      service.otherCame()
    }
  }

  private mutating func tell(_ events: BusSource.Event, at now: Moment) {
    switch events {
    case .log(let text): service.log(text)
    case .canHearBeacons(let can): service.updateCore { core in core.canHearBeacons(can, at: now.instant) }
    case .heard(let beacon, let strength):
      service.updateCore { core in core.heard(beacon, strength: strength, at: now) }
    case .suspending: service.updateCore { core in core.hostSuspends(at: now) }
    case .resumed(let seconds): service.updateCore { core in core.hostResumed(after: seconds, at: now) }
    }
  }

  /// A receiver that stands by gives fixes; of its troubles people are told, and clients only if there is no other.
  private mutating func round(_ other: ReceiverSource, _ events: [Poller.Event], at now: Moment) {
    let service = service
    let (number, origin) = (other.number, other.origin)
    for event in events {
      other.handle(event, &poller, at: now.instant) { report, _ in
        service.receive(report, ofOther: number, origin, at: now)
      }
    }
    other.wake(&poller, at: now.instant) { report, _ in service.receive(report, ofOther: number, origin, at: now) }
    while let events = other.nextEvent() {
      switch events {
      case .log(let text): service.log(text)
      case .receiver(.lost): service.otherIsLost(number)
      case .receiver, .hasLeftoverBatch, .permitted, .trouble: break
      }
    }
  }

  /// Events are put in their mailboxes before the newest location is remembered, as the thread that opens them takes a
  /// while to wake; it opens none before that is done.
  private mutating func carryOut(_ actions: [ServiceAction], at now: Moment) {
    var rest = actions[...]
    if let end = actions.firstIndex(where: \.isRemembering),
      let start = actions[..<end].lastIndex(where: { !$0.isDelivery }).map({ $0 + 1 }) ?? actions[..<end].indices.first
    {
      for action in actions[..<start] { carryOut(action, at: now) }
      service.holdBack { for action in actions[start...end] { carryOut(action, at: now) } }
      rest = actions[(end + 1)...]
    }
    for action in rest { carryOut(action, at: now) }
  }

  private mutating func carryOut(_ action: ServiceAction, at now: Moment) {
    switch action {
    case .deliver(let id, let event, let ticket): service.client(id)?.receive(event, ticket)
    case .temporaryAccuracy(let id, let token, let error):
      service.client(id)?.temporaryAccuracyAnswered(token: token, error)
    case .showCalibration(let id, let shows): service.client(id)?.calibrationShows(shows)
    case .live(let id, let update): service.stream(id)?.receive(update)
    case .monitorHasEvent(let name): service.notifyReaders(ofMonitor: name)
    case .sessions(let diagnostic): service.notifyReaders(diagnostic)
    case .prompt(let prompt): ask(prompt)
    case .log(let text): service.log(text)
    case .remember(let location): service.store.remember(StateText.text(of: location))
    case .store(let file, let text): store(file, text)
    case .openReceiver: receiver.open(&poller, at: now.instant)
    case .releaseReceiver: receiver.release(&poller, at: now.instant)
    case .sense(let demand):
      bus.set(demand, &poller, at: now.instant)
      sensors.set(demand)
    case .readyForSuspend: bus.isPrepared(&poller, at: now.instant)
    case .openOthers: for other in others { other.open(&poller, at: now.instant) }
    case .releaseOthers: for other in others { other.release(&poller, at: now.instant) }
    case .receiver(let command): receiver.apply(command, &poller, at: now.instant)
    case .keepLocation(let text): receiver.keepLocation(text)
    case .forgetLocations: receiver.forgetLocations()
    case .keepBatch(let journal): receiver.keepBatch(journal)
    case .noteBatch(let journal): receiver.noteBatch(journal)
    case .forgetBatch(let collects): receiver.forgetBatch(collects: collects)
    }
  }

  private mutating func store(_ file: StateFile, _ text: String) {
    do throws(FileError) {
      try service.store.store(file, text)
    } catch {
      if !isStateComplained {
        service.log(
          "\(error.path): \(error.reason); what was learnt is forgotten at the end (name a folder that can be written with "
            + "SEXTANT_STATE_DIR)")
      }
      isStateComplained = true
    }
  }

  /// Asks in a thread of its own: people take their time.
  private func ask(_ prompt: Authorization.Prompt) {
    let service = service
    let question = PromptQuestion(identifier: service.app.identifier, prompt: prompt)
    let isStarted = BackgroundWork.start {
      System.leaveSignalsToOthers()
      while let line = System.ask(question.text) {
        if let answer = question.answer(line) { return service.answer(answer, to: prompt) }
      }
      service.log(
        "nobody can be asked for permission here (no terminal): say `sextant authorize grant "
          + "\(service.app.identifier) always`, or set SEXTANT_AUTHORIZATION")
      service.answer(.notShown, to: prompt)
    }
    if !isStarted { service.answer(.notShown, to: prompt) }
  }
}

extension ServiceAction {
  fileprivate var isRemembering: Bool { if case .remember = self { true } else { false } }
  fileprivate var isDelivery: Bool { if case .deliver = self { true } else { false } }
}
