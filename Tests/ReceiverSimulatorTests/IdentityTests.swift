// SPDX-License-Identifier: Apache-2.0
import MonotonicTime
import ReceiverSimulator
import Testing

@Suite("The identity of a simulated receiver")
struct IdentityTests {
  private static let ublox = ReceiverModel.ofUBlox.filter { $0 != .nmea }

  @Test("Each u-blox receiver answers MON-VER with the strings of its firmware", arguments: ublox)
  func versions(model: ReceiverModel) throws {
    var host = Host(model)
    host.run(seconds: 1)
    let asked = host.ask(0x0A04, within: 3)
    let version = try #require(asked)
    let software = version.text(0..<30)
    let texts = stride(from: 40, to: version.count, by: 30).map { version.text($0..<$0 + 30) }
    let expected: (software: String, protocolVersion: String?) =
      switch model {
      case .m6: ("7.03 (45969)", nil)
      case .m8: ("EXT CORE 3.01 (111141)", "PROTVER=18.00")
      case .m8Batching: ("ROM SPG 3.51 (e69e84)", "PROTVER=23.01")
      case .m9: ("EXT CORE 4.04 (7f89f7)", "PROTVER=32.01")
      case .m10: ("ROM SPG 5.10 (7b202e)", "PROTVER=34.10")
      case .f9p: ("EXT CORE 1.00 (3fda8e)", "PROTVER=27.31")
      case .f10: ("ROM SPG 6.00 (8d8f8a)", "PROTVER=40.00")
      case .x20: ("EXT HPG 2.00 (5b2b8a)", "PROTVER=50.01")
      case .clone: ("ROM CORE 3.01 (107888)", "PROTVER=18.00")
      default: ("", nil)
      }
    #expect(software == expected.software)
    #expect(texts.first { $0.hasPrefix("PROTVER") } == expected.protocolVersion)
    #expect((version.count - 40) % 30 == 0)
  }

  @Test("SEC-UNIQID has the model's version, and differs for another seed", arguments: ublox)
  func uniqueID(model: ReceiverModel) {
    var ids: [[UInt8]?] = []
    for seed in [1, 1, 2] as [UInt64] {
      var host = Host(model, seed: seed)
      host.run(seconds: 1)
      ids.append(host.ask(0x2703, within: 3))
    }
    #expect(ids[0] == ids[1])
    switch model {
    case .m6, .clone: #expect(ids[0] == nil)
    case .m10, .x20: #expect(ids[0]?.count == 10 && ids[0]?[0] == 2 && ids[0] != ids[2])
    default: #expect(ids[0]?.count == 9 && ids[0]?[0] == 1 && ids[0] != ids[2])
    }
  }

  @Test("A fresh receiver sends its version as text and then its default sentences", arguments: ublox)
  func defaults(model: ReceiverModel) {
    var host = Host(model)
    host.run(seconds: 6)
    #expect(host.sentences.contains { $0.contains("TXT,01,01,02,u-blox AG") })
    for formatter in ["RMC", "VTG", "GGA", "GSA", "GSV", "GLL"] {
      #expect(host.sentences.contains { $0.dropFirst(3).hasPrefix(formatter) }, "\(formatter)")
    }
    #expect(host.messages.isEmpty)
  }

  @Test("A plain NMEA receiver sends four kinds of sentences at 4800 baud and never answers")
  func plain() {
    var host = Host(.nmea)
    #expect(host.line.hostRate == 4800)
    host.run(seconds: 2)
    host.send(0x0A04)
    host.send(0x0600)
    host.run(seconds: 12)
    #expect(host.messages.isEmpty)
    #expect(Set(host.sentences.map { $0.dropFirst(3).prefix(3) }) == ["GGA", "GSA", "GSV", "RMC"])
  }

  @Test("Unknown polls get no reply, and an unknown configuration is refused")
  func unknown() {
    var m6 = Host(.m6)
    m6.run(seconds: 1)
    #expect(m6.ask(0x0A38) == nil)
    #expect(m6.configure(0x068A, [0, 1, 0, 0]) == false)
    #expect(m6.configure(0x063E, []) == false)
    var m10 = Host(.m10)
    m10.run(seconds: 1)
    #expect(m10.ask(0x0A09) == nil)
    #expect(m10.configure(0x0624, []) == false)
  }

  @Test("The same seed gives the same bytes, another seed gives others")
  func determinism() {
    let run = { (seed: UInt64) -> [String] in
      var host = Host(.m9, seed: seed)
      host.run(seconds: 20)
      return host.sentences
    }
    #expect(run(7) == run(7))
    #expect(run(7) != run(8))
  }
}
