// SPDX-License-Identifier: Apache-2.0
import MonotonicTime
import ReceiverSimulator
import Testing

@Suite("Faults")
struct FaultTests {
  private static func running(_ model: ReceiverModel = .m9, _ scenario: Scenario = .hot) -> Host {
    var host = Host(model, scenario)
    host.run(seconds: 10.5)
    host.forget()
    return host
  }

  @Test("An unplugged device disappears and loses all bytes; then it starts again")
  func unplug() {
    var host = Self.running()
    host.line.inject(.unplug(for: Milliseconds(3000)), at: host.now)
    #expect(!host.line.isPresent)
    host.send(0x0A04)
    host.run(seconds: 2.9)
    #expect(host.bytes == 0 && !host.line.isPresent)
    host.run(seconds: 3)
    #expect(host.line.isPresent && host.sentences.contains { $0.contains("TXT") })
    #expect(host.count(0x0A04) == 0)
    #expect(host.ask(0x0A04) != nil)
  }

  @Test("A cut line leaves the beginning of a message")
  func cut() {
    var host = Self.running(.m8)
    host.run(seconds: 0.7)
    host.line.inject(.powerCycle(for: Milliseconds(100), losingBackup: false), at: host.now)
    host.run(seconds: 3)
    #expect(host.line.receiver.hasFix)
  }

  @Test(
    "Changed and lost bytes break messages, for the given time only",
    arguments: [
      Fault.corrupt(share: 0.02, for: Milliseconds(20_000)), .drop(share: 0.02, for: Milliseconds(20_000)),
    ])
  func damage(fault: Fault) {
    var host = Self.running()
    let good = { (host: Host) in
      host.sentences.count { sentence in
        guard let star = sentence.lastIndex(of: "*") else { return false }
        let sum = sentence[..<star].dropFirst().utf8.reduce(0) { $0 ^ $1 }
        return UInt8(sentence[star...].dropFirst().prefix(2), radix: 16) == sum
      }
    }
    host.run(seconds: 20)
    let before = good(host)
    host.forget()
    host.line.inject(fault, at: host.now)
    host.run(seconds: 20)
    #expect(good(host) < before * 2 / 3)
    host.run(seconds: 2)
    host.forget()
    host.run(seconds: 20)
    #expect(abs(good(host) - before) < 8)
  }

  @Test("A frozen receiver neither sends nor replies, and draws its current")
  func freeze() {
    var host = Self.running()
    host.line.inject(.freeze(for: Milliseconds(5000)), at: host.now)
    let before = host.line.receiver.chargeMilliampereSeconds
    #expect(host.ask(0x0A04, within: 4.5) == nil)
    #expect(host.bytes == 0)
    #expect(host.line.receiver.chargeMilliampereSeconds - before > 4 * 36)
    host.run(seconds: 3)
    #expect(host.ask(0x0A04) != nil)
  }

  @Test("A receiver refuses everything, or does not reply while it navigates")
  func refusal() {
    var host = Self.running()
    host.line.inject(.refuseEverything(for: Milliseconds(3000)), at: host.now)
    #expect(host.set([(0x2091_0007, 1)]) == false)
    host.run(seconds: 3)
    #expect(host.set([(0x2091_0007, 1)]) == true)
    host.line.inject(.silence(for: Milliseconds(3000)), at: host.now)
    #expect(host.ask(0x0A04, within: 2) == nil)
    #expect(host.sentences.count > 5)
  }

  @Test("A flood fills the line and ends")
  func flood() {
    var host = Self.running()
    host.line.inject(.flood(for: Milliseconds(5000)), at: host.now)
    host.run(seconds: 5)
    #expect(host.bytes > 17_000)
    host.run(seconds: 3)
    host.forget()
    #expect(host.ask(0x0A04) != nil)
  }

  @Test("A receiver changes its rate or restarts spontaneously")
  func byItself() {
    var host = Self.running()
    host.line.inject(.baudRateChange(to: 115_200), at: host.now)
    #expect(host.ask(0x0A04, within: 2) == nil)
    host.line.hostRate = 115_200
    #expect(host.ask(0x0A04, within: 2) != nil)
    host.line.inject(.reboot, at: host.now)
    host.run(seconds: 1)
    #expect(host.line.receiver.baudRate == 38400)
  }

  @Test("A receiver does not sleep, does not wake, or wakes spontaneously")
  func sleep() {
    let request: [UInt8] = [0, 0, 0, 0, 0, 0, 0, 0, 6, 0, 0, 0, 8, 0, 0, 0]
    var host = Self.running()
    host.line.inject(.ignoreSleepRequests(for: Milliseconds(2000)), at: host.now)
    host.send(0x0241, request)
    host.run(seconds: 1)
    #expect(host.line.receiver.powerState == .tracking)
    host.run(seconds: 2)
    host.send(0x0241, request)
    host.run(seconds: 1)
    #expect(host.line.receiver.powerState == .standby)
    host.line.inject(.ignoreWakeUps(for: Milliseconds(2000)), at: host.now)
    host.line.send([0xFF], at: host.now)
    host.run(seconds: 1)
    #expect(host.line.receiver.powerState == .standby)
    host.line.inject(.wakeByItself(after: Milliseconds(5000)), at: host.now)
    host.run(seconds: 6)
    #expect(host.line.receiver.powerState.isAwake)
  }

  @Test("A message is cut off, followed by silence")
  func cutFrame() {
    var host = Self.running()
    host.line.inject(.cutFrame(silenceFor: Milliseconds(4000)), at: host.now)
    host.run(seconds: 4)
    #expect(host.bytes > 0 && host.bytes < 200 && host.sentences.isEmpty)
    host.run(seconds: 4)
    #expect(host.sentences.count > 5)
  }

  @Test("Faults of a scenario that repeats have the order of their times, also one after its length")
  func repeated() throws {
    let scenario = try Scenario(
      parsing: "start 48,11\nstay 20s\nat 3s fault baud 19200\nat 30s fault baud 38400\nrepeat")
    var host = Host(.m10, scenario)
    for (second, rate) in [(4, 19_200), (24, 19_200), (31, 38_400), (44, 19_200), (51, 38_400)] as [(Double, UInt32)] {
      host.run(seconds: second - host.now.seconds(since: .zero))
      #expect(host.line.receiver.baudRate == rate, "after \(second) s")
    }
  }

  @Test("The faults of a scenario begin at their second")
  func scenario() {
    var scenario = Scenario.hot
    scenario.addFault(.unplug(for: Milliseconds(1000)), atSeconds: 20)
    var host = Host(.m10, scenario)
    host.run(seconds: 19.9)
    #expect(host.line.isPresent)
    host.run(seconds: 0.2)
    #expect(!host.line.isPresent)
    host.run(seconds: 1)
    #expect(host.line.isPresent)
  }
}
