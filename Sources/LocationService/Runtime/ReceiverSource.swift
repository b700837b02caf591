// SPDX-License-Identifier: Apache-2.0

import LinuxIO
import Messages
import MonotonicTime
import Positioning
import Power
import Receiver
import ReceiverRuntime
import ReceiverStream
import SerialPort

/// A receiver of the service, from the first demand to its orderly end, on the poller's thread.
final class ReceiverSource {
  enum Event {
    case log(String)
    /// Whether the system permits this program to open it.
    case permitted(Bool)
    /// Another reason why it cannot be opened.
    case problem(ReceiverProblem)
    case receiver(ReceiverEvent)
    /// The receiver has a batch of an earlier process of this program; reported before the line is opened.
    case hasLeftoverBatch
  }

  /// The time between attempts to open a receiver whose return is not reported by an event.
  private static let retry = Milliseconds(1000)
  /// The retry interval for a scenario that cannot be played: each attempt starts a program.
  private static let scenarioRetry = Milliseconds(10_000)
  /// The longest time for restoring the receiver: half a second less than the wait at the end of a program.
  static let restoreTimeout = Milliseconds(5500)
  private let port: Poller.Token
  private let simulated: Poller.Token
  private let devices: Poller.Token
  /// The number of the receiver; the power policy applies to number 0.
  let number: Int
  var source: ServiceSettings.Source
  /// The device that a user has named while the service runs; nil for a device of the administrator.
  var pin: PinnedDevice?
  /// Whether a user has removed the device of `pin`, so that another one can have this place.
  private(set) var isVacant = false
  private let isReadOnly: Bool
  private let baud: UInt32?
  var isWanted = false
  var connection: ReceiverConnection?
  var simulator: SimulatorProcess?
  private var monitor: DeviceMonitorHandle?
  /// Whether udev does not report devices to this process; nil if that is not known.
  private var lacksUdev: Bool?
  var nextTry: Instant?
  var endsAt: Instant?
  /// Whether the end of an input file was reached.
  private var isAtEnd = false
  /// The rate of the last connection, which is tried first.
  private var likelyRate: UInt32?
  private(set) var lastComplaint: String?
  private var logged: Set<String> = []
  /// The reason why the network source cannot be reached; nil once it is open.
  private(set) var networkFault: String?
  private var events: [Event] = []
  private let batchFolder: String?
  private var batch: BatchStoreHandle?
  private let deferred: DeferredLocationStore?
  let supply: SupplySwitchHandle?
  /// The engine of the modem that the receiver is part of; nil for other receivers.
  private var engine: ModemEngine?
  /// Whether the open receiver is inside a modem.
  private var isInModem = false
  /// Whether the line is to be opened with other settings: the receiver at it was exchanged.
  private var needsOtherSession = false
  private let stateFolder: String?
  /// Whether the receiver has been polled and does not identify itself.
  var isUnidentified = false
  var lending = LineLending()
  let userSettings = ReceiverUserSettingsHandle()
  /// The path of a lent line.
  var lentPath: String?
  /// The corrections for the receiver; nil if there is no source of corrections.
  var corrections: ReceiverCorrections?
  /// The assistance of the receiver; nil if it gets none.
  var assistance: ReceiverAssistance?
  /// The quality of the last epoch; nil before the first, and after the loss of the receiver.
  private(set) var solution: Fix.Quality?
  /// The trust in the receiver's signals.
  var trust = TrustMonitor()
  /// The last state of a dead reckoning receiver's sensor fusion.
  var fusion: (status: FusionStatus, at: Instant)?
  /// The newest epoch with a position, and whether it is compared with the positions of the other receivers.
  var newestFix: (fix: Fix, at: Instant, isCompared: Bool)?
  /// Whether the computer's clock was synchronised at an instant.
  var clock: (isSynchronized: Bool, at: Instant)?

