// SPDX-License-Identifier: Apache-2.0

import LinuxIO
import Messages
import MonotonicTime
import Positioning
import Receiver
import ReceiverRuntime
import ReceiverStream
import SerialPort

/// The service's thread: it waits, reads the receivers, and performs the actions of ``ServiceCore``.
struct ServiceThread: ~Copyable {
  private let service: ServiceHost
  private var poller: Poller
  private let receiver: ReceiverSource
  /// The standby receivers.
  private var standby: [ReceiverSource]
  private let bus = BusSource()
  private let sensors: SensorThread
  private var administration: AdministrationWatch
  private var watchedMembers: ServiceHost.MembersMark?
  private var hotplugWatcher: HotplugWatcher
  private var published = PublishedLocationWatch<[FileLookup.Mark?]>()
  private let work: (any ServiceThreadWork)?

  init(
    _ service: ServiceHost, _ makeWork: (@Sendable (inout Poller) throws -> any ServiceThreadWork)? = nil
  ) throws {
    var poller = try Poller()
    let work = try makeWork?(&poller)
    self.init(service, poller, work)
  }

  private init(_ service: ServiceHost, _ own: consuming Poller, _ work: (any ServiceThreadWork)?) {
    poller = own
    self.work = work
    self.service = service
    let settings = service.settings
    standby = settings.others.enumerated().map { index, source in ReceiverSource(source, number: index + 1, settings) }
    sensors = SensorThread(service)
    receiver = ReceiverSource(
      settings.source, settings,
      batchFolder: settings.stateFolder.map { "\($0)/apps/\(service.app.folderName)/batch" },
      deferredFile: settings.stateFolder.map { "\($0)/\(StateFile.deferred.path(of: service.app))" })
    administration = AdministrationWatch(&poller)
    let now = System.now()
    hotplugWatcher = HotplugWatcher(
      isNeeded: settings.source == .firstFound,
      hasReceiver: service.hasReceiver, &poller, at: now.instant)
    service.setWaker(poller.waker)
  }

  /// Runs until the service is finished and its receivers are restored.
  mutating func run() {
    // The service within a program ignores the record: another program may have the receiver open and may have written it.
    if work != nil, receiver.hasLeftoverSettings { service.receive(.leftoverSettings, at: System.now()) }
    while true {
      let now = System.now()
      service.checkApplication(at: now.instant)
      // The files may have changed before the watch started.
      let mark = service.membersMark
      if mark != watchedMembers {
        watchedMembers = mark
        for (id, administration) in administration.watch(service.stores) {
          service.receive(.administration(id, administration), at: now)
        }
      }
      // Read before the actions are collected, so that they include the actions of every call before the end.
      let isFinishing = service.isFinishing
      let round = service.round(at: now)
      if receiver.corrections != nil {
        receiver.correct(isNeeded: service.needsCorrections, &poller, at: now.instant) { [service] in service.log($0) }
      }
      receiver.assist(&poller, at: now.instant)
      if let work {
        // Programs of the daemon get a location before it is remembered: its file is only used after a restart.
        perform(round.before + round.events + round.after, at: now)
        work.roundEnded(
          &poller, receivers: { [receiver, standby] in [receiver.status] + standby.map(\.status) }, at: now)
        if let remembered = round.remembered { perform(remembered, at: now) }
        perform(round.stores, at: now)
      } else {
        perform(round.before, at: now)
        // The delegate's thread takes some time to wake: it begins to do so before the location is remembered.
        if let remembered = round.remembered {
          service.delayDelivery { perform(round.events + [remembered], at: now) }
        } else {
          perform(round.events, at: now)
        }
        perform(round.after + round.stores, at: now)
      }
      if isFinishing, receiver.isReleased, standby.allSatisfy(\.isReleased) {
        return service.store.finish { [service] in service.logStoreFailure($0) }
      }
      var due = Instant.earlier(service.deadline(after: now.instant), receiver.deadline)
      for other in standby { due = .earlier(due, other.deadline) }
      due = .earlier(due, hotplugWatcher.deadline)
      due = .earlier(due, bus.deadline)
      due = .earlier(due, work?.deadline)
      due = .earlier(due, published.deadline)
      guard let events = try? poller.wait(deadline: due?.nanoseconds) else {
        return service.log("the location service has ended: the system refuses to wait for its receiver")
      }
      handle(events)
    }
  }

