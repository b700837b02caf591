// SPDX-License-Identifier: Apache-2.0

import MonotonicTime

/// The dialogue at the AT port of a modem that switches its GNSS engine: bytes and the time in, bytes and the outcome out.
///
///     idle ─ begin ─▶ synchronizing ─ OK ─▶ polling ─ as wanted ─────────────────────▶ restoringPort, or ended
///                                              │                                          ▲
///                                              └─ other ─▶ preparingPort ─▶ switching ─▶ verifying
///
/// Each command waits for its result code. A command without one is sent again after `AT` was answered, so that a late
/// reply is not taken for the next one. The state after a switch is polled: `ERROR` alone does not tell an engine that was
/// on already (Quectel's error 504, or 505 for off) from a refusal, and SIM7600 answers `AT+CGPS=0` before it is off.
/// Echoed commands and unsolicited result codes are skipped.
public struct ModemDialogue: Sendable {
  public enum Outcome: Sendable, Equatable {
    /// The engine is as wanted.
    case done
    /// The modem answers, and refuses: its line.
    case refused(String)
    /// The port does not answer.
    case silent
  }

  public enum Output: Sendable, Equatable {
    case send([UInt8])
    /// A setting is changed next. The state before is to be stored for crash recovery.
    case changes(ModemState)
    case ended(Outcome)
  }

  /// The engine's state that the host wants.
  public enum Target: Sendable, Equatable { case on, off, asFound }

  private enum Step: Sendable, Equatable {
    case idle
    case synchronizing
    case polling
    case readingPort
    case preparingPort
    case switching
    /// The state is polled after a switch, at this time.
    case pausing(until: Instant)
    case verifying
    case restoringPort
  }

  /// The time limits of replies. ModemManager waits 3 s for a poll and 10 s for a switch.
  private static let synchronizingTime = Milliseconds(1000)
  private static let pollingTime = Milliseconds(3000)
  private static let switchingTime = Milliseconds(10_000)
  private static let verifyingPause = Milliseconds(1000)
  private static let attempts = 3
  /// The number of polls after a switch.
  private static let verifications = 6

  private let sets: [ModemCommands]
  /// The index of the set of commands that is tried, or that the modem has.
  private var index = 0
  /// The state to restore; nil until it is known.
  public private(set) var found: ModemState?
  private var target = Target.asFound
  private var step = Step.idle
  private var reader = ModemReader()
  private var command = ""
  /// The time at which the reply of the command is late.
  private var replyDue: Instant?
  /// The step that is repeated after a synchronization.
  private var next = Step.polling
  private var attempt = 0
  private var verification = 0
  private var isOn: Bool?
  private var port: String?
  private var refusal: String?
  private var outputs: [Output] = []

  /// - Parameters:
  ///   - sets: the commands that the modem may have, in the order in which they are tried.
  ///   - found: the state that an earlier program has found and not restored.
  public init(_ sets: [ModemCommands], found: ModemState? = nil) {
    self.sets = sets
    self.found = found
  }

  public mutating func nextOutput() -> Output? { outputs.isEmpty ? nil : outputs.removeFirst() }

  /// The time at which `wake` is due.
  public var deadline: Instant? {
    if case .pausing(let until) = step { return until }
    return replyDue
  }

  /// Whether a dialogue is in progress.
  public var isActive: Bool { step != .idle }

  /// Begins the dialogue at a port that was just opened.
  public mutating func begin(_ target: Target, at now: Instant) {
    self.target = target
    reader.forget()
    outputs.removeAll()
    (isOn, port, refusal, verification, attempt) = (nil, nil, nil, 0, 0)
    // Nothing was changed.
    if target == .asFound, found == nil { return end(.done) }
    synchronize(before: .polling, at: now)
  }

  // MARK: Input

