// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import GPSD
import LinuxIO
import MonotonicTime
import NMEA
import Receiver
import ReceiverRuntime
import ReceiverStream
import SerialPort
import WireBytes

/// `sextant reset`: sends CFG-RST, or the restart of another family, and waits until the receiver replies again.
struct ResetClient: ReceiverClient, ~Copyable {
  private enum Stage {
    /// Until the receiver is identified.
    case waiting
    case resetting(SessionTicket)
    /// The receiver is polled from this time on.
    case away(until: Instant)
    case polling(SessionTicket)
    case readingStatus(SessionTicket)
    case over
  }

  static let interrupted = "interrupted before the reset"
  private static let pollInterval = Milliseconds(250)
  /// A receiver of another maker begins to restart before this time.
  private static let restartTime = Milliseconds(500)
  /// After this many polls without a reply the rate is searched: a rate that was not saved is lost.
  private static let mostFailedPolls = 6

  private(set) var failure: CommandFailure?
  private(set) var result: ResetResult
  /// The key of the receiver's stored assistance.
  private(set) var key: AssistanceRecord.Key?

  private let path: String
  private let baud: UInt32?
  private var stage = Stage.waiting
  private var sentAt: Instant?
  private var failedPolls = 0
  private var stream = FrameStream()
  private var unfinished = UnfinishedFrame()

  init(_ choice: Source.Choice, _ kind: StartKind, _ mode: ResetMode) {
    path = choice.source.name
    baud = choice.baud
    result = ResetResult(kind: kind, mode: mode)
  }

  var isOver: Bool { if case .over = stage { true } else { false } }
  /// Whether the receiver got the command.
  var isSent: Bool { sentAt != nil }
  var deadline: Instant? { if case .away(let until) = stage { until } else { nil } }
  /// The identification may have taken most of the time, and a receiver needs some seconds to start.
  var timeStart: Instant? { sentAt }

  mutating func receive(bytes: RawSpan, at now: Instant) {
    var sawText = false
    func take(_ frame: borrowing Frame) {
      // The texts are GxTXT, or the INF messages of class 0x04.
      if let sentence = frame.nmea, sentence.formatter == Formatter("TXT") { sawText = true }
      if let ubx = frame.ubx, ubx.identity.messageClass == 0x04 { sawText = true }
    }
    stream.receive(bytes, take)
    stream.skipFalseStarts(if: &unfinished, at: now.nanoseconds, take)
    if sawText, sentAt != nil, !isOver { result.sawStartText = true }
  }

  mutating func receive(
    _ event: ReceiverConnection.Event, _ connection: ReceiverConnection, _ poller: inout Poller, at now: Instant
  ) {
    switch (stage, event) {
    case (.waiting, .session(.configured)): reset(connection, &poller, at: now)
    case (.waiting, .session(.notIdentified)): fail("the receiver does not identify itself; its resets are not known")
    case (.waiting, .lost): fail(Reason.disconnected)
    case (.over, _): break
    case (.resetting(let ticket), .finished(let finished, .performed(let results))) where finished == ticket:
      guard results == [.written] else {
        return fail(
          results == [.interrupted]
            ? "interrupted; the receiver may have restarted"
            : results == [.withdrawn] ? Self.interrupted : "the receiver refused the restart, or did not reply")
      }
      if let notice = connection.description?.noticeOfRestartedLog { printNotice("\(path): \(notice)") }
      sentAt = now
      stage = .away(until: now + Self.restartTime)
    case (.resetting(let ticket), .finished(let finished, let outcome)) where finished == ticket:
      guard outcome == .sent else { return fail("the reset could not be sent; check the cable") }
      sentAt = now
      stage = .away(until: now)
    case (.polling(let ticket), .finished(let finished, let outcome)) where finished == ticket:
      guard outcome.isReply else {
        failedPolls += 1
        return stage = .away(until: now + Self.pollInterval)
      }
      result.repliedAfterSeconds = sentAt.map { now.seconds(since: $0) } ?? 0
      result.baud = connection.configuredRate
      if result.isOfFamily { return stage = .over }
      guard let status = connection.submit(Uptime.poll, &poller, at: now) else {
        return stage = .away(until: now + Self.pollInterval)
      }
      stage = .readingStatus(status)
    case (.readingStatus(let ticket), .finished(let finished, let outcome)) where finished == ticket:
      result.receive(status: outcome)
      stage = .over
    case (_, .lost):
      result.wasDisconnected = true
      stage = .away(until: now + Self.pollInterval)
    case (_, .ended): fail(Reason.file)
    default: break
    }
    if sentAt == nil { event.printAdvice(path: path, baud: baud) }
  }

