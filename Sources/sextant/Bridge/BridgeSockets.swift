// SPDX-License-Identifier: Apache-2.0
import Glibc
import LinuxIO
import MonotonicTime
import ReceiverRuntime
import WireBytes

/// The TCP clients of `sextant bridge`. The first one commands the receiver; those that come while it is there read only, and do so
/// until they leave.
final class BridgeSockets {
  private final class Connection {
    let socket: UnixSocket
    let number: Int
    let isWriter: Bool
    let since: Instant
    var port: ComPortConnection
    /// Bytes for the client.
    var output: [UInt8] = []
    var interest: Poller.Interest = .readable
    /// Whether the client has closed its side.
    var hasClosed = false
    var isRefused = false
    var isSlow = false

    init(_ socket: consuming UnixSocket, _ number: Int, isWriter: Bool, at now: Instant) {
      self.socket = socket
      self.number = number
      self.isWriter = isWriter
      since = now
      port = ComPortConnection(name: "sextant \(SextantVersion.text)", at: now)
    }
  }

  /// The most bytes that wait for a client: what a line at 921600 baud sends in about three seconds.
  private static let mostOutput = 262_144
  private static let mostClients = 16
  /// Tokens of a receiver loop are below these.
  private static let listenerToken: UInt32 = 0x1000
  private static let connectionToken: UInt32 = 0x10000

  private let listeners: InternetListeners
  private var connections: [Connection] = []
  private var nextNumber = 0
  private var buffer = [UInt8](repeating: 0, count: 16_384)
  /// The bytes and requests of the writer that wait for the line.
  private var work = BridgeWork()
  /// The node of the receiver, which a client of this computer has to be permitted to open; nil for a simulator.
  var node: String?
  /// The lines to print once the receiver is open.
  var announcements: [String] = []
  private let ownUsers = Set([0, geteuid(), environment("SUDO_UID").flatMap { UInt32($0) }].compactMap(\.self))

  /// - Throws: `CommandFailure` if an address is in use or not permitted.
  init(at addresses: [InternetAddress]) throws {
    listeners = try PageSockets.listeners(at: addresses, firstToken: Self.listenerToken, of: "sextant bridge")
  }

  /// Whether only programs of this computer can connect.
  var isLoopback: Bool { listeners.isLoopback }

  // MARK: Poller

  /// Adds all descriptors to a poller.
  func attach(_ poller: inout Poller) throws {
    try listeners.attach(&poller)
    for connection in connections {
      try poller.add(
        connection.socket.descriptor, token: Self.token(connection.number), interest: connection.interest)
    }
  }

  private static func token(_ number: Int) -> Poller.Token {
    Poller.Token(rawValue: connectionToken + UInt32(truncatingIfNeeded: number) & 0x3FFF_FFFF)
  }

  private func connection(_ token: Poller.Token) -> Connection? {
    connections.first { Self.token($0.number) == token }
  }

  /// Handles an event of the poller, which may concern another descriptor.
  func handle(_ event: Poller.Event, _ poller: inout Poller, at now: Instant) {
    guard let token = event.connection, token.rawValue >= Self.listenerToken else { return }
    if token.rawValue < Self.connectionToken {
      return accept(token, &poller, at: now)
    }
    guard let connection = connection(token) else { return }
    switch event {
    case .readable: read(connection, &poller, at: now)
    case .writable: write(connection, &poller)
    case .hangUp:
      // Bytes that the client sent before it left are for the receiver.
      while !connection.hasClosed, read(connection, &poller, at: now) {}
      close(connection, &poller)
    case .signal, .woken, .timeout: break
    }
  }

  private func accept(_ token: Poller.Token, _ poller: inout Poller, at now: Instant) {
    while let socket = listeners.accept(token, &poller, at: now) {
      guard connections.count < Self.mostClients else {
        printNotice("a further client was refused: \(Self.mostClients) are connected")
        continue
      }
      guard mayConnect(socket.descriptor) else {
        printNotice("a client was refused: its user may not open \(node ?? "the receiver"), or it has left already")
        continue
      }
      InternetAddress.sendAtOnce(socket.descriptor)
      InternetAddress.limitUnread(socket.descriptor)
      let isWriter = !hasWriter
      let connection = Connection(socket, nextNumber, isWriter: isWriter, at: now)
      nextNumber += 1
      connections.append(connection)
      try? poller.add(connection.socket.descriptor, token: Self.token(connection.number))
      printNotice(
        isWriter ? "a client is connected and commands the receiver" : "a further client is connected and reads only")
    }
  }