  /// Handles bytes from the port.
  public mutating func receive(_ bytes: some Sequence<UInt8>, at now: Instant) {
    for line in reader.read(bytes) {
      switch line {
      case .text(let text): receive(text)
      // A result code without a command is of another program, or late.
      case .ok where replyDue != nil: finishCommand(nil, at: now)
      case .error(let text) where replyDue != nil: finishCommand(text, at: now)
      case .ok, .error: break
      }
    }
  }

  /// Lets the time pass. To be called at `deadline`, and harmless at any other time.
  public mutating func wake(at now: Instant) {
    if case .pausing(let until) = step, now >= until { return poll(.verifying, at: now) }
    guard let replyDue, now >= replyDue else { return }
    self.replyDue = nil
    attempt += 1
    guard attempt < Self.attempts else { return end(.silent) }
    if step == .synchronizing {
      send("AT", .synchronizing, within: Self.synchronizingTime, at: now)
    } else {
      // A late reply to the switch does not matter: the state is polled.
      synchronize(before: step == .switching ? .verifying : step, at: now)
    }
  }

  private mutating func receive(_ text: String) {
    guard replyDue != nil, text != command else { return }
    // An unsolicited code of the same name may come before the reply; the reply is the last one.
    if step == .polling || step == .verifying, text.hasPrefix(sets[index].reply),
      let digit = text.dropFirst(sets[index].reply.count).first(where: { $0 != " " }), digit.isASCII, digit.isNumber
    {
      isOn = digit != "0"
    } else if step == .readingPort, text.hasPrefix(ModemCommands.outputPortReply) {
      port = String(text.dropFirst(ModemCommands.outputPortReply.count).filter { $0 != "\"" && $0 != " " })
    }
  }

  // MARK: Steps

  private mutating func finishCommand(_ error: String?, at now: Instant) {
    replyDue = nil
    // A line before an error is unsolicited.
    if error != nil, step == .polling || step == .verifying { isOn = nil }
    switch step {
    case .idle, .pausing: break
    case .synchronizing:
      // A rest in the modem's line buffer makes the first AT an error.
      resume(next, at: now)
    case .polling: polled(error, at: now)
    case .readingPort: portWasRead(at: now)
    // An engine that runs may refuse another port; it is switched on nevertheless.
    case .preparingPort: switchEngine(at: now)
    case .switching:
      refusal = error
      poll(.verifying, at: now)
    case .verifying: verified(at: now)
    case .restoringPort: end(error.map { .refused($0) } ?? .done)
    }
  }

  private mutating func synchronize(before next: Step, at now: Instant) {
    self.next = next
    send("AT", .synchronizing, within: Self.synchronizingTime, at: now)
  }

  private mutating func resume(_ step: Step, at now: Instant) {
    switch step {
    case .idle, .synchronizing, .pausing, .switching: poll(.polling, at: now)
    case .polling, .verifying: poll(step, at: now)
    case .readingPort: readPort(at: now)
    case .preparingPort: setPort(ModemCommands.readablePort, .preparingPort, at: now)
    case .restoringPort: restorePort(at: now)
    }
  }

  private mutating func poll(_ step: Step, at now: Instant) {
    isOn = nil
    send(sets[index].poll, step, within: Self.pollingTime, at: now)
  }

  private mutating func polled(_ error: String?, at now: Instant) {
    guard let isOn else {
      guard let error else { return askAgain(at: now) }
      index += 1
      guard index < sets.count else {
        index = 0
        return end(.refused(error))
      }
      return poll(.polling, at: now)
    }
    if found == nil { found = ModemState(isOn: isOn) }
    if target == .on, sets[index].outputPort != nil { return readPort(at: now) }
    switchIfNeeded(at: now)
  }

  /// Repeats a poll whose reply was an OK alone, such as the late one of an earlier command.
  private mutating func askAgain(at now: Instant) {
    attempt += 1
    if attempt < Self.attempts { poll(step, at: now) } else { end(.silent) }
  }

  private mutating func readPort(at now: Instant) {
    port = nil
    guard let command = sets[index].outputPort else { return switchIfNeeded(at: now) }
    send(command, .readingPort, within: Self.pollingTime, at: now)
  }

