// SPDX-License-Identifier: Apache-2.0
import Glibc
import LinuxIO
import MonotonicTime
import SerialPort

/// The sockets of an attempt to reach a host: performs the actions of `HostConnecting` on the thread of the poller.
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

/// A reference to a value that cannot be copied.
final class Owned<Value: ~Copyable> {
  let value: Value
  init(_ value: consuming Value) { self.value = value }
}
