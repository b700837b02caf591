// SPDX-License-Identifier: Apache-2.0
import Glibc
import LinuxIO
import MonotonicTime
import SerialPort
import WireBytes

/// The opening of a network source: the connection, and for gpsd the request for a receiver's bytes.
final class NetworkOpening {
  /// The result of an opening.
  enum Outcome {
    case opened(NetworkLine)
    case failed(SerialPortError)
  }

  private let source: NetworkSource
  private let path: String
  private let token: Poller.Token
  private let connection: HostConnection
  private var request: GPSDRequest?
  /// The receiver's bytes that came with the reply.
  private var received: [UInt8] = []

  /// - Parameters:
  ///   - path: the name of the source, for messages.
  ///   - token: the token of the socket in the events of the poller.
  init(_ source: NetworkSource, path: String, token: Poller.Token, _ poller: inout Poller, at now: Instant) {
    (self.source, self.path, self.token) = (source, path, token)
    let use: HostConnection.Use
    switch source {
    case .tcp: use = .stream(awaitsReply: false)
    case .udp: use = .datagrams
    case .gpsd(_, _, let device):
      use = .stream(awaitsReply: true)
      request = GPSDRequest(device: device)
    }
    connection = HostConnection(to: source.host, port: source.port, use, token: token, &poller, at: now)
  }

  /// The time at which `wake` is due.
  var deadline: Instant? { connection.deadline }

  /// Handles an event of the poller, which may concern another descriptor.
  func handle(_ event: Poller.Event, _ poller: inout Poller, at now: Instant) {
    if connection.isConnected, request != nil {
      switch event {
      case .readable(token), .writable(token), .hangUp(token): continueRequest(&poller, at: now)
      default: break
      }
    } else {
      connection.handle(event, &poller, at: now)
      if connection.isConnected, request != nil { continueRequest(&poller, at: now) }
    }
  }

  func wake(_ poller: inout Poller, at now: Instant) { connection.wake(&poller, at: now) }

  func close(_ poller: inout Poller) { connection.close(&poller) }

  /// The result, once; nil while the source is not reached. The poller no longer has the socket.
  func takeOutcome(_ poller: inout Poller) -> Outcome? {
    if let failure = connection.attempt.failure { return .failed(error(failure)) }
    guard connection.attempt.isEstablished, let socket = connection.socket else { return nil }
    poller.remove(socket.fileDescriptor)
    return .opened(NetworkLine(source, path, socket, received: received))
  }

  private func continueRequest(_ poller: inout Poller, at now: Instant) {
    do throws(SerialPortError) {
      var requests: [UInt8] = []
      // Once for each event: a server that sends without a pause does not delay others, nor the end of its time.
      var refusal: GPSDRequest.Refusal?
      let result = try connection.read { bytes in
        let piece = [UInt8](copying: bytes)
        do throws(GPSDRequest.Refusal) { received += try request?.receive(piece.span) ?? [] } catch {
          refusal = error
        }
      }
      if let refusal { return connection.ended(.notGranted(refusal.text), &poller, at: now) }
      if result == .endOfInput { return connection.ended(.closed, &poller, at: now) }
      while let next = request?.nextRequest() { requests += next }
      if request?.isGranted == true { return connection.granted() }
      try connection.send(requests, &poller)
    } catch {
      connection.ended(.closed, &poller, at: now)
    }
  }

  private func error(_ failure: HostConnecting.Failure) -> SerialPortError {
    guard case .udp = source, case .refused(let reason) = failure else {
      return SerialPortError(unreachable: failure.text, path: path)
    }
    switch connection.lastErrno {
    case EADDRINUSE:
      return SerialPortError(
        unreachable: "another program receives at this port; stop it, or choose another port", isHeld: true, path: path)
    case EADDRNOTAVAIL:
      return SerialPortError(
        unreachable: "the address is none of this machine; leave it out: udp://:\(source.port)", path: path)
    default:
      return SerialPortError(
        unreachable: "nothing can be received there (\(reason)); check the address and the network interface",
        path: path)
    }
  }
}