  private mutating func portWasRead(at now: Instant) {
    guard let port, port != ModemCommands.readablePort, ModemState.isName(port) else { return switchIfNeeded(at: now) }
    if found?.outputPort == nil { found?.outputPort = port }
    noteChange()
    setPort(ModemCommands.readablePort, .preparingPort, at: now)
  }

  private mutating func setPort(_ name: String, _ step: Step, at now: Instant) {
    send(ModemCommands.settingOutputPort(name), step, within: Self.pollingTime, at: now)
  }

  /// Whether the engine shall be on.
  private var isWanted: Bool {
    switch target {
    case .on: true
    case .off: false
    case .asFound: found?.isOn ?? false
    }
  }

  private mutating func switchIfNeeded(at now: Instant) {
    if isOn == isWanted { return restorePort(at: now) }
    noteChange()
    switchEngine(at: now)
  }

  private mutating func noteChange() { if let found { outputs.append(.changes(found)) } }

  private mutating func switchEngine(at now: Instant) {
    if isOn == isWanted { return restorePort(at: now) }
    send(isWanted ? sets[index].on : sets[index].off, .switching, within: Self.switchingTime, at: now)
  }

  private mutating func verified(at now: Instant) {
    if isOn == isWanted { return restorePort(at: now) }
    verification += 1
    // A refused switch changes nothing later.
    guard verification < Self.verifications, refusal == nil else {
      return end(.refused(refusal ?? "the engine stays \(isWanted ? "off" : "on")"))
    }
    step = .pausing(until: now + Self.verifyingPause)
  }

  /// Restores the output port at the end of the use.
  private mutating func restorePort(at now: Instant) {
    guard target == .asFound, let name = found?.outputPort else { return end(.done) }
    setPort(name, .restoringPort, at: now)
  }

  private mutating func send(_ command: String, _ step: Step, within limit: Milliseconds, at now: Instant) {
    self.command = command
    self.step = step
    replyDue = now + limit
    outputs.append(.send(Array((command + "\r").utf8)))
  }

  private mutating func end(_ outcome: Outcome) {
    step = .idle
    replyDue = nil
    // The next use begins with the state of that time.
    if target == .asFound, outcome == .done { found = nil }
    outputs.append(.ended(outcome))
  }
}

/// The AT commands that switch the GNSS engine of a modem.
public struct ModemCommands: Sendable, Equatable {
  /// Polls the state.
  var poll: String
  /// The start of the reply, which a digit follows: 0 is off.
  var reply: String
  var on: String
  var off: String
  /// Polls the output port of NMEA; nil where it needs no setting.
  var outputPort: String?

  /// The sets of commands of Quectel's modems. Source: ModemManager, mm-shared-quectel.c (QGPS=1, QGPSEND, outport).
  public static let quectel = [
    ModemCommands(
      poll: "AT+QGPS?", reply: "+QGPS:", on: "AT+QGPS=1", off: "AT+QGPSEND", outputPort: "AT+QGPSCFG=\"outport\"")
  ]

  /// The sets of commands of SIMCom's modems, which share USB ids. Sources: ModemManager, mm-shared-simtech.c (CGPS, for
  /// SIM7100 and SIM7600); SIMCom, SIM800 Series GNSS Application Note 1.00 (CGNSPWR, also in SIM7000 and SIM7080).
  public static let simCom = [
    ModemCommands(poll: "AT+CGPS?", reply: "+CGPS:", on: "AT+CGPS=1", off: "AT+CGPS=0"),
    ModemCommands(poll: "AT+CGNSPWR?", reply: "+CGNSPWR:", on: "AT+CGNSPWR=1", off: "AT+CGNSPWR=0"),
  ]

  /// The output port that a program can read.
  static let readablePort = "usbnmea"
  static let outputPortReply = "+QGPSCFG: \"outport\","

