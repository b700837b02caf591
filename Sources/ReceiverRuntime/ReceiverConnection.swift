import Hotplug
import MonotonicTime
import Receiver
import ReceiverStream
import SerialPort

/// One receiver as a program holds it: its port, the session on it, and its way back after an unplug.
///
/// It carries out what the session decides, on the thread of the poller it is given, and decides nothing itself. One
/// poller can have many of them.
public final class ReceiverConnection {
  /// What happened, apart from fixes.
  public enum Event: Sendable, Equatable {
    /// The port was opened, at this rate where it has one.
    case opened(path: String, rate: UInt32?)
    /// The line is set to another rate.
    case rate(UInt32)
    /// The receiver is gone, and is waited for.
    case lost(path: String)
    /// A line for the user, of what becomes of the port.
    case told(String)
    /// A file or FIFO is at its end.
    case ended
    /// What the session has to tell.
    case session(SessionReport)
    /// A command that was submitted is over.
    case finished(SessionTicket, Outcome)
    /// What comes of the retrieval of a batch.
    case batch(BatchEvent)
  }

  /// The name of the device: a path, or what `LineAddress` reads.
  public let path: String
  /// The token by which the poller names the port.
  public let token: Poller.Token
  /// Bytes received so far.
  public private(set) var bytes: UInt64 = 0

  private var settings: SessionSettings
  private let baud: UInt32?
  private let reference: @Sendable () -> UTCTime?
  private var link: Link?
  private var memory: SessionMemory?
  private var events: [Event] = []
  /// When its path is tried again after a loss, where no event tells of its return.
  private var retry = PathRetry()
  /// A recording's line, while the recording says that its receiver is away.
  private var away: ReplayLine?
  /// Which port to open after a loss, where devices announce themselves.
  private var reconnectPolicy: ReconnectPolicy?
  private var buffer = [UInt8](repeating: 0, count: 16_384)
  private var hasEnded = false
  /// A rest ended, and nobody was told.
  private var isEpochNear = false

  /// The open port and the session on it.
  private struct Link: ~Copyable {
    var line: ReceiverLine
    var session: ReceiverSession
    /// Written by the session and not yet taken by the kernel.
    var unsent: [UInt8] = []
    var interest: Poller.Interest
    var policy = ReadScheduler()
    /// Nobody listens.
    var isUnheard = false
  }

  /// - Parameters:
  ///   - path: a tty, pseudo-terminal, FIFO, file or character device.
  ///   - settings: how the session deals with the receiver. Its line is taken from what the path is, where that has no
  ///     rate.
  ///   - baud: the rate that is bound; nil to find it.
  ///   - token: names the port to the poller.
  ///   - reference: the computer's time, if its clock is set.
  public init(
    path: String, settings: SessionSettings, baud: UInt32?, token: Poller.Token,
    reference: @escaping @Sendable () -> UTCTime?
  ) {
    self.path = path
    self.settings = settings
    self.baud = baud
    self.token = token
    self.reference = reference
  }

