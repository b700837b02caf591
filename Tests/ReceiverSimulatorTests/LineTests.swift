// SPDX-License-Identifier: Apache-2.0
import MonotonicTime
import ReceiverSimulator
import Testing

@Suite("The line between host and receiver")
struct LineTests {
  @Test("A message takes ten bits for each byte", arguments: [9600, 38400, 115_200] as [UInt64])
  func pacing(rate: UInt64) throws {
    var host = Host(.m10)
    host.run(seconds: 1)
    #expect(host.set([(0x1074_0002, 0), (0x2091_0007, 1), (0x4052_0001, rate)], following: UInt32(rate)) == true)
    host.run(seconds: 3)
    host.forget()
    host.run(seconds: 10)
    let arrivals = host.messages.filter { $0.identity == 0x0107 }.map(\.at)
    #expect(arrivals.count == 10)
    for arrival in arrivals {
      // The epoch is at a whole second; its first byte is sent a few tens of milliseconds later.
      let milliseconds = Double(arrival.nanoseconds % 1_000_000_000) / 1e6
      let wire = 100 * 10 * 1000 / Double(rate)
      #expect(milliseconds > wire + 39 && milliseconds < wire + 50, "\(milliseconds)")
    }
  }

  @Test(
    "At different rates no message is received in either direction", arguments: [4800, 19200, 38400, 115_200, 460_800])
  func garbling(rate: UInt32) {
    var host = Host(.m8)
    host.run(seconds: 3)
    host.forget()
    host.line.hostRate = rate
    host.run(seconds: 3)
    #expect(host.bytes > 0)
    #expect(host.messages.isEmpty && !host.sentences.contains { $0.hasPrefix("$GN") })
    #expect(host.ask(0x0A04, within: 1) == nil)
    host.line.hostRate = 9600
    host.run(seconds: 3)
    #expect(host.ask(0x0A04, within: 3) != nil)
  }

  @Test("Rates within the tolerance of a UART are equivalent")
  func tolerance() {
    var host = Host(.m9)
    host.line.hostRate = 38_800
    host.run(seconds: 1)
    #expect(host.ask(0x0A04) != nil)
  }

  @Test("More than a hundred frame errors in a second switch reading off until its end, with a text")
  func frameErrors() {
    var host = Host(.m9)
    host.run(seconds: 1.05)
    host.line.hostRate = 115_200
    host.line.send((0..<2400).map { UInt8(truncatingIfNeeded: $0 &* 37) }, at: host.now)
    host.run(seconds: 0.5)
    host.line.hostRate = 38400
    #expect(host.ask(0x0A04, within: 0.3) == nil)
    host.run(seconds: 0.5)
    #expect(host.sentences.contains { $0.contains("TXT,01,01,01,More than 100 frame errors, UART RX was disabled*70") })
    #expect(host.ask(0x0A04) != nil)
  }

  @Test("A line that is too slow drops whole messages")
  func overflow() {
    var host = Host(.m8)
    host.run(seconds: 5)
    #expect(host.configure(0x0608, [100, 0, 1, 0, 1, 0], within: 3) == true)
    host.forget()
    host.run(seconds: 20)
    #expect(host.line.receiver.droppedMessages > 50)
    let checked = host.sentences.filter { sentence in
      guard let star = sentence.lastIndex(of: "*") else { return false }
      let sum = sentence[..<star].dropFirst().utf8.reduce(0) { $0 ^ $1 }
      return UInt8(sentence[star...].dropFirst().prefix(2), radix: 16) == sum
    }
    #expect(checked.count == host.sentences.count)
    #expect(host.bytes > 17_000)
  }

  @Test("On USB the rate has no effect and bytes arrive at once")
  func usb() throws {
    var host = Host(.m9, hasRate: false)
    host.line.hostRate = 4800
    host.run(seconds: 1)
    #expect(host.ask(0x0A04, within: 0.01) != nil)
  }

  @Test("Whole messages arrive, and none on an idle line: the deadline is the end of a message")
  func deadlines() {
    var host = Host(.m10)
    host.run(seconds: 5)
    var wakes = 0
    let end = host.now + Milliseconds(10_000)
    while let due = host.line.deadline, due <= end {
      host.line.advance(to: due)
      _ = host.line.takeReceived()
      wakes += 1
    }
    // About ten messages in an epoch.
    #expect(wakes < 10 * 25)
  }
}
