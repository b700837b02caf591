// SPDX-License-Identifier: Apache-2.0
import Glibc
import LinuxIO
import MonotonicTime
import SerialPort

/// The connection to a host: performs the actions of `HostConnecting` on the thread of the poller, then sends and receives, encrypted if
/// `encrypt` was called.
final class HostConnection {
  /// An open socket.
  enum Socket {
    case stream(Owned<TCPStream>)
    case datagrams(Owned<DatagramSocket>)

    var fileDescriptor: Int32 {
      switch self {
      case .stream(let stream): stream.value.fileDescriptor
      case .datagrams(let socket): socket.value.fileDescriptor
      }
    }
  }

  /// The purpose of the connection.
  enum Use {
    /// A TCP connection; the server may have to grant a request first.
    case stream(awaitsReply: Bool)
    /// Datagrams are received at the address.
    case datagrams
  }

  private(set) var attempt: HostConnecting
  /// The socket of the address being tried, or the open socket. It is registered in the poller with the token.
  private(set) var socket: Socket?
  /// The errno of the last refusal; 0 if there is none.
  private(set) var lastErrno: Int32 = 0
  /// Whether the socket is connected.
  private(set) var isConnected = false

  private let host: String?
  private let port: UInt16
  private let use: Use
  private let token: Poller.Token
  /// Bytes that the host has not taken yet, encrypted if the connection is.
  private(set) var unsent: [UInt8] = []
  /// Whether received bytes stay in the kernel.
  private var isPaused = false
  private var tls: Secured?
  private var buffer = [UInt8](repeating: 0, count: 16_384)
  private var lookup: HostLookup?
  private var addresses: [SocketAddress] = []

  /// - Parameters:
  ///   - host: a name or an address; nil to receive datagrams at all addresses of this machine.
  ///   - token: the token of the socket in the events of the poller.
  init(
    to host: String?, port: UInt16, _ use: Use, token: Poller.Token, _ poller: inout Poller, at now: Instant
  ) {
    attempt = HostConnecting(at: now)
    (self.host, self.port, self.use, self.token) = (host, port, use, token)
    perform(&poller, at: now)
  }

  /// The time at which `wake` is due.
  var deadline: Instant? { attempt.deadline }

  /// Handles an event of the poller, which may concern another descriptor.
  func handle(_ event: Poller.Event, _ poller: inout Poller, at now: Instant) {
    switch event {
    case .woken: takeAddresses(at: now)
    case .readable(token), .writable(token), .hangUp(token): finishConnecting(at: now)
    default: return
    }
    perform(&poller, at: now)
  }

  func wake(_ poller: inout Poller, at now: Instant) {
    attempt.wake(at: now)
    perform(&poller, at: now)
  }

  /// Records that the server has granted the request.
  func granted() { attempt.granted() }

  /// Records that the server refuses the request, or has closed the connection.
  func ended(_ failure: HostConnecting.Failure, _ poller: inout Poller, at now: Instant) {
    attempt.ended(failure)
    perform(&poller, at: now)
  }

  func close(_ poller: inout Poller) {
    lookup = nil
    isConnected = false
    if let socket { poller.remove(socket.fileDescriptor) }
    socket = nil
    (tls, unsent, isPaused) = (nil, [], false)
  }

  // MARK: The open stream

  /// The connected stream; nil before that, and for datagrams.
  private var stream: Owned<TCPStream>? {
    if isConnected, case .stream(let stream)? = socket { stream } else { nil }
  }

  /// Whether a stream is connected.
  var isStreaming: Bool { stream != nil }

  /// The state of the encryption; nil without one.
  var encryption: TLSClient.State? { tls?.client.state }

  /// Starts the encryption of a connected stream.
  ///
  /// - Parameter name: the name that the certificate of the host must contain.
  func encrypt(for name: String) throws(TLSFailure) { tls = Secured(try TLSClient(to: name)) }

  /// Queues bytes, and sends as many as the host takes now.
  func send(_ bytes: [UInt8], _ poller: inout Poller) throws(SerialPortError) {
    if let tls { tls.client.send(bytes) } else { unsent += bytes }
    try flush(&poller)
  }

