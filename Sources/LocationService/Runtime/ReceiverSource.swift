import FileSystem
import Hotplug
import MonotonicTime
import Positioning
import Receiver
import ReceiverPower
import ReceiverRuntime
import ReceiverStream
import SerialPort

/// The receiver that the service uses, from the wish for it to its orderly end, on the thread of the poller.
final class ReceiverSource {
  /// What became of it.
  enum Event {
    case log(String)
    /// Whether the system lets this program open it.
    case permitted(Bool)
    /// Another reason for which it cannot be opened.
    case trouble(ReceiverTrouble)
    /// What the session with the receiver tells, and what its line does.
    case receiver(ReceiverEvent)
    /// An earlier process of this program left the receiver collecting; said before the line is opened.
    case hasLeftoverBatch
  }

  /// How often a receiver that is not there is looked for where no event tells of it.
  private static let retry = Milliseconds(1000)
  /// The same for a scenario that cannot be played: each try starts a program.
  private static let scenarioRetry = Milliseconds(10_000)
  /// For how long the receiver may take to be set back: half a second less than a program's end waits for.
  private static let patience = Milliseconds(5500)
  private let port: Poller.Token
  private let simulated: Poller.Token
  private let devices: Poller.Token
  /// Which receiver of the service it is; 0 is the one that the power policy is about.
  let number: Int
  private let source: ServiceSettings.Source
  private let isReadOnly: Bool
  private let baud: UInt32?
  private var isWanted = false
  private var connection: ReceiverConnection?
  private var simulator: SimulatorProcess?
  private var monitor: DeviceMonitorHandle?
  private var nextTry: Instant?
  private var endsAt: Instant?
  /// What is read has come to its end.
  private var isAtEnd = false
  /// The rate that it had before, to be tried first.
  private var likelyRate: UInt32?
  private var lastComplaint: String?
  private var events: [Event] = []
  private let batchFolder: String?
  private var batch: BatchStoreHandle?
  private let deferred: DeferredLocationStore?
  private let supply: SupplySwitchHandle?
  private let stateFolder: String?
  /// How the receiver is left, should this process not live to put it back.
  private var recoveryFile: CrashRecoveryFile?

  /// - Parameters:
  ///   - number: 0, or of one that stands by from 1 on; its rate and its power are its own.
  ///   - batchFolder: where fixes of the receiver's memory are kept on their way; nil for nowhere.
  ///   - deferredFile: the same for locations that a deferral keeps on this host.
  init(
    _ source: ServiceSettings.Source, number: Int = 0, _ settings: ServiceSettings, batchFolder: String? = nil,
    deferredFile: String? = nil
  ) {
    supply = number == 0 ? settings.supply.map { SupplySwitchHandle($0) } : nil
    self.source = source
    self.number = number
    // The service's own descriptors have the numbers up to 15.
    let first = number == 0 ? 1 : UInt32(16 + 3 * number)
    port = Poller.Token(rawValue: first)
    simulated = Poller.Token(rawValue: first + 1)
    devices = Poller.Token(rawValue: first + 2)
    isReadOnly = settings.isReadOnly
    baud = number == 0 ? settings.baud : nil
    self.batchFolder = batchFolder
    stateFolder = number == 0 ? settings.stateFolder : nil
    deferred = deferredFile.map { DeferredLocationStore($0) }
  }

  /// What is known of its fixes' origin.
  var origin: Location.Source {
    var isSimulator = false
    if case .simulator = source { isSimulator = true }
    return Location.Source(isSimulatedBySoftware: isSimulator, isProducedByAccessory: !isSimulator)
  }

  /// Whether this port is the receiver's, or the one that it comes back to.
  func holds(_ port: ReceiverPort) -> Bool {
    if source == .device(port.node) || connection?.path == port.node { return true }
    guard let own = connection?.announcedPort else { return false }
    return own.node == port.node || own.identity == port.identity
  }

  /// Whether nothing is open.
  var isReleased: Bool { connection == nil }

  func nextEvent() -> Event? { events.isEmpty ? nil : events.removeFirst() }

  var deadline: Instant? {
    var next = Instant.earlier(nextTry, endsAt)
    next = .earlier(next, connection?.deadline)
    return .earlier(next, monitor?.deadline)
  }

  func open(_ poller: inout Poller, at now: Instant) {
    isWanted = true
    if let complaint = supply?.take() { complain(complaint) }
    // One that is being set back is opened anew when that is done.
    if connection == nil { attempt(&poller, at: now) }
  }

  /// A receiver may have come: one that is waited for is tried at the next round.
  func lookAgain() { if nextTry != nil { nextTry = .zero } }

  func release(_ poller: inout Poller, at now: Instant) {
    isWanted = false
    nextTry = nil
    guard let connection else { return close(&poller) }
    // It is left as it was found: on.
    if let complaint = supply?.set(isOn: true) { complain(complaint) }
    endsAt = now + Self.patience
    connection.finish(&poller, at: now)
  }