  /// - Parameters:
  ///   - number: 0, or from 1 on for a standby receiver, whose rate and power are not controlled.
  ///   - pin: the device of `source`, if a user has named it while the service runs.
  ///   - batchFolder: the folder for fixes of the receiver's memory until their delivery; nil to store none.
  ///   - deferredFile: the file for locations that a deferral keeps on this host; nil to store none.
  init(
    _ source: ServiceSettings.Source, number: Int = 0, _ settings: ServiceSettings, pin: PinnedDevice? = nil,
    batchFolder: String? = nil, deferredFile: String? = nil
  ) {
    self.pin = pin
    supply = number == 0 ? settings.supply.map { SupplySwitchHandle($0) } : nil
    self.source = source
    origin = source.origin
    self.number = number
    // The service's own descriptors have the tokens up to 15.
    let first = number == 0 ? 1 : UInt32(16 + 3 * number)
    port = Poller.Token(rawValue: first)
    simulated = Poller.Token(rawValue: first + 1)
    devices = Poller.Token(rawValue: first + 2)
    isReadOnly = settings.isReadOnly
    baud = number == 0 ? settings.baud : nil
    self.batchFolder = batchFolder
    stateFolder = settings.stateFolder
    // The program before this one may have been killed.
    if number == 0, !isReadOnly { engine = ModemEngine(leftIn: settings.stateFolder) }
    deferred = deferredFile.map { DeferredLocationStore($0) }
    guard number == 0, settings.isDaemon else { return }
    // The position of a simulated or replayed receiver must not reach a real one.
    if !isReadOnly, !origin.isSimulatedBySoftware { assistance = ReceiverAssistance(settings) }
    guard !settings.corrections.isEmpty else { return }
    let corrections = ReceiverCorrections(settings, at: SystemClock.monotonic)
    corrections.feed.onCorrection = { [assistance] in assistance?.receive($0) }
    self.corrections = corrections
  }

  /// The origin of its fixes.
  let origin: Location.Source

  /// Whether the receiver is at this port, or is expected to return there.
  func isAt(_ port: ReceiverPort) -> Bool {
    if source == .device(port.node) || connection?.path == port.node || lentPath == port.node { return true }
    guard let own = connection?.announcedPort else { return false }
    return own.node == port.node || own.identity == port.identity
  }

  /// Whether nothing is open.
  var isReleased: Bool { connection == nil && engine?.isBusy != true }

  func nextEvent() -> Event? { events.isEmpty ? nil : events.removeFirst() }

  var deadline: Instant? {
    // A session with nothing to restore, such as on a silent line, ends at once without an event.
    if endsAt != nil, connection?.isEnded == true { return .zero }
    var next = Instant.earlier(isWanted && connection == nil && lending.mayOpen ? nextTry : nil, endsAt)
    next = .earlier(next, connection?.deadline)
    next = .earlier(next, corrections?.deadline)
    if isWanted { next = .earlier(next, .earlier(assistance?.downloadDeadline, assistance?.refreshDeadline)) }
    next = .earlier(next, engine?.deadline)
    return .earlier(next, monitor?.deadline)
  }

  func open(_ poller: inout Poller, at now: Instant) {
    isWanted = true
    if let complaint = supply?.take() { complain(complaint) }
    // A receiver that is being restored is reopened afterwards.
    if connection == nil, lending.mayOpen { attempt(&poller, at: now) }
  }

  /// Whether the settings of the named receiver were changed by a program that was killed.
  var hasLeftoverSettings: Bool {
    guard !isReadOnly, case .device(let path) = source, let stateFolder else { return false }
    let file = CrashRecoveryFile(stateFolder: stateFolder, line: path)
    return file.recovery != nil || file.others.contains(where: \.wasAtThisLine)
  }

  /// Makes the next round try to open an awaited receiver, which may have been connected.
  func retryNow() { if nextTry != nil { nextTry = .zero } }