  private mutating func handle(_ events: [Poller.Event]) {
    let now = System.now()
    let (service, work) = (service, work)
    let receiver = receiver
    // Before the received bytes: what was measured while the program was stopped is not for a program in the background.
    service.checkApplication(at: now.instant)
    findReceivers(events, at: now)
    work?.handle(events, &poller, at: now)
    for device in work?.takeAddedDevices() ?? [] { add(device, at: now) }
    for number in work?.takeRemovedReceivers() ?? [] { source(number)?.vacate() }
    for source in [receiver] + standby {
      for command in work?.takeCommands(for: source.number) ?? [] { source.apply(command, &poller, at: now.instant) }
    }
    for event in events {
      if event == .readable(AdministrationWatch.token) {
        for (id, administration) in administration.changed(service.stores) {
          service.receive(.administration(id, administration), at: now)
        }
        continue
      }
      receiver.handle(event, &poller, at: now.instant, work) {
        work?.receive($0, $1, of: 0, at: now)
        service.receive($0, $1, receiver.source(at: now.instant), at: now)
      }
    }
    receiver.wake(&poller, at: now.instant, work) {
      work?.receive($0, $1, of: 0, at: now)
      service.receive($0, $1, receiver.source(at: now.instant), at: now)
    }
    for other in standby {
      handle(events, of: other, at: now)
      receiver.compare(with: other, at: now.instant)
    }
    while let event = receiver.nextEvent() {
      switch event {
      case .log(let text): service.log(text)
      case .receiver(let event):
        if case .session(let report, _, _, _) = event { work?.receive(report, of: 0) }
        service.receive(.receiver(event), at: now)
      case .hasLeftoverBatch: service.receive(.leftoverBatch, at: now)
      case .permitted(let isPermitted):
        // While there is a standby receiver, the authorization is not denied.
        if !isPermitted, !standby.isEmpty { break }
        service.receive(.receiverPermitted(isPermitted), at: now)
        service.setProblem(isPermitted ? nil : .forbidden)
        published.setHeld(false, mark: [], at: now.instant)
      case .problem(let problem):
        service.setProblem(problem)
        published.setHeld(problem == .held, mark: service.store.newestMarks, at: now.instant)
      }
    }
    if published.poll(mark: service.store.newestMarks, at: now.instant), let location = service.store.newest {
      service.receive(.published(location), at: now)
    }
    bus.wake(&poller, at: now.instant)
    while let event = bus.nextEvent() {
      switch event {
      case .log(let text): service.log(text)
      case .input(let input): service.receive(input, at: now)
      }
    }
    service.wake(at: now)
  }

  /// Uses a device that a user has named: as the first receiver if the service has no receiver, else as a standby receiver, in
  /// the place of a removed one if there is one.
  private mutating func add(_ device: PinnedDevice, at now: Moment) {
    if receiver.isVacant { service.receive(.takeBack(receiver: 0), at: now) }
    if receiver.adopt(device) {
      service.receive(.receiverFound, at: now)
      return receiver.retryNow()
    }
    let index = standby.firstIndex(where: \.isVacant) ?? standby.count
    let added = ReceiverSource(.device(device.path), number: index + 1, service.settings, pin: device)
    if index < standby.count { standby[index] = added } else { standby.append(added) }
    service.receive(.standbyFound, at: now)
  }

  private mutating func findReceivers(_ events: [Poller.Event], at now: Moment) {
    let (receiver, standby) = (receiver, standby)
    let found = hotplugWatcher.drain(events, &poller, at: now.instant) { port in
      receiver.isAt(port) || standby.contains { $0.isAt(port) }
    }
    if found.isFirst {
      service.receive(.receiverFound, at: now)
      receiver.retryNow()
    }
    for node in found.standby {
      self.standby.append(ReceiverSource(.device(node), number: self.standby.count + 1, service.settings))
      service.receive(.standbyFound, at: now)
    }
  }

  /// Handles the events of a standby receiver, which provides fixes. Its problems are only logged; clients receive only
  /// the problems of the first receiver.
  private mutating func handle(_ events: [Poller.Event], of other: ReceiverSource, at now: Moment) {
    let (service, work) = (service, work)
    let number = other.number
    for event in events {
      other.handle(event, &poller, at: now.instant, work) { report, sky in
        work?.receive(report, sky, of: number, at: now)
        service.receive(report, ofStandby: number, other.source(at: now.instant), at: now)
      }
    }
    other.wake(&poller, at: now.instant, work) { report, sky in
      work?.receive(report, sky, of: number, at: now)
      service.receive(report, ofStandby: number, other.source(at: now.instant), at: now)
    }
    while let event = other.nextEvent() {
      switch event {
      case .log(let text): service.log(text)
      case .receiver(.lost): service.receive(.standbyLost(number), at: now)
      case .receiver(.session(let report, _, _, _)): work?.receive(report, of: number)
      case .receiver, .hasLeftoverBatch, .permitted, .problem: break
      }
    }
  }

