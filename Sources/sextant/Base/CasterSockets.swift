// SPDX-License-Identifier: Apache-2.0
import LinuxIO
import MonotonicTime
import ReceiverRuntime
import WireBytes

/// The TCP clients of the caster of `sextant base`: performs the actions of `CasterConnection`.
final class CasterSockets {
  private final class Client {
    let socket: UnixSocket
    let number: Int
    var connection: CasterConnection
    /// Bytes for the client.
    var output: [UInt8] = []
    var interest: Poller.Interest = .readable
    /// Whether the connection is closed once the output is sent, at the latest at `closesAt`.
    var isEnding = false
    var closesAt: Instant?
    var agent = ""

    init(_ socket: consuming UnixSocket, _ number: Int, _ connection: CasterConnection) {
      self.socket = socket
      self.number = number
      self.connection = connection
    }
  }

  /// The most bytes that wait for a client: about a minute of corrections.
  private static let mostOutput = 65_536
  private static let mostClients = 64
  /// The time in which a client has to read a refusal.
  private static let endTimeout = Milliseconds(5000)
  /// Tokens of a receiver loop are below these.
  private static let listenerToken: UInt32 = 0x1000
  private static let clientToken: UInt32 = 0x10000

  private let caster: CasterConnection.Caster
  private let listeners: InternetListeners
  private var clients: [Client] = []
  private var nextNumber = 0
  private var buffer = [UInt8](repeating: 0, count: 4096)
  private var isFullReported = false
  /// The station, for the source table.
  var station = CasterStation()
  /// The number of bytes of the stream that were sent to clients.
  private(set) var bytes: UInt64 = 0

  /// - Throws: `CommandFailure` if an address is in use or not permitted.
  init(_ caster: CasterConnection.Caster, at addresses: [InternetAddress]) throws {
    listeners = try PageSockets.listeners(
      at: addresses, firstToken: Self.listenerToken, of: "sextant base", option: "--caster")
    self.caster = caster
  }

  /// Whether only programs of this computer can connect.
  var isLoopback: Bool { listeners.isLoopback }
  /// The number of clients that get the stream.
  var streamingClients: Int { clients.count { $0.connection.isStreaming && !$0.isEnding } }

  var deadline: Instant? {
    clients.reduce(listeners.deadline) { .earlier($0, .earlier($1.connection.deadline, $1.closesAt)) }
  }

  func attach(_ poller: inout Poller) throws {
    try listeners.attach(&poller)
  }

  private static func token(_ number: Int) -> Poller.Token {
    Poller.Token(rawValue: clientToken + UInt32(truncatingIfNeeded: number) & 0x3FFF_FFFF)
  }

  /// Handles an event of the poller, which may concern another descriptor.
  func handle(_ event: Poller.Event, _ poller: inout Poller, at now: Instant) {
    guard let token = event.connection, token.rawValue >= Self.listenerToken else { return }
    if token.rawValue < Self.clientToken {
      return accept(token, &poller, at: now)
    }
    guard let client = clients.first(where: { Self.token($0.number) == token }) else { return }
    switch event {
    case .readable: read(client, &poller, at: now)
    case .writable: write(client, &poller)
    case .hangUp: close(client, &poller)
    case .signal, .woken, .timeout: break
    }
  }

  private func accept(_ token: Poller.Token, _ poller: inout Poller, at now: Instant) {
    while let socket = listeners.accept(token, &poller, at: now) {
      guard clients.count < Self.mostClients else {
        if !isFullReported { printNotice("a further client was refused: \(Self.mostClients) are connected") }
        isFullReported = true
        continue
      }
      InternetAddress.sendAtOnce(socket.descriptor)
      InternetAddress.limitUnread(socket.descriptor)
      let client = Client(socket, nextNumber, CasterConnection(to: caster, at: now))
      nextNumber += 1
      clients.append(client)
      try? poller.add(client.socket.descriptor, token: Self.token(client.number))
    }
  }

  private func read(_ client: Client, _ poller: inout Poller, at now: Instant) {
    switch client.socket.read(into: &buffer) {
    case .bytes(let count):
      let bytes = Array(buffer[..<count])
      perform(unsafe client.connection.receive(bytes.span.bytes, station), client, &poller, at: now)
    case .wouldWait: break
    case .ended: close(client, &poller)
    }
  }

  private func perform(_ actions: [CasterConnection.Action], _ client: Client, _ poller: inout Poller, at now: Instant)
  {
    for action in actions {
      switch action {
      case .send(let bytes): client.output += bytes
      case .started(let agent):
        client.agent = agent
        printNotice("a client is connected\(agent.isEmpty ? "" : " (\(agent))"); \(count(streamingClients))")
      case .close:
        client.isEnding = true
        client.closesAt = now + Self.endTimeout
      }
    }
    if !actions.isEmpty { write(client, &poller) }
  }

  /// Sends frames to all clients. A client that does not read is disconnected, so that its memory is bounded.
  func deliver(_ frames: [UInt8], _ poller: inout Poller) {
    for client in clients where !client.isEnding {
      let more = client.connection.deliver(frames)
      guard !more.isEmpty else { continue }
      guard client.output.count + more.count <= Self.mostOutput else {
        printNotice("a client reads too slowly and is disconnected")
        close(client, &poller)
        continue
      }
      client.output += more
      bytes += UInt64(frames.count)
      write(client, &poller)
    }
  }

  private func write(_ client: Client, _ poller: inout Poller) {
    var sent = 0
    writing: while sent < client.output.count {
      let rest = Array(client.output[sent...])
      switch client.socket.write(rest.span) {
      case .bytes(let count): sent += count
      case .ended: return close(client, &poller)
      case .wouldWait: break writing
      }
    }
    client.output.removeFirst(sent)
    if client.output.isEmpty, client.isEnding { return close(client, &poller) }
    let interest: Poller.Interest = client.output.isEmpty ? .readable : [.readable, .writable]
    guard interest != client.interest else { return }
    client.interest = interest
    try? poller.change(client.socket.descriptor, token: Self.token(client.number), interest: interest)
  }

  private func close(_ client: Client, _ poller: inout Poller) {
    guard clients.contains(where: { $0 === client }) else { return }
    poller.remove(client.socket.descriptor)
    clients.removeAll { $0 === client }
    if clients.count < Self.mostClients { isFullReported = false }
    guard client.connection.isStreaming else { return }
    printNotice("a client has left\(client.agent.isEmpty ? "" : " (\(client.agent))"); \(count(streamingClients))")
  }

  private func count(_ number: Int) -> String { "\(number) client\(number == 1 ? "" : "s")" }

  /// Ends a round of events: time limits.
  func finishRound(_ poller: inout Poller, at now: Instant) {
    listeners.resume(&poller, at: now)
    for client in clients {
      perform(client.connection.wake(at: now), client, &poller, at: now)
      if let due = client.closesAt, now >= due { close(client, &poller) }
    }
  }
}
