import Corrections
import MonotonicTime
import Receiver
import ReceiverStream
import Recording
import SerialPort

/// Brings corrections from their source to the receiver of a connection: carries out what `CorrectionLink` and
/// `Corrections` decide, on the thread of the poller.
public final class CorrectionFeed {
  private let source: CorrectionSource
  private let token: Poller.Token
  private var link: CorrectionLink
  private var corrections = CorrectionQueue(lineRate: nil)
  // What is open towards the source: one of these.
  private var file: ReplayLine?
  private var fifo: Held<SerialPort>?
  private var lookup: HostLookup?
  private var stream: Held<TCPStream>?
  /// Whether `stream` is connected, and the addresses that are left to try if it cannot be.
  private var isConnected = false
  private var otherAddresses: ArraySlice<SocketAddress> = []
  private var response = NTRIPResponse()
  private var request: [UInt8] = []
  private var casterPosition = CasterPosition()
  private var ticket: SessionTicket?
  private var reports: [String] = []
  private var buffer = [UInt8](repeating: 0, count: 16_384)
  private var isAtEnd = false
  private var droppedBefore: UInt64 = 0
  private var isDropReported = false

  /// - Parameters:
  ///   - source: where they come from.
  ///   - token: names the source to the poller.
  ///   - now: the present instant.
  public init(_ source: CorrectionSource, token: Poller.Token, at now: Instant) {
    self.source = source
    self.token = token
    link = CorrectionLink(to: source.name, at: now)
  }

  /// When `work` is due.
  public var deadline: Instant? {
    if isAtEnd { return nil }
    if let file { return file.deadline }
    guard source.isHost else { return nil }
    return isNTRIP && request.isEmpty ? .earlier(link.deadline, casterPosition.deadline) : link.deadline
  }

  /// A fix came: casters that make corrections for a place have to know it.
  public func receive(_ fix: Fix) { casterPosition.fix = fix }

  private var isNTRIP: Bool { if case .ntrip = source { true } else { false } }

  /// A line for the user; nil when there is no more.
  public func nextReport() -> String? { reports.isEmpty ? nil : reports.removeFirst() }

  /// Opens a file or FIFO, whose absence is the user's to mend; a host is connected to later.
  public func open(_ poller: inout Poller, at now: Instant) throws(SerialPortError) {
    switch source {
    case .file(let path): file = try ReplayLine(opening: path, .times(1), at: now)
    case .fifo(let path):
      let port = try SerialPort(opening: path, access: .readOnly, baud: nil)
      guard port.kind == .fifo else {
        throw SerialPortError(malformed: "is no FIFO; make one with mkfifo, or write file:\(path)", path: path)
      }
      try poller.add(port.fileDescriptor, token: token)
      fifo = Held(port)
    case .tcp, .ntrip: link.wake(at: now)
    }
    carryOut(&poller, at: now)
  }

  /// What the poller reported.
  public func handle(_ event: Poller.Event, _ poller: inout Poller, at now: Instant) {
    switch event {
    case .readable(token): read(&poller, at: now)
    case .writable(token), .hangUp(token): proceed(&poller, at: now)
    case .woken: lookUp(&poller, at: now)
    default: return
    }
    carryOut(&poller, at: now)
  }

  /// A command of the connection is over.
  public func finished(_ ticket: SessionTicket) { if ticket == self.ticket { self.ticket = nil } }

  /// A round is over: what is due is done, and the receiver is given what waits for it.
  public func work(_ connection: ReceiverConnection, _ poller: inout Poller, at now: Instant) {
    if let file {
      if now >= file.deadline ?? .zero { read(&poller, at: now) }
    } else if source.isHost {
      if now >= link.deadline { link.wake(at: now) }
      sendPosition(&poller, at: now)
    }
    carryOut(&poller, at: now)
    corrections.lineRate = connection.rate
    noticeDrops(connection.isSteady)
    guard ticket == nil, connection.isSteady, let frames = corrections.next(at: now) else { return }
    ticket = connection.submit(.raw(frames), &poller, at: now)
  }

  private func sendPosition(_ poller: inout Poller, at now: Instant) {
    guard isNTRIP, isConnected, request.isEmpty, let sentence = casterPosition.sentence(at: now) else { return }
    request = sentence
    sendRequest(&poller, at: now)
  }

  /// A line that is too slow is told once. What is dropped while the receiver is being set up is no fault of the line.
  private func noticeDrops(_ isSteady: Bool) {
    guard isSteady else {
      droppedBefore = corrections.dropped
      return
    }
    guard corrections.dropped > droppedBefore, !isDropReported else { return }
    isDropReported = true
    reports.append(
      "\(source.name): more corrections come than the line carries; the oldest observations are left out "
        + "(raise the line's rate)")
  }

  // MARK: The source

  private func carryOut(_ poller: inout Poller, at now: Instant) {
    while let action = link.nextAction() {
      switch action {
      case .connect:
        if case .tcp(let host, let port) = source { startLookup(host, port, poller.waker) }
        if case .ntrip(let host, let port, _, _) = source { startLookup(host, port, poller.waker) }
      case .disconnect: drop(&poller)
      case .report(let text): reports.append(text)
      }
    }
  }

