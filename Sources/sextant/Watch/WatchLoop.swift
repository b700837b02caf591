import GPSDJSON
import MonotonicTime
import Receiver
import ReceiverStream
import SerialPort

/// The shell of `sextant watch`: it waits, reads, writes and carries out what the listener decides, in one thread.
struct WatchLoop: ~Copyable {
  /// What ends the watch, apart from the user.
  struct Limits {
    var epochs: Int?
    var seconds: Double?
  }

  private let source: Source
  private let baud: UInt32?
  private let limits: Limits
  private var poller: Poller
  private var view: WatchView
  private let simulator: SimulatedReceiver?
  private let started: Instant
  private var isEnding = false

  private static let token = Poller.Token(rawValue: 1)
  /// How often a receiver that is gone is looked for.
  private static let retry = Milliseconds(500)

  init(source: Source, baud: UInt32?, limits: Limits, view kind: WatchView.Kind) throws {
    // What can fail comes first: a value that owns descriptors cannot be left half made.
    let now = Instant(nanoseconds: MonotonicClock.now())
    let simulator = source == .simulator ? try SimulatedReceiver(at: secondsSince1970(), now: now) : nil
    let poller = try Poller(catching: [.interrupt, .terminate, .windowChange])
    self.source = source
    self.baud = baud
    self.limits = limits
    self.simulator = simulator
    self.poller = poller
    started = now
    view = WatchView(kind, limit: limits.epochs, now: now)
  }

  /// Watches until the user, a limit or the end of a file ends it; whether a fix was seen.
  mutating func run() throws -> Bool {
    defer { view.close() }
    var isFirst = true
    while !isEnding {
      if let port = try open(isFirst: isFirst) {
        try watch(port)
      } else {
        try pause()
      }
      isFirst = false
    }
    return view.fixes > 0
  }

  private var path: String {
    switch source {
    case .device(let path): path
    case .simulator: simulator?.path ?? ""
    }
  }

  private var now: Instant { Instant(nanoseconds: MonotonicClock.now()) }

  /// Opens the port. The first time a failure is the user's to mend; later on the receiver is waited for.
  private func open(isFirst: Bool) throws -> SerialPort? {
    do {
      return try SerialPort(opening: path, access: .readOnly, baud: baud)
    } catch {
      if isFirst { throw CommandFailure(exitCode: error.exitCode, description: error.description) }
      return nil
    }
  }

  private mutating func watch(_ port: consuming SerialPort) throws {
    let searches = baud == nil && port.kind == .terminal
    var listener = Listener(searchingFrom: searches ? port.baudRate : nil, reference: systemTime(), now: now)
    view.open(path, baud: port.kind == .terminal ? baud ?? port.baudRate : nil, source)
    try poller.add(port.fileDescriptor, token: Self.token)
    var buffer = [UInt8](repeating: 0, count: 16_384)
    var isOpen = true
    while isOpen, !isEnding {
      let events = try poller.wait(deadline: deadline(listener.deadline))
      let now = self.now
      try simulator?.wake(at: now)
      for event in events {
        switch event {
        case .readable, .hangUp: isOpen = isOpen && read(port, &buffer, &listener, now)
        case .signal(let signal): handle(signal)
        case .timeout, .writable, .woken: break
        }
      }
      if let due = listener.deadline, now >= due {
        let action = listener.wake(at: now) { report, sky in view.show(report, sky, now) }
        carryOut(action, port)
      }
      try finishRound(&listener, now)
    }
    listener.finish { report, sky in view.show(report, sky, self.now) }
    poller.remove(port.fileDescriptor)
    try view.flush()
  }

  /// Reads what is there; false when the port has ended.
  private mutating func read(
    _ port: borrowing SerialPort, _ buffer: inout [UInt8], _ listener: inout Listener, _ now: Instant
  ) -> Bool {
    let result: SerialPort.ReadResult
    do {
      var span = buffer.mutableSpan
      // Called unsafe because some types have invalid bit patterns; bytes have none.
      var bytes = unsafe span.mutableBytes
      result = try port.read(into: &bytes)
    } catch {
      view.tell("\(path): the receiver is gone; waiting for it to come back")
      return false
    }
    switch result {
    case .wouldBlock: return true
    case .endOfInput:
      isEnding = true
      return false
    case .bytes(let count):
      let bytes = unsafe buffer.span.bytes.extracting(0..<count)
      let action = listener.receive(bytes, at: now) { report, sky in view.show(report, sky, now) }
      view.count(bytes: count)
      carryOut(action, port)
      return true
    }
  }

  private mutating func carryOut(_ action: Listener.Action, _ port: borrowing SerialPort) {
    switch action {
    case .none: break
    case .found(let rate): view.set(baud: rate)
    case .setRate(let rate):
      // A rate that the hardware does not have is passed over.
      try? port.setBaudRate(rate)
      try? port.discardInput()
      view.set(baud: rate)
    case .adviseOnSilence:
      view.tell(
        baud.map { "\(path): nothing understood at \($0) baud for 5 s; leave --baud out to have the rate found" }
          ?? "\(path): nothing understood for 5 s; still listening (is it a receiver, and is it wired RX to TX?)")
    }
  }

  private mutating func handle(_ signal: Poller.Signal) {
    switch signal {
    case .interrupt, .terminate: isEnding = true
    case .windowChange: view.resize()
    }
  }

  private mutating func finishRound(_ listener: inout Listener, _ now: Instant) throws {
    view.update(listener.counters, rejected: listener.rejectedFields, now)
    try view.flush()
    if let epochs = limits.epochs, view.fixes >= epochs { isEnding = true }
    if let end, now >= end { isEnding = true }
  }

  private var end: Instant? { limits.seconds.map { started + Milliseconds(UInt64($0 * 1000)) } }

  /// The earliest of all deadlines, for the poller.
  private func deadline(_ listener: Instant?) -> UInt64? {
    var earliest = listener
    for other in [simulator?.deadline, end, view.deadline] {
      guard let other else { continue }
      earliest = earliest.map { min($0, other) } ?? other
    }
    return earliest?.nanoseconds
  }

  /// Waits before the next look for a receiver that is gone.
  private mutating func pause() throws {
    let next = now + Self.retry
    while !isEnding, now < next {
      let until = end.map { min($0, next) } ?? next
      for event in try poller.wait(deadline: until.nanoseconds) {
        if case .signal(let signal) = event { handle(signal) }
      }
      if let end, now >= end { isEnding = true }
    }
  }
}
