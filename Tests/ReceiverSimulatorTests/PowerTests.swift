// SPDX-License-Identifier: Apache-2.0
import MonotonicTime
import ReceiverSimulator
import Testing

@Suite("Power of a simulated receiver")
struct PowerTests {
  /// RXM-PMREQ in the long form: backup, force, wake by UART.
  private static func request(milliseconds: UInt32, sources: UInt32 = 8) -> [UInt8] {
    [0, 0, 0, 0] + Host.number(milliseconds, 4) + Host.number(6, 4) + Host.number(sources, 4)
  }

  /// The charge between two moments.
  private static func charge(_ host: inout Host, seconds: Double) -> Double {
    let before = host.line.receiver.chargeMilliampereSeconds
    host.run(seconds: seconds)
    return host.line.receiver.chargeMilliampereSeconds - before
  }

  @Test(
    "Each state draws the current of the data sheet, to the millisecond",
    arguments: [
      (ReceiverModel.m6, 47.0, 39.0), (.m8, 32, 29), (.m9, 50, 36), (.m10, 10, 8), (.f9p, 90, 85), (.f10, 26, 21),
      (.x20, 68, 64),
    ] as [(ReceiverModel, Double, Double)])
  func currents(model: ReceiverModel, acquisition: Double, tracking: Double) {
    var host = Host(model, .cold)
    host.run(seconds: 1)
    #expect(host.line.receiver.powerState == .acquisition)
    #expect(abs(Self.charge(&host, seconds: 10) - acquisition * 10) < 1e-9)
    host.run(seconds: 50)
    #expect(host.line.receiver.powerState == .tracking)
    #expect(abs(Self.charge(&host, seconds: 3600) - tracking * 3600) < 1e-6)
  }

  @Test("Fewer systems draw less")
  func systems() {
    var host = Host(.m10, hasRate: false)
    host.run(seconds: 5)
    #expect(host.set([(0x1031_0021, 0), (0x1031_0025, 0)]) == true)
    host.run(seconds: 10)
    #expect(abs(Self.charge(&host, seconds: 100) - 750) < 1e-9)
  }

  @Test("RXM-PMREQ sleeps for its time in the forms that the model supports", arguments: ReceiverModel.ofUBlox)
  func sleepRequest(model: ReceiverModel) {
    let short = Host.number(60_000, 4) + Host.number(2, 4)
    for (payload, models) in [
      (short, [ReceiverModel.m6, .m8, .m8Batching, .m9, .f9p, .x20, .clone]),
      (Self.request(milliseconds: 60_000), [.m8, .m8Batching, .m9, .m10, .f9p, .f10, .x20, .clone]),
    ] {
      var host = Host(model)
      host.run(seconds: 10)
      host.send(0x0241, payload)
      host.run(seconds: 1)
      #expect((host.line.receiver.powerState == .standby) == models.contains(model))
      guard models.contains(model) else { continue }
      host.forget()
      host.run(seconds: 57)
      #expect(host.bytes == 0)
      host.run(seconds: 6)
      #expect(host.line.receiver.powerState == .tracking)
      #expect(!host.sentences.isEmpty)
    }
  }

  @Test("A sleeping M10 draws 46 microamperes, and its sleep needs no computation")
  func standby() {
    var host = Host(.m10)
    host.run(seconds: 10)
    host.send(0x0241, Self.request(milliseconds: 0))
    host.run(seconds: 1)
    #expect(host.line.deadline == nil)
    #expect(abs(Self.charge(&host, seconds: 86_400) - 0.046 * 86_400) < 1e-6)
  }

  @Test("A byte wakes the receiver and is lost, with all bytes until the oscillator runs")
  func wake() {
    var host = Host(.m10)
    host.run(seconds: 10)
    host.send(0x0241, Self.request(milliseconds: 0))
    host.run(seconds: 2)
    // The whole poll is among the lost bytes.
    #expect(host.ask(0x0A04, within: 0.15) == nil)
    #expect(host.line.receiver.powerState == .starting)
    host.run(seconds: 0.4)
    #expect(host.line.receiver.powerState == .acquisition)
    #expect(host.ask(0x0A04, within: 3) != nil)
    host.run(seconds: 2)
    #expect(host.line.receiver.hasFix && host.line.receiver.startKind == .hot)
  }

  @Test("The state before a sleep is not reported after it: until the first epoch there is neither fix nor uptime")
  func wakesWithoutFix() {
    for model in ReceiverModel.ofUBlox where model != .nmea {
      var host = Host(model)
      host.run(seconds: 30)
      host.send(0x0241, model == .m6 ? Host.number(8000, 4) + Host.number(2, 4) : Self.request(milliseconds: 8000))
      host.run(seconds: 2)
      guard host.line.receiver.powerState == .standby else { continue }
      while host.line.receiver.powerState == .standby { host.run(seconds: 0.01) }
      while host.line.receiver.powerState == .starting { host.run(seconds: 0.01) }
      guard let status = host.ask(0x0103, within: 3) else {
        Issue.record("\(model) does not answer")
        continue
      }
      #expect(status.unsigned4(12) < 4000, "\(model) runs for \(status.unsigned4(12)) ms")
      #expect(status[5] & 1 == 0 || host.line.receiver.hasFix, "\(model) has a fix")
    }
  }

  @Test("Without UART as a wake-up source no byte wakes the receiver")
  func deaf() {
    var host = Host(.m10)
    host.run(seconds: 10)
    host.send(0x0241, Self.request(milliseconds: 0, sources: 0))
    host.run(seconds: 1)
    host.line.send([0xFF, 0xFF], at: host.now)
    host.run(seconds: 2)
    #expect(host.line.receiver.powerState == .standby)
  }

