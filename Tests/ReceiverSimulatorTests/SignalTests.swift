// SPDX-License-Identifier: Apache-2.0
import MonotonicTime
import ReceiverSimulator
import TestSupport
import Testing

/// Signals, their changes, and the side effects in real receivers.
@Suite("Signals")
struct SignalTests {
  private static let gps: UInt32 = 0x1031_001F
  private static let galileo: UInt32 = 0x1031_0021
  private static let beiDou: UInt32 = 0x1031_0022
  private static let qzss: UInt32 = 0x1031_0024
  private static let glonass: UInt32 = 0x1031_0025

  private static func host(_ model: ReceiverModel, seconds: Double = 5.5) -> Host {
    var host = Host(model, hasRate: false)
    host.run(seconds: seconds)
    host.forget()
    return host
  }

  @Test(
    "A set of signals that a model cannot combine is refused, with two texts before the refusal",
    arguments: [
      // A second signal of an enabled system is missing.
      (.f9p, [(0x1031_0003, 0)], true), (.f9p, [(0x1031_000A, 0)], true), (.f9p, [(0x1031_001A, 0)], true),
      (.f9p, [(0x1031_0015, 0)], true), (.f9p, [(0x1031_000E, 0)], false),
      (.f9p, [(0x1031_0003, 0), (SignalTests.gps, 0)], false),
      // GLONASS in addition to two bands.
      (.f10, [(SignalTests.glonass, 1)], true),
      (.f10, [(SignalTests.glonass, 1), (0x1031_0009, 0), (0x1031_0004, 0)], true),
      // Four systems.
      (.m10, [(SignalTests.beiDou, 1), (SignalTests.glonass, 1)], true), (.m10, [(SignalTests.glonass, 1)], false),
      (.x20, [(0x1031_0003, 0)], false),
    ] as [(ReceiverModel, [(UInt32, UInt64)], Bool)])
  func limits(model: ReceiverModel, wanted: [(UInt32, UInt64)], isRefused: Bool) {
    var host = Self.host(model)
    #expect(host.set(wanted) == !isRefused, "\(model) \(wanted)")
    let texts = host.sentences.filter { $0.contains("TXT,01,01,01,") }
    #expect(texts.contains { $0.contains("inv sig cfg*") } == isRefused)
    #expect(texts.contains { $0.contains("bad cfg RAM*") } == isRefused)
    if isRefused { #expect(host.get([wanted[0].0])?[wanted[0].0] == 1 - wanted[0].1) }
  }

  @Test("A model has no items of signals that it lacks", arguments: [ReceiverModel.m9, .m10, .f9p, .f10, .x20])
  func inventory(model: ReceiverModel) {
    var host = Self.host(model)
    let models: [(UInt32, [ReceiverModel])] = [
      (0x1031_0003, [.f9p, .x20]), (0x1031_0004, [.f10, .x20]), (0x1031_0009, [.f10, .x20]),
      (0x1031_000A, [.f9p, .x20]), (0x1031_000F, [.m10, .f10, .x20]), (0x1031_0001, [.m9, .m10, .f9p, .f10, .x20]),
      (0x1032_0001, [.f10, .x20]), (0x2031_003A, [.x20]), (0x1031_0011, []),
    ]
    for (key, models) in models {
      #expect((host.get([key]) != nil) == models.contains(model), "\(model) \(String(key, radix: 16))")
      if !models.contains(model) { #expect(host.set([(key, 1)]) == false) }
    }
  }

  @Test("A wildcard whose group has no items selects none; the others are replied to in ascending order")
  func wildcards() {
    var host = Self.host(.m10)
    let answer = host.ask(0x068B, [0, 0, 0, 0] + Host.number(0x1031_FFFF, 4) + Host.number(0x1032_FFFF, 4))
    let keys = stride(from: 4, to: answer?.count ?? 0, by: 5).map { answer![$0] }
    #expect(keys == [0x01, 0x05, 0x07, 0x0D, 0x0F, 0x12, 0x14, 0x18, 0x1F, 0x20, 0x21, 0x22, 0x24, 0x25])
    #expect(host.get([0x1032_0001]) == nil)
  }

  @Test(
    "After a change of signals an epoch out of step comes, without a fix, then those at full seconds",
    arguments: [ReceiverModel.m9, .m10, .f9p, .f10, .x20])
  func restart(model: ReceiverModel) throws {
    var host = Self.host(model)
    #expect(host.line.receiver.hasFix)
    #expect(host.set([(Self.galileo, 0)]) == true)
    #expect(!host.line.receiver.hasFix)
    host.run(seconds: 3)
    let times = host.sentences.filter { $0.contains("RMC,") }.map {
      $0.split(separator: ",", omittingEmptySubsequences: false)
    }
    let first = try #require(times.first)
    #expect(first[2] == "V" && !first[1].hasSuffix(".00"), "\(first)")
    #expect(times.count == 4 && times.dropFirst().allSatisfy { $0[1].hasSuffix(".00") }, "\(times)")
    let notices = host.sentences.filter { $0.contains("TXT,01,01,02,") }
    #expect(notices.count == ([.m10, .f10, .x20].contains(model) ? 2 : 0), "\(notices)")
    // Setting the same values again changes nothing.
    host.forget()
    #expect(host.set([(Self.galileo, 0)]) == true)
    host.run(seconds: 2)
    #expect(host.sentences.filter { $0.contains("RMC,") }.count == 2)
  }

  @Test("The talker belongs to the only system")
  func talker() {
    var host = Self.host(.m10)
    #expect(host.set([(Self.gps, 0), (Self.galileo, 0), (Self.beiDou, 1), (Self.qzss, 0)]) == true)
    host.run(seconds: 2)
    #expect(host.sentences.contains { $0.hasPrefix("$GBTXT,01,01,02,Starting GNSS*56") }, "\(host.sentences)")
    #expect(host.sentences.contains { $0.hasPrefix("$GBRMC,") })
  }

  @Test("M10 replies to a poll of CFG-PRT, and refuses to be set by it")
  func port() throws {
    var host = Host(.m10)
    host.run(seconds: 2.5)
    let recordReply = host.ask(0x0600)
    let record = try #require(recordReply)
    #expect(record == [1, 0, 0, 0, 0xC0, 8, 0, 0, 0x80, 0x25, 0, 0, 3, 0, 3, 0, 0, 0, 0, 0])
    #expect(host.configure(0x0600, record) == false)
    var other = Host(.m9, hasRate: false)
    other.run(seconds: 2.5)
    #expect(other.configure(0x0600, []) == false)
    var usb = Self.host(.f9p)
    let onUSBReply = usb.ask(0x0600)
    let onUSB = try #require(onUSBReply)
    #expect(onUSB[0] == 3 && onUSB[12] == 0x63 && onUSB[14] == 0x23)
  }

  @Test("CFG-CFG that loads takes 143 ms on M10 without a mask of devices, and restarts GNSS")
  func load() {
    var host = Self.host(.m10)
    let before = host.now
    #expect(host.configure(0x0609, [0, 0, 0, 0, 0, 0, 0, 0, 0x1F, 0x1F, 0, 0]) == true)
    #expect(140...150 ~= host.now.milliseconds(since: before))
    #expect(!host.line.receiver.hasFix)
    var other = Self.host(.x20)
    let start = other.now
    #expect(other.configure(0x0609, [0, 0, 0, 0, 0, 0, 0, 0, 0x1F, 0x1F, 0, 0, 0]) == true)
    #expect(other.now.milliseconds(since: start) < 5)
    #expect(!other.line.receiver.hasFix)
  }

  @Test("MON-GNSS has version 0, and version 1 with plans on X20", arguments: [ReceiverModel.m8, .m10, .f9p, .x20])
  func support(model: ReceiverModel) throws {
    var host = Self.host(model)
    let payloadReply = host.ask(0x0A28)
    let payload = try #require(payloadReply)
    if model == .x20 {
      #expect(payload[0] == 1 && payload.count == 4 + 28 * Int(payload[1]))
    } else {
      #expect(payload[0] == 0 && payload.count == 8 && (model == .f9p ? 4 : 3) == payload[4])
    }
  }

  @Test("X20 lists three ports in MON-COMMS, with its next second")
  func communication() throws {
    for offset in [0.1, 0.55, 0.9] {
      var host = Self.host(.x20, seconds: 5 + offset)
      let payloadReply = host.ask(0x0A36)
      let payload = try #require(payloadReply)
      #expect(payload[1] == 3 && payload[2] == 0x10 && payload[4..<8] == [0, 1, 5, 6])
      #expect([8, 48, 88].map { payload[$0 + 1] } == [0, 1, 3])
      #expect([8, 48, 88].map { payload.unsigned4($0 + 12) > 0 } == [false, false, true])
    }
    var host = Self.host(.x20)
    let before = host.now
    _ = host.ask(0x0A36)
    let delay = host.now.milliseconds(since: before)
    _ = host.ask(0x0A36)
    #expect(host.now.milliseconds(since: before) - delay == 1000)
  }
}