  /// Whether a port is open.
  public var isOpen: Bool { link != nil }
  /// The port as udev knows it, also while it is gone and waited for; nil for one that is not announced.
  public var announcedPort: ReceiverPort? { reconnectPolicy?.port }
  /// Whether the line takes bytes; nil when it is not open.
  public var isWritable: Bool? { link?.line.isWritable }
  /// Whether the session has come to its orderly end.
  public var isEnded: Bool { hasEnded || (link?.session.isEnded ?? true) }
  /// What the receiver said of itself.
  public var description: ReceiverDescription? { link?.session.description ?? memory?.description }
  /// Whether a receiver is heard on the line.
  public var isHeard: Bool { link?.session.isReceiving ?? false }
  /// The rate of the line.
  public var rate: UInt32? { link?.session.rate }
  /// The rate that the line has for a time, where it is not the one that it was found at.
  public var raisedRate: RaisedRate? { link?.session.raisedRate }
  /// What the next program has to know should this one not come to its end.
  public var recovery: CrashRecoveryRecord? { link?.session.recovery }
  /// What was changed, for that program.
  public var recoverySettings: CrashRecoverySettings? { link?.session.recoverySettings }
  /// Whether something of the receiver is not as it was found, and is to be at the end.
  public var putsBack: Bool { link?.session.putsBack ?? false }
  /// The receiver's port that is talked over, as far as it is known.
  public var port: ReceiverPortNumber? { link?.session.port }
  /// What the receiver knew of the orbits when its session ended, where it was asked for that.
  public var navigationDatabase: [AssistanceRecord.Message] {
    link?.session.memory.database ?? memory?.database ?? []
  }
  /// The session's present wish.
  public var desired: DesiredConfiguration? { link?.session.desired }
  public var counters: StreamCounters { link?.session.counters ?? StreamCounters() }
  public var rejectedFields: Int { link?.session.rejectedFields ?? 0 }
  /// Whether the receiver is in the wished state and listens to commands.
  public var isSteady: Bool { link?.session.isSteady ?? false }

  /// What an epoch would be were it over now, if the line is listened to since the last call because its end is near; see
  /// `EpochAssembler.preview`.
  public func preview(_ body: (borrowing EpochAssembler.Report, borrowing Sky) -> Void) {
    guard isEpochNear else { return }
    isEpochNear = false
    link?.session.preview(body)
  }

  /// The next thing to tell; nil when there is no more.
  public func nextEvent() -> Event? { events.isEmpty ? nil : events.removeFirst() }

  /// When `wake` is due.
  public var deadline: Instant? {
    if hasEnded { return nil }
    guard link != nil else { return .earlier(away?.deadline ?? retry.due, reconnectPolicy?.deadline) }
    if link!.isUnheard { return nil }
    return .earlier(.earlier(link!.session.deadline, link!.policy.idleUntil), link!.line.deadline)
  }

  /// Whether what is told of devices that come and go says where the receiver is. A pseudo-terminal, a file or a bus is
  /// none that udev knows.
  public var isAnnounced: Bool {
    guard case .port(let path)? = try? LineAddress(path) else { return false }
    return path.hasPrefix("/dev/") && !path.hasPrefix("/dev/pts/")
  }

  /// Follows the receiver by what is told of devices; without it, its path is tried at times after a loss.
  ///
  /// - Parameters:
  ///   - present: the ports that are there.
  ///   - now: the present instant.
  public func follow(_ present: [ReceiverPort], at now: Instant) {
    var reconnectPolicy = ReconnectPolicy(wanted: .path(path), present: present, at: now)
    // It is open already.
    while reconnectPolicy.takeAction() != nil {}
    reconnectPolicy.opened(path, at: now)
    while reconnectPolicy.takeAction() != nil {}
    self.reconnectPolicy = reconnectPolicy
  }

  /// A device came, changed or went.
  public func receive(
    _ event: DeviceEvent, _ poller: inout Poller, at now: Instant,
    _ body: (borrowing EpochAssembler.Report, borrowing Sky) -> Void
  ) {
    reconnectPolicy?.receive(event, at: now)
    followReconnectPolicy(&poller, at: now, body)
  }

  /// Opens the port. Throws what is the user's to mend; later on the receiver is waited for.
  public func open(_ poller: inout Poller, at now: Instant) throws(SerialPortError) {
    try open(path, &poller, at: now)
  }

  private func open(_ path: String, _ poller: inout Poller, at now: Instant) throws(SerialPortError) {
    let access: SerialPort.Access = settings.intent == .readOnly ? .readOnly : .readWrite
    try open(try ReceiverLine(opening: LineAddress(path), access: access, baud: baud, at: now), path, &poller, at: now)
  }

