// SPDX-License-Identifier: Apache-2.0
import Testing
import UBX

@testable import Receiver

/// Storing the configuration for a sleep, at receivers that reply as in the documents and as early firmware.
@Suite("Battery-backed memory")
struct BackupStoreTests {
  private static let rate: UInt32 = 0x4052_0001
  private static let sentence: UInt32 = 0x2091_0007

  /// A receiver.
  private struct Memory {
    var ram: [UInt32: UInt64]
    var items: [UInt32: UInt64]
    var isReadable = true
    /// The number of the poll without a reply.
    var silentPoll: Int?
    var refusesSaving: Bool
    /// Whether the poll of an empty memory has a reply without items.
    var repliesEmpty = false
    var defaults: [UInt32: UInt64] = [:]
    var flash: [UInt32: UInt64]?
    private var polls = 0

    init(
      ram: [UInt32: UInt64] = [:], items: [UInt32: UInt64], isReadable: Bool = true, silentPoll: Int? = nil,
      refusesSaving: Bool = false
    ) {
      (self.ram, self.items, self.isReadable, self.silentPoll) = (ram, items, isReadable, silentPoll)
      self.refusesSaving = refusesSaving
    }

    /// Replies until the store has no more commands. Returns their number.
    @discardableResult
    mutating func answer(_ store: inout BackupStore, most: Int = 100) -> Int {
      for count in 0..<most {
        guard let command = store.next() else { return count }
        // A frame: class and id, then the length, and two bytes of checksum at the end.
        let frame = command.bytes
        store.receive(outcome(MessageIdentity(frame[2], frame[3]), Array(frame[6..<(frame.count - 2)])))
      }
      if most == 100 { Issue.record("no end") }
      return most
    }

    private mutating func outcome(_ identity: MessageIdentity, _ payload: [UInt8]) -> Outcome {
      switch identity {
      case .cfgVALGET:
        polls += 1
        if polls == silentPoll { return .silent }
        #expect(payload.u4(4) == 0x0FFF_FFFF)
        let layer =
          switch payload[1] {
          case 0: ram
          case 1: items
          case 2: flash ?? [:]
          default: defaults
          }
        let page = layer.sorted { $0.key < $1.key }.dropFirst(Int(payload.u2(2))).prefix(64)
        guard isReadable, !page.isEmpty || repliesEmpty else { return .refused(.unspecified) }
        // As CFG-VALSET has it, behind the header.
        let pairs = page.map { ConfigurationPair(id: $0.key, bits: $0.value) }
        let frame = Configuration.valset(pairs, layers: 0).bytes
        return .answered([1, 1, payload[2], payload[3]] + frame[10..<(frame.count - 2)])
      case .cfgVALSET:
        #expect(payload[1] == 0b10)
        for pair in Configuration.pairs(payload) { items[pair.id] = pair.bits }
      case .cfgCFG:
        #expect(payload[12] == 1)
        if refusesSaving { return .refused(.unspecified) }
        if payload.u4(0) != 0 { items = [:] }
        if payload.u4(4) != 0 { items.merge(ram) { $1 } }
      default: Issue.record("\(identity)")
      }
      return .acknowledged
    }
  }

  @Test("The owner's items are restored, whatever their number", arguments: [0, 1, 63, 64, 65, 128, 200])
  func ownersEntries(_ count: Int) {
    let owners = Dictionary(uniqueKeysWithValues: (0..<count).map { (0x2091_0000 + UInt32($0), UInt64($0 & 7)) })
    var memory = Memory(ram: [Self.rate: 115_200, Self.sentence: 1], items: owners)
    var store = BackupStore(before: .init(), usesItems: true)
    memory.answer(&store)
    #expect(memory.items[Self.rate] == 115_200 && memory.items[Self.sentence] == 1)
    #expect(store.before.knowledge == .complete)
    // The next one is one command.
    memory.ram[Self.sentence] = 2
    store = BackupStore(before: store.before, usesItems: true)
    #expect(memory.answer(&store) == 1)
    #expect(memory.items[Self.sentence] == 2)
    var undoing = BackupStore(undoing: store.before, usesItems: true)
    memory.answer(&undoing)
    #expect(memory.items == owners && undoing.result == .kept)
  }

  @Test(
    "After a kill at any command the next program leaves the memory as the killed one found it", arguments: [0, 1, 70],
    [false, true])
  func killed(_ count: Int, repliesEmpty: Bool) throws {
    let owners = Dictionary(uniqueKeysWithValues: (0..<count).map { (0x2091_0000 + UInt32($0), UInt64(1)) })
    for commands in 0...4 {
      for isLastPerformed in [false, true] {
        var memory = Memory(ram: [Self.rate: 115_200], items: owners)
        memory.repliesEmpty = repliesEmpty
        var store = BackupStore(before: .init(), usesItems: true)
        memory.answer(&store, most: commands)
        // The record is written before the command that the killed program sent last.
        var record = SessionMemory(of: nil)
        record.backup = store.beforeIfKilled
        if isLastPerformed { memory.answer(&store, most: 1) }
        let description = try #require(ReceiverDescription(strings: ["ROM SPG 5.10", "000A0000", "PROTVER=34.10"]))
        let settings = CrashRecoverySettings(record, of: description, on: .serial)
        let read = settings.flatMap { CrashRecoverySettings($0.text) }
        #expect(read == settings)
        var undoing = BackupStore(undoing: read?.backup ?? .init(), usesItems: true)
        memory.answer(&undoing)
        #expect(memory.items == owners && undoing.result == .kept, "\(commands) \(isLastPerformed)")
      }
    }
  }

