// SPDX-License-Identifier: Apache-2.0
import HostSimulator
import MonotonicTime
import ReceiverSimulator
import ReceiverStream
import TestSupport
import Testing
import UBX

@testable import Receiver

/// A line that loses each ACK-ACK for a message of class CFG; the message has its effect.
struct LossyLine: HostLine {
  var line: VirtualLine
  let lost: [UInt8]
  /// Whether polls of the rate of a message get no reply.
  var losesRatePolls = false

  init(_ model: ReceiverModel, losing id: UInt8) {
    line = VirtualLine(model: model, scenario: Scenario(), seed: 1, startUTCSeconds: 1_780_000_000)
    line.hostRate = 9600
    lost = Wire.ubx(0x05, 0x01, [0x06, id])
  }

  var hostRate: UInt32 {
    get { line.hostRate }
    set { line.hostRate = newValue }
  }
  var isPresent: Bool { line.isPresent }
  var deadline: Instant? { line.deadline }
  mutating func send(_ bytes: [UInt8], at now: Instant) {
    if losesRatePolls, bytes.starts(with: [0xB5, 0x62, 0x06, 0x01, 2, 0]) { return }
    line.send(bytes, at: now)
  }
  mutating func advance(to now: Instant) { line.advance(to: now) }

  /// The end of a message is the earliest deadline of the line: a message is never split.
  mutating func takeReceived() -> [UInt8] {
    let bytes = line.takeReceived()
    guard let at = bytes.indices.first(where: { bytes[$0...].starts(with: lost) }) else { return bytes }
    return Array(bytes[..<at] + bytes[(at + lost.count)...])
  }
}

@Suite("Acknowledgements that are lost")
struct LostAcknowledgementTests {
  private typealias Scene = VirtualHost<SessionLog, LossyLine>

  @Test(
    "A setting whose acknowledgement is lost is verified by a poll: fixes go on, and the end restores it",
    arguments: [
      (.m6, 0x00), (.m8, 0x00), (.clone, 0x00), (.f9p, 0x8A), (.m9, 0x8A), (.m10, 0x8A),
    ] as [(ReceiverModel, UInt8)])
  func configures(model: ReceiverModel, id: UInt8) {
    let scene = Scene(
      SessionLog(), LossyLine(model, losing: id), settings: SessionSettings(intent: .serve, line: .serial),
      at: .zero + Milliseconds(6150))
    let isConfigured = scene.run(40) { $0.reported(.configured(refused: 0)) == 1 }
    #expect(isConfigured, "\(model): \(scene.machine.reports)")
    scene.run(10)
    let failures = [true, false].map { scene.reported(.configurationFailed(isRefused: $0)) }
    #expect(scene.reported(.silent) == 0 && failures == [0, 0], "\(scene.machine.reports)")
    // A fix is due each second from the first on.
    let times = scene.machine.fixes.map(\.at)
    let gaps = zip(times, times.dropFirst()).map { $1.milliseconds(since: $0) }
    #expect((gaps.max() ?? .max) < 4000, "\(model): \(gaps)")
    #expect(!scene.line.line.receiver.sendsNMEA)
    scene.finish()
    #expect(scene.reported(.notRestored) == 0, "\(model): \(scene.machine.reports)")
    #expect(scene.line.line.receiver.sendsNMEA)
  }

  @Test(
    "A user's message whose rate could not be read is on after the session; one that the session adds is off",
    arguments: [false, true])
  func unansweredRates(isOn: Bool) {
    var line = LossyLine(.m8, losing: 0x02)
    line.losesRatePolls = true
    let scene = Scene(
      SessionLog(), line, settings: SessionSettings(intent: .serve, line: .serial), at: .zero + Milliseconds(6150))
    if isOn { scene.line.line.send(Wire.ubx(0x06, 0x01, [1, 7, 1]), at: scene.now) }
    #expect(scene.run(120) { $0.reported(.configured(refused: 0)) == 1 }, "\(scene.machine.reports)")
    #expect(scene.line.line.receiver.rate(of: .navPVT) == 1 && scene.line.line.receiver.rate(of: .navDOP) == 1)
    scene.finish()
    #expect(scene.line.line.receiver.rate(of: .navPVT) == (isOn ? 1 : 0))
    #expect(scene.line.line.receiver.rate(of: .navDOP) == 0)
  }