  private func open(
    _ line: consuming ReceiverLine, _ path: String, _ poller: inout Poller, at now: Instant
  ) throws(SerialPortError) {
    let session = makeSession(of: line, at: now)
    let lineRate = line.baudRate
    // It begins at the first opening only.
    self.settings.unfinishedFrame = nil
    if let descriptor = line.fileDescriptor { try poller.add(descriptor, token: token) }
    link = Link(line: line, session: session, interest: .readable)
    retry.opened(at: now)
    events.append(.opened(path: path, rate: lineRate))
  }

  private func makeSession(of line: borrowing ReceiverLine, at now: Instant) -> ReceiverSession {
    var settings = settings
    settings.memory = memory
    let lineRate = line.baudRate
    if lineRate == nil, settings.line == .serial || settings.line == .bound { settings.line = line.kindWithoutRate }
    if baud != nil && lineRate != nil || line.isRateGiven { settings.line = .bound }
    if !line.isWritable { settings.intent = .readOnly }
    return ReceiverSession(settings, lineRate: lineRate, reference: reference(), now: now)
  }

  /// The port is ready, or hung up.
  ///
  /// - Parameters:
  ///   - event: what the poller reported.
  ///   - poller: that waits for its line.
  ///   - now: the present instant.
  ///   - tap: gets the bytes as they are received, before the session does.
  ///   - body: gets each report of an epoch that follows from them.
  public func handle(
    _ event: Poller.Event, _ poller: inout Poller, at now: Instant, bytes tap: (RawSpan) -> Void = { _ in },
    _ body: (borrowing EpochAssembler.Report, borrowing Sky) -> Void
  ) {
    switch event {
    case .readable(token), .hangUp(token): _ = read(&poller, at: now, tap, body)
    case .writable(token): break
    default: return
    }
    carryOut(&poller, at: now, body)
  }

  /// The deadline has come, or another time; see `handle` for the parameters.
  public func wake(
    _ poller: inout Poller, at now: Instant, bytes tap: (RawSpan) -> Void = { _ in },
    _ body: (borrowing EpochAssembler.Report, borrowing Sky) -> Void
  ) {
    if link?.isUnheard == true { return }
    if let due = link?.line.deadline, now >= due {
      // What a line has at a time is bounded by its buffer; a file's is bounded here, so that signals are heard.
      for _ in 0..<16 where !read(&poller, at: now, tap, body) { break }
    }
    if link != nil {
      if let until = link!.policy.idleUntil, now >= until {
        link!.policy.wake(at: now)
        isEpochNear = true
        _ = read(&poller, at: now, tap, body)
      }
      if link != nil, let due = link!.session.deadline, now >= due { link!.session.wake(at: now, body) }
    } else if let due = reconnectPolicy?.deadline, now >= due, !hasEnded {
      reconnectPolicy?.wake(at: now)
      followReconnectPolicy(&poller, at: now, body)
    } else if let away {
      resume(away, &poller, at: now)
    } else if let due = retry.due, now >= due, !hasEnded {
      // Told by the first failure; afterwards it is waited for in silence.
      do { try open(&poller, at: now) } catch { retry.failed(at: now) }
    }
    carryOut(&poller, at: now, body)
  }

  /// Has a command said; see `ReceiverSession.submit`. Nil when no port is open.
  public func submit(_ command: Command, _ poller: inout Poller, at now: Instant) -> SessionTicket? {
    guard link != nil else { return nil }
    let ticket = link!.session.submit(command, at: now)
    carryOut(&poller, at: now) { _, _ in }
    return ticket
  }

  /// Whether what was changed is put back at the end; see `ReceiverSession.restoreAtEnd`.
  public func restoreAtEnd(_ restores: Bool) {
    guard link != nil else { return }
    link!.session.restoreAtEnd(restores)
  }

  /// The receiver's wished state changes.
  public func set(_ desired: DesiredConfiguration, _ poller: inout Poller, at now: Instant) {
    guard link != nil else { return }
    link!.session.set(desired, at: now)
    carryOut(&poller, at: now) { _, _ in }
  }