  @Test("Standby loses the settings in RAM and keeps those in battery-backed RAM")
  func configuration() {
    var host = Host(.m10, hasRate: false)
    host.run(seconds: 10)
    #expect(host.set([(0x2091_0007, 1)], layers: 1) == true)
    #expect(host.set([(0x2091_0016, 1)], layers: 3) == true)
    host.send(0x0241, Self.request(milliseconds: 1000))
    host.run(seconds: 5)
    host.forget()
    host.run(seconds: 3)
    #expect(host.count(0x0107) == 0)
    #expect(host.count(0x0135) == 3)
  }

  @Test("M10's own cycle: a fix each minute and sleep between, for a fraction of the charge")
  func onOff() {
    var host = Host(.m10, hasRate: false)
    host.run(seconds: 120)
    let pairs: [(UInt32, UInt64)] = [(0x40D0_0002, 60), (0x2091_0007, 1), (0x20D0_0001, 1)]
    #expect(host.set(pairs, layers: 3) == true)
    host.run(seconds: 130)
    host.forget()
    let charge = Self.charge(&host, seconds: 3600)
    let fixes = host.messages.count { $0.identity == 0x0107 && $0.payload[20] == 3 }
    #expect(fixes >= 58 && fixes < 200)
    #expect(charge < 0.15 * 9 * 3600)
    let states = Set(host.line.receiver.powerLog.map(\.state))
    #expect(states.isSuperset(of: [.inactive, .starting, .acquisition, .tracking]))
  }

  @Test("Cyclic tracking begins after the collection of orbits, with the current of the data sheet")
  func cyclic() {
    var host = Host(.m10, .cold, hasRate: false)
    host.run(seconds: 1)
    #expect(host.set([(0x20D0_0001, 2), (0x2091_0007, 1)]) == true)
    host.run(seconds: 100)
    #expect(host.line.receiver.powerState == .optimisedTracking)
    host.forget()
    #expect(abs(Self.charge(&host, seconds: 60) - 300) < 1e-9)
    #expect(host.messages.last { $0.identity == 0x0107 }.map { $0.payload[21] >> 2 & 7 } == 4)
  }

  @Test("M8: CFG-PM2 and lpMode, CFG-PMS")
  func legacyPowerSave() throws {
    var host = Host(.m8, hasRate: false)
    host.run(seconds: 60)
    let asked = host.ask(0x063B)
    var save = try #require(asked)
    #expect(save.count == 48 && save[0] == 2)
    save.replaceSubrange(4..<8, with: Host.number(1 << 12, 4))
    save.replaceSubrange(8..<12, with: Host.number(30_000, 4))
    #expect(host.configure(0x063B, save) == true)
    #expect(host.configure(0x0611, [0, 1]) == true)
    // The settings are saved, because the first sleep clears RAM.
    #expect(host.configure(0x0609, [0, 0, 0, 0, 0xFF, 0xFF, 0, 0, 0, 0, 0, 0]) == true)
    host.run(seconds: 40)
    #expect(Self.charge(&host, seconds: 3000) < 0.4 * 29 * 3000)
    #expect(host.line.receiver.powerLog.contains { $0.state == .inactive })
    // A byte wakes the receiver, then it is set to full power.
    host.line.send([0xFF], at: host.now)
    host.run(seconds: 0.6)
    #expect(host.configure(0x0686, [0, 0, 0, 0, 0, 0, 0, 0]) == true)
    host.run(seconds: 20)
    #expect(host.line.receiver.powerState == .tracking)
    #expect(host.configure(0x0686, [0, 2, 4, 0, 1, 0, 0, 0]) == false)
  }

  @Test("Without a sky the search ends and is repeated")
  func retries() {
    var scenario = Scenario.hot
    scenario.setSky(.none, fromSeconds: 30)
    var host = Host(.m10, scenario, hasRate: false)
    host.run(seconds: 10)
    #expect(host.set([(0x40D0_0002, 60), (0x40D0_0003, 300), (0x20D0_0001, 1)], layers: 3) == true)
    host.run(seconds: 100)
    let charge = Self.charge(&host, seconds: 3600)
    // About 15 of each 300 seconds.
    #expect(charge > 0.03 * 12 * 3600 && charge < 0.1 * 12 * 3600)
  }

  @Test("Models without power save mode refuse it", arguments: [ReceiverModel.f9p, .f10, .x20])
  func noPowerSave(model: ReceiverModel) {
    var host = Host(model, hasRate: false)
    host.run(seconds: 1)
    #expect(host.set([(0x20D0_0001, 1)]) == false)
  }

  @Test("The power switch: backup draws the backup current, and the start is hot")
  func powerSwitch() {
    var host = Host(.m8)
    host.run(seconds: 60)
    host.line.inject(.power(isOn: false), at: host.now)
    #expect(host.line.receiver.powerState == .hardwareBackup)
    host.forget()
    #expect(abs(Self.charge(&host, seconds: 1000) - 15) < 1e-9)
    #expect(host.bytes == 0)
    host.line.inject(.power(isOn: true), at: host.now)
    host.run(seconds: 3)
    #expect(host.line.receiver.startKind == .hot && host.line.receiver.hasFix)
  }

  @Test("GNSS stop and start by CFG-RST")
  func stop() {
    var host = Host(.m9, hasRate: false)
    host.run(seconds: 10)
    host.send(0x0604, [0, 0, 8, 0])
    host.run(seconds: 1)
    #expect(host.line.receiver.powerState == .stopped)
    host.forget()
    host.run(seconds: 5)
    #expect(host.sentences.isEmpty)
    #expect(host.ask(0x0A04) != nil)
    host.send(0x0604, [0, 0, 9, 0])
    host.run(seconds: 5)
    #expect(host.line.receiver.hasFix)
  }
}