  func release(_ poller: inout Poller, at now: Instant) {
    isWanted = false
    nextTry = nil
    restoreEngine(at: now)
    guard let connection else { return close(&poller) }
    // It was on when it was found.
    if let complaint = supply?.set(isOn: true) { complain(complaint) }
    endsAt = now + Self.restoreTimeout
    connection.finish(&poller, at: now, isUrgent: assistance != nil)
  }

  /// Handles an event of the poller.
  ///
  /// - Parameter work: also receives the bytes that are read, and their frames.
  func handle(
    _ event: Poller.Event, _ poller: inout Poller, at now: Instant, _ work: (any ServiceThreadWork)? = nil,
    _ body: (borrowing EpochAssembler.Report, borrowing Sky) -> Void
  ) {
    switch event {
    case .readable(self.devices): drainDevices(&poller, at: now, body)
    case .readable(simulated), .hangUp(simulated): readSimulator(&poller, at: now)
    case .readable(ModemEngine.token), .writable(ModemEngine.token), .hangUp(ModemEngine.token):
      if number == 0 { engine?.handle(event, &poller, at: now) }
    default:
      let (batch, number) = (batch, number)
      corrections?.feed.handle(event, &poller, at: now)
      assistance?.handle(event, &poller, at: now)
      connection?.handle(
        event, &poller, at: now,
        bytes: {
          batch?.receive($0)
          work?.receive($0, of: number)
        },
        frames: { receive($0, work, at: now) }
      ) { report, sky in
        note(report, sky, at: now)
        body(report, sky)
      }
      // After the epochs of the same read.
      deliverEvents()
    }
  }

  // MARK: Commands

  func apply(_ command: ReceiverCommand, _ poller: inout Poller, at now: Instant) {
    guard lending.mayOpen else { return }
    switch command {
    case .set(let desired): connection?.set(userSettings.value.applied(to: desired), &poller, at: now)
    case .sleep(let duration):
      trust.interrupt()
      connection?.sleep(for: duration, &poller, at: now)
    case .wakeUp: connection?.wakeUp(&poller, at: now)
    case .retrieveBatch(let journal):
      let (recovery, earlier) = batch?.takeLeftover(connection?.description) ?? (nil, [])
      connection?.retrieveBatch(recovery ?? journal, earlier: earlier, &poller, at: now)
    case .cutRetrieval: connection?.cutRetrieval(&poller, at: now)
    case .listen(let listens): connection?.listen(listens, &poller, at: now)
    case .supply(let isOn):
      if let complaint = supply?.set(isOn: isOn) { complain(complaint) }
      if isInModem { engine?.set(isOn ? .on : .off, at: now) }
    }
    deliverEvents()
  }

  func keepLocation(_ text: String) { deferred?.keep(text) }
  func discardLocations() { deferred?.discard() }

  /// From now on the line's bytes are stored before they are read, because the receiver collects.
  func keepBatch(_ journal: BatchJournal) { batch?.begin(connection?.description, journal) }
  func noteBatch(_ journal: BatchJournal) { batch?.note(journal) }
  func discardBatch(collects: Bool) { batch?.discard(collects: collects, connection?.description) }

