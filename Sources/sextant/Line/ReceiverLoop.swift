// SPDX-License-Identifier: Apache-2.0
import LinuxIO
import MonotonicTime
import Receiver
import ReceiverRuntime
import ReceiverSimulator
import ReceiverStream
import SerialPort

/// The part of a command in its receiver loop.
protocol ReceiverClient: ~Copyable {
  /// Why the command failed; thrown at the end of the loop.
  var failure: CommandFailure? { get }
  /// The signals that the client handles, in addition to the signals of every command.
  var signals: [Poller.Signal] { get }
  /// When the client needs a round of events at the latest.
  var deadline: Instant? { get }
  /// When the time of the command begins anew; nil for never.
  var timeStart: Instant? { get }
  /// Takes the report of an epoch.
  mutating func receive(_ report: borrowing EpochAssembler.Report, _ sky: borrowing Sky, at now: Instant)
  /// Takes received bytes, before the reports and events that follow from them.
  mutating func receive(bytes: RawSpan, at now: Instant)
  /// Takes another event. `connection` accepts commands.
  mutating func receive(
    _ event: ReceiverConnection.Event, _ connection: ReceiverConnection, _ poller: inout Poller, at now: Instant)
  /// Takes an event of the poller, which may concern a descriptor of the client.
  mutating func handle(_ event: Poller.Event, _ poller: inout Poller, at now: Instant)
  /// Ends a round of events. Returns whether the command is complete.
  mutating func finishRound(_ connection: ReceiverConnection, _ poller: inout Poller, at now: Instant) throws -> Bool
  /// Prepares for the end of an epoch, with its report as it would be now.
  mutating func prepare(for report: borrowing EpochAssembler.Report, _ sky: borrowing Sky)
  /// The size of the terminal has changed.
  mutating func resize()
  /// The terminal requests a stop.
  mutating func stop()
  /// The process was continued after a stop.
  mutating func resume()
  /// The end takes longer than a second.
  mutating func reportSlowEnd(_ text: String)
  /// A signal requests the end. Returns whether the client first brings its work to an end by itself.
  mutating func interrupt(_ connection: ReceiverConnection, _ poller: inout Poller, at now: Instant) -> Bool
}

extension ReceiverClient where Self: ~Copyable {
  var failure: CommandFailure? { nil }
  var signals: [Poller.Signal] { [] }
  var timeStart: Instant? { nil }
  mutating func receive(_ report: borrowing EpochAssembler.Report, _ sky: borrowing Sky, at now: Instant) {}
  mutating func receive(bytes: RawSpan, at now: Instant) {}
  mutating func handle(_ event: Poller.Event, _ poller: inout Poller, at now: Instant) {}
  mutating func prepare(for report: borrowing EpochAssembler.Report, _ sky: borrowing Sky) {}
  mutating func resize() {}
  mutating func stop() {}
  mutating func resume() {}
  mutating func reportSlowEnd(_ text: String) { printNotice(text) }
  mutating func interrupt(_ connection: ReceiverConnection, _ poller: inout Poller, at now: Instant) -> Bool { false }
}

/// The I/O loop of the commands that open one receiver: it waits, reads, writes and performs actions in one thread. It
/// ends in order: at a signal, after its time, or when the client is complete.
struct ReceiverLoop<Client: ReceiverClient & ~Copyable>: ~Copyable {
  var client: Client

  private var poller: Poller
  private let connection: ReceiverConnection
  private let simulator: SimulatedReceiver?
  /// The folder of the simulator's link. It is empty, and removed, once the simulator is gone.
  private let folder: PrivateTemporaryFolder?
  private let start: Instant
  private let time: Milliseconds?

  private var end: Instant? { time.map { (client.timeStart ?? start) + $0 } }

  /// Why no receiver took the commands within a time, for a message.
  ///
  /// - Parameters:
  ///   - source: the source of the bytes.
  ///   - seconds: the time.
  func reasonWithoutReceiver(_ source: Source, seconds: Double) -> String {
    connection.counters.frames > 0
      ? "the receiver sends, and was not identified within \(seconds) s; --seconds extends the time"
      : "no receiver was found; \(source.adviceOnSilence)"
  }