  /// Sends as many queued bytes as the host takes now, and sets the interest of the poller.
  func flush(_ poller: inout Poller) throws(SerialPortError) {
    guard let stream else { return }
    if let tls { unsent += tls.client.takeRecords() }
    let whole = unsent
    if !whole.isEmpty { unsent.removeFirst(try unsafe stream.value.write(whole.span.bytes)) }
    try setInterest(&poller)
  }

  /// Stops or continues to read the stream.
  func setPaused(_ isPaused: Bool, _ poller: inout Poller) throws(SerialPortError) {
    self.isPaused = isPaused
    try setInterest(&poller)
  }

  private func setInterest(_ poller: inout Poller) throws(SerialPortError) {
    guard let stream else { return }
    var interest: Poller.Interest = isPaused ? [] : .readable
    if !unsent.isEmpty { interest.insert(.writable) }
    try poller.changePort(stream.value.fileDescriptor, token: token, interest: interest)
  }

  /// Reads available bytes once; `body` gets those that were in them, decrypted.
  ///
  /// - Returns: the number of bytes as received. At the end of an encrypted stream, `encryption` has the reason.
  func read(_ body: (RawSpan) -> Void) throws(SerialPortError) -> SerialPort.ReadResult {
    guard let stream else { return .wouldBlock }
    // The buffer is moved out while it is read, to avoid a copy.
    var buffer: [UInt8] = []
    swap(&buffer, &self.buffer)
    defer { swap(&buffer, &self.buffer) }
    var elements = buffer.mutableSpan
    // Safe: bytes have no invalid bit patterns.
    var room = unsafe elements.mutableBytes
    let result = try stream.value.read(into: &room)
    switch result {
    case .bytes(let count):
      let received = unsafe buffer.span.bytes.extracting(0..<count)
      guard let tls else {
        body(received)
        break
      }
      let bytes = tls.client.receive(received)
      unsafe body(bytes.span.bytes)
    case .endOfInput: tls?.client.endOfInput()
    case .wouldBlock: break
    }
    return result
  }

  private func perform(_ poller: inout Poller, at now: Instant) {
    while let action = attempt.nextAction() {
      switch action {
      case .resolve:
        let isForDatagrams = if case .datagrams = use { true } else { false }
        lookup = HostLookup(of: host, port: port, isForDatagrams: isForDatagrams, waker: poller.waker)
      case .connect(let index): connect(to: addresses[index], &poller, at: now)
      case .close: close(&poller)
      }
    }
  }

  private func takeAddresses(at now: Instant) {
    switch lookup?.result {
    case .pending?, nil: return
    case .failed(let reason)?: attempt.notFound(reason)
    case .found(let addresses)?:
      self.addresses = addresses
      attempt.found(count: addresses.count, at: now)
    }
    lookup = nil
  }

  private func connect(to address: SocketAddress, _ poller: inout Poller, at now: Instant) {
    do throws(SerialPortError) {
      switch use {
      case .stream:
        let stream = try TCPStream(connectingTo: address)
        try poller.addPort(stream.fileDescriptor, token: token, interest: .writable)
        socket = .stream(Owned(stream))
      case .datagrams:
        let datagrams = try DatagramSocket(receivingAt: address)
        try poller.addPort(datagrams.fileDescriptor, token: token)
        socket = .datagrams(Owned(datagrams))
        isConnected = true
        attempt.connected(awaitsReply: false, at: now)
      }
    } catch {
      lastErrno = error.errno
      attempt.refused(error.reason, at: now)
    }
  }

  private func finishConnecting(at now: Instant) {
    guard case .stream(let awaitsReply) = use, case .stream(let stream)? = socket, !isConnected else { return }
    if let reason = stream.value.finishConnecting() { return attempt.refused(reason, at: now) }
    isConnected = true
    attempt.connected(awaitsReply: awaitsReply, at: now)
  }
}

/// A reference to the encryption of a connection, which cannot be copied.
private final class Secured {
  var client: TLSClient
  init(_ client: consuming TLSClient) { self.client = client }
}

/// A reference to a value that cannot be copied.
final class Owned<Value: ~Copyable> {
  let value: Value
  init(_ value: consuming Value) { self.value = value }
}