  private func startLookup(_ host: String, _ port: UInt16, _ waker: Poller.Waker) {
    lookup = HostLookup(of: host, port: port, waker: waker)
  }

  private func lookUp(_ poller: inout Poller, at now: Instant) {
    guard let lookup else { return }
    switch lookup.result {
    case .pending: return
    case .failed(let reason):
      link.failed("the host is not found (\(reason)); is its name right, and the network up?", at: now)
    case .found(let addresses):
      self.lookup = nil
      otherAddresses = addresses[...]
      connect("no address", &poller, at: now)
    }
  }

  /// Tries the next address.
  private func connect(_ lastReason: String, _ poller: inout Poller, at now: Instant) {
    var reason = lastReason
    while let address = otherAddresses.popFirst() {
      do {
        let next = try TCPStream(connectingTo: address)
        try poller.add(next.fileDescriptor, token: token, interest: .writable)
        stream = Held(next)
        isConnected = false
        return
      } catch {
        reason = error.reason
      }
    }
    link.failed("cannot be connected to (\(reason))", at: now)
  }

  /// The socket is connected, takes more of the request, or hung up.
  private func proceed(_ poller: inout Poller, at now: Instant) {
    guard let stream else { return }
    if isConnected {
      if request.isEmpty { read(&poller, at: now) } else { sendRequest(&poller, at: now) }
      return
    }
    if let reason = stream.value.finishConnecting() {
      poller.remove(stream.value.fileDescriptor)
      self.stream = nil
      return connect(reason, &poller, at: now)
    }
    isConnected = true
    link.connected(isAsked: isNTRIP, at: now)
    response = NTRIPResponse()
    if case .ntrip(let host, let port, let mount, let credentials) = source {
      request = ntripRequest(host: host, port: port, mount: mount, credentials: credentials)
    }
    sendRequest(&poller, at: now)
  }

  private func sendRequest(_ poller: inout Poller, at now: Instant) {
    guard let stream else { return }
    do {
      let whole = request
      if !whole.isEmpty { request.removeFirst(try unsafe stream.value.write(whole.span.bytes)) }
      let interest: Poller.Interest = request.isEmpty ? .readable : [.readable, .writable]
      try poller.change(stream.value.fileDescriptor, token: token, interest: interest)
    } catch {
      link.failed("the connection is lost (\(error.reason))", at: now)
    }
  }

  private func drop(_ poller: inout Poller) {
    if let stream { poller.remove(stream.value.fileDescriptor) }
    stream = nil
    lookup = nil
    request = []
    casterPosition.disconnected()
    corrections.reset()
  }

  /// Reads what the source has, and hands it on.
  private func read(_ poller: inout Poller, at now: Instant) {
    // The buffer is taken out for as long as it is looked into, and not copied.
    var buffer: [UInt8] = []
    swap(&buffer, &self.buffer)
    defer { swap(&buffer, &self.buffer) }
    do {
      switch try readOnce(into: &buffer, at: now) {
      case .bytes(let count): take(unsafe buffer.span.bytes.extracting(0..<count), at: now)
      case .wouldBlock: break
      case .endOfInput where source.isHost: link.failed("the connection was closed", at: now)
      case .endOfInput: end(&poller)
      }
    } catch {
      if source.isHost { return link.failed("the connection is lost (\(error.reason))", at: now) }
      reports.append(error.description)
      end(&poller)
    }
  }

  private func readOnce(into buffer: inout [UInt8], at now: Instant) throws(SerialPortError) -> SerialPort.ReadResult {
    var span = buffer.mutableSpan
    // Bytes have no invalid bit patterns.
    var room = unsafe span.mutableBytes
    if let file { return try file.read(into: &room, at: now) }
    if let fifo { return try fifo.value.read(into: &room) }
    if let stream, isConnected { return try stream.value.read(into: &room) }
    return .wouldBlock
  }

  private func take(_ bytes: RawSpan, at now: Instant) {
    guard case .ntrip = source else {
      if corrections.receive(bytes, at: now), source.isHost { link.received(at: now) }
      return
    }
    do {
      let wasGranted = response.isGranted
      let stream = try response.receive(bytes)
      if response.isGranted, !wasGranted {
        link.granted(at: now)
        casterPosition.connected(at: now)
      }
      // The empty line behind an ICY head, and a page of a portal, are none of them.
      if unsafe corrections.receive(stream.span.bytes, at: now) {
        link.received(at: now)
        casterPosition.received()
      }
    } catch {
      link.failed(error.text, at: now)
    }
  }

  /// A file is at its end: what it held is still given to the receiver.
  private func end(_ poller: inout Poller) {
    if let fifo { poller.remove(fifo.value.fileDescriptor) }
    fifo = nil
    file = nil
    isAtEnd = true
    reports.append("\(source.name): the corrections are at their end")
  }
}

/// Holds a value that cannot be copied, so that a class can lend it.
private final class Held<Value: ~Copyable> {
  let value: Value
  init(_ value: consuming Value) { self.value = value }
}

extension CorrectionSource {
  /// Whether it is reached over the network, and tried again.
  fileprivate var isHost: Bool {
    switch self {
    case .tcp, .ntrip: true
    case .file, .fifo: false
    }
  }
}