  /// The receiver is to sleep; see `ReceiverSession.sleep`.
  public func sleep(for duration: Milliseconds?, _ poller: inout Poller, at now: Instant) {
    guard link != nil else { return }
    link!.session.sleep(for: duration, at: now)
    carryOut(&poller, at: now) { _, _ in }
  }

  /// The receiver is to wake; see `ReceiverSession.wakeUp`.
  public func wakeUp(_ poller: inout Poller, at now: Instant) {
    guard link != nil else { return }
    link!.session.wakeUp(at: now)
    carryOut(&poller, at: now) { _, _ in }
  }

  /// The receiver's batch is read out; see `ReceiverSession.retrieveBatch`.
  public func retrieveBatch(
    _ journal: BatchJournal, earlier: [[UInt8]] = [], _ poller: inout Poller, at now: Instant
  ) {
    guard link != nil else { return }
    link!.session.retrieveBatch(journal, earlier: earlier, at: now)
    carryOut(&poller, at: now) { _, _ in }
  }

  /// Whether anybody listens. While nobody does, what comes is not read and wakes nobody, but a hang-up is noticed; who
  /// listens again begins a session anew.
  public func listen(_ listens: Bool, _ poller: inout Poller, at now: Instant) {
    guard link != nil, link!.isUnheard == listens else { return }
    if listens {
      // Until then the old one stays, to put back what it has changed if that is what comes next.
      link!.session.lost { _, _ in }
      drainActions()
      memory = link!.session.memory
      link!.line.discardInput()
      link!.session = makeSession(of: link!.line, at: now)
      link!.policy.reset()
    }
    hear(listens, &poller)
  }

  private func hear(_ listens: Bool, _ poller: inout Poller) {
    link!.isUnheard = !listens
    link!.interest = listens ? .readable : []
    if let descriptor = link!.line.fileDescriptor {
      try? poller.change(descriptor, token: token, interest: link!.interest)
    }
  }

  /// The session is to end in order; it is over when `isEnded`.
  public func finish(_ poller: inout Poller, at now: Instant) {
    guard link != nil else {
      hasEnded = true
      return
    }
    if link!.isUnheard {
      link!.line.discardInput()
      hear(true, &poller)
    }
    link!.session.finish(at: now)
    carryOut(&poller, at: now) { _, _ in }
  }

  /// Closes the port; what was collected is reported.
  public func close(
    _ poller: inout Poller, _ body: (borrowing EpochAssembler.Report, borrowing Sky) -> Void
  ) {
    guard link != nil else { return }
    link!.session.lost(body)
    memory = link!.session.memory
    if let descriptor = link!.line.fileDescriptor { poller.remove(descriptor) }
    link = nil
    hasEnded = true
  }

  // MARK: The port

