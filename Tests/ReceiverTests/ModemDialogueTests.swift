// SPDX-License-Identifier: Apache-2.0
import MonotonicTime
import TestSupport
import Testing

@testable import Receiver

/// The AT port of a modem, with the deviations of real ones as options.
private struct ScriptedModem {
  enum Maker { case quectel, simCom7600, simCom7000 }
  enum Errors { case plain, numbers, texts }

  var maker = Maker.quectel
  var isOn = false
  var outputPort = "usbnmea"
  var hasEcho = true
  var errors = Errors.numbers
  /// Bytes that come before each reply.
  var unsolicited = ""
  /// The number of commands that get no reply.
  var lost = 0
  /// The number of polls after a switch that still show the state before (SIM7600 is slow to switch off).
  var latency = 0
  /// Whether a switch is refused.
  var isLocked = false
  var commands: [String] = []
  /// The state that polls show for a while after a switch.
  var shown: Bool?
  var pending = 0

  mutating func answer(_ bytes: [UInt8]) -> [UInt8] {
    let command = String(decoding: bytes, as: UTF8.self).replacing("\r", with: "")
    commands.append(command)
    let echo = hasEcho ? command + "\r" : ""
    if lost > 0 {
      lost -= 1
      return Array(echo.utf8)
    }
    return Array((echo + unsolicited + reply(command)).utf8)
  }

  private func error(_ code: Int, _ text: String) -> String {
    switch errors {
    case .plain: "\r\nERROR\r\n"
    case .numbers: "\r\n+CME ERROR: \(code)\r\n"
    case .texts: "\r\n+CME ERROR: \(text)\r\n"
    }
  }

  private mutating func change(_ new: Bool, already: String) -> String {
    if isLocked { return error(514, "GNSS is locked") }
    if isOn == new { return already }
    if latency > 0 { (shown, pending) = (isOn, latency) }
    isOn = new
    return "\r\nOK\r\n"
  }

  private mutating func state() -> Int {
    guard let shown, pending > 0 else { return isOn ? 1 : 0 }
    pending -= 1
    return shown ? 1 : 0
  }

  private mutating func reply(_ command: String) -> String {
    if command == "AT" { return "\r\nOK\r\n" }
    switch (maker, command) {
    case (.quectel, "AT+QGPS?"): return "\r\n+QGPS: \(state())\r\n\r\nOK\r\n"
    case (.quectel, "AT+QGPS=1"): return change(true, already: error(504, "Session is ongoing"))
    case (.quectel, "AT+QGPSEND"): return change(false, already: error(505, "Session not active"))
    case (.quectel, "AT+QGPSCFG=\"outport\""): return "\r\n+QGPSCFG: \"outport\",\"\(outputPort)\"\r\n\r\nOK\r\n"
    case (.quectel, _) where command.hasPrefix("AT+QGPSCFG=\"outport\",\""):
      outputPort = String(command.dropFirst(22).dropLast())
      return "\r\nOK\r\n"
    case (.simCom7600, "AT+CGPS?"): return "\r\n+CGPS: \(state()),1\r\n\r\nOK\r\n"
    case (.simCom7600, "AT+CGPS=1"): return change(true, already: "\r\nERROR\r\n")
    // The unsolicited code follows at some time.
    case (.simCom7600, "AT+CGPS=0"): return change(false, already: "\r\nERROR\r\n") + "\r\n+CGPS: 0\r\n"
    case (.simCom7000, "AT+CGNSPWR?"): return "\r\n+CGNSPWR: \(state())\r\n\r\nOK\r\n"
    case (.simCom7000, "AT+CGNSPWR=1"): return change(true, already: "\r\nOK\r\n")
    case (.simCom7000, "AT+CGNSPWR=0"): return change(false, already: "\r\nOK\r\n")
    default: return error(3, "operation not allowed")
    }
  }
}

/// A dialogue with the modem in virtual time, as the service performs it.
private struct ModemHost {
  var modem: ScriptedModem
  var dialogue: ModemDialogue
  var now = Instant.zero
  var changes: [ModemState] = []
  /// The commands that changed something before its state was stored.
  var unstored: [String] = []

  init(_ modem: ScriptedModem, found: ModemState? = nil) {
    self.modem = modem
    dialogue = ModemDialogue(modem.maker == .quectel ? ModemCommands.quectel : ModemCommands.simCom, found: found)
  }

