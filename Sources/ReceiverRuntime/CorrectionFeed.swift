// SPDX-License-Identifier: Apache-2.0
import LinuxIO
import MonotonicTime
import RTCM3
import Receiver
import ReceiverStream
import SerialPort

/// Sends corrections from their sources to the receiver of a connection: performs the actions of `CorrectionSelection`,
/// `CasterPosition` and `CorrectionQueue` on the thread of the poller.
package final class CorrectionFeed {
  private let token: Poller.Token
  private var selection: CorrectionSelection
  private var corrections = CorrectionQueue(lineRate: nil)
  // The open source: one of these.
  private var file: ReplayLine?
  /// A FIFO, or the serial port of another receiver or radio.
  private var port: Owned<SerialPort>?
  private var host: HostConnection?
  private var response = NTRIPResponse()
  /// The source table that was requested; nil for a stream.
  private var table: SourceTable?
  /// The mount point of a source table that asks for the position.
  private var positionAsked: CorrectionSource?
  private var casterPosition = CasterPosition()
  private var ticket: SessionTicket?
  private var reports: [String] = []
  private var buffer = [UInt8](repeating: 0, count: 16_384)
  /// The reason why a file, FIFO or serial port could not be opened.
  private var openingFailure: SerialPortError?
  /// The bytes of the source in use, and the time of its last corrections.
  private var receivedBytes: UInt64 = 0
  private var receivedAt: Instant?
  private var lastSource: CorrectionSource?
  private var allowance = ReadAllowance()
  /// The time at which reading the socket resumes; nil if it is being read.
  private var resumesAt: Instant?
  private var droppedBefore: UInt64 = 0
  private var isDropReported = false
  /// Whether the receiver gets the corrections.
  package var isForwarding = true
  /// Whether the receiver accepts SPARTN.
  package var acceptsSPARTN: Bool {
    get { corrections.acceptsSPARTN }
    set { corrections.acceptsSPARTN = newValue }
  }
  /// The number of SPARTN frames of all sources, and of the encrypted ones among them.
  package var spartnFrames: (all: UInt64, encrypted: UInt64) { (corrections.spartnFrames, corrections.encryptedFrames) }
  /// Receives each correction of RTCM 3.
  package var onCorrection: ((borrowing RTCM3Frame) -> Void)?

  /// - Parameters:
  ///   - sources: the sources of the corrections, the preferred one first; at least one.
  ///   - token: the token of the source in the events of the poller.
  ///   - silence: the time after which a source without corrections has stalled.
  ///   - now: the current instant.
  package init(
    _ sources: [CorrectionSource], token: Poller.Token, silence: Milliseconds = CorrectionLink.silence, at now: Instant
  ) {
    self.token = token
    selection = CorrectionSelection(sources, random: .random(in: 0...UInt64.max), silence: silence, at: now)
  }

  /// The time at which `work` is due.
  package var deadline: Instant? {
    let due = Instant.earlier(.earlier(selection.deadline, host?.deadline), .earlier(resumesAt, file?.deadline))
    return isNTRIP && !hasUnsent ? .earlier(due, casterPosition.deadline) : due
  }

  /// The current state, for `sextant status`.
  package var status: CorrectionStatus {
    let source = selection.source ?? lastSource
    let isLast = source == lastSource
    return CorrectionStatus(
      source: source?.address ?? "", configured: selection.configured?.address ?? "", state: selection.state,
      receivedAt: isLast ? receivedAt : nil, bytes: isLast ? receivedBytes : 0, failure: selection.lastFailure)
  }

  /// Whether the host has not taken all bytes yet.
  private var hasUnsent: Bool { host?.unsent.isEmpty == false }

  /// Handles a fix, for casters that compute corrections for a position.
  package func receive(_ fix: Fix) { casterPosition.fix = fix }

  private var isNTRIP: Bool { if case .ntrip? = selection.active { true } else { false } }

  /// The name of the source, for messages.
  private var name: String { (selection.active ?? lastSource)?.name ?? "" }

  /// Returns the next line for the user, or nil.
  package func nextReport() -> String? { reports.isEmpty ? nil : reports.removeFirst() }

  /// Opens the preferred source: for a command, whose user can correct an error of a file, a FIFO or a port at once.
  /// Hosts are connected later.
  package func open(_ poller: inout Poller, at now: Instant) throws(SerialPortError) {
    set(needed: true, &poller, at: now)
    if let openingFailure { throw openingFailure }
  }

  /// Sets whether corrections are needed. If not, no source is connected.
  package func set(needed: Bool, _ poller: inout Poller, at now: Instant) {
    selection.set(needed: needed, at: now)
    perform(&poller, at: now)
  }

  /// Connects to a source, or opens it.
  private func connect(_ source: CorrectionSource, _ poller: inout Poller, at now: Instant) {
    if source != lastSource { (receivedBytes, receivedAt, lastSource) = (0, nil, source) }
    do throws(SerialPortError) {
      switch source {
      case .file(let path): file = try ReplayLine(opening: path, .times(1), at: now)
      case .fifo(let path):
        let port = try SerialPort(opening: path, access: .readOnly, baud: nil)
        guard port.kind == .fifo else {
          throw SerialPortError(malformed: "is not a FIFO; create one with mkfifo, or use file:\(path)", path: path)
        }
        try poller.addPort(port.fileDescriptor, token: token)
        self.port = Owned(port)
      case .serial(let path, let baud):
        let port = try SerialPort(opening: path, access: .readOnly, baud: baud)
        guard port.kind.hasLineSettings else {
          throw SerialPortError(malformed: "is not a serial port; use fifo:\(path) or file:\(path)", path: path)
        }
        try poller.addPort(port.fileDescriptor, token: token)
        self.port = Owned(port)
        return selection.connected(awaitsReply: false, at: now)
      case .ntrip(_, _, _, _, transport: .tls) where !TLSClient.isAvailable:
        throw SerialPortError(unreachable: TLSFailure.noLibrary.text, path: source.name)
      case .tcp(let name, let port), .ntrip(let name, let port, _, _, _):
        host = HostConnection(to: name, port: port, .stream(awaitsReply: false), token: token, &poller, at: now)
        return
      }
      selection.opened()
    } catch {
      openingFailure = openingFailure ?? error
      selection.failed(error.explanation, at: now)
    }
  }

  /// Handles an event of the poller.
  package func handle(_ event: Poller.Event, _ poller: inout Poller, at now: Instant) {
    switch event {
    case .hangUp(token) where resumesAt != nil: selection.failed("the connection is lost", at: now)
    case .woken, .readable(token), .writable(token), .hangUp(token):
      guard let host, !host.isStreaming else {
        if event == .readable(token) || !hasUnsent && event != .woken { read(&poller, at: now) }
        if hasUnsent { send([], &poller, at: now) }
        break
      }
      host.handle(event, &poller, at: now)
      continueConnecting(&poller, at: now)
    default: return
    }
    perform(&poller, at: now)
  }

  /// Records that a command of the connection has ended.
  package func finished(_ ticket: SessionTicket) { if ticket == self.ticket { self.ticket = nil } }

  /// Performs the actions that are due, and sends queued corrections to the receiver. Call it after each round of
  /// events.
  package func work(_ connection: ReceiverConnection?, _ poller: inout Poller, at now: Instant) {
    if let due = selection.deadline, now >= due { selection.wake(at: now) }
    if let file, now >= file.deadline ?? .zero { read(&poller, at: now) }
    if let host, let due = host.deadline, now >= due {
      host.wake(&poller, at: now)
      continueConnecting(&poller, at: now)
    }
    resume(&poller, at: now)
    sendPosition(&poller, at: now)
    perform(&poller, at: now)
    guard let connection, isForwarding else {
      corrections.discard()
      droppedBefore = corrections.dropped
      return
    }
    corrections.lineRate = connection.rate
    corrections.dropOld(at: now)
    reportDrops(connection.isSteady)
    guard ticket == nil, connection.isReadyForStream, let frames = corrections.next(at: now) else { return }
    ticket = connection.submit(.raw(frames), &poller, at: now)
  }

  private func sendPosition(_ poller: inout Poller, at now: Instant) {
    guard isNTRIP, host?.isStreaming == true, !hasUnsent, let sentence = casterPosition.sentence(at: now) else {
      return
    }
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
      "\(name): the line is too slow for these corrections, and the oldest observations are dropped; "
        + "raise the rate of the line")
  }

  // MARK: Source

  private func perform(_ poller: inout Poller, at now: Instant) {
    while let action = selection.nextAction() {
      switch action {
      case .connect(let source): connect(source, &poller, at: now)
      case .disconnect: drop(&poller)
      case .report(let text): reports.append(text)
      }
    }
  }

  /// Continues when the host is connected, or cannot be.
  private func continueConnecting(_ poller: inout Poller, at now: Instant) {
    guard let host else { return }
    if let failure = host.attempt.failure { return selection.failed(failure.text, at: now) }
    guard host.isStreaming else { return }
    selection.connected(awaitsReply: isNTRIP, at: now)
    table = selection.active?.choosesMount == true ? SourceTable() : nil
    response = NTRIPResponse(isTable: table != nil)
    guard case .ntrip(let name, let port, let mount, let credentials, let transport)? = selection.active else {
      return send([], &poller, at: now)
    }
    if transport == .tls {
      do { try host.encrypt(for: name) } catch { return selection.failed(error.text, at: now) }
    }
    let bytes = NTRIPRequest.bytes(
      host: name, port: port, mount: mount, credentials: credentials, version: SextantVersion.text)
    send(bytes, &poller, at: now)
  }

  /// Sends bytes to the caster, encrypted if the connection is.
  private func send(_ bytes: [UInt8], _ poller: inout Poller, at now: Instant) {
    do {
      try host?.send(bytes, &poller)
    } catch {
      selection.failed("the connection is lost (\(error.reason))", at: now)
    }
  }

  /// Pauses reading if a host sends more than corrections can amount to.
  private func pause(after count: Int, _ poller: inout Poller, at now: Instant) {
    guard let host, !hasUnsent, let next = allowance.read(count, at: now) else { return }
    resumesAt = next
    try? host.setPaused(true, &poller)
  }

  private func resume(_ poller: inout Poller, at now: Instant) {
    guard let next = resumesAt, now >= next else { return }
    resumesAt = nil
    try? host?.setPaused(false, &poller)
  }

  private func drop(_ poller: inout Poller) {
    resumesAt = nil
    host?.close(&poller)
    host = nil
    if let port { poller.remove(port.value.fileDescriptor) }
    port = nil
    file = nil
    table = nil
    casterPosition.disconnected()
    corrections.reset()
  }

  /// Reads the available bytes of the source.
  private func read(_ poller: inout Poller, at now: Instant) {
    do {
      let result = if let host { try read(host, &poller, at: now) } else { try readDevice(at: now) }
      switch result {
      case .bytes(let count): pause(after: count, &poller, at: now)
      case .wouldBlock: break
      case .endOfInput where host?.encryption != nil: checkEncryption(at: now)
      case .endOfInput where host != nil: closed(at: now)
      case .endOfInput: selection.reachedEnd(at: now)
      }
    } catch {
      if file == nil { return selection.failed("the connection is lost (\(error.reason))", at: now) }
      reports.append(error.description)
      selection.reachedEnd(at: now)
    }
  }

  private func readDevice(at now: Instant) throws(SerialPortError) -> SerialPort.ReadResult {
    // The buffer is moved out while it is read, to avoid a copy.
    var buffer: [UInt8] = []
    swap(&buffer, &self.buffer)
    defer { swap(&buffer, &self.buffer) }
    var span = buffer.mutableSpan
    // Safe: bytes have no invalid bit patterns.
    var room = unsafe span.mutableBytes
    let result: SerialPort.ReadResult =
      if let file { try file.read(into: &room, at: now) } else if let port { try port.value.read(into: &room) } else {
        .wouldBlock
      }
    if case .bytes(let count) = result { _ = take(unsafe buffer.span.bytes.extracting(0..<count), at: now) }
    return result
  }

  private func read(
    _ host: HostConnection, _ poller: inout Poller, at now: Instant
  ) throws(SerialPortError) -> SerialPort.ReadResult {
    var continues = true
    let result = try host.read { continues = take($0, at: now) }
    // The caster may have refused, or redirected to another one.
    if case .bytes = result, continues, host.encryption != nil {
      // An alert is sent before the connection is closed.
      send([], &poller, at: now)
      checkEncryption(at: now)
    }
    return result
  }

  /// Closes the connection if its encryption has failed or ended.
  private func checkEncryption(at now: Instant) {
    switch host?.encryption {
    case .failed(.truncated), .closed: closed(at: now)
    case .failed(let failure): selection.failed(failure.text, at: now)
    case .handshaking, .open, nil: break
    }
  }

  private func closed(at now: Instant) {
    // A source table may end with the connection.
    if table != nil, response.isGranted {
      table?.end()
      return choose(at: now)
    }
    do { try response.end() } catch { return selection.refused(error, at: now) }
    selection.closed(hasReplied: !isNTRIP || response.hasBegun, at: now)
  }

  /// Handles bytes of the source. Returns whether they completed corrections.
  private func takeCorrections(_ bytes: RawSpan, at now: Instant) -> Bool {
    receivedBytes += UInt64(bytes.byteCount)
    switch corrections.receive(bytes, at: now, { onCorrection?($0) }) {
    case .corrections:
      receivedAt = now
      selection.received(station: corrections.station, at: now)
      return true
    case .descriptions: selection.received(.descriptions, at: now)
    case .nothing: if bytes.byteCount > 0 { selection.received(.unknown, at: now) }
    }
    return false
  }

  /// Connects to a mount point of the source table.
  private func choose(at now: Instant) {
    guard let table else { return }
    do {
      let choice = try table.choice(for: casterPosition.fix)
      selection.chose(choice.entry.mount, metres: choice.metres, at: now)
      positionAsked = choice.entry.needsPosition ? selection.active : nil
    } catch {
      selection.refused(error, at: now)
    }
  }

  /// Handles bytes of the source. Returns whether its connection continues.
  private func take(_ bytes: RawSpan, at now: Instant) -> Bool {
    guard isNTRIP else {
      _ = takeCorrections(bytes, at: now)
      return true
    }
    do {
      let wasGranted = response.isGranted
      let stream = try response.receive(bytes)
      if table != nil {
        table?.receive(stream)
        if response.isEnded { table?.end() }
        guard table?.isComplete == true else { return true }
        choose(at: now)
        return false
      }
      if response.isGranted, !wasGranted {
        selection.granted(at: now)
        casterPosition.connected(isAsked: selection.active == positionAsked, at: now)
      }
      // The empty line after an ICY header, and a web page, are not corrections.
      if unsafe takeCorrections(stream.span.bytes, at: now) { casterPosition.received() }
      if response.isEnded { closed(at: now) }
      return !response.isEnded
    } catch {
      selection.refused(error, at: now)
      return false
    }
  }
}

/// The corrections of a receiver, for `sextant status`.
package struct CorrectionStatus: Equatable, Sendable {
  /// The source in use, or the preferred one, without user and password.
  package var source: String
  /// The same as it is configured: a mount point that was chosen by the receiver's position reveals it.
  package var configured: String
  package var state: CorrectionSelection.State
  /// The time at which its last complete correction arrived; nil before the first.
  package var receivedAt: Instant?
  /// The number of bytes that it has sent.
  package var bytes: UInt64
  /// The reason why the last source failed; nil while corrections arrive, and after the choice of a mount point.
  package var failure: String?
}
