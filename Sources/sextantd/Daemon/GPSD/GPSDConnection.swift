// SPDX-License-Identifier: Apache-2.0

import GPSD
import Glibc
import LinuxIO
import LocationService
import MonotonicTime
import Positioning
import SystemPackage

/// The connection of a client of gpsd.
final class GPSDConnection {
  let socket: UnixSocket
  let token: UInt32
  var client: GPSDClient
  /// The demand that was passed to the host.
  var demand = GPSDClient.Demand.none
  var interest: Poller.Interest = .readable
  /// The state of the client's side of the connection.
  enum Input {
    case open
    /// The client has closed its side. The time of the last write shows whether it still reads.
    case ended(written: Instant)
  }
  var input = Input.open
  var hasEndedInput: Bool { if case .ended = input { true } else { false } }

  /// The number of its user or address in the shares.
  let user: UInt32
  /// The time of its last message, or of the connection.
  var lastInput: Instant

  init(_ socket: consuming UnixSocket, _ token: UInt32, user: UInt32, _ client: GPSDClient, at now: Instant) {
    self.socket = socket
    self.token = token
    self.user = user
    lastInput = now
    self.client = client
  }

  /// The client's manager in the host's program.
  var manager: ClientID { ClientID(Int(token)) }
}

/// A listener that several values refer to.
final class UnixSocketHandle {
  private let socket: UnixSocket

  init(_ descriptor: Int32) { socket = UnixSocket(adopting: descriptor) }

  var descriptor: Int32 { socket.descriptor }
  func accept() throws(Errno) -> UnixSocket? { try socket.accept() }
}

/// The program of the host that represents all clients of gpsd.
final class GPSDProgram: ProgramReceiver, @unchecked Sendable {
  // Sendable: only the service's thread uses it.

  private var answers: [ClientID] = []

  func perform(_ action: ProgramAction) {
    if case .output(.event(let manager, _, let ticket)) = action, ticket.isAnswer { answers.append(manager) }
  }

  func takeAnswers() -> [ClientID] {
    defer { answers = [] }
    return answers
  }
}

// The shares of gpsd's clients: per user on this machine, otherwise per address.
extension GPSDServer {
  /// The number of a client in the shares. All local clients with an unknown user have one share.
  static func shareNumber(of socket: borrowing UnixSocket) -> UInt32 {
    if let peer = socket.peer, SocketName(of: socket.descriptor) == nil {
      return Share.number(of: peer.user, own: geteuid())
    }
    if let address = SocketName.peerAddressNumber(of: socket.descriptor) { return address }
    return InternetPeer.user(of: socket.descriptor).map { Share.number(of: $0, own: geteuid()) } ?? unknownUser
  }

  /// (uid_t)-1, which no user has (setreuid(2)).
  private static let unknownUser = UInt32.max

  /// Returns whether a user may have another client. A refusal is logged, at most once per minute.
  func hasRoom(for user: UInt32) -> Bool {
    if clientShare.has(for: user) { return true }
    for line in logShare.lines(
      "user or address \(user) has \(clientShare.amount(of: user)) clients of gpsd; further ones are closed", of: user,
      at: SystemClock.monotonic)
    { host.log(line) }
    return false
  }

  /// The clients whose unread reports exceed the share of their users.
  var clientsToCutOff: [GPSDConnection] {
    let held = clients.values.compactMap { client in
      client.client.output.isEmpty ? nil : (holder: client, user: client.user, amount: client.client.output.count)
    }
    if held.reduce(0, { $0 + $1.amount }) <= ServiceLimits.queuedBytes.ofUser { return [] }
    return ServiceLimits.queuedBytes.excess(held)
  }
}

extension GPSDConnection {
  /// The time at which a client without a watch is closed, unless it sends something; nil for a client with a watch.
  var idleEnd: Instant? {
    switch client.kind {
    case .nmea: if case .ended(let written) = input { written + ServiceLimits.idleClient } else { nil }
    case .gpsd, .control: client.watch.isEnabled ? nil : lastInput + ServiceLimits.idleClient
    }
  }
}
