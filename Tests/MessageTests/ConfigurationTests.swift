// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing
import UBX
import WireBytes

@Suite("Configuration items")
struct ConfigurationTests {
  @Test("are found by key and by name")
  func lookup() {
    #expect(ConfigurationItem.with(id: 0x3021_0001).map { "\($0.name)" } == "CFG-RATE-MEAS")
    #expect(ConfigurationItem.named("CFG-UART1-BAUDRATE")?.id == 0x4052_0001)
    #expect(ConfigurationItem.with(id: 0x3021_FFFF) == nil)
    #expect(ConfigurationItem.named("CFG-NO-SUCH") == nil)
  }

  @Test("are sorted, and each has the size that its key implies")
  func table() {
    let items = ConfigurationItem.all
    #expect(items.count > 1000)
    for index in items.indices {
      #expect(configurationValueSize(items[index].id) == items[index].type.size, "\(items[index].name)")
      if index > 0 { #expect(items[index - 1].id < items[index].id) }
    }
  }

  @Test("have the name, key, type, scale and unit of their lines in the list")
  func list() throws {
    let file = URL(filePath: #filePath).deletingLastPathComponent()
      .appending(path: "../../Sources/UBX/Layouts/configuration-items.keys")
    let lines = try String(contentsOf: file, encoding: .utf8).split(separator: "\n").filter { $0.hasPrefix("CFG-") }
    #expect(lines.count == ConfigurationItem.all.count)
    for line in lines {
      let words = line.split(separator: " ").map(String.init)
      let item = try #require(UInt32(words[1].dropFirst(2), radix: 16).flatMap { ConfigurationItem.with(id: $0) })
      #expect("\(item.name)" == words[0] && "\(item.type)" == words[2].lowercased(), "\(line)")
      let scale = words.dropFirst(3).first.flatMap { $0 == "2^-6" ? 1.0 / 64 : $0 == "2^-8" ? 1.0 / 256 : Double($0) }
      #expect("\(item.unit)" == words.dropFirst(scale == nil ? 3 : 4).joined(separator: " "), "\(line)")
      let factor: Double =
        switch item.scale {
        case .one: 1
        case .decimal(let digits): Double("1e-\(digits)") ?? .nan
        case .factor(let factor): factor
        }
      #expect(factor == scale ?? 1, "\(line)")
    }
  }

  @Test("have extreme values that survive encoding and decoding")
  func roundTrip() throws {
    for item in ConfigurationItem.all {
      let width = item.type.size * 8
      let mask = width == 64 ? UInt64.max : 1 << UInt64(width) - 1
      for bits in [0, 1, item.type == .l ? 1 : mask, item.type == .l ? 0 : mask >> 1] {
        let pair = ConfigurationPair(id: item.id, bits: bits)
        #expect(try pairs(valset: [pair]) == [pair])
        if width <= 32, item.type != .r4 {
          #expect(ConfigurationPair(item, pair.value(of: item)) == pair, "\(item.name) \(bits)")
        }
      }
    }
  }

  @Test("a value that the type cannot hold is refused")
  func range() throws {
    let rate = try #require(ConfigurationItem.named("CFG-RATE-MEAS"))
    #expect(ConfigurationPair(rate, 0.25)?.bits == 250)
    #expect(ConfigurationPair(rate, 65.536) == nil)
    #expect(ConfigurationPair(rate, -0.001) == nil)
    #expect(ConfigurationPair(rate, .nan) == nil)
    let latitude = try #require(ConfigurationItem.named("CFG-TMODE-LAT"))
    #expect(ConfigurationPair(latitude, -47.25)?.integer(as: .i4) == -472_500_000)
  }

  @Test("a text that is not a number, or not of the type, is refused for every item")
  func notFinite() throws {
    for item in ConfigurationItem.all {
      for value in [Double.nan, .signalingNaN, .infinity, -.infinity] {
        if ConfigurationPair(item, value) != nil { Issue.record("\(item.name): \(value)") }
      }
    }
    let offset = try #require(ConfigurationItem.named("CFG-NAVSPG-USRDAT_DX"))
    #expect(ConfigurationPair(offset, 1e300) == nil && ConfigurationPair(offset, -1e39) == nil)
    #expect(ConfigurationPair(offset, 3e38)?.value(of: offset) == Double(Float(3e38)))
    let axis = try #require(ConfigurationItem.named("CFG-NAVSPG-USRDAT_MAJA"))
    #expect(ConfigurationPair(axis, 1e300)?.value(of: axis) == 1e300)
  }

  @Test("a frame has at most 64 keys")
  func full() {
    var memory = [UInt8](repeating: 0, count: 1000)
    var span = memory.mutableSpan
    let output = unsafe span.mutableBytes
    var writer = ConfigurationWriter(.valset(layers: 1), output)
    var added = 0
    while writer.append(ConfigurationPair(id: 0x3021_0001, bits: 1)) { added += 1 }
    let length = writer.finish()
    #expect(added == 64)
    #expect(length == 12 + 64 * 6)
  }

  @Test("a list that is cut is not complete")
  func cut() {
    let bytes: [UInt8] = [0x01, 0x00, 0x21, 0x30, 100]
    var pairs = ConfigurationPairs(bytes.raw)
    let pair = pairs.next()
    let isComplete = pairs.isComplete
    #expect(pair == nil)
    #expect(!isComplete)
  }

  /// The pairs decoded from a frame with these pairs.
  private func pairs(valset: [ConfigurationPair]) throws -> [ConfigurationPair] {
    var memory = [UInt8](repeating: 0, count: 64)
    var count = 0
    do {
      var span = memory.mutableSpan
      var writer = unsafe ConfigurationWriter(.valset(layers: 1), span.mutableBytes)
      for pair in valset where !writer.append(pair) { return [] }
      count = writer.finish()
    }
    let bytes = Array(memory[0..<count])
    guard let frame = UBXFrame(bytes.raw), let message = frame.message(CfgVALSET.self) else { return [] }
    var walk = ConfigurationPairs(message.cfgData)
    var found: [ConfigurationPair] = []
    while let pair = walk.next() { found.append(pair) }
    return walk.isComplete ? found : []
  }
}
