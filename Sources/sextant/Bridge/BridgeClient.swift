// SPDX-License-Identifier: Apache-2.0
import LinuxIO
import MonotonicTime
import Receiver
import ReceiverRuntime
import SerialPort
import WireBytes

/// The line of `sextant bridge` between the session with the receiver and the client that commands it.
///
///     resting ─ a client, and the receiver is found ─▶ lent ─ the client has left ─▶ draining ─▶ returning ─▶ resting
///                                                        ▲                                          │
///                                                        └───────────── a client ───────────────────┘
struct BridgeClient: ReceiverClient, ~Copyable {
  /// The origin of the open line.
  enum Line {
    case own
    /// The service passes the bytes on. The loop ends when a client needs the line.
    case served
    /// The service has lent the line. The loop ends when no client needs it any more.
    case lent
  }

  private enum Stage: Equatable {
    case resting
    case lent
    /// The last bytes of the client are sent.
    case draining(until: Instant)
    /// The receiver is found again.
    case returning(until: Instant)
    /// The receiver gets the rate that it was found at.
    case restoringRate(UInt32, until: Instant)
  }

  private static var longestDraining: Milliseconds { Milliseconds(10_000) }
  private static var longestReturn: Milliseconds { Milliseconds(20_000) }
  private static var drainInterval: Milliseconds { Milliseconds(10) }
  private static var modemInterval: Milliseconds { Milliseconds(1000) }

  private let path: String
  private let baud: UInt32?
  private let line: Line
  private let sockets: BridgeSockets
  private(set) var failure: CommandFailure?
  private var stage = Stage.resting
  private var turn = BridgeTurn()
  private var isAttached = false
  /// Whether the session found out what there is to find out.
  private var isFound = false
  private var isStopping = false
  /// Whether the receiver was lost and has not returned.
  private var isAway = false
  /// The rate of the receiver before a client had the line, baud.
  private var foundRate: UInt32?
  private var checksDrainAt: Instant?
  private var modemDue: Instant?

  init(_ choice: Source.Choice, _ line: Line, _ sockets: BridgeSockets) {
    path = choice.source.name
    baud = choice.baud
    self.line = line
    self.sockets = sockets
  }

  var deadline: Instant? {
    var next = Instant.earlier(sockets.deadline, checksDrainAt)
    switch stage {
    case .resting: next = .earlier(next, turn.deadline)
    case .lent: next = .earlier(next, modemDue)
    case .draining(let until), .restoringRate(_, let until): next = .earlier(next, until)
    case .returning(let until): next = .earlier(.earlier(next, until), turn.deadline)
    }
    return next
  }

  mutating func receive(bytes: RawSpan, at now: Instant) { sockets.deliver(bytes) }

  mutating func receive(
    _ event: ReceiverConnection.Event, _ connection: ReceiverConnection, _ poller: inout Poller, at now: Instant
  ) {
    switch event {
    case .opened:
      isFound = false
      isAway = false
      for text in sockets.announcements { printNotice(text) }
      sockets.announcements = []
      if line != .served, connection.isWritable == false {
        failure = CommandFailure(.unavailable, "\(path): takes no bytes; name the device of a receiver")
      }
    case .lost:
      sockets.removeAllWork()
      isFound = false
      isAway = true
      stage = .resting
      checksDrainAt = nil
      printNotice("\(path): the receiver is disconnected")
    case .session(.configured), .session(.notIdentified): isFound = true
    case .session(.rateNotChanged(let rate)):
      if case .restoringRate(rate, _) = stage { failToRestore(rate, connection) }
    default: break
    }
    if let text = event.notice(path: path, baud: baud) { printNotice(text) }
  }

  mutating func handle(_ event: Poller.Event, _ poller: inout Poller, at now: Instant) {
    sockets.handle(event, &poller, at: now)
  }

  mutating func interrupt(_ connection: ReceiverConnection, _ poller: inout Poller, at now: Instant) -> Bool {
    isStopping = true
    sockets.disconnect(all: true, &poller)
    return stage != .resting
  }

  mutating func finishRound(
    _ connection: ReceiverConnection, _ poller: inout Poller, at now: Instant
  ) throws -> Bool {
    if !isAttached {
      isAttached = true
      try sockets.attach(&poller)
    }
    if failure != nil { return true }
    // Bytes that the client sends meanwhile are not for the next receiver.
    if isAway { sockets.discardWork() }
    if connection.isSteady { isFound = true }
    proceed(connection, &poller, at: now)
    sockets.answerReaders({ Self.answer($0, connection) }, Self.modemState(connection))
    sockets.finishRound(&poller, at: now)
    guard stage == .resting else { return false }
    switch line {
    case .own: return isStopping
    case .served: return isStopping || sockets.hasWriter
    case .lent: return isStopping || !sockets.hasWriter && connection.isOpen
    }
  }

  // MARK: Stages

