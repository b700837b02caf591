import Hotplug
import MonotonicTime
import Receiver
import ReceiverRuntime
import ReceiverSimulator
import ReceiverStream
import SerialPort
import SimulatorRuntime

/// What a command does with the receiver that its loop holds.
protocol ReceiverClient: ~Copyable {
  /// An epoch, or news of one.
  mutating func receive(_ report: borrowing EpochAssembler.Report, _ sky: borrowing Sky, at now: Instant)
  /// Bytes were received; they come before what follows from them.
  mutating func receive(bytes: RawSpan, at now: Instant)
  /// Something else happened; `connection` takes commands.
  mutating func receive(
    _ event: ReceiverConnection.Event, _ connection: ReceiverConnection, _ poller: inout Poller, at now: Instant)
  /// The poller reported something; it may be about a descriptor of the client's own.
  mutating func handle(_ event: Poller.Event, _ poller: inout Poller, at now: Instant)
  /// A round of events is over; whether the command has what it wants.
  mutating func finishRound(_ connection: ReceiverConnection, _ poller: inout Poller, at now: Instant) throws -> Bool
  /// An epoch is about to end, and would be this were it over now: what can be done for it beforehand is done.
  mutating func prepare(for report: borrowing EpochAssembler.Report, _ sky: borrowing Sky)
  /// The terminal has another size.
  mutating func resize()
  /// When the client wants a round, if nothing comes.
  var deadline: Instant? { get }
}

extension ReceiverClient where Self: ~Copyable {
  mutating func receive(bytes: RawSpan, at now: Instant) {}
  mutating func handle(_ event: Poller.Event, _ poller: inout Poller, at now: Instant) {}
  mutating func prepare(for report: borrowing EpochAssembler.Report, _ sky: borrowing Sky) {}
}

/// The shell of the commands that hold one receiver: it waits, reads, writes and carries out what is decided elsewhere,
/// in one thread. It ends in order: at a signal, at its time, or when the client has what it wants.
struct ReceiverLoop<Client: ReceiverClient & ~Copyable>: ~Copyable {
  var client: Client

  private var poller: Poller
  private let connection: ReceiverConnection
  private let simulator: SimulatedReceiver?
  private let end: Instant?

  /// Where an earlier program has noted how it left the receiver; forgotten when that is put back.
  var recoveryFile: CrashRecoveryFile?

  /// Whether it ended because somebody asked for that, with ^C or a signal.
  private(set) var isInterrupted = false
  private var isEnding = false
  /// What the client could not do.
  private var problem: (any Error)?
  /// Tells of devices that come and go; nil where the receiver is none of them.
  private var monitor: DeviceMonitor?
  private var hasDeviceNews = false

  private static var simulatorToken: Poller.Token { Poller.Token(rawValue: 2) }
  private static var monitorToken: Poller.Token { Poller.Token(rawValue: 3) }

  /// Opens the receiver.
  ///
  /// - Parameters:
  ///   - source: where the bytes come from.
  ///   - settings: how the session deals with the receiver.
  ///   - baud: the rate that is bound.
  ///   - seconds: when to end.
  ///   - client: what the command does.
  init(
    _ source: Source, _ settings: SessionSettings, baud: UInt32?, seconds: Double?, client: consuming Client
  ) throws {
    // What can fail comes first: a value that owns descriptors cannot be left half made.
    let now = SystemClock.monotonic
    var poller = try Poller(catching: [.interrupt, .terminate, .hangUp, .windowChange])
    let simulator: SimulatedReceiver?
    let path: String
    switch source {
    case .device(let device): (simulator, path) = (nil, device)
    case .simulator(let name):
      let line = VirtualLine(
        model: .m10, scenario: try Scenario.read(name), startUTCSeconds: secondsSince1970(), startingAt: now)
      // Under a link the receiver comes back by the same name when its scenario unplugs it.
      path = "/tmp/sextant-simulator-\(processID())"
      let receiver = try SimulatedReceiver(line, link: path, now: now)
      _ = try receiver.wake(&poller, token: Self.simulatorToken, at: now)
      simulator = receiver
    }
    let connection = ReceiverConnection(
      path: path, settings: settings, baud: baud, token: Poller.Token(rawValue: 1), reference: systemTime)
    try connection.open(&poller, at: now)
    var monitor: DeviceMonitor?
    if simulator == nil, connection.isAnnounced {
      var news = DeviceMonitor(list: try installedList())
      connection.follow(news.drain(at: now).map(\.port), at: now)
      if let descriptor = news.fileDescriptor { try poller.add(descriptor, token: Self.monitorToken) }
      monitor = consume news
    }
    self.init(client, poller, connection, simulator, monitor, end: seconds.map { now + Milliseconds(seconds: $0) })
  }