  @Test("A memory that may not be restored, and is as it was, is restored", arguments: [0, 3, 64], [false, true])
  func unchanged(_ count: Int, isChanged: Bool) {
    let owners = Dictionary(uniqueKeysWithValues: (0..<count).map { (0x2091_0000 + UInt32($0), UInt64(1)) })
    var memory = Memory(ram: [:], items: owners, refusesSaving: true)
    if isChanged { memory.items[Self.rate] = 9600 }
    let kept = owners.map { ConfigurationPair(id: $0.key, bits: $0.value) }
    for knowledge in [BackupStore.Before.Knowledge.complete, .emptyIfReadable]
    where knowledge == .complete || count == 0 {
      var undoing = BackupStore(
        undoing: .init(kept: kept, knowledge: knowledge, isWhole: true), usesItems: true)
      memory.answer(&undoing)
      #expect((undoing.result == .kept) == !isChanged)
    }
  }

  @Test("A refused save has changed nothing: there is nothing to restore, and on/off operation is not switched on")
  func refused() {
    for before in [BackupStore.Before(), .init(kept: [ConfigurationPair(id: Self.rate, bits: 9600)])] {
      var memory = Memory(ram: [Self.rate: 115_200], items: [Self.sentence: 1], refusesSaving: true)
      let last = PowerSave.onOff(periodSeconds: 60).items(isOn: true)
      var store = BackupStore(before: before, usesItems: true, last: Configuration.valset(last, layers: 0b11))
      memory.answer(&store)
      #expect(store.before == before && store.result != .kept && store.isLastRefused)
      #expect(memory.items == [Self.sentence: 1])
    }
  }

  @Test(
    "After a refused save a sleep is harmless only if a start gives the settings in RAM, without those that are written again",
    arguments: [BackupStore.ItemLayer.defaults, .flash, .batteryBacked, nil])
  func startGives(_ layer: BackupStore.ItemLayer?) {
    for isOwn in [false, true] {
      for hasFlash in [false, true] where hasFlash || layer != .flash {
        var memory = Memory(ram: [:], items: [:], refusesSaving: true)
        // More than one page.
        for index in 0..<130 as Range<UInt32> { memory.defaults[0x2091_0000 + index] = 0 }
        memory.flash = hasFlash ? [0x2091_0001: 5] : nil
        memory.items = [0x2091_0002: 6]
        memory.ram = memory.defaults.merging([0x2091_0001: hasFlash ? 5 : 0, 0x2091_0002: 6]) { $1 }
        memory.ram[0x2091_0003] = 7
        switch layer {
        case .defaults: memory.defaults[0x2091_0003] = 7
        case .flash: memory.flash?[0x2091_0003] = 7
        case .batteryBacked: memory.items[0x2091_0003] = 7
        default: break
        }
        let own = isOwn ? [ConfigurationPair(id: 0x2091_0003, bits: 7)] : []
        var store = BackupStore(before: .init(), usesItems: true, own: own.map { .item($0) })
        memory.answer(&store)
        let keepsRAM = isOwn || layer != nil
        #expect(store.result == (keepsRAM ? .refused(losesRAM: false) : .refused(losesRAM: true)))
      }
    }
  }

  @Test("A save without a reply, or refused by a receiver that cannot be read, may lose RAM")
  func losesRAM() {
    var memory = Memory(ram: [Self.rate: 1], items: [:], isReadable: false, refusesSaving: true)
    var store = BackupStore(before: .init(), usesItems: true)
    memory.answer(&store)
    #expect(store.result == .refused(losesRAM: true))
    for outcome in [Outcome.silent, .refused(.unspecified)] {
      var messages = BackupStore(before: .init(), usesItems: false)
      messages.receive(outcome)
      #expect(messages.next() == nil)
      #expect(messages.result == (outcome == .silent ? .silent : .refused(losesRAM: true)))
    }
  }

  @Test("Where it cannot be read, or not completely, it is left with the settings in force", arguments: [false, true])
  func unreadable(isReadable: Bool) {
    let owners = Dictionary(uniqueKeysWithValues: (0..<100).map { (0x2091_0000 + UInt32($0), UInt64(1)) })
    var memory = Memory(
      ram: [Self.rate: 115_200, Self.sentence: 0], items: owners, isReadable: isReadable,
      silentPoll: isReadable ? 2 : nil)
    var store = BackupStore(before: .init(), usesItems: true)
    memory.answer(&store)
    #expect(store.before.knowledge == .incomplete && store.result == .kept)
    memory.ram = [Self.rate: 38_400, Self.sentence: 3]
    var undoing = BackupStore(undoing: store.before, usesItems: true)
    memory.answer(&undoing)
    #expect(memory.items == owners.merging(memory.ram) { $1 })
    #expect(undoing.result == .kept)
  }
}
