// SPDX-License-Identifier: Apache-2.0
import Testing
import UBX

@testable import Receiver

/// Storing settings for a sleep, at receivers that reply as in the documents and as early firmware.
@Suite("Battery-backed memory")
struct BackupStoreTests {
  private static let rate: UInt32 = 0x4052_0001
  private static let sentence: UInt32 = 0x2091_0007
  private static let period: UInt32 = 0x3021_0001
  private static func item(_ key: UInt32, _ bits: UInt64) -> Setting { .item(ConfigurationPair(id: key, bits: bits)) }

  /// Battery-backed memory of a receiver.
  private struct Memory {
    var items: [UInt32: UInt64]
    var isReadable = true

    /// Replies until the store has no more commands.
    mutating func answer(_ store: inout BackupStore) {
      for _ in 0..<100 {
        guard let command = store.next() else { return }
        // A frame: class and id, then the length, and two bytes of checksum at the end.
        let frame = command.bytes
        store.receive(outcome(MessageIdentity(frame[2], frame[3]), Array(frame[6..<(frame.count - 2)])))
      }
      Issue.record("no end")
    }

    private mutating func outcome(_ identity: MessageIdentity, _ payload: [UInt8]) -> Outcome {
      let keys = stride(from: 4, to: payload.count - 3, by: 4).map { at in
        payload[at..<at + 4].reversed().reduce(0 as UInt32) { $0 << 8 | UInt32($1) }
      }
      switch identity {
      case .cfgVALGET:
        guard isReadable else { return .refused(.unspecified) }
        var answer: [UInt8] = [1, 1, 0, 0]
        for key in keys {
          let found = items.filter {
            key & 0xFFFF == 0xFFFF ? $0.key >> 16 & 0xFFF == key >> 16 & 0xFFF : $0.key == key
          }
          // One key that is not there has the whole question refused.
          if found.isEmpty { return .refused(.unspecified) }
          for (id, bits) in found {
            // As CFG-VALSET has it, behind the header.
            let frame = Configuration.valset([ConfigurationPair(id: id, bits: bits)], layers: 0).bytes
            answer += frame[10..<(frame.count - 2)]
          }
        }
        return .answered(answer)
      case .cfgVALSET:
        for pair in Configuration.pairs(payload) { items[pair.id] = pair.bits }
      default: for key in keys { items[key] = nil }
      }
      return .acknowledged
    }
  }

  private static let desiredSettings = [item(rate, 115_200), item(sentence, 1), item(period, 1000)]

  @Test("The owner's items are restored, whichever groups were empty", arguments: 0..<8)
  func ownersEntries(_ which: Int) {
    var owners: [UInt32: UInt64] = [0x2091_0039: 2]
    for (index, entry) in [(Self.rate, 38_400), (Self.sentence, 3), (Self.period, 200)].enumerated()
    where which >> index & 1 != 0 {
      owners[entry.0] = UInt64(entry.1)
    }
    var memory = Memory(items: owners)
    var store = BackupStore(Self.desiredSettings, before: .init())
    memory.answer(&store)
    #expect(memory.items[Self.rate] == 115_200 && memory.items[Self.sentence] == 1 && memory.items[Self.period] == 1000)
    var undoing = BackupStore(undoing: store.before)
    memory.answer(&undoing)
    #expect(memory.items == owners)
  }

  @Test("Where it cannot be read, it is left with what was in force")
  func unreadable() {
    var memory = Memory(items: [Self.rate: 38_400, Self.sentence: 3], isReadable: false)
    var store = BackupStore(Self.desiredSettings, before: .init())
    memory.answer(&store)
    #expect(store.before.isUnreadable)
    var undoing = BackupStore(
      undoing: store.before, inForce: [Self.item(Self.rate, 38_400), Self.item(Self.sentence, 3)])
    memory.answer(&undoing)
    #expect(memory.items[Self.rate] == 38_400 && memory.items[Self.sentence] == 3)
    #expect(undoing.isKept)
  }
}