  mutating func run(_ target: ModemDialogue.Target) -> ModemDialogue.Outcome? {
    dialogue.begin(target, at: now)
    let begin = now
    while true {
      while let output = dialogue.nextOutput() {
        switch output {
        case .send(let bytes):
          let command = String(decoding: bytes, as: UTF8.self)
          let isChange = !command.contains("?") && command != "AT\r" && command != "AT+QGPSCFG=\"outport\"\r"
          if isChange, changes.isEmpty, target != .asFound { unstored.append(command) }
          for byte in modem.answer(bytes) { dialogue.receive(CollectionOfOne(byte), at: now) }
        case .changes(let state): changes.append(state)
        case .ended(let outcome): return outcome
        }
      }
      // Longer than all limits together.
      guard let deadline = dialogue.deadline, now.seconds(since: begin) < 120 else { return nil }
      now = max(now, deadline)
      dialogue.wake(at: now)
    }
  }
}

@Suite("The engine of a modem, switched by AT commands")
struct ModemDialogueTests {
  private static let makers: [ScriptedModem.Maker] = [.quectel, .simCom7600, .simCom7000]

  @Test("On, off, on, and off again as it was found", arguments: makers, [true, false])
  fileprivate func use(_ maker: ScriptedModem.Maker, _ hasEcho: Bool) {
    var host = ModemHost(
      ScriptedModem(maker: maker, hasEcho: hasEcho, unsolicited: "\r\n+QIND: \"act\"\r\n\r\n+CGPS: 0\r\n"))
    for (target, isOn) in [(ModemDialogue.Target.on, true), (.off, false), (.on, true), (.asFound, false)] {
      #expect(host.run(target) == .done)
      #expect(host.modem.isOn == isOn, "\(maker) \(target)")
    }
    #expect(host.changes.first == ModemState(isOn: false) && host.unstored.isEmpty, "\(host.unstored)")
    #expect(host.dialogue.found == nil)
  }

  @Test("An engine that was on stays on at the end, also after a sleep", arguments: makers)
  fileprivate func foundOn(_ maker: ScriptedModem.Maker) {
    var host = ModemHost(ScriptedModem(maker: maker, isOn: true))
    #expect(host.run(.on) == .done && host.changes.isEmpty)
    #expect(host.run(.asFound) == .done && host.modem.isOn)
    #expect(host.run(.on) == .done)
    #expect(host.run(.off) == .done && !host.modem.isOn)
    #expect(host.changes.first == ModemState(isOn: true))
    #expect(host.run(.asFound) == .done && host.modem.isOn)
  }

  @Test("A record of a killed program is the state that was found", arguments: makers)
  fileprivate func killed(_ maker: ScriptedModem.Maker) {
    var host = ModemHost(ScriptedModem(maker: maker, isOn: true), found: ModemState(isOn: false))
    #expect(host.run(.on) == .done && host.modem.isOn)
    #expect(host.run(.asFound) == .done && !host.modem.isOn)
  }

  @Test("The output port of NMEA is set for the use, and restored", arguments: [false, true])
  func outputPort(_ isOn: Bool) {
    var host = ModemHost(ScriptedModem(isOn: isOn, outputPort: "uartnmea"))
    #expect(host.run(.on) == .done && host.modem.outputPort == "usbnmea" && host.modem.isOn)
    #expect(host.changes.first == ModemState(isOn: isOn, outputPort: "uartnmea"))
    #expect(host.run(.off) == .done && host.run(.asFound) == .done)
    #expect(host.modem.outputPort == "uartnmea" && host.modem.isOn == isOn)
  }

  @Test("An error that only says that the engine is as wanted is none", arguments: makers)
  fileprivate func raced(_ maker: ScriptedModem.Maker) {
    // Another program has switched it between the poll and the switch.
    for errors in [ScriptedModem.Errors.plain, .numbers, .texts] {
      var dialogue = ModemDialogue(maker == .quectel ? ModemCommands.quectel : ModemCommands.simCom)
      var modem = ScriptedModem(maker: maker, errors: errors)
      dialogue.begin(.on, at: .zero)
      var outcome: ModemDialogue.Outcome?
      while let output = dialogue.nextOutput() {
        switch output {
        case .send(let bytes):
          if bytes.contains(UInt8(ascii: "=")), !bytes.contains(UInt8(ascii: "\"")) { modem.isOn = true }
          dialogue.receive(modem.answer(bytes), at: .zero)
        case .changes: break
        case .ended(let end): outcome = end
        }
      }
      #expect(outcome == .done, "\(errors)")
    }
  }

  @Test("A switch that takes seconds is awaited")
  func slow() {
    var host = ModemHost(ScriptedModem(maker: .simCom7600, isOn: true, latency: 3))
    #expect(host.run(.off) == .done)
    #expect(host.now.seconds(since: .zero) >= 3)
    host.modem.latency = 100
    #expect(host.run(.on) == .refused("the engine stays off"))
  }

