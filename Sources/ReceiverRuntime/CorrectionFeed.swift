// SPDX-License-Identifier: Apache-2.0
import Corrections
import EventLoop
import MonotonicTime
import Receiver
import ReceiverStream
import Recording
import SerialPort
import TLS

/// Sends corrections from their source to the receiver of a connection: performs the actions of `CorrectionLink`,
/// `CasterPosition` and `CorrectionQueue` on the thread of the poller.
package final class CorrectionFeed {
  private let source: CorrectionSource
  private let token: Poller.Token
  private var link: CorrectionLink
  private var corrections = CorrectionQueue(lineRate: nil)
  // The open source: one of these.
  private var file: ReplayLine?
  private var fifo: Owned<SerialPort>?
  private var host: HostConnection?
  /// The encryption of a caster's connection; nil without.
  private var tls: Secured?
  private var response = NTRIPResponse()
  /// Bytes that the socket has still to take, encrypted where the connection is.
  private var request: [UInt8] = []
  private var casterPosition = CasterPosition()
  private var ticket: SessionTicket?
  private var reports: [String] = []
  private var buffer = [UInt8](repeating: 0, count: 16_384)
  private var isAtEnd = false
  private var allowance = ReadAllowance()
  /// When the socket is read again; nil if it is read.
  private var resumesAt: Instant?
  private var droppedBefore: UInt64 = 0
  private var isDropReported = false

  /// - Parameters:
  ///   - source: the source of the corrections.
  ///   - token: the token of the source in the events of the poller.
  ///   - now: the present instant.
  package init(_ source: CorrectionSource, token: Poller.Token, at now: Instant) {
    self.source = source
    self.token = token
    link = CorrectionLink(to: source.name, at: now)
  }

  /// When `work` is due.
  package var deadline: Instant? {
    if isAtEnd { return nil }
    if let file { return file.deadline }
    guard source.isHost else { return nil }
    let due = Instant.earlier(.earlier(link.deadline, host?.deadline), resumesAt)
    return isNTRIP && request.isEmpty ? .earlier(due, casterPosition.deadline) : due
  }

  /// The connected stream; nil before.
  private var stream: Owned<TCPStream>? {
    if let host, host.isConnected, case .stream(let stream)? = host.socket { stream } else { nil }
  }

  /// Takes a fix, for casters that compute corrections for a position.
  package func receive(_ fix: Fix) { casterPosition.fix = fix }

  private var isNTRIP: Bool { if case .ntrip = source { true } else { false } }

  /// The next line for the user; nil without one.
  package func nextReport() -> String? { reports.isEmpty ? nil : reports.removeFirst() }

  /// Opens a file or FIFO. An error is the user's to correct. A host is connected later.
  package func open(_ poller: inout Poller, at now: Instant) throws(SerialPortError) {
    switch source {
    case .file(let path): file = try ReplayLine(opening: path, .times(1), at: now)
    case .fifo(let path):
      let port = try SerialPort(opening: path, access: .readOnly, baud: nil)
      guard port.kind == .fifo else {
        throw SerialPortError(malformed: "is not a FIFO; create one with mkfifo, or use file:\(path)", path: path)
      }
      try poller.addPort(port.fileDescriptor, token: token)
      fifo = Owned(port)
    case .ntrip(_, _, _, _, transport: .tls) where !TLSClient.isAvailable:
      throw SerialPortError(unreachable: TLSFailure.noLibrary.text, path: source.name)
    case .tcp, .ntrip: link.wake(at: now)
    }
    perform(&poller, at: now)
  }

  /// Takes an event of the poller.
  package func handle(_ event: Poller.Event, _ poller: inout Poller, at now: Instant) {
    switch event {
    case .hangUp(token) where resumesAt != nil: link.failed("the connection is lost", at: now)
    case .woken, .readable(token), .writable(token), .hangUp(token):
      guard let host, stream == nil else {
        if event == .readable(token) || request.isEmpty && event != .woken { read(&poller, at: now) }
        if !request.isEmpty { sendRequest(&poller, at: now) }
        break
      }
      host.handle(event, &poller, at: now)
      continueConnecting(&poller, at: now)
    default: return
    }
    perform(&poller, at: now)
  }

  /// Notes that a command of the connection has ended.
  package func finished(_ ticket: SessionTicket) { if ticket == self.ticket { self.ticket = nil } }

  /// Performs what is due, and sends queued corrections to the receiver. Call it after each round of events.
  package func work(_ connection: ReceiverConnection, _ poller: inout Poller, at now: Instant) {
    if let file {
      if now >= file.deadline ?? .zero { read(&poller, at: now) }
    } else if source.isHost {
      if now >= link.deadline { link.wake(at: now) }
      if let host, let due = host.deadline, now >= due {
        host.wake(&poller, at: now)
        continueConnecting(&poller, at: now)
      }
      resume(&poller, at: now)
      sendPosition(&poller, at: now)
    }
    perform(&poller, at: now)
    corrections.lineRate = connection.rate
    reportDrops(connection.isSteady)
    guard ticket == nil, connection.isSteady, let frames = corrections.next(at: now) else { return }
    ticket = connection.submit(.raw(frames), &poller, at: now)
  }

  private func sendPosition(_ poller: inout Poller, at now: Instant) {
    guard isNTRIP, stream != nil, request.isEmpty, let sentence = casterPosition.sentence(at: now) else { return }
    send(sentence, &poller, at: now)
  }

  /// Reports a line that is too slow, once. Corrections that are dropped during the configuration of the receiver do
  /// not count.
  private func reportDrops(_ isSteady: Bool) {
    guard isSteady else {
      droppedBefore = corrections.dropped
      return
    }
    guard corrections.dropped > droppedBefore, !isDropReported else { return }
    isDropReported = true
    reports.append(
      "\(source.name): the line is too slow for these corrections, and the oldest observations are dropped; "
        + "raise the rate of the line")
  }

  // MARK: Source

  private func perform(_ poller: inout Poller, at now: Instant) {
    while let action = link.nextAction() {
      switch action {
      case .connect:
        guard let (name, port) = source.host else { break }
        host = HostConnection(to: name, port: port, .stream(awaitsReply: false), token: token, &poller, at: now)
      case .disconnect: drop(&poller)
      case .report(let text): reports.append(text)
      }
    }
  }

  /// Continues when the host is connected, or cannot be.
  private func continueConnecting(_ poller: inout Poller, at now: Instant) {
    guard let host else { return }
    if let failure = host.attempt.failure { return link.failed(failure.text, at: now) }
    guard stream != nil else { return }
    link.connected(awaitsReply: isNTRIP, at: now)
    response = NTRIPResponse()
    guard case .ntrip(let host, let port, let mount, let credentials, let transport) = source else {
      return sendRequest(&poller, at: now)
    }
    if transport == .tls {
      do {
        tls = Secured(try TLSClient(to: host))
      } catch {
        return link.failed(error.text, at: now)
      }
    }
    let bytes = NTRIPRequest.bytes(
      host: host, port: port, mount: mount, credentials: credentials, version: SextantVersion.text)
    send(bytes, &poller, at: now)
  }

  /// Sends bytes to the caster, encrypted where the connection is.
  private func send(_ bytes: [UInt8], _ poller: inout Poller, at now: Instant) {
    if let tls {
      tls.client.send(bytes)
      request += tls.client.takeRecords()
    } else {
      request += bytes
    }
    sendRequest(&poller, at: now)
  }

  private func sendRequest(_ poller: inout Poller, at now: Instant) {
    guard let stream else { return }
    do {
      let whole = request
      if !whole.isEmpty { request.removeFirst(try unsafe stream.value.write(whole.span.bytes)) }
      let interest: Poller.Interest = request.isEmpty ? .readable : [.readable, .writable]
      try poller.changePort(stream.value.fileDescriptor, token: token, interest: interest)
    } catch {
      link.failed("the connection is lost (\(error.reason))", at: now)
    }
  }

  /// Reads no more for a while if a host sends more than any corrections are.
  private func pause(after count: Int, _ poller: inout Poller, at now: Instant) {
    guard let stream, request.isEmpty, let next = allowance.read(count, at: now) else { return }
    resumesAt = next
    try? poller.changePort(stream.value.fileDescriptor, token: token, interest: [])
  }

  private func resume(_ poller: inout Poller, at now: Instant) {
    guard let next = resumesAt, now >= next else { return }
    resumesAt = nil
    guard let stream else { return }
    try? poller.changePort(
      stream.value.fileDescriptor, token: token, interest: request.isEmpty ? .readable : [.readable, .writable])
  }

  private func drop(_ poller: inout Poller) {
    resumesAt = nil
    host?.close(&poller)
    host = nil
    tls = nil
    request = []
    casterPosition.disconnected()
    corrections.reset()
  }

  /// Reads the available bytes of the source.
  private func read(_ poller: inout Poller, at now: Instant) {
    // The buffer is moved out while it is read, to avoid a copy.
    var buffer: [UInt8] = []
    swap(&buffer, &self.buffer)
    defer { swap(&buffer, &self.buffer) }
    do {
      switch try readOnce(into: &buffer, at: now) {
      case .bytes(let count):
        if let tls {
          decrypt(unsafe buffer.span.bytes.extracting(0..<count), tls, &poller, at: now)
        } else {
          take(unsafe buffer.span.bytes.extracting(0..<count), at: now)
        }
        pause(after: count, &poller, at: now)
      case .wouldBlock: break
      case .endOfInput where tls != nil:
        tls?.client.endOfInput()
        checkEncryption(at: now)
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
    if let stream { return try stream.value.read(into: &room) }
    return .wouldBlock
  }

  private func decrypt(_ records: RawSpan, _ tls: Secured, _ poller: inout Poller, at now: Instant) {
    let bytes = tls.client.receive(records)
    unsafe take(bytes.span.bytes, at: now)
    // The caster may have refused.
    guard self.tls != nil else { return }
    request += tls.client.takeRecords()
    // An alert is on its way before the connection is given up.
    if !request.isEmpty { sendRequest(&poller, at: now) }
    checkEncryption(at: now)
  }

  /// Gives the connection up if its encryption has failed or ended.
  private func checkEncryption(at now: Instant) {
    switch tls?.client.state {
    case .failed(let failure): link.failed(failure.text, at: now)
    case .closed: link.failed(TLSFailure.truncated.text, at: now)
    case .handshaking, .open, nil: break
    }
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
      // The empty line after an ICY header, and a web page, are not corrections.
      if unsafe corrections.receive(stream.span.bytes, at: now) {
        link.received(at: now)
        casterPosition.received()
      }
    } catch {
      link.failed(error.text, at: now)
    }
  }

  /// Ends a file. Its corrections in the queue are still sent.
  private func end(_ poller: inout Poller) {
    if let fifo { poller.remove(fifo.value.fileDescriptor) }
    fifo = nil
    file = nil
    isAtEnd = true
    reports.append("\(source.name): end of the corrections")
  }
}

/// A reference to the encryption of a connection, which cannot be copied.
private final class Secured {
  var client: TLSClient
  init(_ client: consuming TLSClient) { self.client = client }
}

extension CorrectionSource {
  /// The network host, which is retried; nil for another source.
  fileprivate var host: (name: String, port: UInt16)? {
    switch self {
    case .tcp(let host, let port), .ntrip(let host, let port, _, _, _): (host, port)
    case .file, .fifo: nil
    }
  }

  fileprivate var isHost: Bool { host != nil }
}
