// SPDX-License-Identifier: Apache-2.0
import LinuxIO
import MonotonicTime
import Receiver
import ReceiverRuntime
import ReceiverSimulator
import ReceiverStream
import SerialPort

/// A connection to a simulated receiver on a real pseudo-terminal, in virtual time. The kernel returns the bytes of a
/// terminal on each read, so no test waits.
final class RuntimeScene {
  var poller: Poller
  /// The device at the far end of the terminal.
  private(set) var device: RecordedLine
  private let terminal: PseudoTerminal
  private(set) var connection: ReceiverConnection
  private(set) var now = Instant(nanoseconds: 1_000_000_000)
  private(set) var events: [ReceiverConnection.Event] = []
  private(set) var lastFix: Fix?
  /// Whether the line takes no more bytes than the kernel's buffers hold, as a serial port server of a slow line.
  var isClogged = false
  /// Runs a feed in each round.
  var feed: CorrectionFeed?
  private(set) var feedReports: [String] = []
  /// Bytes that were written to the receiver.
  var written: [UInt8] { device.sent }
  /// The node of the line.
  var path: String { terminal.path }

  /// - Parameters:
  ///   - seed: the seed of the receiver's unique id.
  ///   - stateFolder: the folder of crash-recovery records; nil for none.
  ///   - link: the path of the line, a symbolic link; empty for the node.
  ///   - terminalRate: the rate of the terminal when it is opened; nil for the receiver's.
  init(
    _ model: ReceiverModel, intent: SessionSettings.Intent = .serve, seed: UInt64 = 1, stateFolder: String? = nil,
    link: String = "", terminalRate: UInt32? = nil
  ) throws {
    let start = now
    poller = try Poller()
    device = RecordedLine(model, seed, at: start)
    var terminal = try PseudoTerminal()
    try terminal.setBaudRate(terminalRate ?? device.hostRate)
    if !link.isEmpty { try terminal.link(at: link) }
    connection = Self.connection(link.isEmpty ? terminal.path : link, intent, stateFolder)
    self.terminal = terminal
    try connection.open(&poller, at: start)
  }

  private static func connection(
    _ path: String, _ intent: SessionSettings.Intent, _ stateFolder: String?, _ identity: String? = nil
  ) -> ReceiverConnection {
    var settings = SessionSettings(intent: intent, line: .serial)
    if intent == .identify { (settings.desired, settings.maySwitchUBXOn) = ({ _ in .nothing }, false) }
    return ReceiverConnection(
      path: path, settings: settings, baud: nil, token: Poller.Token(rawValue: 1),
      recoveryFile: stateFolder.map {
        CrashRecoveryFile(stateFolder: $0, line: path) { node in identity.map { ($0, node) } }
      }, reference: { nil })
  }

  /// The program is killed, and another one opens the line.
  ///
  /// - Parameters:
  ///   - path: the path of the line; nil for its node.
  ///   - identity: the USB identity that udev now has for the line; nil for none.
  func openAgain(
    _ intent: SessionSettings.Intent, at path: String? = nil, identity: String? = nil, stateFolder: String
  ) throws {
    let path = path ?? self.path
    poller.remove(connection.fileDescriptor ?? -1)
    // The port is closed before it is locked again.
    connection = ReceiverConnection(
      path: path, settings: SessionSettings(intent: .readOnly, line: .serial), baud: nil,
      token: Poller.Token(rawValue: 1), reference: { nil })
    connection = Self.connection(path, intent, stateFolder, identity)
    try connection.open(&poller, at: now)
  }

  /// Another program sets the rate of the terminal, such as `stty 0`.
  func setTerminalRate(_ rate: UInt32) throws { try terminal.setBaudRate(rate) }

  /// Connects another receiver to the line; returns the former one.
  func connect(_ other: RecordedLine) -> RecordedLine {
    defer { device = other }
    return device
  }

  /// Makes another receiver.
  func device(_ model: ReceiverModel, seed: UInt64) -> RecordedLine { RecordedLine(model, seed, at: now) }

  /// Another program sends bytes.
  func send(_ bytes: [UInt8]) { device.send(bytes, at: now) }

  /// Ends the program.
  func finish() throws {
    connection.finish(&poller, at: now)
    _ = try run(20) { $0.connection.isEnded }
    connection.close(&poller) { _, _ in }
  }

  /// Advances the time until `condition` is true, at most by `seconds`. Returns whether it became true.
  func run(_ seconds: Double, until condition: (RuntimeScene) -> Bool = { _ in false }) throws -> Bool {
    let end = now + Milliseconds(seconds: seconds)
    while now < end {
      try step()
      if condition(self) { return true }
      now = now + Milliseconds(5)
    }
    return false
  }

  /// Runs one round: reads available bytes, and performs the actions that are due.
  func step() throws {
    if !isClogged { device.receive(try terminal.takeWritten(), fromTerminalAt: terminal.baudRate, at: now) }
    device.advance(to: now)
    _ = try unsafe terminal.write(device.takeReceived().span.bytes)
    for event in try poller.wait(deadline: 0) {
      connection.handle(event, &poller, at: now) { report, _ in lastFix = report.fix }
      feed?.handle(event, &poller, at: now)
    }
    connection.wake(&poller, at: now) { report, _ in lastFix = report.fix }
    if let fix = lastFix { feed?.receive(fix) }
    while let event = connection.nextEvent() {
      if case .finished(let ticket, _) = event { feed?.finished(ticket) }
      events.append(event)
    }
    feed?.work(connection, &poller, at: now)
    while let text = feed?.nextReport() { feedReports.append(text) }
  }
}

/// A simulated line that records the bytes written to it.
struct RecordedLine: SimulatedDevice {
  var line: VirtualLine
  private(set) var sent: [UInt8] = []

  init(_ model: ReceiverModel, _ seed: UInt64, at now: Instant) {
    line = VirtualLine(model: model, seed: seed, startUTCSeconds: 1_780_000_000, startingAt: now)
  }

  var hostRate: UInt32 {
    get { line.hostRate }
    set { line.hostRate = newValue }
  }
  var isPresent: Bool { line.isPresent }
  var deadline: Instant? { line.deadline }
  mutating func send(_ bytes: [UInt8], at now: Instant) {
    sent += bytes
    line.send(bytes, at: now)
  }
  mutating func advance(to now: Instant) { line.advance(to: now) }
  mutating func takeReceived() -> [UInt8] { line.takeReceived() }
}

extension [UInt8] {
  /// The number of occurrences of a piece in the bytes.
  func occurrences(of piece: [UInt8]) -> Int {
    guard !piece.isEmpty, count >= piece.count else { return 0 }
    return (0...count - piece.count).count { Array(self[$0..<$0 + piece.count]) == piece }
  }
}
