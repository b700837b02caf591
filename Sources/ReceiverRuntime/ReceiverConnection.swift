// SPDX-License-Identifier: Apache-2.0
import LinuxIO
import MonotonicTime
import Receiver
import ReceiverStream
import SerialPort

/// The connection to one receiver: its port, the session on it, and its reopening after an unplug.
///
/// It performs the actions of the session on the thread of a poller and decides nothing itself. One poller can serve
/// many connections.
package final class ReceiverConnection {
  /// Receives the reports of epochs.
  package typealias ReportHandler = (borrowing EpochAssembler.Report, borrowing Sky) -> Void
  package typealias FrameHandler = (borrowing Frame) -> Void

  /// The name of the device: a path, or another name that `LineAddress` reads.
  package let path: String
  /// The token of the port in the events of the poller.
  package let token: Poller.Token
  /// The number of received bytes of all lines that were opened.
  package private(set) var bytes: UInt64 = 0
  /// The same without those before `counters`.
  package var bytesOfLine: UInt64 { link == nil ? 0 : bytes - closedBytes }

  /// Gets the bytes of the session before they are written.
  package var onSend: (([UInt8]) -> Void)?

  /// The bytes that may wait for the line, before further bytes of other programs are dropped: four seconds at 9600 baud.
  private static let mostQueued = 4096

  private var link: ReceiverLink?
  private(set) var reopening = Reopening()
  private(set) var hasEnded = false
  /// Whether an earlier line has delivered a valid frame.
  private var hasReceived = false
  /// The counts of the lines that were closed.
  private(set) var closedCounters = StreamCounters()
  private var closedBytes: UInt64 = 0
  /// The memory of the last session on the line, for the next one.
  private(set) var memory: SessionMemory?

  var settings: SessionSettings
  private let baud: UInt32?
  private let reference: @Sendable () -> UTCTime?
  private var events: [Event] = []
  private var buffer = [UInt8](repeating: 0, count: 16_384)
  /// Whether an idle interval has ended since the last preview.
  private var isEpochNear = false
  /// The file of the crash-recovery record. The connection applies an earlier record, and writes its own before it sends
  /// the bytes of a change.
  private let recoveryFile: CrashRecoveryFile?
  private var hasRecoveryFailed = false
  private var otherReaders = OtherReaders()
  private let provider: (any LineProvider)?
  private let pin: PinnedDevice?
  /// The report about the receiver from a line that another program reads.
  private var identity = LineIdentity.unknown

  /// - Parameters:
  ///   - path: a tty, pseudo-terminal, FIFO, file or character device, or another name that `LineAddress` reads.
  ///   - settings: the settings of the session. The kind of a line without a rate is taken from the path.
  ///   - baud: the fixed rate; nil to search for the rate.
  ///   - token: the token of the port in the events of the poller.
  ///   - pin: the device that the path must lead to at each opening; nil for any.
  ///   - recoveryFile: the crash-recovery record of the line; nil if there is none, and for a session that sends
  ///     nothing.
  ///   - provider: the source of lines that another program has opened; nil if the path is opened.
  ///   - reference: returns the time of the computer if its clock is set.
  package init(
    path: String, settings: SessionSettings, baud: UInt32?, token: Poller.Token, pin: PinnedDevice? = nil,
    recoveryFile: CrashRecoveryFile? = nil, provider: (any LineProvider)? = nil,
    reference: @escaping @Sendable () -> UTCTime?
  ) {
    self.provider = provider
    self.pin = pin
    self.recoveryFile = settings.intent == .readOnly ? nil : recoveryFile
    self.path = path
    self.settings = settings
    self.baud = baud
    self.token = token
    self.reference = reference
  }

  /// Returns a property of the open link; nil while no port is open.
  func read<Value>(_ body: (borrowing ReceiverLink) -> Value?) -> Value? {
    switch link {
    case .some(let link): body(link)
    case nil: nil
    }
  }

  /// The open line. Traps while none is open.
  private var line: any ReceiverLine { read { $0.line }! }

  /// Changes the open link; no effect while no port is open.
  func change(_ body: (inout ReceiverLink) -> Void) {
    guard link != nil else { return }
    body(&link!)
  }

  /// The descriptor of the open port; nil without one.
  package var fileDescriptor: Int32? { read { $0.line.fileDescriptor } }

  private var isPaused: Bool { read { $0.isPaused } ?? false }
  private var isResting: Bool { read { $0.isResting } ?? false }

  // MARK: Events

  /// The next event; nil if there is none.
  package func nextEvent() -> Event? { events.isEmpty ? nil : events.removeFirst() }

  /// The time at which `wake` is due.
  package var deadline: Instant? {
    if hasEnded { return nil }
    return link == nil ? reopening.deadline : read { $0.deadline }
  }

  /// Reports the epoch as if it ended now, if an idle interval has ended since the last call because the end of the
  /// epoch is near; see `EpochAssembler.preview`.
  package func preview(_ body: ReportHandler) {
    guard isEpochNear else { return }
    isEpochNear = false
    link?.session.preview(body)
  }

  /// Uses device events to find the receiver again. Without them its path is tried repeatedly after a loss.
  ///
  /// - Parameters:
  ///   - present: the present ports.
  ///   - now: the current instant.
  package func follow(_ present: [ReceiverPort], at now: Instant) { reopening.follow(path, present, at: now) }

  /// Handles an event of a device.
  package func receive(_ event: DeviceEvent, _ poller: inout Poller, at now: Instant, _ body: ReportHandler) {
    reopening.policy?.receive(event, at: now)
    performReconnectActions(&poller, at: now, body)
  }

  /// Handles an event of the poller.
  ///
  /// - Parameters:
  ///   - event: the event, which may concern another descriptor.
  ///   - poller: the poller of the line.
  ///   - now: the current instant.
  ///   - tap: receives the bytes before the session does.
  ///   - frames: receives each frame before its epoch is reported.
  ///   - body: receives the report of each epoch in these bytes.
  package func handle(
    _ event: Poller.Event, _ poller: inout Poller, at now: Instant, bytes tap: (RawSpan) -> Void = { _ in },
    frames: FrameHandler = { _ in }, _ body: ReportHandler
  ) {
    if let network = reopening.network {
      network.handle(event, &poller, at: now)
      finishOpening(&poller, at: now)
      return perform(&poller, at: now, body)
    }
    switch event {
    case .readable(token), .hangUp(token): _ = read(&poller, at: now, tap, frames, body)
    case .writable(token): break
    default: return
    }
    perform(&poller, at: now, body)
  }

  /// Performs the actions that are due; see `handle` for the parameters.
  package func wake(
    _ poller: inout Poller, at now: Instant, bytes tap: (RawSpan) -> Void = { _ in },
    frames: FrameHandler = { _ in }, _ body: ReportHandler
  ) {
    if isResting { return }
    if link != nil {
      wakeLink(&poller, at: now, tap, frames, body)
    } else {
      reopen(&poller, at: now, body)
    }
    perform(&poller, at: now, body)
  }

  private func wakeLink(
    _ poller: inout Poller, at now: Instant, _ tap: (RawSpan) -> Void, _ frames: FrameHandler, _ body: ReportHandler
  ) {
    if let due = line.deadline, now >= due {
      // A port has at most the bytes of its buffer. The limit does the same for a file, so that signals are handled.
      for _ in 0..<16 where !read(&poller, at: now, tap, frames, body) { break }
    }
    guard link != nil else { return reopen(&poller, at: now, body) }
    if isLent { return }
    if let until = link!.scheduler.idleUntil, now >= until {
      link!.scheduler.wake(at: now)
      isEpochNear = true
      _ = read(&poller, at: now, tap, frames, body)
    }
    if link != nil, let due = link!.session.deadline, now >= due { link!.session.wake(at: now, frames: frames, body) }
  }

  // MARK: Commands

  /// Submits a command; see `ReceiverSession.submit`. Returns nil while no port is open.
  package func submit(_ command: Command, _ poller: inout Poller, at now: Instant) -> SessionTicket? {
    withSession(&poller, at: now) { $0.submit(command, at: now) }
  }

  /// Sends bytes of other programs when their turn comes, without an outcome. Returns whether they are accepted: a line that is
  /// slower than the programs gets no more than `mostQueued`.
  package func send(_ bytes: [UInt8], _ poller: inout Poller, at now: Instant) -> Bool {
    guard read({ $0.unsentCount + $0.session.submittedCount }) ?? 0 < Self.mostQueued else { return false }
    _ = submit(Command(raw: bytes), &poller, at: now)
    return true
  }

  /// Performs tasks on a receiver of another maker; see `ReceiverSession.perform`. Returns nil while no port is open.
  package func perform(
    _ tasks: [ReceiverTask], restoring values: [ReceiverValue] = [], _ poller: inout Poller, at now: Instant
  ) -> SessionTicket? {
    withSession(&poller, at: now) { $0.perform(tasks, restoring: values, at: now) }
  }

  /// Searches the rate of the line; see `ReceiverSession.searchRate`.
  package func searchRate(_ poller: inout Poller, at now: Instant) {
    withSession(&poller, at: now) { $0.searchRate(at: now) }
  }

  /// Sets whether the end of the session restores the changes; see `ReceiverSession.restoreAtEnd`.
  package func restoreAtEnd(_ restores: Bool) { link?.session.restoreAtEnd(restores) }

  /// Sets the assistance for the next start of the receiver.
  package func set(_ assistance: AssistanceSettings?, at now: Instant) {
    settings.assistance = assistance
    link?.session.set(assistance, time: reference(), at: now)
  }

  /// Tells the session the computer's time, which may have been set, or have continued during a suspend.
  package func updateTime(at now: Instant) { link?.session.set(time: reference(), at: now) }

  /// Sets the desired configuration of the receiver.
  package func set(_ desired: DesiredConfiguration, _ poller: inout Poller, at now: Instant) {
    withSession(&poller, at: now) { $0.set(desired, at: now) }
  }

  /// Puts the receiver to sleep; see `ReceiverSession.sleep`.
  package func sleep(for duration: Milliseconds?, _ poller: inout Poller, at now: Instant) {
    withSession(&poller, at: now) { $0.sleep(for: duration, at: now) }
  }

  /// Wakes the receiver; see `ReceiverSession.wakeUp`.
  package func wakeUp(_ poller: inout Poller, at now: Instant) {
    withSession(&poller, at: now) { $0.wakeUp(at: now) }
  }

  /// Reads the batch of the receiver; see `ReceiverSession.retrieveBatch`.
  package func retrieveBatch(_ journal: BatchJournal, earlier: [[UInt8]] = [], _ poller: inout Poller, at now: Instant)
  {
    withSession(&poller, at: now) { $0.retrieveBatch(journal, earlier: earlier, at: now) }
  }

  /// Ends the retrieval; see `ReceiverSession.cutRetrieval`.
  package func cutRetrieval(_ poller: inout Poller, at now: Instant) {
    withSession(&poller, at: now) { $0.cutRetrieval(at: now) }
  }

  @discardableResult
  private func withSession<Result>(
    _ poller: inout Poller, at now: Instant, _ body: (inout ReceiverSession) -> Result
  ) -> Result? {
    guard link != nil else { return nil }
    let wasResting = isResting
    let result = body(&link!.session)
    if wasResting, !isResting { link!.resume(at: now) }
    perform(&poller, at: now) { _, _ in }
    return result
  }

  /// Sets whether the line is read. While it is not, received bytes cause no wake-up, but a hang-up is detected; a command has it read
  /// until its outcome. Reading begins with a new session.
  package func listen(_ listens: Bool, _ poller: inout Poller, at now: Instant) {
    guard link != nil, isPaused == listens else { return }
    // The old session remains until now, so that it can restore the receiver at an end.
    if listens { restartSession(at: now) }
    link!.setPaused(!listens, &poller, at: now)
  }

  /// Begins a new session on the open line, with the memory of the one before.
  func restartSession(at now: Instant) {
    link!.session.lost { _, _ in }
    drainActions()
    memory = link!.session.memory
    closedCounters.add(link!.session.counters)
    closedBytes = bytes
    line.discardInput()
    link!.session = makeSession(of: line, try? readRate(of: line), at: now)
    link!.scheduler.reset()
  }

  /// Begins the orderly end of the session, which is over when `isEnded`.
  ///
  /// - Parameter isUrgent: whether the end must complete within two seconds; one of them is for the receiver's orbits.
  package func finish(_ poller: inout Poller, at now: Instant, isUrgent: Bool = false) {
    guard link != nil else {
      cancelOpening(&poller)
      hasEnded = true
      return
    }
    takeBack(&poller, at: now)
    if isPaused {
      line.discardInput()
      link!.setPaused(false, &poller, at: now)
    }
    withSession(&poller, at: now) {
      isUrgent ? $0.finish(at: now, readingOrbitsFor: Milliseconds(1000)) : $0.finish(at: now)
    }
  }

  /// Closes the port. The incomplete epoch is passed to `body`.
  package func close(_ poller: inout Poller, _ body: ReportHandler) {
    cancelOpening(&poller)
    guard link != nil else { return }
    settleRecovery()
    if link!.session.isRestored { recoveryFile?.clear() }
    link!.session.lost(body)
    closeLink(&poller)
    hasEnded = true
  }

  // MARK: Open and close

  /// Opens the port. An error at this first opening is reported for the user to correct; later the connection waits.
  package func open(_ poller: inout Poller, at now: Instant) throws(SerialPortError) {
    try open(path, &poller, at: now)
  }

  private func open(_ path: String, _ poller: inout Poller, at now: Instant) throws(SerialPortError) {
    let access: SerialPort.Access = settings.intent == .readOnly ? .readOnly : .readWrite
    if let line = try provider?.line(at: now) {
      try open(try line.adopt(path, access: access, baud: baud, at: now), path, &poller, at: now)
      return followReports()
    }
    if let source = try LineAddress(path).networkSource {
      reopening.network = NetworkOpening(source, path: path, token: token, &poller, at: now)
      return
    }
    try open(try LineAddress(path).open(access: access, baud: baud, pin: pin, at: now), path, &poller, at: now)
  }

  private func open(
    _ line: any ReceiverLine, _ path: String, _ poller: inout Poller, at now: Instant
  ) throws(SerialPortError) {
    let lineRate = try readRate(of: line)
    let session = makeSession(of: line, lineRate, at: now)
    // The frame only precedes the first opening.
    settings.unfinishedFrame = nil
    if let descriptor = line.fileDescriptor { try poller.addPort(descriptor, token: token) }
    link = ReceiverLink(line, session, token: token)
    let notice = reopening.retry.opened(path, at: now)
    events.append(.opened(path: path, rate: lineRate))
    if let notice { events.append(.notice(notice)) }
  }

  /// Returns the rate of the line, in baud; nil without one. A line that is hung up has the rate 0 (B0 of termios): it gets the first
  /// rate of the search.
  private func readRate(of line: any ReceiverLine) throws(SerialPortError) -> UInt32? {
    let rate = try line.readBaudRate()
    guard rate == 0 else { return rate }
    let first = baud ?? BaudRateSearch.rates[0]
    try line.setBaudRate(first)
    return first
  }

  /// Handles the result of connecting to a network source.
  private func finishOpening(_ poller: inout Poller, at now: Instant) {
    guard let outcome = reopening.network?.takeOutcome(&poller) else { return }
    reopening.network = nil
    do throws(SerialPortError) {
      switch outcome {
      case .opened(let line):
        try open(line, path, &poller, at: now)
        noteCapabilities(of: line)
      case .failed(let error): throw error
      }
    } catch {
      reopening.networkFailed(at: now)
      // A loss was reported; further failures are not reported.
      if !hasReceived { events.append(.unreachable(error)) }
    }
  }

  /// Reports once the restriction of a source that does not accept bytes.
  private func noteCapabilities(of line: NetworkLine) {
    guard settings.intent != .readOnly, !hasReceived, let text = line.notice else { return }
    events.append(.notice("\(path): \(text)"))
    settings.intent = .readOnly
  }

  private func cancelOpening(_ poller: inout Poller) {
    reopening.network?.close(&poller)
    reopening.network = nil
  }

  /// Forwards the report of a line that another program reads.
  private func followReports() {
    while let text = read({ $0.line.takeNotice() }) { events.append(.notice(text)) }
    guard let found = read({ $0.line.identity }), found != identity else { return }
    identity = found
    switch found {
    case .unknown: break
    case .unidentified: link!.session.follow(nil as ReceiverDescription?)
    case .identified(let description): link!.session.follow(description)
    }
  }

  private func makeSession(of line: any ReceiverLine, _ lineRate: UInt32?, at now: Instant) -> ReceiverSession {
    var settings = settings
    settings.memory = memory ?? settings.memory
    settings.otherRecords = recoveryFile?.others ?? []
    if memory?.description == nil {
      settings.recovery = recoveryFile?.recovery
      settings.recoverySettings = recoveryFile?.settings
    }
    if lineRate == nil, settings.line == .serial || settings.line == .bound {
      settings.line = .withoutRate(line.receiverPort)
    }
    if baud != nil && lineRate != nil || line.givenRate != nil { settings.line = .bound }
    if !line.isWritable { settings.intent = .readOnly }
    settings.isRecording = line is ReplayLine
    return ReceiverSession(settings, lineRate: lineRate, reference: reference(), now: now)
  }

  private func closeLink(_ poller: inout Poller) {
    memory = link!.session.memory
    closedCounters.add(link!.session.counters)
    closedBytes = bytes
    if let descriptor = line.fileDescriptor { poller.remove(descriptor) }
    link = nil
  }

  /// Closes the port after an unplug, or after the other end of the line has closed.
  private func lose(_ poller: inout Poller, at now: Instant, _ body: ReportHandler) {
    guard link != nil else { return }
    link!.session.lost(body)
    drainActions()
    reopening.replay = line as? ReplayLine
    // The settings of another program can look like a hang-up: without VMIN a read returns no bytes.
    let readers = otherReaders.text(for: line.otherReaders, path)
    let reason = line.lossReason
    if link!.session.counters.frames > 0 { hasReceived = true }
    closeLink(&poller)
    // Another receiver may be connected next.
    memory?.isUnanswering = false
    provider?.lost()
    events.append(.lost(path: path))
    if let reason, !hasReceived {
      reopening.networkFailed(at: now)
      return events.append(.unreachable(reason))
    }
    reopening.failures = 0
    if let readers { events.append(.notice(readers)) }
    guard reopening.policy != nil else {
      if let text = reopening.retry.lost(path, at: now) {
        if let reason { events.append(.notice(reason.description)) }
        events.append(.notice(text))
      }
      return
    }
    reopening.policy?.lost(at: now)
    performReconnectActions(&poller, at: now, body)
  }

  private func reopen(_ poller: inout Poller, at now: Instant, _ body: ReportHandler) {
    guard !hasEnded else { return }
    if let network = reopening.network {
      network.wake(&poller, at: now)
      finishOpening(&poller, at: now)
    } else if let due = reopening.policy?.deadline, now >= due {
      reopening.policy?.wake(at: now)
      performReconnectActions(&poller, at: now, body)
    } else if let replay = reopening.replay {
      resume(replay, &poller, at: now)
    } else if let due = reopening.retry.due, now >= due {
      // The loss was reported; further failures are not reported.
      do { try open(&poller, at: now) } catch { reopening.retry.failed(at: now) }
    }
  }

  /// Continues a recording during a disconnection in it.
  private func resume(_ line: ReplayLine, _ poller: inout Poller, at now: Instant) {
    switch line.resume(at: now) {
    case .awaited: break
    case .back:
      reopening.replay = nil
      // A line without a descriptor is not added to the poller, so an error is impossible.
      try? open(line, path, &poller, at: now)
    case .never:
      reopening.replay = nil
      hasEnded = true
      events.append(.ended)
    }
  }

  /// Opens and closes ports as the reconnect policy decides.
  private func performReconnectActions(_ poller: inout Poller, at now: Instant, _ body: ReportHandler) {
    while !hasEnded, let action = reopening.policy?.takeAction() {
      switch action {
      case .open(let path):
        do throws(SerialPortError) {
          try open(path, &poller, at: now)
          reopening.policy?.opened(path, at: now)
        } catch {
          reopening.policy?.failed(path, errno: error.errno, because: error.description, at: now)
        }
      case .close: if link != nil { lose(&poller, at: now, body) }
      case .report(let text): events.append(.notice(text))
      }
    }
  }

  // MARK: Read and write

  /// Reads once. Returns whether there were bytes.
  private func read(
    _ poller: inout Poller, at now: Instant, _ tap: (RawSpan) -> Void, _ frames: FrameHandler, _ body: ReportHandler
  ) -> Bool {
    guard link != nil else { return false }
    // The buffer is moved out while it is read, to avoid a copy.
    var buffer: [UInt8] = []
    swap(&buffer, &self.buffer)
    defer { swap(&buffer, &self.buffer) }
    let result: SerialPort.ReadResult
    do {
      var span = buffer.mutableSpan
      // The call is unsafe for types with invalid bit patterns; bytes have no invalid patterns.
      var room = unsafe span.mutableBytes
      result = try line.read(into: &room, at: now)
    } catch {
      lose(&poller, at: now, body)
      return false
    }
    if let rate = line.givenRate, rate != link!.session.rate {
      link!.session.follow(rate: rate, at: now)
      events.append(.rate(rate))
    }
    followReports()
    switch result {
    case .wouldBlock: return false
    case .endOfInput:
      close(&poller, body)
      events.append(.ended)
      return false
    case .bytes(let count):
      bytes += UInt64(count)
      let received = unsafe buffer.span.bytes.extracting(0..<count)
      tap(received)
      if isLent { return true }
      var endsEpoch = false
      link!.session.receive(received, at: now, frames: frames) { report, sky in
        endsEpoch = true
        body(report, sky)
      }
      link!.scheduler.receive(bytes: count, endsEpoch: endsEpoch, at: now)
      if otherReaders.takeDue(link!.session.counters, at: now),
        let text = otherReaders.text(for: line.otherReaders, path)
      {
        events.append(.notice(text))
      }
      return true
    }
  }

  /// Performs the actions of the session.
  private func perform(_ poller: inout Poller, at now: Instant, _ body: ReportHandler) {
    while link != nil, !isLent, let action = link!.session.nextAction() {
      switch action {
      case .send(let bytes):
        storeRecovery()
        onSend?(bytes)
        link!.queue(bytes)
      case .setRate(let rate):
        guard write(&poller, at: now, body) else { return }
        // The next opening finds the receiver at one of both rates.
        do throws(SerialPortError) { try line.setBaudRate(rate) } catch { return lose(&poller, at: now, body) }
        link!.scheduler.reset()
        events.append(.rate(rate))
      default: note(action)
      }
    }
    _ = write(&poller, at: now, body)
  }

  /// Stores the crash-recovery record. A failure is reported once.
  private func storeRecovery() {
    guard let recoveryFile, let recovery = read({ $0.session.recovery }) else { return }
    do throws(FileError) {
      try recoveryFile.save(
        recovery, read { $0.session.recoverySettings }, of: read { $0.session.recordNames } ?? [])
    } catch {
      if !hasRecoveryFailed {
        events.append(
          .notice("the crash-recovery record cannot be written: \(error); a killed program leaves its settings behind"))
      }
      hasRecoveryFailed = true
    }
  }

  /// Removes a record without a name if no receiver replied, and makes room if the record is of another receiver.
  private func settleRecovery() {
    guard let recoveryFile, let stored = recoveryFile.settings, link != nil else { return }
    if stored.isUnidentified {
      guard link!.session.isUnanswered else { return }
      guard let recovery = link!.session.recovery else { return recoveryFile.clear() }
      try? recoveryFile.save(recovery)
    } else if recoveryFile.keepOther(than: link!.session.recordNames) {
      link!.session.set(otherRecords: recoveryFile.others)
    }
  }

  /// Reports the remaining actions of a session whose line is closed.
  private func drainActions() {
    while let action = link?.session.nextAction() { note(action) }
  }

  private func note(_ action: SessionAction) {
    switch action {
    case .send, .setRate: break
    case .report(let report):
      settleRecovery()
      events.append(.session(report))
    case .finished(let ticket, let outcome): events.append(.finished(ticket, outcome))
    case .batch(let event): events.append(.batch(event))
    }
  }

  /// Writes the queued bytes. Returns false if the line is lost.
  func write(_ poller: inout Poller, at now: Instant, _ body: ReportHandler) -> Bool {
    guard link != nil else { return false }
    do {
      try link!.write(at: now)
    } catch {
      lose(&poller, at: now, body)
      return false
    }
    link!.scheduleRead(&poller, at: now)
    return true
  }
}

extension ReceiverConnection {
  /// An event other than a fix.
  package enum Event: Sendable, Equatable {
    /// The port was opened, with its rate if it has one, baud.
    case opened(path: String, rate: UInt32?)
    /// The line has a new rate, baud.
    case rate(UInt32)
    /// The receiver was disconnected; the connection waits for it.
    case lost(path: String)
    /// A network source cannot be reached, before it has ever sent a valid frame. The connection tries again.
    case unreachable(SerialPortError)
    /// A message to the user about the port.
    case notice(String)
    /// The end of a file or FIFO was reached.
    case ended
    /// A report of the session.
    case session(SessionReport)
    /// A submitted command has ended.
    case finished(SessionTicket, Outcome)
    /// An event of the retrieval of a batch.
    case batch(BatchEvent)
  }
}
