// SPDX-License-Identifier: Apache-2.0
import MonotonicTime
import SystemPackage

/// Sockets that listen at addresses of this machine, and accept connections. After a lack of descriptors the connections wait in the
/// queues of the sockets for a second.
package final class InternetListeners {
  /// The address at which the system does not listen.
  package struct Failure: Error {
    package var reason: Errno
    package var address: InternetAddress
  }

  private final class Listener {
    let socket: UnixSocket
    init(_ descriptor: Int32) { socket = UnixSocket(adopting: descriptor) }
  }

  private let listeners: [Listener]
  private let firstToken: UInt32
  /// When `resume` is to be called; nil if connections are accepted.
  package private(set) var deadline: Instant?

  /// - Parameter firstToken: the token of the first address; the others follow.
  package init(at addresses: [InternetAddress], firstToken: UInt32) throws(Failure) {
    listeners = try Self.listen(at: addresses).map { Listener($0) }
    self.firstToken = firstToken
  }

  /// Returns a descriptor for each address, which the caller closes. On a machine without IPv6, IPv6 addresses are skipped, unless it
  /// is the only address.
  package static func listen(at addresses: [InternetAddress]) throws(Failure) -> [Int32] {
    var descriptors: [Int32] = []
    for address in addresses {
      do throws(Errno) {
        descriptors.append(try address.listen())
      } catch {
        let isMissing = error == .addressNotAvailable || error == .addressFamilyNotSupported
        if address.isVersion6, isMissing, !descriptors.isEmpty { continue }
        for descriptor in descriptors { _ = UnixSocket(adopting: descriptor) }
        throw Failure(reason: error, address: address)
      }
    }
    return descriptors
  }

  /// Whether only programs of this computer can connect.
  package var isLoopback: Bool {
    listeners.allSatisfy { SocketName(of: $0.socket.descriptor)?.isLoopback ?? false }
  }

  package func attach(_ poller: inout Poller) throws(PollerError) {
    for (index, listener) in listeners.enumerated() {
      try poller.add(listener.socket.descriptor, token: token(index), interest: interest)
    }
  }

  /// Accepts the next connection at the socket with this token; nil if none waits.
  package func accept(_ token: Poller.Token, _ poller: inout Poller, at now: Instant) -> UnixSocket? {
    let index = Int(token.rawValue) &- Int(firstToken)
    guard listeners.indices.contains(index) else { return nil }
    do throws(Errno) {
      return try listeners[index].socket.accept()
    } catch {
      deadline = now + Milliseconds(1000)
      setInterest(&poller)
      return nil
    }
  }

  /// Ends the pause after a lack of descriptors once it is over.
  package func resume(_ poller: inout Poller, at now: Instant) {
    guard let due = deadline, now >= due else { return }
    deadline = nil
    setInterest(&poller)
  }

  private var interest: Poller.Interest { deadline == nil ? .readable : [] }

  private func token(_ index: Int) -> Poller.Token {
    Poller.Token(rawValue: firstToken &+ UInt32(truncatingIfNeeded: index))
  }

  private func setInterest(_ poller: inout Poller) {
    for (index, listener) in listeners.enumerated() {
      try? poller.change(listener.socket.descriptor, token: token(index), interest: interest)
    }
  }
}
