// SPDX-License-Identifier: Apache-2.0
import MonotonicTime
import ReceiverSimulator
import Testing

@Suite("Configuration by messages")
struct LegacyConfigurationTests {
  private static let models: [ReceiverModel] = [.m6, .m8, .m8Batching, .clone]

  @Test("CFG-RATE is read back as it was set, below the least it is refused", arguments: models)
  func rate(model: ReceiverModel) {
    var host = Host(model)
    host.run(seconds: 1)
    #expect(host.ask(0x0608, within: 3) == [0xE8, 3, 1, 0, 1, 0])
    #expect(host.configure(0x0608, [0xF4, 1, 1, 0, 1, 0]) == true)
    #expect(host.line.receiver.epochMilliseconds == 500)
    #expect(host.configure(0x0608, [20, 0, 1, 0, 1, 0]) == false)
    #expect(host.configure(0x0608, [0xE8, 3, 2, 0, 1, 0]) == (model != .m6))
  }

  @Test("CFG-MSG switches messages on and off, and they come so often", arguments: models)
  func messages(model: ReceiverModel) {
    var host = Host(model)
    host.run(seconds: 5)
    for id in 0...5 as ClosedRange<UInt8> { #expect(host.configure(0x0601, [0xF0, id, 0], within: 4) == true) }
    #expect(host.configure(0x0601, [1, 7, 2]) == true)
    #expect(host.configure(0x0601, [1, 6, 1]) == true)
    #expect(host.configure(0x0601, [0x77, 0x77, 1]) == false)
    host.run(seconds: 1.5)
    host.forget()
    host.run(seconds: 20)
    #expect(host.sentences.isEmpty)
    #expect(host.count(0x0107) == 10)
    #expect(host.count(0x0106) == 20)
    #expect(host.messages.first { $0.identity == 0x0107 }?.payload.count == (model == .m6 ? 84 : 92))
    let rates = host.ask(0x0601, [1, 7])
    #expect(rates == [1, 7, 0, 2, 0, 0, 0, 0])
  }

  @Test(
    "CFG-PRT with zeros is refused, a rate change is acknowledged at the new rate", arguments: models)
  func port(model: ReceiverModel) throws {
    var host = Host(model)
    host.run(seconds: 1)
    let asked = host.ask(0x0600, within: 3)
    var record = try #require(asked)
    #expect(record.count == 20 && record[0] == 1 && record.unsigned4(8) == 9600)
    #expect(host.configure(0x0600, [1] + [UInt8](repeating: 0, count: 19)) == false)
    record.replaceSubrange(8..<12, with: Host.number(38400, 4))
    host.runToEndOfSecond()
    #expect(host.configure(0x0600, record, within: 3, following: 38400) == true)
    #expect(host.line.receiver.baudRate == 38400)
    host.run(seconds: 0.4)
    #expect(host.ask(0x0A04) != nil)
  }

  @Test("CFG-NAV5 changes only what its mask names", arguments: [ReceiverModel.m6, .m8])
  func navigation(model: ReceiverModel) throws {
    var host = Host(model)
    host.run(seconds: 1)
    var wanted = [UInt8](repeating: 9, count: 36)
    wanted[0] = 1
    wanted[1] = 0
    wanted[2] = 4
    #expect(host.configure(0x0624, wanted, within: 3) == true)
    let asked = host.ask(0x0624, within: 3)
    let block = try #require(asked)
    #expect(block[2] == 4 && block[3] == 3 && block[12] == 5)
    wanted[2] = 1
    #expect(host.configure(0x0624, wanted) == false)
  }

  @Test("The clone refuses CFG-NAV5, and receives nothing for a moment after CFG-PRT")
  func clone() throws {
    var host = Host(.clone)
    host.run(seconds: 1)
    #expect(host.configure(0x0624, [UInt8](repeating: 0, count: 36), within: 3) == false)
    let asked = host.ask(0x0600, within: 3)
    let record = try #require(asked)
    #expect(host.configure(0x0600, record, within: 3) == true)
    #expect(host.ask(0x0A04, within: 0.25) == nil)
    host.run(seconds: 0.4)
    #expect(host.ask(0x0A04, within: 2) != nil)
  }

  @Test("CFG-GNSS: no system and too many bands are refused, GPS without QZSS is accepted")
  func systems() throws {
    var host = Host(.m8)
    host.run(seconds: 1)
    let block = { (id: UInt8, isOn: Bool) -> [UInt8] in [id, 8, 14, 0, isOn ? 1 : 0, 0, 1, 1] }
    #expect(host.configure(0x063E, [0, 32, 32, 2] + block(0, false) + block(6, false), within: 3) == false)
    #expect(host.configure(0x063E, [0, 32, 32, 1] + block(3, true), within: 3) == false)
    #expect(host.configure(0x063E, [0, 32, 32, 1] + block(5, false), within: 3) == true)
    #expect(host.configure(0x063E, [0, 32, 32, 1] + block(6, false), within: 3) == true)
    #expect(host.line.receiver.systems == .gps)
    // The receiver sets the top byte of the flags itself. IMES is listed.
    let systemsReply = host.ask(0x063E, within: 3)
    let systems = try #require(systemsReply)
    #expect(systems[3] == 7 && systems.count == 60)
    #expect(stride(from: 4, to: 60, by: 8).map { systems[$0] } == [0, 1, 2, 3, 4, 5, 6])
    #expect(stride(from: 11, to: 60, by: 8).map { systems[$0] } == [1, 1, 1, 1, 3, 5, 1])
    #expect(systems[48] & 1 == 0)
  }

  @Test("CFG-CFG saves, clears and loads; the clone acknowledges and keeps nothing", arguments: models)
  func memory(model: ReceiverModel) {
    var host = Host(model)
    host.run(seconds: 1)
    #expect(host.configure(0x0608, [0xF4, 1, 1, 0, 1, 0], within: 3) == true)
    #expect(host.configure(0x0609, [0, 0, 0, 0, 0xFF, 0xFF, 0, 0, 0, 0, 0, 0], within: 3) == true)
    host.line.inject(.powerCycle(for: Milliseconds(200), losingBackup: false), at: host.now)
    host.run(seconds: 2)
    #expect(host.line.receiver.epochMilliseconds == (model == .clone ? 1000 : 500))
    #expect(host.configure(0x0609, [0xFF, 0xFF, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF, 0, 0], within: 3) == true)
    #expect(host.line.receiver.epochMilliseconds == 1000)
  }

  @Test("PUBX,41 changes the rate, PUBX,40 the sentences, and sentences can be asked for")
  func pubx() {
    var host = Host(.m8)
    host.run(seconds: 4)
    host.line.send(Array("$PUBX,40,GSV,0,0,0,0,0,0*59\r\n".utf8), at: host.now)
    host.run(seconds: 2)
    host.forget()
    host.run(seconds: 5)
    #expect(!host.sentences.contains { $0.contains("GSV") } && host.sentences.contains { $0.contains("RMC") })
    host.line.send(Array("$PUBX,00*33\r\n".utf8), at: host.now)
    host.run(seconds: 1)
    #expect(host.sentences.contains { $0.hasPrefix("$PUBX,00,") })
    host.line.send(Array("$PUBX,41,1,0007,0003,19200,0*25\r\n".utf8), at: host.now)
    host.run(seconds: 2)
    #expect(host.line.receiver.baudRate == 19200)
  }
}

@Suite("Configuration by items")
struct ItemConfigurationTests {
  private static let models: [ReceiverModel] = [.m9, .m10, .f9p, .f10, .x20]
  private static let period: UInt32 = 0x3021_0001

