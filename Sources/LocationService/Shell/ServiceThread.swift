import MonotonicTime
import Positioning
import SerialPort

/// The service's thread: it waits, reads the receiver, and carries out what `ServiceCore` decides.
struct ServiceThread: ~Copyable {
  private let service: LocationService
  private var poller: Poller
  private let receiver: ReceiverSource
  private var isStateComplained = false

  init(_ service: LocationService) throws {
    poller = try Poller()
    self.service = service
    receiver = ReceiverSource(
      service.settings.source, isReadOnly: service.settings.isReadOnly,
      supply: service.settings.supply.map { SupplyHolder($0) },
      batchFolder: service.settings.stateFolder.map { "\($0)/apps/\(service.app.folderName)/batch" })
    service.waits(at: poller.waker)
  }

  /// Runs until the service was finished and its receiver is as it was found.
  mutating func run() {
    while true {
      let now = System.now()
      service.lookAtApplication(at: now)
      for action in service.actions(at: now) { carryOut(action, at: now) }
      if service.isFinished, receiver.isReleased { return }
      let due = Instant.earlier(service.deadline, receiver.deadline)
      guard let events = try? poller.wait(deadline: due?.nanoseconds) else {
        return System.say("the location service has ended: the system refuses to wait for its receiver")
      }
      round(events)
    }
  }

  private mutating func round(_ events: [Poller.Event]) {
    let now = System.now()
    let service = service
    let origin = receiver.origin
    for event in events {
      receiver.handle(event, &poller, at: now.instant) { service.receive($0, $1, origin, at: now) }
    }
    receiver.wake(&poller, at: now.instant) { service.receive($0, $1, origin, at: now) }
    while let news = receiver.nextNews() {
      switch news {
      case .say(let text): System.say(text)
      case .receiver(let news): service.receive(news, at: now)
      case .batchIsLeft: service.batchIsLeft()
      case .permitted(let isPermitted): service.receiverIsPermitted(isPermitted, at: now.instant)
      }
    }
    service.wake(at: now)
  }

  private mutating func carryOut(_ action: ServiceAction, at now: Moment) {
    switch action {
    case .deliver(let id, let event, let ticket): service.client(id)?.receive(event, ticket)
    case .temporaryAccuracy(let id, let token, let error):
      service.client(id)?.temporaryAccuracyAnswered(token: token, error)
    case .showCalibration(let id, let shows): service.client(id)?.calibrationShows(shows)
    case .live(let id, let update): service.stream(id)?.receive(update)
    case .prompt(let prompt): ask(prompt)
    case .say(let text): System.say(text)
    case .store(let file, let text): store(file, text)
    case .openReceiver: receiver.open(&poller, at: now.instant)
    case .releaseReceiver: receiver.release(&poller, at: now.instant)
    case .receiver(let order): receiver.obey(order, &poller, at: now.instant)
    case .keepBatch(let journal): receiver.keepBatch(journal)
    case .noteBatch(let journal): receiver.noteBatch(journal)
    case .forgetBatch(let collects): receiver.forgetBatch(collects: collects)
    }
  }

  private mutating func store(_ file: StateFile, _ text: String) {
    guard let folder = service.settings.stateFolder else { return }
    do throws(StateFolderError) {
      try System.replace("\(folder)/\(file.path(of: service.app))", with: text)
    } catch {
      if !isStateComplained { System.say(error.description) }
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
        if let answer = question.answer(line) { return service.answer(answer) }
      }
      System.say(
        "nobody can be asked for permission here (no terminal): set SEXTANT_AUTHORIZATION to whenInUse or always")
      service.answer(.notShown)
    }
    if !isStarted { service.answer(.notShown) }
  }
}