  private mutating func proceed(_ connection: ReceiverConnection, _ poller: inout Poller, at now: Instant) {
    switch stage {
    case .resting: lendIfDue(connection, &poller, at: now)
    case .lent:
      doWork(connection, &poller, at: now)
      reportModemState(connection, at: now)
      if !sockets.hasWriter { stage = .draining(until: now + Self.longestDraining) }
    case .draining(let until):
      doWork(connection, &poller, at: now)
      if sockets.nextWork == nil, connection.isDrained || now >= until || isStopping {
        takeBack(connection, &poller, at: now)
      } else if now >= until {
        takeBack(connection, &poller, at: now)
      } else {
        checksDrainAt = now + Self.drainInterval
      }
    case .returning(let until):
      guard isFound || isAtFoundRate(connection) || now >= until else {
        return lendIfDue(connection, &poller, at: now)
      }
      restoreRate(connection, &poller, at: now)
    case .restoringRate(let rate, let until):
      if connection.isSteady, connection.rate == rate {
        finishReturning(connection)
      } else if now >= until {
        failToRestore(rate, connection)
      }
    }
  }

  /// Whether the receiver sends, at the rate that it had before a client: it need not reply then.
  private func isAtFoundRate(_ connection: ReceiverConnection) -> Bool {
    connection.isDetected && (foundRate == nil || connection.rate == foundRate)
  }

  private mutating func lendIfDue(_ connection: ReceiverConnection, _ poller: inout Poller, at now: Instant) {
    let isDue = turn.advance(
      for: sockets.writer, isLineOpen: line != .served && connection.isOpen,
      isFound: isFound || isAtFoundRate(connection), at: now)
    guard isDue else { return }
    if foundRate == nil, connection.isDetected { foundRate = connection.configuredRate }
    connection.lend(&poller, at: now)
    stage = .lent
    modemDue = now
    doWork(connection, &poller, at: now)
    reportModemState(connection, at: now)
  }

  private mutating func takeBack(_ connection: ReceiverConnection, _ poller: inout Poller, at now: Instant) {
    checksDrainAt = nil
    modemDue = nil
    sockets.removeAllWork()
    isFound = false
    connection.takeBack(&poller, at: now)
    stage = .returning(until: now + Self.longestReturn)
  }

  /// The session has found the receiver, or not.
  private mutating func restoreRate(_ connection: ReceiverConnection, _ poller: inout Poller, at now: Instant) {
    guard let found = foundRate, let rate = connection.rate, rate != found, connection.isSteady else {
      return finishReturning(connection)
    }
    printNotice("\(path): the client left the receiver at \(rate) baud; setting it back to \(found) baud")
    var desired = DesiredConfiguration()
    desired.portRate = found
    desired.keepsPortRate = true
    stage = .restoringRate(found, until: now + Self.longestReturn)
    connection.set(desired, &poller, at: now)
  }

  private mutating func failToRestore(_ rate: UInt32, _ connection: ReceiverConnection) {
    printNotice(
      "\(path): the receiver could not be set back to \(rate) baud; use `sextant configure set baud=\(rate)`")
    finishReturning(connection)
  }

  private mutating func finishReturning(_ connection: ReceiverConnection) {
    foundRate = nil
    isFound = true
    stage = .resting
    if line == .own, !isStopping { printNotice("\(path): \(Self.state(connection)); waiting for the next client") }
  }

  private static func state(_ connection: ReceiverConnection) -> String {
    guard connection.isDetected else { return "the receiver sends nothing" }
    return connection.rate.map { "the receiver is at \($0) baud" } ?? "the receiver is there"
  }

  // MARK: The client's work

  private mutating func doWork(_ connection: ReceiverConnection, _ poller: inout Poller, at now: Instant) {
    checksDrainAt = nil
    while let work = sockets.nextWork {
      switch work {
      case .bytes(let bytes):
        // The kernel takes no more: its poller event continues.
        if connection.unsentCount > 0 { return }
        sockets.removeWork()
        connection.sendLent(bytes, &poller, at: now)
      case .request(let request):
        if Self.needsDrainedLine(request), !connection.isDrained {
          checksDrainAt = now + Self.drainInterval
          return
        }
        sockets.removeWork()
        perform(request, connection)
      }
    }
  }

  /// Whether the bytes before a request are to be sent as the line was.
  private static func needsDrainedLine(_ request: ComPortRequest) -> Bool {
    switch request {
    case .baudRate(.some), .dataSize(.some), .parity(.some), .stopSize(.some): true
    default: false
    }
  }