  @Test("A value is set in RAM and read from each layer that has it", arguments: models)
  func layers(model: ReceiverModel) {
    var host = Host(model, hasRate: false)
    host.run(seconds: 1)
    #expect(host.set([(Self.period, 200)]) == true)
    #expect(host.get([Self.period])?[Self.period] == 200)
    #expect(host.get([Self.period], layer: 7)?[Self.period] == 1000)
    #expect(host.get([Self.period], layer: 1) == nil)
    #expect(host.set([(Self.period, 250)], layers: 2) == true)
    #expect(host.get([Self.period], layer: 1)?[Self.period] == 250)
    #expect(host.line.receiver.epochMilliseconds == 200)
    let hasFlash = [ReceiverModel.m9, .f9p, .x20].contains(model)
    #expect(host.set([(Self.period, 500)], layers: 4) == hasFlash)
  }

  @Test("RAM is lost with the supply, battery-backed RAM is kept before flash", arguments: models)
  func restart(model: ReceiverModel) {
    var host = Host(model, hasRate: false)
    host.run(seconds: 1)
    #expect(host.set([(Self.period, 200)]) == true)
    host.line.inject(.powerCycle(for: Milliseconds(500), losingBackup: false), at: host.now)
    host.run(seconds: 2)
    #expect(host.line.receiver.epochMilliseconds == 1000)
    #expect(host.set([(Self.period, 400)], layers: 2) == true)
    host.line.inject(.powerCycle(for: Milliseconds(500), losingBackup: false), at: host.now)
    host.run(seconds: 2)
    #expect(host.line.receiver.epochMilliseconds == 400)
    host.line.inject(.powerCycle(for: Milliseconds(500), losingBackup: true), at: host.now)
    host.run(seconds: 2)
    #expect(host.line.receiver.epochMilliseconds == 1000)
  }