  /// Returns the command that sets the output port. `name` is checked by ``ModemState``.
  static func settingOutputPort(_ name: String) -> String { "AT+QGPSCFG=\"outport\",\"\(name)\"" }
}

/// The lines of a modem's AT port: bytes in, replies and result codes out.
///
/// A line ends with CR or LF. Bytes that are not printable ASCII and lines above the limit are skipped.
struct ModemReader: Sendable {
  /// A line.
  enum Line: Sendable, Equatable {
    case ok
    /// ERROR, or +CME ERROR with a number or a text (AT+CMEE): the line.
    case error(String)
    /// Any other line: part of a reply, an echo, or unsolicited.
    case text(String)
  }

  /// More than the longest line of the commands in use; SMS in hexadecimal are longer.
  static var limit: Int { 256 }

  private var line: [UInt8] = []
  private var isTooLong = false

  /// Reads bytes, and returns the lines that are complete.
  mutating func read(_ bytes: some Sequence<UInt8>) -> [Line] {
    var lines: [Line] = []
    for byte in bytes {
      switch byte {
      case UInt8(ascii: "\r"), UInt8(ascii: "\n"):
        if !isTooLong, !line.isEmpty { lines.append(Self.line(String(decoding: line, as: UTF8.self))) }
        forget()
      case 0x20...0x7E:
        if line.count < Self.limit { line.append(byte) } else { isTooLong = true }
      default: break
      }
    }
    return lines
  }

  /// Discards the start of a line.
  mutating func forget() {
    line.removeAll(keepingCapacity: true)
    isTooLong = false
  }

  private static func line(_ text: String) -> Line {
    if text == "OK" { return .ok }
    let isError = text == "ERROR" || text.hasPrefix("+CME ERROR:") || text.hasPrefix("+CMS ERROR:")
    return isError ? .error(text) : .text(text)
  }
}

/// The state in which the GNSS engine of a modem was found, to be restored at the end, or by the next program if this one
/// is killed.
public struct ModemState: Sendable, Equatable {
  /// Whether the engine was on.
  public var isOn: Bool
  /// The output port of NMEA, where it was changed: Quectel's `AT+QGPSCFG="outport"`, which the modem keeps in flash.
  public var outputPort: String?

  public init(isOn: Bool, outputPort: String? = nil) {
    self.isOn = isOn
    self.outputPort = outputPort.flatMap { Self.isName($0) ? $0 : nil }
  }

  /// Whether a text is the name of an output port: up to 16 letters and digits, which can be sent in quotation marks.
  static func isName(_ text: String) -> Bool {
    (1...16).contains(text.utf8.count)
      && text.utf8.allSatisfy { byte in
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
          UInt8(ascii: "0")...UInt8(ascii: "9"):
          true
        default: false
        }
      }
  }
}

/// The crash-recovery record of a modem: the port of its receiver, and the state in which it was found.
public struct ModemRecord: Sendable, Equatable {
  /// The identity of the port, which stays the same if its node gets another name; without white space.
  public var identity: String
  public var found: ModemState

  public init(identity: String, found: ModemState) {
    self.identity = identity
    self.found = found
  }

  /// The record as a line of text, such as `modem usb:2c7c:0125:0001:1 engine off outport none`.
  public var text: String {
    "modem \(identity) engine \(found.isOn ? "on" : "off")" + (found.outputPort.map { " outport \($0)" } ?? "")
  }

  /// Reads `text`; nil for anything else.
  public init?(_ text: String) {
    let words = text.split(whereSeparator: \.isWhitespace).map(String.init)
    guard words.count == 4 || words.count == 6, words[0] == "modem", words[2] == "engine",
      words[3] == "on" || words[3] == "off"
    else { return nil }
    found = ModemState(isOn: words[3] == "on")
    if words.count == 6 {
      guard words[4] == "outport", ModemState.isName(words[5]) else { return nil }
      found.outputPort = words[5]
    }
    identity = words[1]
  }
}
