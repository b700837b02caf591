// SPDX-License-Identifier: Apache-2.0
import Testing
import UBX

@testable import Receiver

/// Items of which the receiver has all, and refuses to write one: a refusal of CFG-VALSET names no item.
@Suite("A refused item")
struct RefusedItemTests {
  private static let keys: [UInt32] = [0x2091_0007, 0x2091_0016, 0x2091_0039, 0x2091_0160]
  private static let settings = keys.map { Setting.item(ConfigurationPair(id: $0, bits: 1)) }

  /// Replies to all commands of a configuration; returns their number.
  private static func configure(_ items: inout [UInt32: UInt64], _ configuration: inout Configuration) -> Int {
    var count = 0
    while let command = configuration.next(), count < 100 {
      count += 1
      let payload = Array(command.bytes[6..<(command.bytes.count - 2)])
      if command.identity == .cfgVALGET {
        let asked = stride(from: 4, to: payload.count, by: 4).map { payload.u4($0) }
        let frame = Configuration.valset(asked.map { ConfigurationPair(id: $0, bits: items[$0]!) }, layers: 0).bytes
        configuration.receive(.answered([1, 0, 0, 0] + frame[10..<(frame.count - 2)]))
      } else {
        let pairs = Configuration.pairs(payload)
        let isRefused = pairs.contains { $0.id == keys[2] }
        if !isRefused { for pair in pairs { items[pair.id] = pair.bits } }
        configuration.receive(isRefused ? .refused(.unspecified) : .acknowledged)
      }
    }
    return count
  }

  @Test("The others are written and restored; a later configuration costs one more command than without it")
  func others() {
    var items = Dictionary(uniqueKeysWithValues: Self.keys.map { ($0, UInt64(0)) })
    items[Self.keys[0]] = 1
    var first = Configuration(Self.settings, port: .uart1)
    _ = Self.configure(&items, &first)
    #expect(Self.keys.map { items[$0] } == [1, 1, 0, 1])
    #expect(first.refused == [Self.settings[2]])
    #expect(first.found == [1, 3].map { .item(ConfigurationPair(id: Self.keys[$0], bits: 0)) })
    var second = Configuration(Self.settings, port: .uart1)
    #expect(Self.configure(&items, &second) == 2)
    #expect(second.refused == [Self.settings[2]] && second.found.isEmpty)
    #expect(second.results.contains(.wasThere) && !second.results.contains(.written))
  }
}