  /// Performs the actions that are due.
  func wake(
    _ poller: inout Poller, at now: Instant, _ work: (any ServiceThreadWork)? = nil,
    _ body: (borrowing EpochAssembler.Report, borrowing Sky) -> Void
  ) {
    if monitor?.isDue(at: now) == true { drainDevices(&poller, at: now, body) }
    wakeEngine(&poller, at: now)
    let (batch, number) = (batch, number)
    connection?.wake(
      &poller, at: now,
      bytes: {
        batch?.receive($0)
        work?.receive($0, of: number)
      },
      frames: { receive($0, work, at: now) }
    ) { report, sky in
      note(report, sky, at: now)
      body(report, sky)
    }
    deliverEvents()
    if let endsAt, now >= endsAt || connection?.isEnded == true {
      if let connection, !connection.isEnded, connection.needsRestoring {
        let nextStep =
          connection.recoverySettings == nil
          ? "switch it off and on, or check it with `sextant configure show`"
          : "the next program that uses it does that"
        events.append(.log("the time was too short to restore all settings of the receiver; " + nextStep))
      }
      close(&poller)
      if lending.isEnding {
        lending.released(at: now)
        settleLending()
        events.append(.receiver(.lost))
      }
    }
    if needsOtherSession, endsAt == nil {
      close(&poller)
      events.append(.receiver(.lost))
      nextTry = .zero
    }
    if lending.isEnding, connection == nil { findLentLine(&poller, at: now) }
    // A file at its end delivers nothing more. The connection handles a removed receiver.
    if isAtEnd, endsAt == nil {
      close(&poller)
      isWanted = false
    }
    if isWanted, connection == nil, lending.mayOpen, now >= nextTry ?? .zero { attempt(&poller, at: now) }
  }

  private func receive(_ frame: borrowing Frame, _ work: (any ServiceThreadWork)?, at now: Instant) {
    work?.receive(frame, of: number, at: now)
    guard let frame = frame.ubx else { return }
    trust.receive(frame, at: now)
    if let status = FusionStatus(frame) { fusion = (status, now) }
  }

  private func note(_ report: borrowing EpochAssembler.Report, _ sky: borrowing Sky, at now: Instant) {
    let fix = report.fix
    solution = fix.hasPosition ? fix.quality : nil
    corrections?.feed.receive(fix)
    assistance?.receive(fix)
    if report.isUpdate { return }
    assess(fix, sky, at: now)
  }

  /// Sends corrections to the receiver while they are useful. Ends a round.
  func correct(isNeeded: Bool, _ poller: inout Poller, at now: Instant, log: (String) -> Void) {
    guard let corrections else { return }
    let needsEphemerides = isWanted && assistance?.needsEphemerides(connection, at: now) == true
    corrections.work(connection, isNeeded: isNeeded, needsEphemerides: needsEphemerides, &poller, at: now)
    while let text = corrections.nextReport() { log(text) }
  }

  /// Updates the assistance for the next start. Ends a round.
  func assist(_ poller: inout Poller, at now: Instant) {
    guard let assistance else { return }
    if let seconds = assistance.work(connection, isInUse: isWanted, &poller, at: now) {
      events.append(.receiver(.assistance(usableSeconds: seconds)))
    }
    while let text = assistance.nextReport() { events.append(.log(text)) }
  }

  // MARK: The engine of a modem

  /// Whether this service switches the engine of a modem: a named supply switch is used instead of it.
  private var mayUseEngine: Bool { number == 0 && !isReadOnly && supply == nil }

  /// Switches the engine on for a receiver that was just opened.
  private func useEngine(of modem: ModemPort?, at now: Instant) {
    isInModem = modem != nil
    guard let modem, mayUseEngine else {
      if engine?.isBusy != true { engine = nil }
      return
    }
    // The engine that an earlier program has left on is not restored before.
    if engine?.move(to: modem) != true { engine = ModemEngine(modem, stateFolder: stateFolder) }
    engine?.set(.on, at: now)
  }

  /// Switches the engine on while the line is lent.
  func lendEngine(at now: Instant) { if isInModem { engine?.set(.on, at: now) } }

  private func restoreEngine(at now: Instant) { engine?.set(.asFound, at: now) }

  /// The line was opened again, after an unplug perhaps under another node or with another receiver.
  private func reopened() {
    guard let port = connection?.announcedPort else { return }
    if port.isInModem != isInModem {
      needsOtherSession = true
    } else if isInModem, let modem = ModemPort(at: port.node), engine?.move(to: modem) == true {
      engine?.check()
    }
  }