  /// Whether a signal ended the loop.
  private(set) var isInterrupted = false
  /// Whether the loop has ended before the session, as at a second signal.
  private(set) var isCut = false
  private var isEnding = false
  /// When a line reports what the end waits for; nil before the end, and after the line.
  private var endNotice: Instant?
  /// The error of the client.
  private var problem: (any Error)?
  /// The device events; nil for a receiver without them.
  private var monitor: DeviceMonitor?
  private var hasDeviceEvents = false

  private static var simulatorToken: Poller.Token { Poller.Token(rawValue: 2) }
  private static var monitorToken: Poller.Token { Poller.Token(rawValue: 3) }

  /// Opens the receiver.
  ///
  /// - Parameters:
  ///   - choice: the source of the bytes, and its fixed rate.
  ///   - settings: the settings of the session.
  ///   - seconds: the time after which the loop ends.
  ///   - client: the command.
  init(
    _ choice: Source.Choice, _ settings: SessionSettings, seconds: Double?, client: consuming Client
  ) throws {
    // Operations that can fail come first: a value that owns descriptors must not be left half initialised.
    let now = SystemClock.monotonic
    var poller = try Poller(catching: [.interrupt, .terminate, .hangUp, .windowChange] + client.signals)
    let simulator: SimulatedReceiver?
    let path: String
    let folder: PrivateTemporaryFolder?
    switch choice.source {
    case .device(let device): (simulator, path, folder) = (nil, device, nil)
    case .simulator(let name):
      let scenario = try Scenario.read(name)
      let line = VirtualLine(
        model: scenario.model ?? .m10, scenario: scenario, startUTCSeconds: secondsSince1970(), startingAt: now)
      // With a link the receiver returns under the same name after an unplug of its scenario.
      let own = try PrivateTemporaryFolder()
      path = "\(own.path)/receiver"
      let receiver = try SimulatedReceiver(line, link: path, now: now)
      _ = try receiver.wake(&poller, token: Self.simulatorToken, at: now)
      (simulator, folder) = (receiver, own)
    }
    let connection = ReceiverConnection(
      path: path, settings: settings, baud: choice.baud, token: Poller.Token(rawValue: 1),
      recoveryFile: CrashRecoveryFile.of(choice, settings), provider: choice.service?.provider, reference: systemTime)
    try connection.open(&poller, at: now)
    var monitor: DeviceMonitor?
    if simulator == nil, connection.isAnnounced, choice.service?.isServed != true {
      var deviceMonitor = DeviceMonitor(list: try installedList())
      connection.follow(deviceMonitor.drain(at: now).map(\.port), at: now)
      if let descriptor = deviceMonitor.fileDescriptor { try poller.add(descriptor, token: Self.monitorToken) }
      monitor = consume deviceMonitor
    }
    self.init(
      client, poller, connection, simulator, folder, monitor, start: now,
      time: seconds.map { Milliseconds(seconds: $0) })
  }

  private init(
    _ client: consuming Client, _ poller: consuming Poller, _ connection: ReceiverConnection,
    _ simulator: SimulatedReceiver?, _ folder: PrivateTemporaryFolder?, _ monitor: consuming DeviceMonitor?,
    start: Instant, time: Milliseconds?
  ) {
    self.client = client
    self.poller = poller
    self.connection = connection
    self.simulator = simulator
    self.folder = folder
    self.monitor = monitor
    self.start = start
    self.time = time
  }

  /// Runs to the end. After an error of the client, such as a full disk, the loop also ends in order: the receiver is
  /// restored before the error is thrown.
  mutating func run() throws {
    try runToEnd()
    if let problem { throw problem }
    if let failure = client.failure { throw failure }
  }