  mutating func finishRound(
    _ connection: ReceiverConnection, _ poller: inout Poller, at now: Instant
  ) throws -> Bool {
    if case .away(let until) = stage, now >= until {
      if failedPolls >= Self.mostFailedPolls {
        failedPolls = 0
        connection.searchRate(&poller, at: now)
      }
      // A repetition is the next poll's: replies to both would come after the reset.
      var poll = connection.description?.familyPoll ?? .poll(.monVER)
      poll.attempts = 1
      poll.timeout = Milliseconds(500)
      stage =
        connection.submit(poll, &poller, at: now).map { .polling($0) } ?? .away(until: now + Self.pollInterval)
    }
    return isOver
  }

  private mutating func reset(_ connection: ReceiverConnection, _ poller: inout Poller, at now: Instant) {
    // Bytes at a wrong rate can look like the beginning of a long frame.
    stream.reset()
    key = connection.description.map { AssistanceRecord.Key($0) }
    if let description = connection.description, description.family != nil {
      return restart(description, connection, &poller, at: now)
    }
    guard let ticket = connection.submit(result.mode.command(result.kind), &poller, at: now) else {
      return fail(Reason.disconnected)
    }
    stage = .resetting(ticket)
  }

  private mutating func restart(
    _ description: ReceiverDescription, _ connection: ReceiverConnection, _ poller: inout Poller, at now: Instant
  ) {
    result.isOfFamily = true
    let action = result.kind.action
    guard result.mode == .gnss, description.takes(action) else {
      return fail(
        "\(description.summary) does not have this \(result.mode == .gnss ? "\(result.kind.rawValue) start" : "mode")")
    }
    guard let ticket = connection.perform([.act(action)], &poller, at: now) else {
      return fail(Reason.disconnected)
    }
    stage = .resetting(ticket)
  }

  mutating func removedAssistance() { result.removedAssistance = true }

  private mutating func fail(_ reason: String) {
    failure = CommandFailure(.unavailable, "\(path): \(reason)")
    stage = .over
  }
}

/// The observations of a receiver after its reset.
struct ResetResult: Equatable {
  var kind: StartKind
  var mode: ResetMode
  /// Whether it is a receiver of another maker, without the masks and modes of CFG-RST.
  var isOfFamily = false
  /// The time from the reset to a reply, seconds.
  var repliedAfterSeconds = 0.0
  /// The rate of the line after the reset, baud.
  var baud: UInt32?
  /// Whether the receiver sent the texts that follow a start.
  var sawStartText = false
  /// Whether the port was gone meanwhile, as USB is at a reset of the hardware.
  var wasDisconnected = false
  /// The time since the start of the receiver (NAV-STATUS, msss), seconds.
  var uptimeSeconds: Double?
  /// Whether NAV-STATUS reports a fix within the limits.
  var hasFix: Bool?
  /// Whether orbits, or orbits and position, were removed from this computer.
  var removedAssistance = false

  /// Takes the reply to NAV-STATUS: gpsFix at 4, flags at 5 (bit 0 gpsFixOK), msss at 12.
  mutating func receive(status outcome: Outcome) {
    uptimeSeconds = Uptime.seconds(outcome)
    if case .answered(let payload) = outcome, payload.count >= 16 { hasFix = payload[4] != 0 && payload[5] & 1 != 0 }
  }

  func lines(_ device: String) -> String {
    var seen = ["reply after \(Self.text(repliedAfterSeconds)) s"]
    if let baud { seen[0] += " at \(baud) baud" }
    if wasDisconnected { seen.append("disconnected meanwhile") }
    if sawStartText { seen.append("start text") }
    if let uptimeSeconds { seen.append("\(Self.text(uptimeSeconds)) s since its start") }
    if let hasFix { seen.append(hasFix ? "has a fix" : "no fix") }
    var lines = "\(device): \(kind.rawValue) start"
    if !isOfFamily { lines += ", navBbrMask 0x\(String(kind.navBbrMask, radix: 16)), resetMode \(mode.code)" }
    lines += "\n\(seen.joined(separator: ", "))\n"
    if removedAssistance {
      lines += "the \(kind == .cold ? "position and orbits" : "orbits") that this computer had stored are removed\n"
    }
    return lines
  }

  func json(_ device: String) -> String {
    var line = JSONLine()
    line.beginObject()
    line.field("device", text: device)
    line.field("start", text: kind.rawValue)
    if !isOfFamily {
      line.field("navBbrMask", Int64(kind.navBbrMask))
      line.field("resetMode", Int64(mode.code))
    }
    line.field("repliedAfterSeconds", repliedAfterSeconds, digits: 3)
    if let baud { line.field("baud", Int64(baud)) }
    line.field("startText", sawStartText)
    line.field("disconnected", wasDisconnected)
    line.field("uptimeSeconds", uptimeSeconds, digits: 3)
    if let hasFix { line.field("fix", hasFix) }
    line.field("assistanceRemoved", removedAssistance)
    line.endObject()
    line.endLine()
    return line.text
  }

