// SPDX-License-Identifier: Apache-2.0
import HostSimulator
import MonotonicTime
import ReceiverSimulator
import ReceiverStream
import TestSupport
import Testing

@testable import Receiver

/// The session with receivers that reply as recorded.
@Suite("Sessions at recorded receivers", .tags(.corpus), .enabled(if: Corpus.isWanted, "needs the recorded dialogues"))
struct DialogueSessionTests {
  private struct Silent: HostMachine {
    var reports: [SessionReport] = []
    mutating func receive(_ action: SessionAction, from session: borrowing ReceiverSession, at now: Instant) {
      if case .report(let report) = action { reports.append(report) }
    }
  }

  /// The dialogues of u-blox receivers that were identified.
  static let identified = Corpus.dialogues.filter { name in
    (try? Dialogue(name)).map { SimulatorReplay.model(of: $0) != nil } ?? false
  }

  /// The texts of a recorded MON-VER: the value of a key, and the hardware version.
  private static func words(_ payload: [UInt8], _ key: String) -> String? {
    stride(from: 40, through: payload.count - 30, by: 30).map { at in
      String(decoding: payload[at..<at + 30].prefix { $0 != 0 }, as: UTF8.self)
    }.first { $0.hasPrefix(key + "=") }.map { String($0.dropFirst(key.count + 1)) }
  }

  @Test("A receiver is identified by its recorded replies", arguments: identified)
  func identifies(name: String) throws {
    let dialogue = try Dialogue(name)
    let payload = try #require(dialogue.first(0x0A04))
    let isUSB = dialogue.lines.first?.rate == 0
    var settings = SessionSettings(intent: .identify, line: isUSB ? .usb : .bound)
    settings.desired = { _ in .nothing }
    let host = VirtualHost(Silent(), RecordedReceiver(dialogue), settings: settings)
    host.run(20) { $0.isSteady }
    let found = try #require(host.read { $0.description }, "\(name): \(host.machine.reports)")
    #expect(found.model == Self.words(payload, "MOD"))
    #expect(found.firmware == Self.words(payload, "FWVER"))
    let version = Self.words(payload, "PROTVER")
    #expect(found.protocolVersionText == version)
    let generations: [String: Generation] = [
      "18": .m8, "22": .m8, "27": .f9, "32": .m9, "34": .m10, "42": .f10, "50": .x20,
    ]
    #expect(found.generation == generations[String((version ?? "").prefix(2))], "\(name): \(found)")
    // Items from protocol version 27 on, and the older messages up to F9.
    let major = Int((version ?? "").prefix(2)) ?? 0
    #expect(found.can(.valset) == (major >= 27))
    #expect(found.can(.legacyConfig) == (major <= 27))
    #expect(host.line.answered.contains(0x0A04))
    #expect(host.isSteady, "\(name): \(host.machine.reports)")
    if let communication = dialogue.first(0x0A36) {
      #expect(Identification.port(communication) == (isUSB ? .usb : .uart1))
    }
  }

  /// A saturated line only carries short replies; the rate is then raised with the receiver's protocol.
  @Test("The language of a receiver is known from its recorded replies", arguments: identified)
  func language(name: String) throws {
    let dialogue = try Dialogue(name)
    guard let record = dialogue.first(0x0600), record.count >= 20, record.u4(8) > 0 else { return }
    let rate = record.u4(8)
    let version = try #require(dialogue.first(0x0A04))
    let hasItems = try #require(ReceiverDescription(monVER: version)).can(.valset)
    var identification = Identification(isProved: true, port: nil, rate: rate, mayRaiseRate: true)
    for _ in 0..<8 {
      guard identification.needsRoom == nil, let command = identification.next() else { break }
      identification.receive(reply(to: command, record, rate, hasItems: hasItems), isLineFull: true)
    }
    #expect(identification.needsRoom == (hasItems ? .items : .messages), "\(name)")
  }

  /// The recorded kind of reply to a poll of the port's rate; silence to all others.
  private func reply(to command: Command, _ record: [UInt8], _ rate: UInt32, hasItems: Bool) -> Outcome {
    guard command.bytes.count > 3, case .messages(let wanted) = command.answer else { return .silent }
    switch wanted.first {
    case .cfgPRT?: return .answeredAll([.cfgPRT: record])
    case .cfgVALGET? where hasItems:
      return .answeredAll([.cfgVALGET: [1, 0, 0, 0, 0x01, 0x00, 0x52, 0x40] + Host.bytes(rate)])
    case .cfgVALGET?: return .refused(.unspecified)
    default: return .silent
    }
  }

  private enum Host {
    static func bytes(_ number: UInt32) -> [UInt8] { (0..<4).map { UInt8(truncatingIfNeeded: number >> ($0 * 8)) } }
  }

  /// Messages of other makers' receivers are not evidence of a u-blox receiver, and their replies do not count as
  /// replies of one.
  @Test(
    "A receiver of another make is not taken for a u-blox one",
    arguments: Corpus.dialogues.filter { name in DialogueDifference.withoutModel.contains { name.hasPrefix($0) } })
  func otherMakes(name: String) throws {
    let dialogue = try Dialogue(name)
    let line = dialogue.lines.first?.rate == 0 ? SessionSettings.Line.usb : .bound
    let now = Instant.zero
    var session = ReceiverSession(
      SessionSettings(intent: .identify, line: line), lineRate: dialogue.lines.first?.rate ?? 9600, reference: nil,
      now: now)
    for one in dialogue.lines where !one.isSent {
      let at = now + Milliseconds(seconds: one.seconds)
      session.wake(at: at) { _, _ in }
      unsafe session.receive(one.bytes.span.bytes, at: at) { _, _ in }
    }
    // The recorded replies to other commands may come in time for a probe: they identify its own family alone.
    let family = session.description.map { $0.family?.rawValue ?? "u-blox" }
    #expect(family.map { name.hasPrefix($0.lowercased()) } ?? true, "\(name): \(family ?? "")")
  }
}

@Suite("A line at a wrong rate", .tags(.corpus), .enabled(if: Corpus.isWanted, "needs the recorded dialogues"))
struct WrongRateTests {
  /// The recorded adapter reads 115200 baud; the receiver's 38400 are 2.6 per cent more for it.
  private static let (sender, reader): (UInt32, UInt32) = (39_400, 115_200)

  @Test("A simulated UART reads the bytes that the recorded adapter read")
  func bytes() throws {
    let recorded = try Dialogue("ublox-EVK-M101/wrong-rate-115200").lines.flatMap(\.bytes)
    let head = UARTResampling.receive(Array("$GNRMC".utf8), sentAt: Self.sender, readAt: Self.reader).bytes
    #expect(head.count > 12)
    #expect(Array(recorded.prefix(head.count)) == head)
    // A sentence without a fix is known exactly; the last byte depends on the next character.
    let sentence = UARTResampling.receive(Array("$GNVTG,,,,,,,,,N".utf8), sentAt: Self.sender, readAt: Self.reader)
    #expect(sentence.errors > 10 && sentence.bytes.count > 40)
    #expect(recorded.indices.contains { recorded[$0...].starts(with: sentence.bytes.dropLast(2)) })
  }
}