  private func wakeEngine(_ poller: inout Poller, at now: Instant) {
    engine?.wake(&poller, at: now)
    while let event = engine?.nextEvent() {
      switch event {
      case .log(let text): complain(text)
      case .refused: events.append(.receiver(.engineRefused))
      }
    }
  }

  // MARK: Opening

  private func attempt(_ poller: inout Poller, at now: Instant) {
    nextTry = now + Self.retry
    do {
      guard let path = try path(&poller) else {
        // The path of the simulator is not known yet.
        if simulator != nil { return }
        events.append(.problem(.absent))
        return complain("no receiver is found; the program waits for one (plug it in, or name it with GNSS_DEVICE)")
      }
      let modem = simulator == nil && ReceiverConnection.isAnnounced(path) ? ModemPort(at: path) : nil
      if number == 0 { events.append(.receiver(.isInModem(modem != nil && mayUseEngine))) }
      // The NMEA port of a modem takes no commands.
      let isReadOnly = isReadOnly || modem != nil
      var settings = SessionSettings(intent: isReadOnly ? .readOnly : .serve, line: .serial)
      if let likelyRate { settings.likelyRates = [likelyRate] }
      // A standby receiver does not sleep, and its rate is unchanged.
      let isStandby = number > 0
      let hasCorrections = corrections != nil
      settings.desired = { [userSettings] receiver in
        var desired: DesiredConfiguration = isStandby ? .navigation(for: receiver) : .saving(for: receiver)
        if hasCorrections { desired.readCorrections(for: receiver) }
        desired.addSignalReports(for: receiver)
        desired.addFusionReports(for: receiver)
        return userSettings.value.applied(to: desired)
      }
      settings.pollsOrbits = !isStandby
      settings.assistance = assistance?.settings()
      let recoveryFile = isReadOnly ? nil : stateFolder.map { CrashRecoveryFile(stateFolder: $0, line: path) }
      if !isReadOnly { keepBatches(of: path, &settings) }
      let connection = ReceiverConnection(
        path: path, settings: settings, baud: baud, token: port, pin: pin, recoveryFile: recoveryFile,
        reference: { System.referenceTime() })
      try connection.open(&poller, at: now)
      useEngine(of: modem, at: now)
      if simulator == nil, connection.isAnnounced { try follow(connection, &poller, at: now) }
      self.connection = connection
      lending.opened()
      nextTry = nil
      lastComplaint = nil
      events.append(.permitted(true))
    } catch let error as SerialPortError {
      if case .held = error.cause, lending.held(at: now) {
        nextTry = now + LineLending.retry
        return
      }
      switch error.cause {
      case .noPermission: events.append(.permitted(false))
      case .notFound:
        events.append(.problem(.absent))
        awaitDevice(&poller, at: now)
      case .held: events.append(.problem(.held))
      case .directory, .unsuitable, .malformed: events.append(.problem(.misnamed))
      default: break
      }
      complain(error.description)
    } catch {
      complain("\(error)")
    }
  }

  /// Opens the batch store, and continues the batch of an earlier process of this program.
  private func keepBatches(of path: String, _ settings: inout SessionSettings) {
    guard batch == nil, let batchFolder else { return }
    do throws(FileError) {
      let store = try BatchStoreHandle(folder: batchFolder, line: path)
      batch = store
      guard let frame = store.unfinishedFrame else { return }
      settings.unfinishedFrame = frame
      // Such a receiver batches, and may send nothing before it is polled.
      settings.isKnownUBlox = true
      events.append(.hasLeftoverBatch)
    } catch {
      events.append(
        .log("fixes of the receiver's memory cannot be stored: \(error) (SEXTANT_STATE_DIR names the folder)"))
    }
  }