  /// What the poller reported.
  func handle(
    _ event: Poller.Event, _ poller: inout Poller, at now: Instant,
    _ body: (borrowing EpochAssembler.Report, borrowing Sky) -> Void
  ) {
    switch event {
    case .readable(self.devices): hearOfDevices(&poller, at: now, body)
    case .readable(simulated), .hangUp(simulated): readSimulator(&poller, at: now)
    default:
      let batch = batch
      connection?.handle(event, &poller, at: now, bytes: { batch?.receive($0) }, body)
      // What the session tells comes behind the epochs that were read with it.
      deliverEvents()
    }
  }

  // MARK: What the policy wants

  func apply(_ command: ReceiverCommand, _ poller: inout Poller, at now: Instant) {
    switch command {
    case .set(let desired): connection?.set(desired, &poller, at: now)
    case .sleep(let duration): connection?.sleep(for: duration, &poller, at: now)
    case .wakeUp: connection?.wakeUp(&poller, at: now)
    case .retrieveBatch(let journal):
      let (recovery, earlier) = batch?.takeLeftover(connection?.description) ?? (nil, [])
      connection?.retrieveBatch(recovery ?? journal, earlier: earlier, &poller, at: now)
    case .listen(let listens): connection?.listen(listens, &poller, at: now)
    case .supply(let isOn): if let complaint = supply?.set(isOn: isOn) { complain(complaint) }
    }
    deliverEvents()
  }

  func keepLocation(_ text: String) { deferred?.keep(text) }
  func forgetLocations() { deferred?.forget() }

  /// The receiver collects: from now on what it brings is kept before it is looked at.
  func keepBatch(_ journal: BatchJournal) { batch?.begin(connection?.description, journal) }
  func noteBatch(_ journal: BatchJournal) { batch?.note(journal) }
  func forgetBatch(collects: Bool) { batch?.forget(collects: collects, connection?.description) }

  /// A round: whatever is due is done.
  func wake(
    _ poller: inout Poller, at now: Instant, _ body: (borrowing EpochAssembler.Report, borrowing Sky) -> Void
  ) {
    if monitor?.isDue(at: now) == true { hearOfDevices(&poller, at: now, body) }
    let batch = batch
    connection?.wake(&poller, at: now, bytes: { batch?.receive($0) }, body)
    deliverEvents()
    if let endsAt, now >= endsAt || connection?.isEnded == true {
      if let connection, !connection.isEnded, connection.putsBack {
        let cure =
          connection.recoverySettings == nil
          ? "switch it off and on, or look with sextant configure show" : "the next program that uses it does that"
        events.append(.log("there was no time to put back all that was changed of the receiver; " + cure))
      }
      close(&poller)
    }
    // A file is at its end: there is no more. One that is gone comes back, and is the connection's business.
    if isAtEnd, endsAt == nil {
      close(&poller)
      isWanted = false
    }
    if isWanted, connection == nil, now >= nextTry ?? .zero { attempt(&poller, at: now) }
  }

  // MARK: Opening

  private func attempt(_ poller: inout Poller, at now: Instant) {
    nextTry = now + Self.retry
    do {
      guard let path = try path(&poller) else {
        // The simulator has not yet said where it is.
        if simulator != nil { return }
        return complain("no receiver is found; waiting for one (plug it in, or name it with GNSS_DEVICE)")
      }
      var settings = SessionSettings(intent: isReadOnly ? .readOnly : .serve, line: .serial)
      if let likelyRate { settings.likelyRates = [likelyRate] }
      // One that stands by is never put to sleep, and keeps its rate.
      if number == 0 { settings.desired = { .saving(for: $0) } }
      if !isReadOnly, let stateFolder {
        recoveryFile = recoveryFile ?? CrashRecoveryFile(stateFolder: stateFolder, line: path)
        settings.recovery = recoveryFile?.recovery
        settings.recoverySettings = recoveryFile?.settings
      }
      keepBatches(of: path, &settings)
      let connection = ReceiverConnection(
        path: path, settings: settings, baud: baud, token: port, reference: { System.referenceTime() })
      try connection.open(&poller, at: now)
      if simulator == nil, connection.isAnnounced { try follow(connection, &poller, at: now) }
      self.connection = connection
      nextTry = nil
      lastComplaint = nil
      events.append(.permitted(true))
    } catch let error as SerialPortError {
      switch error.cause {
      case .noPermission: events.append(.permitted(false))
      case .held: events.append(.trouble(.held))
      case .directory, .unsuitable, .malformed: events.append(.trouble(.misnamed))
      default: break
      }
      complain(error.description)
    } catch {
      complain("\(error)")
    }
  }

  /// What an earlier process of this program left is taken up.
  private func keepBatches(of path: String, _ settings: inout SessionSettings) {
    guard !isReadOnly, batch == nil, let batchFolder else { return }
    do throws(FileError) {
      let store = try BatchStoreHandle(folder: batchFolder, line: path)
      batch = store
      guard let frame = store.unfinishedFrame else { return }
      settings.unfinishedFrame = frame
      // It is one that batches, and may say nothing until it is asked.
      settings.isKnownUBlox = true
      events.append(.hasLeftoverBatch)
    } catch {
      events.append(.log("fixes that the receiver keeps cannot be made safe: \(error) (SEXTANT_STATE_DIR names it)"))
    }
  }

