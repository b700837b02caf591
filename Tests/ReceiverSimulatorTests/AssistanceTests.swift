// SPDX-License-Identifier: Apache-2.0
import MonotonicTime
import ReceiverSimulator
import Testing

@Suite("Assistance")
struct AssistanceTests {
  private static func time(_ seconds: Int64) -> [UInt8] {
    // The tests start at 2026-05-28 20:26:40.
    let since = Int(seconds) + 26 * 60 + 40 + 20 * 3600
    return [0x10, 0, 0, 18] + Host.number(2026, 2)
      + [5, 28, UInt8(since / 3600), UInt8(since / 60 % 60), UInt8(since % 60), 0] + [UInt8](repeating: 0, count: 12)
  }
  private static let position: [UInt8] =
    [1, 0, 0, 0] + Host.number(481_642_000, 4) + Host.number(116_056_000, 4) + Host.number(51_200, 4)
    + Host.number(100_000, 4)

  @Test("A saved database, a time and a position make a cold start an aided one", arguments: [ReceiverModel.m8, .m10])
  func restore(model: ReceiverModel) throws {
    var host = Host(model, hasRate: false)
    host.run(seconds: 60)
    host.send(0x1380)
    host.run(seconds: 5)
    let saved = host.messages.filter { $0.identity == 0x1380 }.map(\.payload)
    #expect(saved.count > 8 && saved.allSatisfy { $0.count <= 164 && $0.count > 12 })
    host.line.inject(.powerCycle(for: Milliseconds(1000), losingBackup: true), at: host.now)
    host.run(seconds: 2)
    #expect(host.line.receiver.startKind == .cold)
    if model == .m10 {
      #expect(host.set([(0x1011_0025, 1)]) == true)
    } else {
      var expert = [UInt8](repeating: 0, count: 40)
      expert[0] = 2
      expert.replaceSubrange(2..<4, with: Host.number(1 << 10, 2))
      expert[17] = 1
      #expect(host.configure(0x0623, expert) == true)
    }
    // Orbits without the time are refused with the reason.
    let refused = host.ask(0x1380, saved[0], for: 0x1360)
    #expect(refused?[0] == 0 && refused?[2] == 1)
    let used = host.ask(0x1340, Self.time(Int64(host.now.nanoseconds / 1_000_000_000)), for: 0x1360)
    #expect(used?[0] == 1 && used?[2] == 0 && used?[3] == 0x40)
    #expect(host.ask(0x1340, Self.position, for: 0x1360)?[0] == 1)
    for record in saved {
      host.forget()
      #expect(host.ask(0x1380, record, for: 0x1360)?[0] == 1)
    }
    host.run(seconds: 6)
    #expect(host.line.receiver.hasFix)
  }

  @Test("Repeated assistance without orbits does not shorten the search", arguments: [ReceiverModel.m8, .m10, .f9p])
  func repeated(model: ReceiverModel) throws {
    func secondsToFix(aided: Bool) throws -> Double {
      var host = Host(model, .cold, hasRate: false)
      host.run(seconds: 1)
      for _ in 0..<30 {
        if aided {
          host.send(0x1340, Self.time(Int64(host.now.nanoseconds / 1_000_000_000)))
          host.send(0x1340, Self.position)
        }
        host.run(seconds: 0.1)
      }
      host.run(seconds: 60)
      return try #require(host.line.receiver.timeToFirstFix).seconds
    }
    #expect(try secondsToFix(aided: true) == secondsToFix(aided: false))
  }

  @Test("Another receiver's database is not stored")
  func foreign() throws {
    var host = Host(.m10, hasRate: false)
    host.run(seconds: 60)
    host.send(0x1380)
    host.run(seconds: 2)
    let record = try #require(host.messages.first { $0.identity == 0x1380 }?.payload)
    var other = Host(.m10, seed: 2, hasRate: false)
    other.run(seconds: 10)
    #expect(other.set([(0x1011_0025, 1)]) == true)
    #expect(other.ask(0x1380, record, for: 0x1360)?[2] == 4)
  }

  @Test("Wrong sizes and unknown kinds are reported")
  func wrong() {
    var host = Host(.m10, hasRate: false)
    host.run(seconds: 1)
    #expect(host.set([(0x1011_0025, 1)]) == true)
    #expect(host.ask(0x1340, [1, 0, 0], for: 0x1360)?[2] == 3)
    host.forget()
    #expect(host.ask(0x1340, [0x77, 0, 0, 0], for: 0x1360)?[2] == 6)
  }

  @Test("AID-INI on u-blox 6: a cold start becomes a warm one")
  func aid() {
    var host = Host(.m6, .cold, hasRate: false)
    host.run(seconds: 1)
    #expect(host.ask(0x0B01)?.count == 48)
    #expect(host.ask(0x0A04) != nil)
  }

  @Test("UPD-SOS preserves orbits in flash without a battery, on models with flash only")
  func saveOnShutdown() {
    var host = Host(.m8, hasRate: false)
    host.run(seconds: 60)
    host.send(0x0604, [0, 0, 8, 0])
    host.run(seconds: 0.1)
    #expect(host.ask(0x0914, [0, 0, 0, 0])?[4] == 1)
    host.line.inject(.powerCycle(for: Milliseconds(1000), losingBackup: true), at: host.now)
    host.run(seconds: 2)
    #expect(host.line.receiver.usableEphemerides > 4)
    #expect(host.ask(0x0914)?[4] == 2)
    var m10 = Host(.m10, hasRate: false)
    m10.run(seconds: 10)
    #expect(m10.ask(0x0914, [0, 0, 0, 0])?[4] == 0)
  }
}