  private init(
    _ client: consuming Client, _ poller: consuming Poller, _ connection: ReceiverConnection,
    _ simulator: SimulatedReceiver?, _ monitor: consuming DeviceMonitor?, end: Instant?
  ) {
    self.client = client
    self.poller = poller
    self.connection = connection
    self.simulator = simulator
    self.monitor = monitor
    self.end = end
  }

  /// Runs to the end. What the client cannot do, such as to write to a full disk, ends it in order too: the receiver is left
  /// as it was found before the error is thrown.
  mutating func run() throws {
    try runToEnd()
    if let problem { throw problem }
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
        case .signal:
          // Who asks twice does not want to wait for an orderly end.
          if isEnding { return close(at: now) }
          isInterrupted = true
          finish(at: now)
        // The simulator has read already.
        case .readable(Self.monitorToken): hasDeviceNews = true
        case .readable(Self.simulatorToken), .writable(Self.simulatorToken), .hangUp(Self.simulatorToken): break
        case .readable, .writable, .hangUp:
          connection.handle(event, &poller, at: now, bytes: { client.receive(bytes: $0, at: now) }) { report, sky in
            client.receive(report, sky, at: now)
          }
          client.handle(event, &poller, at: now)
        case .woken: client.handle(event, &poller, at: now)
        case .timeout: break
        }
      }
      hearOfDevices(at: now)
      connection.wake(&poller, at: now, bytes: { client.receive(bytes: $0, at: now) }) { report, sky in
        client.receive(report, sky, at: now)
      }
      if isEnding {
        deliverEvents(at: now)
        if connection.isEnded {
          if connection.isOpen, connection.description != nil, connection.raisedRate == nil { recoveryFile?.forget() }
          return close(at: now)
        }
        continue
      }
      deliverEvents(at: now)
      do {
        if try client.finishRound(connection, &poller, at: now) { finish(at: now) }
      } catch {
        problem = error
        // Long may have been waited for a reader that stands still; the end has its time from now on.
        finish(at: SystemClock.monotonic)
      }
      if let end, now >= end { finish(at: now) }
      connection.preview { report, sky in client.prepare(for: report, sky) }
    }
  }

  /// The monitor knows by itself whether there is news; asking costs a call where there is a descriptor, and only then.
  private mutating func hearOfDevices(at now: Instant) {
    guard monitor != nil, hasDeviceNews || monitor!.isDue(at: now) else { return }
    hasDeviceNews = false
    for event in monitor!.drain(at: now) {
      connection.receive(event, &poller, at: now) { report, sky in client.receive(report, sky, at: now) }
    }
  }

  /// The client, with what it found, when the loop has ended.
  consuming func takeClient() -> Client { client }

  private mutating func finish(at now: Instant) {
    guard !isEnding else { return }
    isEnding = true
    connection.finish(&poller, at: now)
  }

  private mutating func close(at now: Instant) {
    connection.close(&poller) { report, sky in client.receive(report, sky, at: now) }
    deliverEvents(at: now)
    _ = try? client.finishRound(connection, &poller, at: now)
  }

  private mutating func deliverEvents(at now: Instant) {
    while let event = connection.nextEvent() {
      client.receive(event, connection, &poller, at: now)
      if event == .ended { finish(at: now) }
    }
  }

  private var monitorDeadline: Instant? {
    switch monitor {
    case .some(let monitor): monitor.deadline
    case nil: nil
    }
  }

  private var deadline: Instant? {
    // A finished session is closed at once.
    if isEnding, connection.isEnded { return .zero }
    var next = Instant.earlier(connection.deadline, simulator?.deadline)
    if !isEnding { next = .earlier(next, monitorDeadline) }
    if !isEnding { next = .earlier(.earlier(next, client.deadline), end) }
    return next
  }
}