  private mutating func runToEnd() throws {
    deliverEvents(at: SystemClock.monotonic)
    while true {
      let due = deadline
      let events = try poller.wait(deadline: due?.nanoseconds)
      let now = SystemClock.monotonic
      _ = try simulator?.wake(&poller, token: Self.simulatorToken, at: now)
      for event in events {
        switch event {
        case .signal(.windowChange): client.resize()
        case .signal(.stop): client.stop()
        case .signal(.resume): client.resume()
        case .signal(let signal):
          // A second signal ends the loop without an orderly end.
          if isInterrupted { return close(at: now) }
          if client.interrupt(connection, &poller, at: now) {
            isInterrupted = true
            break
          }
          if isEnding { return close(at: now) }
          isInterrupted = true
          // The sender of a SIGTERM, such as a shutdown, kills programs that take long to end.
          finish(at: now, isUrgent: signal == .terminate)
        // The simulator has read its line already.
        case .readable(Self.monitorToken): hasDeviceEvents = true
        case .readable(Self.simulatorToken), .writable(Self.simulatorToken), .hangUp(Self.simulatorToken): break
        case .readable, .writable, .hangUp, .woken:
          connection.handle(event, &poller, at: now, bytes: { client.receive(bytes: $0, at: now) }) { report, sky in
            client.receive(report, sky, at: now)
          }
          client.handle(event, &poller, at: now)
        case .timeout: break
        }
      }
      receiveDeviceEvents(at: now)
      connection.wake(&poller, at: now, bytes: { client.receive(bytes: $0, at: now) }) { report, sky in
        client.receive(report, sky, at: now)
      }
      if isEnding {
        deliverEvents(at: now)
        if connection.isEnded { return close(at: now) }
        if let endNotice, now >= endNotice {
          self.endNotice = nil
          client.reportSlowEnd(
            connection.needsRestoring
              ? "ending: the receiver gets its former settings back (^C ends at once)"
              : "ending: waiting for the receiver's last replies (^C ends at once)")
        }
        continue
      }
      deliverEvents(at: now)
      do {
        if try client.finishRound(connection, &poller, at: now) { finish(at: now) }
      } catch {
        problem = error
        // The client may have waited long for the reader of the output; the time limit of the end starts now.
        finish(at: SystemClock.monotonic)
      }
      if let end, now >= end { finish(at: now) }
      connection.preview { report, sky in client.prepare(for: report, sky) }
    }
  }

  /// Reads device events. The system call is made only if the descriptor is readable or the monitor is due.
  private mutating func receiveDeviceEvents(at now: Instant) {
    guard monitor != nil, hasDeviceEvents || monitor!.isDue(at: now) else { return }
    hasDeviceEvents = false
    for event in monitor!.drain(at: now) {
      connection.receive(event, &poller, at: now) { report, sky in client.receive(report, sky, at: now) }
    }
  }

  /// Returns the client with its results after the end.
  consuming func takeClient() -> Client { client }

  private mutating func finish(at now: Instant, isUrgent: Bool = false) {
    guard !isEnding else { return }
    isEnding = true
    endNotice = now + Milliseconds(1000)
    connection.finish(&poller, at: now, isUrgent: isUrgent)
  }

  private mutating func close(at now: Instant) {
    isCut = !connection.isEnded
    connection.close(&poller) { report, sky in client.receive(report, sky, at: now) }
    deliverEvents(at: now)
    _ = try? client.finishRound(connection, &poller, at: now)
  }

  private mutating func deliverEvents(at now: Instant) {
    while let event = connection.nextEvent() {
      client.receive(event, connection, &poller, at: now)
      if event == .ended { finish(at: now) }
      if case .unreachable(let error) = event {
        problem = error
        finish(at: now)
      }
    }
  }

  private var monitorDeadline: Instant? {
    switch monitor {
    case .some(let monitor): monitor.deadline
    case nil: nil
    }
  }

  private var deadline: Instant? {
    // An ended session is closed at once.
    if isEnding, connection.isEnded { return .zero }
    var next = Instant.earlier(connection.deadline, simulator?.deadline)
    next = .earlier(next, endNotice)
    if !isEnding { next = .earlier(next, monitorDeadline) }
    if !isEnding { next = .earlier(.earlier(next, client.deadline), end) }
    return next
  }
}