  /// Where the receiver is now; nil when there is none, or the simulator only starts.
  private func path(_ poller: inout Poller) throws -> String? {
    switch source {
    case .device(let path): return path
    case .firstFound: return ReceiverPorts.enumerate(list: try DeviceList.installed()).first(where: \.isUsable)?.node
    case .simulator(let scenario):
      if let simulator { return simulator.path }
      let process = try SimulatorProcess(scenario: scenario)
      try poller.add(process.fileDescriptor, token: simulated)
      simulator = process
      return nil
    }
  }

  private func readSimulator(_ poller: inout Poller, at now: Instant) {
    guard let process = simulator else { return }
    do throws(SimulatorFailure) {
      try process.read()
      if process.path != nil, connection == nil { nextTry = .zero }
    } catch {
      poller.remove(process.fileDescriptor)
      // Once it was opened, it is a receiver that does not come back.
      if process.path == nil {
        simulator = nil
        nextTry = now + Self.scenarioRetry
      }
      if let trouble = error.trouble { events.append(.trouble(trouble)) }
      complain(error.description)
    }
  }

  /// From its opening on the receiver is followed by what is told of devices.
  private func follow(_ connection: ReceiverConnection, _ poller: inout Poller, at now: Instant) throws {
    if monitor == nil {
      let handle = DeviceMonitorHandle(list: try DeviceList.installed())
      if let descriptor = handle.fileDescriptor { try poller.add(descriptor, token: devices) }
      monitor = handle
      connection.follow(handle.drain(at: now).map(\.port), at: now)
    } else {
      connection.follow(ReceiverPorts.enumerate(list: try DeviceList.installed()), at: now)
    }
  }

  private func hearOfDevices(
    _ poller: inout Poller, at now: Instant, _ body: (borrowing EpochAssembler.Report, borrowing Sky) -> Void
  ) {
    for event in monitor?.drain(at: now) ?? [] {
      connection?.receive(event, &poller, at: now, body)
    }
  }

  // MARK: Closing

  private func close(_ poller: inout Poller) {
    endsAt = nil
    isAtEnd = false
    if let rate = connection?.rate { likelyRate = rate }
    // Of a receiver that was not reached the note stays true.
    if let connection, connection.isOpen, connection.isEnded, connection.description != nil,
      connection.raisedRate == nil
    {
      recoveryFile?.forget()
    }
    connection?.close(&poller) { _, _ in }
    connection = nil
    if let descriptor = monitor?.fileDescriptor { poller.remove(descriptor) }
    monitor = nil
  }

  private func deliverEvents() {
    storeRecovery()
    while let event = connection?.nextEvent() {
      switch event {
      case .told(let text): events.append(.log(text))
      case .session(.silent): events.append(.log("the receiver is silent; waiting for it (power, cable?)"))
      case .session(.adviseOnSilence):
        events.append(.log("nothing is understood of what comes (is it a receiver, and is it wired RX to TX?)"))
      case .session(.back): events.append(.log("the receiver is back"))
      case .session(.notPutBack):
        events.append(
          .log(
            "the receiver did not take back all that was changed; "
              + "switch it off and on, or look with sextant configure show"))
      default: break
      }
      handleReceiverEvents(event)
    }
  }

  private func storeRecovery() {
    guard let recovery = connection?.recovery, let recoveryFile else { return }
    do throws(FileError) { try recoveryFile.keep(recovery, connection?.recoverySettings) } catch {
      complain("after a crash the receiver would be found late, as this cannot be kept: \(error.reason)")
    }
  }

  private func handleReceiverEvents(_ event: ReceiverConnection.Event) {
    switch event {
    case .session(let report):
      events.append(
        .receiver(
          .session(report, desired: connection?.desired, receiver: connection?.description, port: connection?.port)))
    case .batch(let event): events.append(.receiver(.batch(event)))
    case .lost: events.append(.receiver(.lost))
    case .ended:
      isAtEnd = true
      events.append(.receiver(.lost))
    case .opened, .rate, .told, .finished: break
    }
  }

  /// Said once, until it is another trouble or is over.
  private func complain(_ text: String) {
    guard text != lastComplaint else { return }
    lastComplaint = text
    events.append(.log(text))
  }
}

extension ReceiverPort {
  /// Whether it may be opened unasked.
  fileprivate var isUsable: Bool { likelihood.isPlausible }
}

/// Holds a monitor, which cannot be copied, so that a class can have none.
final class DeviceMonitorHandle {
  private var monitor: DeviceMonitor

  init(list: DeviceList) { monitor = DeviceMonitor(list: list) }

  var fileDescriptor: Int32? { monitor.fileDescriptor }
  var deadline: Instant? { monitor.deadline }
  func isDue(at now: Instant) -> Bool { monitor.isDue(at: now) }
  func drain(at now: Instant) -> [DeviceEvent] { monitor.drain(at: now) }
}