  /// Returns the path of the receiver; nil if there is none, or while the simulator starts.
  func path(_ poller: inout Poller) throws -> String? {
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
      // A simulator that ends after it was opened counts as a receiver that does not return.
      if process.path == nil {
        simulator = nil
        nextTry = now + Self.scenarioRetry
      }
      if let problem = error.problem { events.append(.problem(problem)) }
      complain(error.description)
    }
  }

  /// Waits for udev's message about the absent device that is named: further attempts only find it after a lost message.
  private func awaitDevice(_ poller: inout Poller, at now: Instant) {
    guard case .device(let path) = source, lacksUdev != true, MonitorSource.udev.announces(path) else { return }
    if monitor == nil {
      guard let handle = try? startMonitor(&poller) else { return }
      lacksUdev = handle.source != .udev
      // Other sources wake the process as often.
      if lacksUdev == true { return endMonitor(&poller) }
      // It may have appeared before the monitor started.
      if handle.drain(at: now).contains(where: { $0.port.attributes.isNamed(path) }) { return }
    }
    nextTry = now + RetryPolicy.awaited
  }

  private func startMonitor(_ poller: inout Poller) throws -> DeviceMonitorHandle {
    let handle = DeviceMonitorHandle(list: try DeviceList.installed())
    if let descriptor = handle.fileDescriptor { try poller.add(descriptor, token: devices) }
    monitor = handle
    return handle
  }

  private func endMonitor(_ poller: inout Poller) {
    if let descriptor = monitor?.fileDescriptor { poller.remove(descriptor) }
    monitor = nil
  }

  /// Makes the connection follow the receiver using device events.
  private func follow(_ connection: ReceiverConnection, _ poller: inout Poller, at now: Instant) throws {
    if monitor == nil {
      let handle = try startMonitor(&poller)
      connection.follow(handle.drain(at: now).map(\.port), at: now)
    } else {
      connection.follow(ReceiverPorts.enumerate(list: try DeviceList.installed()), at: now)
    }
  }

  private func drainDevices(
    _ poller: inout Poller, at now: Instant, _ body: (borrowing EpochAssembler.Report, borrowing Sky) -> Void
  ) {
    for event in monitor?.drain(at: now) ?? [] {
      connection?.receive(event, &poller, at: now, body)
      if case .device(let path) = source, event.change != .removed, event.port.attributes.isNamed(path) { retryNow() }
    }
  }

  // MARK: Closing

  private func close(_ poller: inout Poller) {
    endsAt = nil
    isAtEnd = false
    needsOtherSession = false
    networkFault = nil
    if let rate = connection?.rate { likelyRate = rate }
    loseFix()
    connection?.close(&poller) { _, _ in }
    assistance?.end(connection)
    connection = nil
    endMonitor(&poller)
  }

  func deliverEvents() {
    while let event = connection?.nextEvent() {
      switch event {
      case .notice, .session(.silent), .session(.adviseOnSilence), .session(.back), .session(.notRestored),
        .session(.wakesByTimer):
        let text = connection.flatMap { event.notice(path: $0.path, baud: nil, bytes: $0.bytesOfLine, $0.counters) }
        if let text { events.append(.log(text)) }
      case .session(.withoutPositions), .session(.refusesSaving):
        if let text = connection.flatMap({ event.notice(path: $0.path, baud: nil) }) { logOnce(text) }
      case .unreachable(let error):
        if case .unreachable(_, isHeld: true) = error.cause {
          events.append(.problem(.held))
        } else {
          events.append(.problem(.absent))
        }
        networkFault = "\(error)"
        complain("\(error); trying again")
      case .session(.identified(let receiver)) where receiver.runningLog != nil:
        logOnce("the logger of the receiver runs for its owner: the receiver is not put to sleep")
      case .session(.identified(let receiver)) where receiver.cannotSleep:
        logOnce("\(receiver.vendor) receivers of this kind have no sleep by a command: it stays on")
      default: break
      }
      handleReceiverEvents(event)
    }
  }

  private func handleReceiverEvents(_ event: ReceiverConnection.Event) {
    switch event {
    case .session(.notIdentified): isUnidentified = true
    // Another program may have switched the engine off, or the modem has restarted.
    case .session(.silent): engine?.check()
    case .lost, .session(.identified): isUnidentified = false
    default: break
    }
    switch event {
    // Keys in its memory are lost with its supply.
    case .session(.identified), .session(.wasReset), .session(.awake): corrections?.receiverStarted()
    default: break
    }
    switch event {
    case .session(let report):
      events.append(
        .receiver(
          .session(report, desired: connection?.desired, receiver: connection?.description, port: connection?.port)))
    case .batch(let event): events.append(.receiver(.batch(event)))
    case .lost:
      loseFix()
      events.append(.receiver(.lost))
    case .ended:
      isAtEnd = true
      events.append(.receiver(.lost))
    case .opened:
      networkFault = nil
      reopened()
    case .finished(let ticket, let outcome): corrections?.finished(ticket, outcome)
    case .rate, .notice, .unreachable: break
    }
  }

  func log(_ text: String) { events.append(.log(text)) }

  private func loseFix() {
    solution = nil
    newestFix = nil
    trust.interrupt()
  }

  /// Logs what each identification and configuration of a receiver repeats.
  private func logOnce(_ text: String) {
    if logged.insert(text).inserted { events.append(.log(text)) }
  }

  /// Logs a problem once, until it changes or is resolved.
  func complain(_ text: String) {
    guard text != lastComplaint else { return }
    lastComplaint = text
    events.append(.log(text))
  }
}