  /// Whether the user of a client could open the receiver: another user of this computer must not get at it by a port.
  private func mayConnect(_ descriptor: Int32) -> Bool {
    switch InternetPeer(of: descriptor) {
    case .user(let user): ownUsers.contains(user) || node.map { FileAccess.mayReadAndWrite($0, user: user) } ?? false
    // A program that closes at once, before the kernel can be asked for its user.
    case .unknownUser: false
    // An option makes the command listen to other computers, which have no users here.
    case .remote: true
    }
  }

  /// Reads once. Returns whether there may be more.
  @discardableResult
  private func read(_ connection: Connection, _ poller: inout Poller, at now: Instant) -> Bool {
    switch connection.socket.read(into: &buffer) {
    case .bytes(let count):
      perform(connection.port.receive(Array(buffer[..<count]), at: now), connection)
      if connection.isRefused {
        printNotice("a client was refused: it speaks HTTP, as a web page in a browser does")
        close(connection, &poller)
        return false
      }
      if connection.isWriter, work.isFull { setInterest(of: connection, &poller) }
      return true
    case .wouldWait: return false
    case .ended:
      close(connection, &poller)
      return false
    }
  }

  private func perform(_ actions: [ComPortConnection.Action], _ connection: Connection) {
    for action in actions {
      switch action {
      case .send(let bytes):
        guard connection.isWriter else { continue }
        work.append(bytes)
      case .deliver(let bytes): queue(bytes, connection)
      case .refuse: connection.isRefused = true
      case .request(let request):
        if connection.isWriter { work.append(request) } else { readRequests.append((connection, request)) }
      }
    }
  }

  /// The requests of clients that read only.
  private var readRequests: [(Connection, ComPortRequest)] = []

  /// Queues bytes for a client. Bytes of a client that reads too slowly are lost, so that the others and the line do not wait.
  private func queue(_ bytes: [UInt8], _ connection: Connection) {
    guard !bytes.isEmpty, !connection.hasClosed else { return }
    guard connection.output.count + bytes.count <= Self.mostOutput else {
      if !connection.isSlow { printNotice("a client reads too slowly; bytes for it are lost") }
      connection.isSlow = true
      return
    }
    connection.output += bytes
  }

  private func write(_ connection: Connection, _ poller: inout Poller) {
    while !connection.output.isEmpty {
      switch connection.socket.write(connection.output.span) {
      case .bytes(let count): connection.output.removeFirst(count)
      case .ended: return close(connection, &poller)
      case .wouldWait: return setInterest(of: connection, &poller)
      }
    }
    connection.isSlow = false
    setInterest(of: connection, &poller)
  }

  private func setInterest(of connection: Connection, _ poller: inout Poller) {
    var interest: Poller.Interest = connection.isWriter && work.isFull ? [] : .readable
    if !connection.output.isEmpty { interest.insert(.writable) }
    guard interest != connection.interest else { return }
    connection.interest = interest
    try? poller.change(connection.socket.descriptor, token: Self.token(connection.number), interest: interest)
  }

  private func close(_ connection: Connection, _ poller: inout Poller) {
    guard !connection.hasClosed else { return }
    perform(connection.port.wake(), connection)
    connection.hasClosed = true
    poller.remove(connection.socket.descriptor)
    connections.removeAll { $0 === connection }
    if connection.isWriter { printNotice("the client that commands the receiver has left") }
  }

  // MARK: Bridge

  private var writingConnection: Connection? { connections.first(where: \.isWriter) }
  /// The client that commands the receiver; nil without one.
  var writer: BridgeTurn.Client? {
    writingConnection.map { BridgeTurn.Client(since: $0.since, isTelnet: $0.port.isTelnet) }
  }
  var hasWriter: Bool { writingConnection != nil }