  private static func text(_ seconds: Double) -> String {
    var line = JSONLine()
    line.decimal(seconds, digits: 1)
    return line.text
  }
}

/// `sextant reset`: starts a receiver anew.
struct ResetReceiver: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "reset",
    abstract: "Start a receiver anew: hot, warm or cold.",
    discussion: """
      hot   the receiver keeps all of its data
      warm  it loses the ephemerides
      cold  it loses all: ephemerides, almanac, position, time, clock, orbits of
            AssistNow, and all assistance that it was sent

      The command sends UBX-CFG-RST, waits until the receiver replies again, and reports what it saw. With warm and cold \
      the orbits that this computer has stored for the receiver are removed too, with cold also its position: they would \
      be sent at the next start of `watch`. Data in the flash of a receiver (AssistNow Offline, saved settings) remain.

      --mode gnss (default) keeps the configuration. software, hardware and shutdown also reset port and configuration: \
      settings that were not saved are lost, and a receiver on USB is disconnected for a moment.

      A receiver of another maker gets the restart of its family, if it has one (docs/receivers); --mode does not apply.

      The exit code is 69 if the receiver does not reply any more.
      """)

  @OptionGroup var receiver: ReceiverOptions

  @Option(help: "What is reset: gnss, software, hardware at once, or hardware after a shutdown.")
  var mode = ResetMode.gnss

  @Flag(help: "Print one JSON object.")
  var json = false

  @Option(help: "End without a reply after this many seconds, before the restart and after it.")
  var seconds = 30.0

  @Flag(help: "Refused: the command sends to the receiver.")
  var readOnly = false

  @Argument(help: "hot, warm or cold.")
  var start: StartKind

  func validate() throws {
    if readOnly { throw ValidationError("reset sends to the receiver; omit --read-only.") }
    try ReceiverOptions.check(seconds: seconds, below: 1e6)
  }

  func run() throws {
    let choice = try receiver.choose(for: .sending)
    try CrashRecovery.restore(choice)
    var settings = SessionSettings(intent: .identify, line: .serial)
    settings.desired = { _ in .nothing }
    var loop = try ReceiverLoop(choice, settings, seconds: seconds, client: ResetClient(choice, start, mode))
    try loop.run()
    let path = choice.source.name
    if loop.client.isSent, start != .hot, !choice.source.isSimulated, let key = loop.client.key,
      AssistanceStore(stateFolder())?.remove(key, keepsPlace: start == .warm) == true
    {
      loop.client.removedAssistance()
    }
    guard loop.client.isOver else {
      throw CommandFailure(
        .unavailable,
        "\(path): "
          + (!loop.client.isSent
            ? loop.isInterrupted
              ? ResetClient.interrupted
              : loop.reasonWithoutReceiver(choice.source, seconds: seconds)
            : loop.isInterrupted
              ? "\(start.rawValue) start sent, and interrupted before a reply"
              : "\(start.rawValue) start sent, and no reply after it; `sextant probe` finds the receiver at another rate")
      )
    }
    try Output.write(json ? loop.client.result.json(path) : loop.client.result.lines(path))
  }
}

/// The data that a receiver has at its next start (interface descriptions, CFG-RST).
enum StartKind: String, ExpressibleByArgument, CaseIterable {
  case hot, warm, cold

  /// The restart of a receiver of another maker.
  var action: ReceiverAction {
    switch self {
    case .hot: .hotRestart
    case .warm: .warmRestart
    case .cold: .coldRestart
    }
  }

  /// The sections of battery-backed memory to clear: none, the ephemerides, or all: also almanac, position, time, clock
  /// and AssistNow Autonomous orbits, and with them all received assistance (AID, MGA).
  var navBbrMask: UInt16 {
    switch self {
    case .hot: 0
    case .warm: 0x0001
    case .cold: 0xFFFF
    }
  }
}

/// The part of a receiver that is reset: CFG-RST's resetMode.
enum ResetMode: String, ExpressibleByArgument, CaseIterable {
  /// The satellite receiver alone: port, configuration and counters remain.
  case gnss
  /// All of the firmware: the configuration in RAM is lost.
  case software
  /// The hardware, at once, by the watchdog.
  case hardware
  /// The hardware, after an orderly shutdown.
  case shutdown

  var code: UInt8 {
    switch self {
    case .hardware: 0
    case .software: 1
    case .gnss: 2
    case .shutdown: 4
    }
  }

  /// The time before the receiver is polled.
  private var pause: Milliseconds { Milliseconds(self == .gnss ? 300 : 1000) }

  /// CFG-RST, which current firmware does not acknowledge.
  func command(_ kind: StartKind) -> Command {
    var command = Command(.cfgRST, littleEndianBytes(kind.navBbrMask) + [code, 0], answer: .none)
    command.pause = pause
    return command
  }
}