  @Test("One wrong item refuses all: unknown, out of range, no layer, more than 64")
  func atomic() {
    var host = Host(.m10, hasRate: false)
    host.run(seconds: 1)
    #expect(host.set([(Self.period, 200), (0x2091_0FFF, 1)]) == false)
    #expect(host.set([(Self.period, 10)]) == false)
    #expect(host.set([(0x1031_001F, 2)]) == false)
    #expect(host.set([(Self.period, 200)], layers: 0) == false)
    #expect(host.set([(Self.period, 200)], layers: 8) == false)
    #expect(host.set(Array(repeating: (Self.period, 200), count: 65)) == false)
    #expect(host.line.receiver.epochMilliseconds == 1000)
    #expect(host.set(Array(repeating: (Self.period, 200), count: 64)) == true)
    // Values are validated only when RAM is written.
    #expect(host.set([(Self.period, 10)], layers: 2) == true)
  }

  @Test("Not all systems may be switched off")
  func systems() {
    var host = Host(.m10, hasRate: false)
    host.run(seconds: 1)
    let keys: [UInt32] = [0x1031_001F, 0x1031_0021, 0x1031_0022, 0x1031_0025]
    #expect(host.set(keys.map { ($0, 0) }) == false)
    #expect(host.set([(keys[1], 0), (keys[3], 0)]) == true)
    #expect(host.line.receiver.systems == .gps)
  }

  @Test("A group is read by pages of 64, and the last page is short")
  func wildcards() throws {
    var host = Host(.m9, hasRate: false)
    host.run(seconds: 1)
    var all: [UInt32: UInt64] = [:]
    var pages = 0
    while pages < 40 {
      let read = host.get([0x2091_FFFF], layer: 7, position: UInt16(pages * 64))
      let page = try #require(read)
      all.merge(page) { a, _ in a }
      pages += 1
      if page.count < 64 { break }
      #expect(page.count == 64)
    }
    #expect(pages > 2)
    #expect(all[0x2091_00BB] == 1 && all[0x2091_0007] == 0)
    #expect(host.get([0x0FFF_FFFF], layer: 7)?.count == 64)
  }

  @Test("A transaction applies at its end; another configuration message ends it, a wrong layer is refused")
  func transactions() {
    var host = Host(.f9p, hasRate: false)
    host.run(seconds: 1)
    let message = { (action: UInt8, layers: UInt8, value: UInt64?) -> [UInt8] in
      var payload: [UInt8] = [1, layers, action, 0]
      if let value { payload += Host.pair(Self.period, value) }
      return payload
    }
    #expect(host.configure(0x068A, message(2, 1, 200)) == false)
    #expect(host.configure(0x068A, message(1, 1, 200)) == true)
    #expect(host.line.receiver.epochMilliseconds == 1000)
    #expect(host.configure(0x068A, message(2, 2, 300)) == false)
    #expect(host.configure(0x068A, message(1, 1, 200)) == true)
    #expect(host.configure(0x068A, message(2, 1, 300)) == true)
    #expect(host.configure(0x068A, message(3, 1, nil)) == true)
    #expect(host.line.receiver.epochMilliseconds == 300)
    #expect(host.configure(0x068A, message(1, 1, 200)) == true)
    #expect(host.configure(0x0608, [0xE8, 3, 1, 0, 1, 0]) == true)
    #expect(host.configure(0x068A, message(3, 1, nil)) == false)
    #expect(host.line.receiver.epochMilliseconds == 1000)
  }

  @Test("CFG-VALDEL takes values out of battery-backed RAM")
  func delete() {
    var host = Host(.m10, hasRate: false)
    host.run(seconds: 1)
    #expect(host.set([(Self.period, 200)], layers: 3) == true)
    var request: [UInt8] = [0, 2, 0, 0]
    request += Host.number(Self.period, 4)
    #expect(host.configure(0x068C, request) == true)
    #expect(host.get([Self.period], layer: 1) == nil)
    #expect(host.get([Self.period])?[Self.period] == 200)
    request[1] = 1
    #expect(host.configure(0x068C, request) == false)
  }

