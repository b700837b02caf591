// SPDX-License-Identifier: Apache-2.0
import Glibc
import LinuxIO
import MonotonicTime
import SystemPackage

/// The sockets of the live page: it accepts, reads, writes and closes what `PageServer` decides. No call of it is made inside
/// another, and the server calls nothing.
final class PageSockets {
  private final class Connection {
    let socket: UnixSocket
    var waitsForRoom = false

    init(_ socket: consuming UnixSocket) { self.socket = socket }
  }

  private var server: PageServer
  private let listeners: InternetListeners
  private var connections: [Int: Connection] = [:]
  private var buffer = [UInt8](repeating: 0, count: 16_384)
  /// The users who need no token on this machine: root, the user of this process, and the user who started it with sudo(8).
  private let ownUsers = Set(
    [0, geteuid(), environment("SUDO_UID").flatMap { UInt32($0) }].compactMap(\.self))

  /// Tokens of a receiver loop are below these.
  private static let listenerToken: UInt32 = 0x1000
  private static let connectionToken: UInt32 = 0x10000

  /// - Throws: `CommandFailure` if an address is in use or not permitted.
  init(_ server: PageServer, at addresses: [InternetAddress]) throws {
    self.server = server
    listeners = try Self.listeners(at: addresses, firstToken: Self.listenerToken, of: "sextant view")
  }

  /// Listens for a command.
  ///
  /// - Throws: `CommandFailure`, which names the command and its option for an address.
  static func listeners(
    at addresses: [InternetAddress], firstToken: UInt32, of command: String, option: String = "--listen"
  ) throws -> InternetListeners {
    do throws(InternetListeners.Failure) {
      return try InternetListeners(at: addresses, firstToken: firstToken)
    } catch {
      throw failure(error.reason, error.address, command, option)
    }
  }

  private static func failure(
    _ error: Errno, _ address: InternetAddress, _ command: String, _ option: String
  ) -> CommandFailure {
    switch error {
    case .addressInUse:
      CommandFailure(
        .held, "\(address): another program listens there (another `\(command)`?); choose a port with \(option)")
    case .permissionDenied:
      CommandFailure(
        .noPermission, "\(address): no permission to listen there; choose a port from 1024 on with \(option)")
    case .addressNotAvailable:
      CommandFailure(.unavailable, "\(address): this computer does not have the address; choose one with \(option)")
    default: CommandFailure(.unavailable, "\(address): \(error); choose another address with \(option)")
    }
  }

  // MARK: Poller

  /// Adds all descriptors to a poller.
  func attach(_ poller: inout Poller) throws {
    try listeners.attach(&poller)
    for (number, connection) in connections {
      try poller.add(
        connection.socket.descriptor, token: Self.token(number),
        interest: connection.waitsForRoom ? [.readable, .writable] : .readable)
    }
  }

  private static func token(_ number: Int) -> Poller.Token {
    Poller.Token(rawValue: connectionToken + UInt32(truncatingIfNeeded: number) & 0x3FFF_FFFF)
  }

  /// Handles an event of the poller, which may concern another descriptor.
  func handle(_ event: Poller.Event, _ poller: inout Poller, at now: Instant) {
    switch event {
    case .readable(let token), .hangUp(let token):
      if token.rawValue >= Self.connectionToken {
        read(Int(token.rawValue - Self.connectionToken), &poller, at: now)
      } else if token.rawValue >= Self.listenerToken {
        accept(token, &poller, at: now)
      }
    // Output is written at the end of the round.
    case .writable(let token):
      if token.rawValue >= Self.connectionToken { write(Int(token.rawValue - Self.connectionToken), &poller) }
    case .signal, .woken, .timeout: break
    }
  }

  private func accept(_ token: Poller.Token, _ poller: inout Poller, at now: Instant) {
    while let socket = listeners.accept(token, &poller, at: now) {
      InternetAddress.sendAtOnce(socket.descriptor)
      let user = InternetPeer.user(of: socket.descriptor)
      let isOwnUser = user.map { ownUsers.contains($0) } ?? false
      guard let number = server.connect(isOwnUser: isOwnUser, at: now) else { continue }
      let connection = Connection(socket)
      connections[number] = connection
      try? poller.add(connection.socket.descriptor, token: Self.token(number))
    }
  }

  private func read(_ number: Int, _ poller: inout Poller, at now: Instant) {
    guard let connection = connections[number] else { return }
    switch connection.socket.read(into: &buffer) {
    case .bytes(let count):
      let bytes = buffer
      server.receive(bytes.span.extracting(0..<count), from: number, at: now)
    case .wouldWait: break
    case .ended: close(number, &poller)
    }
  }

  private func write(_ number: Int, _ poller: inout Poller) {
    guard let connection = connections[number] else { return server.disconnected(number) }
    if server.isOver(number) { return close(number, &poller) }
    while case let output = server.output(of: number), !output.isEmpty {
      switch connection.socket.write(output.span) {
      case .bytes(let count): server.didWrite(count, to: number)
      case .ended: return close(number, &poller)
      case .wouldWait:
        setWaiting(true, connection, number, &poller)
        return
      }
    }
    setWaiting(false, connection, number, &poller)
    if server.isOver(number) { close(number, &poller) }
  }

  private func setWaiting(_ waits: Bool, _ connection: Connection, _ number: Int, _ poller: inout Poller) {
    guard connection.waitsForRoom != waits else { return }
    connection.waitsForRoom = waits
    try? poller.change(
      connection.socket.descriptor, token: Self.token(number), interest: waits ? [.readable, .writable] : .readable)
  }

  private func close(_ number: Int, _ poller: inout Poller) {
    server.disconnected(number)
    guard let connection = connections.removeValue(forKey: number) else { return }
    // Unread bytes would make the kernel reset the connection, and discard the reply.
    for _ in 0..<16 {
      guard case .bytes = connection.socket.read(into: &buffer) else { break }
    }
    poller.remove(connection.socket.descriptor)
  }

  // MARK: Server

  var pages: Int { server.pages }
  var openedMessages: Set<String> { server.openedMessages }
  var deadline: Instant? { .earlier(server.deadline, listeners.deadline) }

  func publish(_ event: LiveEvent) { server.publish(event) }
  func begin(_ hello: LiveEvent, of source: String) { server.begin(hello, of: source) }
  func leave() { server.leave() }
  func takeRequests() -> [ControlRequest] { server.takeRequests() }
  func answer(_ request: ControlRequest, _ status: HTTPStatus, _ text: String, at now: Instant) {
    server.answer(request, status, text, at: now)
  }

  /// Ends a round of events: writes what there is, and closes what is over.
  func finishRound(_ poller: inout Poller, at now: Instant) {
    server.wake(at: now)
    listeners.resume(&poller, at: now)
    for number in server.takeTouched() { write(number, &poller) }
  }
}
