// SPDX-License-Identifier: Apache-2.0
import TestSupport
import Testing

@testable import ReceiverSimulator

@Suite("SPARTN at the simulated receiver")
struct SPARTNReceptionTests {
  /// An F9P or X20 with a fix, which sends NAV-PVT.
  private static func host(_ model: ReceiverModel) -> Host {
    var host = Host(model)
    host.run(seconds: 60)
    // CFG-VALSET: CFG-MSGOUT-UBX_NAV_PVT_UART1.
    #expect(host.configure(0x068A, [0, 1, 0, 0, 0x07, 0, 0x91, 0x20, 1]) == true)
    host.run(seconds: 2)
    return host
  }

  private static func carrier(_ host: Host) -> UInt8 {
    host.messages.last { $0.identity == 0x0107 }.map { $0.payload[21] >> 6 } ?? 9
  }

  /// Areas, orbits and atmosphere.
  private static func corrections(key: Int? = nil) -> [UInt8] {
    [2, 0, 1].flatMap { Wire.spartn($0, 0, [UInt8](repeating: 0x73, count: 40), key: key) }
  }

  /// RXM-SPARTNKEY with keys of 16 bytes that begin these numbers of seconds after the start.
  private static func keys(_ seconds: [Int64]) -> [UInt8] {
    var payload: [UInt8] = [1, UInt8(seconds.count), 0, 0]
    for second in seconds {
      let gps = Host.start + second - 315_964_800 + 18
      payload += [0, 16]
      payload += (0..<2).map { UInt8((gps / 604_800) >> ($0 * 8) & 0xFF) }
      payload += (0..<4).map { UInt8((gps % 604_800) >> ($0 * 8) & 0xFF) }
    }
    for index in seconds.indices { payload += [UInt8](repeating: UInt8(index), count: 16) }
    return payload
  }

  @Test(
    "Areas, orbits and atmosphere make a float solution, a fixed one after 45 s, none without them for 60 s",
    arguments: [ReceiverModel.f9p, .x20])
  func solution(_ model: ReceiverModel) {
    var host = Self.host(model)
    for type in [0, 1] {
      host.send(bytes: Wire.spartn(type, 0, [1]))
      host.run(seconds: 1)
    }
    #expect(Self.carrier(host) == 0, "without areas there is no solution")
    for second in 0..<55 {
      host.send(bytes: Self.corrections())
      host.run(seconds: 1)
      if second == 3 || second == 40 { #expect(Self.carrier(host) == 1) }
    }
    #expect(Self.carrier(host) == 2)
    host.run(seconds: 65)
    #expect(Self.carrier(host) == 0)
  }

  @Test("Encrypted corrections need a key that is valid")
  func encrypted() {
    var host = Self.host(.f9p)
    func carrier() -> UInt8 {
      host.send(bytes: Self.corrections(key: 3))
      host.run(seconds: 3)
      return Self.carrier(host)
    }
    #expect(carrier() == 0)
    host.send(0x0236, Self.keys([86_400]))
    #expect(carrier() == 0)
    host.send(0x0236, Self.keys([-86_400]))
    #expect(carrier() == 1)
  }

  @Test("The source of SPARTN is configured: from L-band and with the protocol off, frames at the port are not used")
  func source() {
    for item: [UInt8] in [[1, 0, 0xA7, 0x20, 1], [5, 0, 0x73, 0x10, 0]] {
      var host = Self.host(.f9p)
      #expect(host.configure(0x068A, [0, 1, 0, 0] + item) == true)
      for _ in 0..<3 {
        host.send(bytes: Self.corrections())
        host.run(seconds: 1)
      }
      #expect(Self.carrier(host) == 0, "\(item)")
    }
  }

  @Test(
    "A poll has the keys; the next one replaces the current one; a restart loses them; wrong payloads change nothing")
  func keys() {
    var host = Self.host(.f9p)
    #expect(host.ask(0x0236) == [1, 0, 0, 0])
    let both = Self.keys([-1000, 120])
    host.send(0x0236, both)
    #expect(host.ask(0x0236) == both)
    for wrong: [UInt8] in [
      [2] + both.dropFirst(), Array(both.dropLast()), [1, 3, 0, 0], [1, 1, 0], Array(both.prefix(15)),
    ] {
      host.send(0x0236, wrong)
      #expect(host.ask(0x0236) == both)
    }
    host.run(seconds: 60)
    #expect(host.ask(0x0236) == [1, 1, 0, 0] + both[12..<20] + both[36...])
    host.send(0x0604, [0, 0, 0, 0])
    host.run(seconds: 3)
    #expect(host.ask(0x0236) == [1, 0, 0, 0])
  }

  @Test("MON-COMMS counts the messages of each protocol")
  func counts() throws {
    var host = Self.host(.f9p)
    let first = host.ask(0x0A36)
    host.send(bytes: Self.corrections() + Self.corrections(key: 1) + Wire.rtcm3([0x3E, 0xD0]) + Wire.nmea("EIGNQ,GGA"))
    let second = host.ask(0x0A36)
    let (before, after) = try (#require(first), #require(second))
    #expect(Array(after[4..<8]) == [0, 1, 5, 6])
    let added = (0..<4).map { Int(after[28 + 2 * $0]) - Int(before[28 + 2 * $0]) }
    #expect(added == [1, 1, 1, 6])
  }

  @Test("A receiver without SPARTN skips the frames")
  func other() {
    var host = Host(.m9)
    host.run(seconds: 5)
    host.send(bytes: Self.corrections() + Wire.ubx(0x0A, 0x04))
    host.run(seconds: 1)
    #expect(host.messages.contains { $0.identity == 0x0A04 })
    #expect(host.ask(0x0236, within: 1) == nil)
  }
}