  private mutating func perform(_ actions: [ServiceAction], at now: Moment) {
    for action in actions { perform(action, at: now) }
  }

  private mutating func perform(_ action: ServiceAction, at now: Moment) {
    switch action {
    case .program(let id, .store(let file, let text)), .storeAfterEvents(let id, let file, let text):
      if let store = service.store(of: id) { self.store(file, text, store) }
    case .program(let id, let action): service.receiver(of: id)?.perform(action)
    case .log(let text): service.log(text)
    case .remember(let location): service.store.remember(StateText.bytes(of: location))
    case .store(let file, let text): store(file, text, service.store)
    case .storeNewestLater(let text): service.store.storeNewestLater(text) { [service] in service.logStoreFailure($0) }
    case .openReceiver: receiver.open(&poller, at: now.instant)
    case .releaseReceiver: receiver.release(&poller, at: now.instant)
    case .sense(let demand):
      bus.set(demand, &poller, at: now.instant)
      sensors.set(demand)
    case .readyForSuspend: bus.allowSuspend(&poller, at: now.instant)
    case .lend(let number): source(number)?.lend(&poller, at: now.instant)
    case .takeBack(let number): source(number)?.takeBack(at: now.instant)
    case .openStandby: for other in standby { other.open(&poller, at: now.instant) }
    case .releaseStandby: for other in standby { other.release(&poller, at: now.instant) }
    case .receiver(let command): receiver.apply(command, &poller, at: now.instant)
    case .keepLocation(let text): receiver.keepLocation(text)
    case .discardLocations: receiver.discardLocations()
    case .keepBatch(let journal): receiver.keepBatch(journal)
    case .noteBatch(let journal): receiver.noteBatch(journal)
    case .discardBatch(let collects): receiver.discardBatch(collects: collects)
    }
  }

  private func source(_ number: Int) -> ReceiverSource? {
    number == 0 ? receiver : standby.first { $0.number == number }
  }

  private func store(_ file: StateFile, _ text: String, _ store: StateStore) {
    do throws(FileError) { try store.store(file, text) } catch { service.logStoreFailure(error) }
  }
}

// The state of a receiver for programs, and the lending of its line.
extension ReceiverSource {
  /// The time for which a state of the sensor fusion is shown: the receiver sends one with each epoch.
  private static let fusionAge = Milliseconds(10_000)

  var status: ReceiverStatus {
    if isVacant {
      var status = ReceiverStatus(device: "", isOpen: false)
      status.isVacant = true
      return status
    }
    let name =
      switch source {
      case .device(let path): path
      case .simulator(let scenario): "sim:\(scenario)"
      case .firstFound: connection?.path ?? lentPath ?? ""
      }
    var status = ReceiverStatus(device: name, isOpen: connection?.isOpen ?? false)
    status.line = connection?.path ?? lentPath ?? source.path ?? simulator?.path
    status.pin = pin
    status.use = lending.use
    status.fault = networkFault ?? (connection == nil && isWanted ? lastComplaint : nil)
    status.descriptor = connection?.fileDescriptor
    status.solution = solution
    status.corrections = corrections?.feed.status
    status.spartnKeys = corrections?.keyState
    let now = SystemClock.monotonic
    status.trust = trust.trust(at: now)
    if status.trust > .ok { status.reasons = trust.reasons(at: now) }
    if let fusion, now < fusion.at + Self.fusionAge { status.fusion = fusion.status }
    // During the search the rate is not known.
    status.baud = connection?.isDetected == true ? connection?.rate : nil
    if let description = connection?.description {
      status.identity = .identified(description)
    } else if isUnidentified {
      status.identity = .unidentified
    }
    return status
  }

  /// Ends the session to lend the line to a program. `status` shows when the program may have it.
  func lend(_ poller: inout Poller, at now: Instant) {
    guard lending.lend() else { return }
    // The receiver is on while the program has it.
    if let complaint = supply?.set(isOn: true) { complain(complaint) }
    lendEngine(at: now)
    guard let connection else { return findLentLine(&poller, at: now) }
    lentPath = connection.path
    endsAt = endsAt ?? now + Self.restoreTimeout
    // The program does not wait for the receiver's orbits.
    connection.set(nil as AssistanceSettings?, at: now)
    connection.finish(&poller, at: now)
  }

  /// Finds the line of a receiver that the service does not have open.
  func findLentLine(_ poller: inout Poller, at now: Instant) {
    lentPath = lentPath ?? (try? path(&poller))
    // The path of the simulator is not known yet.
    if lentPath == nil, simulator != nil { return }
    lending.released(at: now)
    settleLending()
  }