  @Test(
    "A message about which the receiver replies to nothing has nothing to be restored", arguments: [false, true])
  func unknownMessage(isWritten: Bool) {
    var machine = Configuration([.message(.cfgMSG, selector: [0x0A, 0x09], .messageRate(1))], port: .uart1)
    #expect(machine.next() != nil)
    machine.receive(.silent)
    #expect(machine.next() != nil && machine.undoing.count == 1)
    machine.receive(isWritten ? .acknowledged : .silent)
    // Without a reply to the poll and to the write, a second poll would only take time.
    #expect((machine.next() != nil) == isWritten)
    if isWritten { machine.receive(.silent) }
    #expect(machine.results == [isWritten ? .notVerified : .silent])
    #expect(machine.next() == nil && machine.undoing.count == (isWritten ? 1 : 0))
  }

  @Test(
    "The end writes what it restores, though a late reply to an earlier poll shows it as it was found",
    arguments: [
      (
        .message(.cfgPRT, selector: [], .portProtocols(input: 7, output: 3)),
        [1, 0, 0, 0] + zeros(8) + [7, 0, 3] + zeros(5)
      ),
      (.message(.cfgRATE, selector: [], .measurementPeriod(1000)), [0xE8, 3, 1, 0, 1, 0]),
      (.message(.cfgNAV5, selector: [], .dynamicModel(0)), zeros(36)),
      (.message(.cfgNAVX5, selector: [], .answersToAssistance(false)), zeros(40)),
      (.message(.cfgRXM, selector: [], .lowPower(0)), [8, 0]),
      (.message(.cfgPM2, selector: [], .powerSave(.continuous)), zeros(44)),
      (.message(.cfgMSG, selector: [1, 7], .messageRate(0)), [1, 7] + zeros(6)),
      (.message(.cfgMSG, selector: [1, 7], .payload([1, 7] + zeros(6))), [1, 7] + zeros(6)),
      (.item(ConfigurationPair(id: 0x1074_0002, bits: 1)), [1, 0, 0, 0, 2, 0, 0x74, 0x10, 1]),
    ] as [(Setting, [UInt8])])
  func lateReply(setting: Setting, reply: [UInt8]) {
    var machine = Configuration([setting], port: .uart1, writesAtOnce: true)
    var writes = 0
    while let command = machine.next(), writes < 10 {
      let isWrite = command.answer == .acknowledgement
      writes += isWrite ? 1 : 0
      machine.receive(isWrite ? .acknowledged : .answered(reply))
    }
    #expect(writes == 1 && machine.results == [.written])
  }

  @Test(
    "A port whose replies a full line loses is written at the end all the same",
    arguments: [(.uart1, 9600), (.usb, nil), (.uart2, 9600), (nil, 9600)] as [(ReceiverPortNumber?, UInt32?)])
  func lostReplies(port: ReceiverPortNumber?, rate: UInt32?) throws {
    let setting = Setting.message(.cfgPRT, selector: [], .portProtocols(input: 7, output: 3))
    var machine = Configuration([setting], port: port, writesAtOnce: true, rate: rate)
    machine.receive(.silent)
    let command = machine.next()
    guard port == .uart1 || port == .usb else { return #expect(command == nil && machine.results == [.silent]) }
    let payload = try Array(#require(command).bytes.dropFirst(6).dropLast(2))
    #expect(payload.u4(8) == rate ?? 0 && payload.u2(12) == 7 && payload.u2(14) == 3)
    machine.receive(.silent)
    // Late replies are from before the write; other fields of the port may differ.
    for mask: UInt8 in [1, 1, 3] {
      while machine.next()?.answer == .acknowledgement { machine.receive(.acknowledged) }
      machine.receive(.answered(payload[..<14] + [mask, 0, 2, 0, 0, 0]))
    }
    #expect(machine.next() == nil && machine.results == [.written])
  }

  private static func zeros(_ count: Int) -> [UInt8] { [UInt8](repeating: 0, count: count) }

  @Test("The port of an X20 is known though MON-COMMS comes late", arguments: [true, false])
  func latePort(isUSB: Bool) {
    let scene = SessionScene(.x20, hostRate: 38_400, hasRate: !isUSB) { $0.line = .bound }
    #expect(scene.run(15) { $0.isSteady })
    #expect(scene.port == (isUSB ? .usb : .uart1))
    #expect(!scene.line.receiver.sendsNMEA && scene.line.receiver.rate(of: .navPVT) == 1)
  }
}
