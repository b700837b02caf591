// SPDX-License-Identifier: Apache-2.0
import MonotonicTime
import SystemPackage

/// The pause of a listener after the system has refused a descriptor: connections wait in the queue of its socket for a second.
package struct AcceptPause: Equatable, Sendable {
  private static let length = Milliseconds(1000)

  /// The end of the pause; nil while connections are accepted.
  package private(set) var deadline: Instant?
  /// Whether the last attempt to accept was refused.
  private var isRefused = false

  package init() {}

  /// The events of the listener that the poller waits for.
  package var interest: Poller.Interest { deadline == nil ? .readable : [] }

  /// Begins the pause. Returns whether it is the first one of a period of refusals.
  package mutating func begin(at now: Instant) -> Bool {
    defer { isRefused = true }
    deadline = now + Self.length
    return !isRefused
  }

  /// Records that connections were accepted.
  package mutating func accepted() { isRefused = false }

  /// Ends the pause once it is over. Returns whether it has ended, so that the poller watches the listener again.
  package mutating func end(at now: Instant) -> Bool {
    guard let due = deadline, now >= due else { return false }
    deadline = nil
    return true
  }

  /// Ends the pause because a descriptor was closed. Returns whether there was one.
  package mutating func endEarly() -> Bool {
    defer { deadline = nil }
    return deadline != nil
  }
}

/// Sockets that listen at addresses of this machine, and accept connections.
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
  private var pause = AcceptPause()
  /// When `resume` is to be called; nil if connections are accepted.
  package var deadline: Instant? { pause.deadline }

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
      try poller.add(listener.socket.descriptor, token: token(index), interest: pause.interest)
    }
  }

  /// Accepts the next connection at the socket with this token; nil if none waits.
  package func accept(_ token: Poller.Token, _ poller: inout Poller, at now: Instant) -> UnixSocket? {
    let index = Int(token.rawValue) &- Int(firstToken)
    guard listeners.indices.contains(index) else { return nil }
    do throws(Errno) {
      return try listeners[index].socket.accept()
    } catch {
      _ = pause.begin(at: now)
      setInterest(&poller)
      return nil
    }
  }

  /// Ends the pause after a lack of descriptors once it is over.
  package func resume(_ poller: inout Poller, at now: Instant) {
    if pause.end(at: now) { setInterest(&poller) }
  }

  private func token(_ index: Int) -> Poller.Token {
    Poller.Token(rawValue: firstToken &+ UInt32(truncatingIfNeeded: index))
  }

  private func setInterest(_ poller: inout Poller) {
    for (index, listener) in listeners.enumerated() {
      try? poller.change(listener.socket.descriptor, token: token(index), interest: pause.interest)
    }
  }
}
