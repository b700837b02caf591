// SPDX-License-Identifier: Apache-2.0
import GPSD
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

extension GPSDListener.Problem {
  var text: String {
    switch self {
    case .refused(.addressInUse, let address): "\(address): another program listens here (is it gpsd?)"
    case .refused(let error, let address): "\(address): \(error)"
    }
  }
}