  @Test("On F9 the old messages write the same items, on M10 they are refused")
  func cousins() throws {
    var f9 = Host(.f9p)
    f9.run(seconds: 1)
    #expect(f9.configure(0x0608, [0xC8, 0, 1, 0, 1, 0]) == true)
    #expect(f9.get([Self.period])?[Self.period] == 200)
    #expect(f9.configure(0x0601, [1, 7, 1]) == true)
    #expect(f9.get([0x2091_0007])?[0x2091_0007] == 1)
    let asked = f9.ask(0x0600)
    let record = try #require(asked)
    #expect(record.unsigned4(8) == 38400)
    var m10 = Host(.m10, hasRate: false)
    m10.run(seconds: 1)
    #expect(m10.configure(0x0608, [0xC8, 0, 1, 0, 1, 0]) == false)
    #expect(m10.configure(0x0601, [1, 7, 1]) == false)
  }

  /// The "mapped cousins" of the F9 interface description, at the level of message bytes.
  @Test("On F9 CFG-NAV5 and CFG-NAVX5 write the items that their masks name")
  func navigation() throws {
    let (dynamicModel, fixMode, acknowledgeAiding) = (
      0x2011_0021 as UInt32, 0x2011_0011 as UInt32, 0x1011_0025 as UInt32
    )
    var host = Host(.f9p)
    host.run(seconds: 1)
    let asked = host.ask(0x0624)
    var record = try #require(asked)
    #expect(record.count == 36 && record[2] == 0 && record[3] == 3)
    // The mask selects only the dynamic model.
    record.replaceSubrange(0..<4, with: [1, 0, 4, 2])
    #expect(host.configure(0x0624, record) == true)
    #expect(host.get([dynamicModel, fixMode]) == [dynamicModel: 4, fixMode: 3])
    #expect(host.configure(0x0624, Array(record.dropLast())) == false)
    let more = host.ask(0x0623)
    var aiding = try #require(more)
    #expect(aiding.count == 40 && aiding[17] == 0)
    aiding[17] = 1
    aiding.replaceSubrange(2..<4, with: [0, 0])
    #expect(host.configure(0x0623, aiding) == true)
    #expect(host.get([acknowledgeAiding])?[acknowledgeAiding] == 0)
    aiding.replaceSubrange(2..<4, with: [0, 4])
    #expect(host.configure(0x0623, aiding) == true)
    #expect(host.get([acknowledgeAiding])?[acknowledgeAiding] == 1)
  }

  @Test("On F9 CFG-PRT, CFG-RATE and CFG-INF write their items")
  func port() throws {
    let (output, texts) = (0x1074_0002 as UInt32, 0x2092_0007 as UInt32)
    var host = Host(.f9p)
    host.run(seconds: 1)
    #expect(host.ask(0x0608) == [0xE8, 3, 1, 0, 1, 0])
    let levels = host.ask(0x0602, [1])
    #expect(try #require(levels).count == 10)
    #expect(host.configure(0x0602, [1, 0, 0, 0, 0, 0x1F, 0, 0, 0, 0]) == true)
    #expect(host.get([texts])?[texts] == 0x1F)
    #expect(host.configure(0x0602, [2, 0, 0, 0, 0, 0, 0, 0, 0, 0]) == false)
    let asked = host.ask(0x0600, [1])
    var record = try #require(asked)
    // Seven data bits are refused, with everything else in the message.
    record.replaceSubrange(14..<16, with: [1, 0])
    #expect(host.configure(0x0600, Array(record[0..<4] + [0x80, 8, 0, 0] + record[8...])) == false)
    #expect(host.get([output])?[output] == 1)
    #expect(host.configure(0x0600, record) == true)
    #expect(host.get([output])?[output] == 0)
  }

  @Test("A rate changes right before its acknowledgement", arguments: models)
  func baudRate(model: ReceiverModel) {
    var host = Host(model)
    host.run(seconds: 1)
    host.runToEndOfSecond()
    #expect(host.set([(0x4052_0001, 115_200)], following: 115_200) == true)
    #expect(host.line.receiver.baudRate == 115_200)
    #expect(host.ask(0x0A04) != nil)
    #expect(host.set([(0x4052_0001, 1200)]) == false)
  }

  @Test("Models have the items of their capabilities: power save mode, batching, USB, flash log")
  func capabilities() {
    let items: [(UInt32, [ReceiverModel])] = [
      (0x20D0_0001, [.m9, .m10]), (0x1026_0013, [.m9, .m10]), (0x1065_0001, [.m9, .f9p, .x20]),
      (0x10DE_0002, [.m9, .f9p, .x20]), (0x1024_0020, [.m9, .f9p, .x20]), (0x2003_0001, [.f9p, .x20]),
    ]
    for model in Self.models {
      var host = Host(model)
      host.run(seconds: 1)
      for (key, models) in items { #expect((host.get([key]) != nil) == models.contains(model), "\(model) \(key)") }
    }
  }
}