  /// Opens a returned line in the next round, if it is needed.
  func settleLending() {
    guard lending.use == .returning else { return }
    lentPath = nil
    if isWanted { nextTry = .zero } else { lending.opened() }
  }

  /// Handles the return of the line by the program.
  func takeBack(at now: Instant) {
    lending.takeBack(at: now)
    settleLending()
  }
}

extension ServiceSettings.Source {
  /// The path of the line, or another name that `LineAddress` reads; nil until it is found.
  fileprivate var path: String? { if case .device(let path) = self { path } else { nil } }
}

/// Further work of the service's thread: the sockets of the daemon. One thread reads the receivers and writes to the clients,
/// so that a fix wakes the daemon once.
package protocol ServiceThreadWork: AnyObject {
  /// The time of the next round; nil if there is none.
  var deadline: Instant? { get }
  /// Handles the events of a round, before the decisions.
  func handle(_ events: [Poller.Event], _ poller: inout Poller, at now: Moment)
  /// Handles bytes of a receiver, as they were read.
  func receive(_ bytes: RawSpan, of receiver: Int)
  /// Handles a frame of a receiver, before its epoch.
  func receive(_ frame: borrowing Frame, of receiver: Int, at now: Instant)
  /// Handles an epoch of a receiver, before the decisions.
  func receive(_ report: borrowing EpochAssembler.Report, _ sky: borrowing Sky, of receiver: Int, at now: Moment)
  /// Handles a report of a receiver's session.
  func receive(_ report: SessionReport, of receiver: Int)
  /// Returns the requests of programs to a receiver, once.
  func takeCommands(for receiver: Int) -> [ClientCommand]
  /// Returns the devices to use from now on, once.
  func takeAddedDevices() -> [PinnedDevice]
  /// Returns the numbers of the receivers whose places are free from now on, once.
  func takeRemovedReceivers() -> [Int]
  /// Ends a round, after its actions.
  ///
  /// - Parameter receivers: returns the receivers of the service, the first one first.
  func roundEnded(_ poller: inout Poller, receivers: () -> [ReceiverStatus], at now: Moment)
}

/// A command of a program to a receiver.
package enum ClientCommand: Equatable, Sendable {
  /// Bytes, queued with the session's own requests. Their reply is among the receiver's bytes.
  case send([UInt8])
  /// All settings that users have changed.
  case set(ReceiverUserSettings)
}

/// The description of a receiver for users and programs.
package struct ReceiverStatus: Equatable, Sendable {
  /// The device node, or the name of a simulator or recording.
  package var device: String
  package var isOpen: Bool
  /// The path of its line, or another name that `LineAddress` reads; nil until it is known.
  package var line: String?
  /// The device that its line must lead to, if a user has named it while the service runs; nil for any.
  package var pin: PinnedDevice?
  /// Whether a user has removed it, and its place is free.
  package var isVacant = false
  /// The rate of its line, baud; nil for a line without a rate, and before the rate is found.
  package var baud: UInt32?
  package var identity = LineIdentity.unknown
  package var use = LineUse.served
  /// The descriptor of its line, which the service owns; nil if the line is not open.
  package var descriptor: Int32?
  /// The reason why a needed receiver is not open, with the next step; nil if it is open or not needed.
  package var fault: String?
  /// The quality of its last epoch; nil if it has no position.
  package var solution: Fix.Quality?
  /// Its corrections; nil if there is no source of corrections.
  package var corrections: CorrectionStatus?
  /// The keys of SPARTN; nil if no file of keys is named.
  package var spartnKeys: SPARTNKeyDelivery.State?
  /// The trust in its signals.
  package var trust = SignalTrust.unknown
  /// The reasons for a trust that is worse than `ok`, the worst first.
  package var reasons: [String] = []
  /// The state of its sensor fusion; nil without dead reckoning, and while it sends none.
  package var fusion: FusionStatus?

  package init(device: String, isOpen: Bool) {
    self.device = device
    self.isOpen = isOpen
  }

  /// The model, as the receiver reports it; nil before that, and for a receiver that does not report it.
  package var model: String? { if case .identified(let receiver) = identity { receiver.model } else { nil } }
  /// Whether its logger runs for its owner.
  package var isLogging: Bool {
    if case .identified(let receiver) = identity { receiver.runningLog != nil } else { false }
  }
  /// The strings of the receiver's version message, software and hardware first; empty if there are none.
  package var version: [String] { if case .identified(let receiver) = identity { receiver.strings } else { [] } }
}