  @Test("A refusal is reported as the modem's line", arguments: [ScriptedModem.Errors.plain, .numbers, .texts])
  fileprivate func refused(_ errors: ScriptedModem.Errors) {
    var host = ModemHost(ScriptedModem(errors: errors, isLocked: true))
    guard case .refused(let line) = host.run(.on) else {
      Issue.record("not refused")
      return
    }
    #expect(line.contains("ERROR") && host.modem.commands.count { $0 == "AT+QGPS=1" } == 1)
    var other = ModemHost(ScriptedModem(maker: .quectel))
    other.dialogue = ModemDialogue(ModemCommands.simCom)
    guard case .refused = other.run(.on) else {
      Issue.record("another maker's commands")
      return
    }
  }

  @Test("A lost reply is asked for again; a port without any is silent")
  func silence() {
    for lost in 0...2 {
      var host = ModemHost(ScriptedModem(lost: lost))
      #expect(host.run(.on) == .done && host.modem.isOn)
    }
    var host = ModemHost(ScriptedModem(lost: .max))
    #expect(host.run(.on) == .silent)
    #expect(host.modem.commands.allSatisfy { $0 == "AT" }, "nothing is switched at a port that does not answer")
    #expect(host.now.seconds(since: .zero) <= 5)
  }

  @Test("Without a change nothing is sent at the end")
  func unused() {
    var host = ModemHost(ScriptedModem())
    #expect(host.run(.asFound) == .done && host.modem.commands.isEmpty)
  }

  @Test("Garbage, long lines and SMS between replies change nothing")
  func garbage() {
    var random = SeededRandomNumberGenerator(seed: 45)
    for round in 0..<200 {
      var modem = ScriptedModem(maker: Self.makers[round % 3], isOn: round % 2 == 0)
      let length = random.byte()
      let sms = (0..<(Int(length) * 8)).map { _ in
        "0123456789ABCDEF".randomElement(using: &random).map(String.init) ?? ""
      }
      modem.unsolicited = "\r\n+CMT: ,\(length)\r\n" + sms.joined() + "\r\n"
      var host = ModemHost(modem)
      #expect(host.run(.off) == .done && !host.modem.isOn)
      #expect(host.run(.asFound) == .done && host.modem.isOn == (round % 2 == 0))
    }
  }

  @Test("Any bytes at any time: the dialogue ends, sends only its own commands, and keeps one line at most")
  func anyBytes() {
    let words =
      ["OK\r\n", "ERROR\r", "+QGPS: 1\r", "+QGPS: 9999999999999999999\r\n", "+CGPS:\r", "+CME ERROR: 505\r\n"]
      + ["+QGPSCFG: \"outport\",\"a\rAT+CFUN=0\"\r\n", "+QGPSCFG: \"outport\",\"none\"\r\n", "\0\u{7f}\r\n", "AT\r"]
    for seed in 0..<300 as Range<UInt64> {
      var random = SeededRandomNumberGenerator(seed: seed)
      var dialogue = ModemDialogue(seed % 2 == 0 ? ModemCommands.quectel : ModemCommands.simCom)
      var now = Instant.zero
      dialogue.begin(seed % 3 == 0 ? .on : .off, at: now)
      var isEnded = false
      for _ in 0..<4000 where !isEnded {
        while let output = dialogue.nextOutput() {
          switch output {
          case .send(let bytes):
            #expect(bytes.last == 0x0D && bytes.dropLast().allSatisfy { (0x20...0x7E).contains($0) }, "seed \(seed)")
            #expect(bytes.starts(with: Array("AT".utf8)) && bytes.count <= 48, "seed \(seed)")
          case .changes(let state): #expect(state.outputPort.map(ModemState.isName) != false)
          case .ended: isEnded = true
          }
        }
        if random.byte() < 100, let deadline = dialogue.deadline { now = max(now, deadline) }
        dialogue.wake(at: now)
        if let word = words.randomElement(using: &random), random.byte() < 160 {
          dialogue.receive(Array(word.utf8), at: now)
        } else {
          dialogue.receive(random.bytes(Int(random.byte())), at: now)
        }
      }
      #expect(isEnded, "seed \(seed)")
    }
  }

  @Test("A record is read as it was written, and nothing else is")
  func records() {
    for found in [ModemState(isOn: true), ModemState(isOn: false, outputPort: "none")] {
      let record = ModemRecord(identity: "usb:2c7c:0125:0001:1", found: found)
      #expect(ModemRecord(record.text) == record)
    }
    for text in [
      "", "modem a engine", "modem a engine maybe", "modem a engine on outport", "modem a engine on outport a\"b",
      "rate 9600 found 9600",
    ] {
      #expect(ModemRecord(text) == nil, "\(text)")
    }
    #expect(ModemState(isOn: true, outputPort: "a\",\"b").outputPort == nil)
  }
}
