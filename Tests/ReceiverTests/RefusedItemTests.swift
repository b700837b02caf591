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

  @Test(
    "A refused write at the end is followed by a poll: what the receiver has is restored, the others one by one",
    arguments: [0, 1, 2, 3, 4])
  func restored(different: Int) {
    var items = Dictionary(uniqueKeysWithValues: Self.keys.map { ($0, UInt64(1)) })
    // The refused one is the third.
    for key in Self.keys.prefix(different) { items[key] = 0 }
    var machine = Configuration(Self.settings, port: .uart1, writesAtOnce: true)
    #expect(Self.configure(&items, &machine) <= 2 + 2 * different)
    #expect(Self.keys.map { items[$0] } == [1, 1, different > 2 ? 0 : 1, 1])
    #expect(machine.refused == (different > 2 ? [Self.settings[2]] : []))
    #expect(machine.results.allSatisfy { $0 == .wasThere || $0 == .written } == (different <= 2))
  }

  @Test("A refused message at the end is restored if the receiver has it", arguments: [false, true])
  func restoredMessage(isThere: Bool) {
    let found = [UInt8](repeating: 0, count: 40)
    var reply = found
    reply[17] = isThere ? 0 : 1
    let settings: [(Setting, [UInt8])] = [
      (.message(.cfgNAVX5, selector: [], .answersToAssistance(false)), reply),
      (.message(.cfgNAVX5, selector: [], .payload(found)), reply),
      (.message(.cfgMSG, selector: [1, 7], .payload([1, 7, 0])), [1, 7, 0, reply[17], 0, 0, 0, 0]),
    ]
    for (setting, reply) in settings {
      var machine = Configuration([setting], port: .uart1, writesAtOnce: true)
      var count = 0
      while let command = machine.next(), count < 10 {
        count += 1
        machine.receive(command.answer == .acknowledgement ? .refused(.unspecified) : .answered(reply))
      }
      #expect(machine.results == [isThere ? .wasThere : .refused] && count <= 3)
    }
  }

  @Test("Before its write is sent, or after its refusal, nothing is to be restored")
  func unwritten() {
    for setting in [
      Setting.message(.cfgRATE, selector: [], .measurementPeriod(500)),
      .item(ConfigurationPair(id: 0x3021_0001, bits: 500)),
    ] {
      var machine = Configuration([setting], port: .uart1)
      let isItem = machine.next()?.identity == .cfgVALGET
      machine.receive(.answered(isItem ? [1, 0, 0, 0, 1, 0, 0x21, 0x30, 0xE8, 3] : [0xE8, 3, 1, 0, 1, 0]))
      #expect(machine.undoing.count == 1 && machine.undoingWritten.isEmpty)
      var refused = machine
      refused.receive(.refused(.unspecified))
      #expect(refused.undoing.isEmpty && refused.undoingWritten.isEmpty)
      machine.receive(.silent)
      #expect(machine.undoing.count == 1 && machine.undoingWritten.count == 1)
    }
  }
}