extension ReceiverPort {
  /// Whether the device may be opened without being named.
  fileprivate var isUsable: Bool { likelihood.isPlausible }
}

// The requests of programs and users to a receiver, except for its line.
extension ReceiverSource {
  /// Uses a device that a user has named, if no receiver is configured and none was found, or if an earlier one was removed.
  /// Returns whether the device is used.
  func adopt(_ device: PinnedDevice) -> Bool {
    guard isVacant || source == .firstFound && lending.use == .served, connection == nil else { return false }
    source = .device(device.path)
    pin = device
    isVacant = false
    return true
  }

  /// Frees the place of a device that a user has named and removed, once it is restored. Its line stays lent.
  func vacate() {
    guard pin != nil, connection == nil, lending.use == .lent else { return }
    isVacant = true
    pin = nil
    lentPath = nil
    likelyRate = nil
    lastComplaint = nil
    isUnidentified = false
    userSettings.value = ReceiverUserSettings()
  }

  /// Applies a command of a program.
  func apply(_ command: ClientCommand, _ poller: inout Poller, at now: Instant) {
    switch command {
    case .send(let bytes):
      guard let connection, !connection.send(bytes, &poller, at: now) else { return }
      logOnce(
        "\(connection.path): the line takes the messages of programs too slowly, and further ones are dropped; send fewer, or raise its rate"
      )
    case .set(let settings):
      userSettings.value = settings
      if let desired = connection?.desired {
        connection?.set(settings.applied(to: desired), &poller, at: now)
        deliverEvents()
      }
    }
  }
}

/// The switch in a receiver's supply, open from the first use to the end of the program.
final class SupplySwitchHandle {
  private let address: SupplySwitchAddress
  private var open: Open?
  private struct Open: ~Copyable { var supply: SupplySwitch }

  init(_ address: SupplySwitchAddress) { self.address = address }

  /// Opens the switch, which turns the supply on. Returns a message if it fails.
  func take() -> String? {
    guard open == nil else { return nil }
    do throws(SupplySwitchError) {
      open = Open(supply: try SupplySwitch(address))
      return nil
    } catch {
      return "\(error)"
    }
  }

  /// Turns the supply on or off. Returns a message if it fails.
  func set(isOn: Bool) -> String? {
    guard open != nil else { return nil }
    do throws(SupplySwitchError) {
      try open!.supply.set(isOn: isOn)
      return nil
    } catch {
      return "\(error)"
    }
  }
}