  var deadline: Instant? {
    connections.reduce(listeners.deadline) { .earlier($0, $1.port.deadline) }
  }

  /// Passes bytes of the line to all clients.
  func deliver(_ bytes: RawSpan) {
    guard !connections.isEmpty else { return }
    let copy = (0..<bytes.byteCount).map { bytes.u1($0) }
    for connection in connections { queue(connection.port.deliver(copy), connection) }
  }

  /// The next work of the client that commands the receiver; nil without any.
  var nextWork: BridgeWork.Item? { work.next }

  func removeWork() { work.removeNext() }

  /// Discards bytes for the line that were not sent.
  func discardWork() { work.discardBytes() }

  /// Discards all work, such as the work of a client that has left.
  func removeAllWork() { work = BridgeWork() }

  /// Sends a reply to the client that commands the receiver.
  func reply(_ reply: ComPortReply) {
    if let writer = writingConnection { queue(writer.port.reply(reply), writer) }
  }

  func notify(_ state: ComPortModemState, isPolled: Bool) {
    if let writer = writingConnection { queue(writer.port.modemState(state, isPolled: isPolled), writer) }
  }

  /// Answers the requests of clients that read only: with the values in force.
  func answerReaders(_ answer: (ComPortRequest) -> ComPortReply?, _ state: ComPortModemState) {
    for (connection, request) in readRequests {
      if request == .modemState {
        queue(connection.port.modemState(state, isPolled: true), connection)
      } else if let reply = answer(request.reading) {
        queue(connection.port.reply(reply), connection)
      }
    }
    readRequests = []
  }

  /// Disconnects the client that commands the receiver, or all clients.
  func disconnect(all: Bool, _ poller: inout Poller) {
    for connection in connections where all || connection.isWriter { close(connection, &poller) }
  }

  /// Disconnects the client that commands the receiver while no poller is in use.
  func dropWriter() {
    connections.removeAll(where: \.isWriter)
    removeAllWork()
  }

  /// Ends a round of events: writes what there is.
  func finishRound(_ poller: inout Poller, at now: Instant) {
    listeners.resume(&poller, at: now)
    for connection in connections {
      if let due = connection.port.deadline, now >= due { perform(connection.port.wake(), connection) }
      if connection.output.isEmpty { setInterest(of: connection, &poller) } else { write(connection, &poller) }
    }
  }
}

/// The bytes and requests of the client that commands the receiver, in their order, until the line takes them.
struct BridgeWork {
  enum Item: Equatable {
    case bytes([UInt8])
    case request(ComPortRequest)
  }

  /// The size at which nothing more is read from the client, bytes.
  static let limit = 65_536
  /// A request counts as this many bytes.
  static let requestSize = 16

  private var items: [Item] = []
  /// The index of the next item; those before are done.
  private var first = 0
  /// The size of the items that wait, bytes.
  private(set) var size = 0

  var isFull: Bool { size > Self.limit }
  var next: Item? { first < items.count ? items[first] : nil }

  mutating func append(_ bytes: [UInt8]) {
    guard !bytes.isEmpty else { return }
    size += bytes.count
    // A client of telnet may send its bytes one by one.
    guard first < items.count, case .bytes(var joined)? = items.last else { return items.append(.bytes(bytes)) }
    items.removeLast()
    joined += bytes
    items.append(.bytes(joined))
  }

  mutating func append(_ request: ComPortRequest) {
    size += Self.requestSize
    items.append(.request(request))
  }

  mutating func removeNext() {
    switch next {
    case .bytes(let bytes)?: size -= bytes.count
    case .request?: size -= Self.requestSize
    case nil: return
    }
    first += 1
    guard first >= items.count || first >= 1024 else { return }
    items.removeFirst(first)
    first = 0
  }

  /// Removes the bytes, and keeps the requests.
  mutating func discardBytes() {
    items = items[first...].filter { if case .request = $0 { true } else { false } }
    first = 0
    size = items.count * Self.requestSize
  }
}