  /// Reads once. Whether there were bytes.
  private func read(
    _ poller: inout Poller, at now: Instant, _ tap: (RawSpan) -> Void,
    _ body: (borrowing EpochAssembler.Report, borrowing Sky) -> Void
  ) -> Bool {
    guard link != nil else { return false }
    // The buffer is taken out for as long as it is looked into, and not copied.
    var buffer: [UInt8] = []
    swap(&buffer, &self.buffer)
    defer { swap(&buffer, &self.buffer) }
    let result: SerialPort.ReadResult
    do {
      var span = buffer.mutableSpan
      // Called unsafe because some types have invalid bit patterns; bytes have none.
      var room = unsafe span.mutableBytes
      result = try link!.line.read(into: &room, at: now)
    } catch {
      lose(&poller, at: now, body)
      return false
    }
    if link!.line.isRateGiven, let rate = link!.line.baudRate, rate != link!.session.rate {
      link!.session.follow(rate: rate, at: now)
      events.append(.rate(rate))
    }
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
      var endsEpoch = false
      link!.session.receive(received, at: now) { report, sky in
        endsEpoch = true
        body(report, sky)
      }
      link!.policy.receive(bytes: count, endsEpoch: endsEpoch, at: now)
      return true
    }
  }

  /// The receiver was unplugged, or the other end of the line closed.
  private func lose(
    _ poller: inout Poller, at now: Instant, _ body: (borrowing EpochAssembler.Report, borrowing Sky) -> Void
  ) {
    guard link != nil else { return }
    link!.session.lost(body)
    drainActions()
    memory = link!.session.memory
    if let descriptor = link!.line.fileDescriptor { poller.remove(descriptor) }
    away = link!.line.replayed
    link = nil
    events.append(.lost(path: path))
    guard reconnectPolicy != nil else {
      if let text = retry.lost(path, at: now) { events.append(.told(text)) }
      return
    }
    reconnectPolicy?.lost(at: now)
    followReconnectPolicy(&poller, at: now, body)
  }

  /// A recording goes on while its receiver is away; when it is back, so is the line.
  private func resume(_ line: ReplayLine, _ poller: inout Poller, at now: Instant) {
    guard !hasEnded else { return }
    switch line.resume(at: now) {
    case .awaited: break
    case .back:
      away = nil
      // A line without a descriptor has nothing that the poller could refuse.
      try? open(.polled(line), path, &poller, at: now)
    case .never:
      away = nil
      hasEnded = true
      events.append(.ended)
    }
  }

  /// Opens and closes as the roster says.
  private func followReconnectPolicy(
    _ poller: inout Poller, at now: Instant, _ body: (borrowing EpochAssembler.Report, borrowing Sky) -> Void
  ) {
    while !hasEnded, let action = reconnectPolicy?.takeAction() {
      switch action {
      case .open(let path):
        do throws(SerialPortError) {
          try open(path, &poller, at: now)
          reconnectPolicy?.opened(path, at: now)
        } catch {
          reconnectPolicy?.failed(path, errno: error.errno, because: error.description, at: now)
        }
      case .close: if link != nil { lose(&poller, at: now, body) }
      case .report(let text): events.append(.told(text))
      }
    }
  }

  /// Does what the session asks for.
  private func carryOut(
    _ poller: inout Poller, at now: Instant, _ body: (borrowing EpochAssembler.Report, borrowing Sky) -> Void
  ) {
    guard link != nil else { return }
    while link != nil, let action = link!.session.nextAction() {
      switch action {
      case .send(let bytes): link!.unsent += bytes
      case .setRate(let rate):
        write(&poller, at: now, body)
        guard link != nil else { return }
        link!.line.setBaudRate(rate)
        link!.policy.reset()
        events.append(.rate(rate))
      case .report(let report): events.append(.session(report))
      case .finished(let ticket, let outcome): events.append(.finished(ticket, outcome))
      case .batch(let event): events.append(.batch(event))
      }
    }
    write(&poller, at: now, body)
  }

  /// The session has no line any more: what it still has to tell is told.
  private func drainActions() {
    while let action = link?.session.nextAction() {
      switch action {
      case .send, .setRate: break
      case .report(let report): events.append(.session(report))
      case .finished(let ticket, let outcome): events.append(.finished(ticket, outcome))
      case .batch(let event): events.append(.batch(event))
      }
    }
  }

  private func write(
    _ poller: inout Poller, at now: Instant, _ body: (borrowing EpochAssembler.Report, borrowing Sky) -> Void
  ) {
    guard link != nil else { return }
    while !link!.unsent.isEmpty {
      let unsent = link!.unsent
      do {
        let count = try unsafe link!.line.write(unsent.span.bytes, at: now)
        if count == 0 { break }
        link!.unsent.removeFirst(count)
      } catch {
        return lose(&poller, at: now, body)
      }
    }
    link!.policy.attend(to: link!.session.expectation, before: link!.session.deadline, at: now)
    var wanted: Poller.Interest = link!.policy.idleUntil == nil ? .readable : []
    if !link!.unsent.isEmpty { wanted.insert(.writable) }
    guard wanted != link!.interest else { return }
    link!.interest = wanted
    guard let descriptor = link!.line.fileDescriptor else { return }
    try? poller.change(descriptor, token: token, interest: wanted)
  }
}