  private mutating func perform(_ request: ComPortRequest, _ connection: ReceiverConnection) {
    switch request {
    case .baudRate(let rate?): connection.setLineRate(rate)
    case .dataSize(let bits?): Self.change(connection) { $0.bits = bits }
    case .parity(let parity?): Self.change(connection) { $0.parity = SerialCharacter.Parity(parity) }
    case .stopSize(let size?): Self.change(connection) { $0.hasTwoStopBits = size != .one }
    case .dataTerminalReady(let isOn?): connection.switchModemLines(.dataTerminalReady, on: isOn)
    case .requestToSend(let isOn?): connection.switchModemLines(.requestToSend, on: isOn)
    case .purge(let received, let unsent):
      if received { connection.discardReceived() }
      if unsent {
        connection.discardUnsent()
        sockets.discardWork()
      }
    default: break
    }
    if request == .modemState {
      sockets.notify(Self.modemState(connection), isPolled: true)
    } else if let reply = Self.answer(request, connection) {
      sockets.reply(reply)
    }
  }

  private static func change(_ connection: ReceiverConnection, _ body: (inout SerialCharacter) -> Void) {
    guard var character = connection.character else { return }
    body(&character)
    connection.setCharacter(character)
  }

  /// The reply to a request that was carried out: the value in force. A line without a setting has what the client requests.
  private static func answer(_ request: ComPortRequest, _ connection: ReceiverConnection) -> ComPortReply? {
    let character = connection.character
    switch request {
    case .baudRate(let rate): return (connection.lineRate ?? rate).map { .baudRate($0) }
    case .dataSize(let bits): return .dataSize(character?.bits ?? bits ?? SerialCharacter.usual.bits)
    case .parity(let parity): return .parity(character.map { ComPortParity($0.parity) } ?? parity ?? .none)
    case .stopSize(let size):
      guard let character else { return .stopSize(size ?? .one) }
      return .stopSize(character.hasTwoStopBits ? (character.bits == 5 ? .oneAndHalf : .two) : .one)
    case .dataTerminalReady(let isOn):
      return .dataTerminalReady(connection.modemLines?.contains(.dataTerminalReady) ?? isOn ?? true)
    case .requestToSend(let isOn):
      return .requestToSend(connection.modemLines?.contains(.requestToSend) ?? isOn ?? true)
    case .modemState: return nil
    case .purge(let received, let unsent): return .purged(received: received, unsent: unsent)
    }
  }

  // MARK: Modem lines

  private mutating func reportModemState(_ connection: ReceiverConnection, at now: Instant) {
    guard sockets.writer?.isTelnet == true else {
      modemDue = nil
      return
    }
    if let due = modemDue, now < due { return }
    modemDue = now + Self.modemInterval
    sockets.notify(Self.modemState(connection), isPolled: false)
  }

  /// A line without modem lines is always ready.
  private static func modemState(_ connection: ReceiverConnection) -> ComPortModemState {
    guard let lines = connection.modemLines else { return [.clearToSend, .dataSetReady, .carrierDetect] }
    var state: ComPortModemState = []
    if lines.contains(.clearToSend) { state.insert(.clearToSend) }
    if lines.contains(.dataSetReady) { state.insert(.dataSetReady) }
    if lines.contains(.ring) { state.insert(.ring) }
    if lines.contains(.carrierDetect) { state.insert(.carrierDetect) }
    return state
  }
}

/// When the client that commands the receiver gets the line: as soon as the receiver is found, else after a time.
struct BridgeTurn {
  /// The client that commands the receiver.
  struct Client {
    /// When it connected.
    var since: Instant
    /// Whether it has negotiated RFC 2217, and sets the rate itself.
    var isTelnet: Bool
  }

  /// A plain client cannot set the rate: it waits this long until the receiver is found.
  static let longestWait = Milliseconds(10_000)
  /// A client with RFC 2217 expects replies within three seconds.
  static let longestWaitOfTelnet = Milliseconds(1500)

  /// When ``advance(for:isLineOpen:isFound:at:)`` is to be called again without an event; nil without a client and without a line.
  private(set) var deadline: Instant?

  /// Advances the time. Returns whether the client gets the line now.
  ///
  /// - Parameters:
  ///   - client: nil if none is connected.
  ///   - isFound: whether the session has found the receiver, or found out that it does not reply.
  mutating func advance(for client: Client?, isLineOpen: Bool, isFound: Bool, at now: Instant) -> Bool {
    deadline = nil
    guard isLineOpen, let client else { return false }
    let limit = client.since + (client.isTelnet ? Self.longestWaitOfTelnet : Self.longestWait)
    if isFound || now >= limit { return true }
    deadline = limit
    return false
  }
}

extension SerialCharacter.Parity {
  init(_ parity: ComPortParity) {
    self =
      switch parity {
      case .none: .none
      case .odd: .odd
      case .even: .even
      case .mark: .mark
      case .space: .space
      }
  }
}

extension ComPortParity {
  init(_ parity: SerialCharacter.Parity) {
    self =
      switch parity {
      case .none: .none
      case .odd: .odd
      case .even: .even
      case .mark: .mark
      case .space: .space
      }
  }
}
