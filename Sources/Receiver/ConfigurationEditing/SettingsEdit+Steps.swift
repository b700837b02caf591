// SPDX-License-Identifier: Apache-2.0
import MonotonicTime
import UBX

// The commands of an edit, and their outcomes.
extension SettingsEdit {
  /// The items of CFG-SIGNAL depend on each other: states in between may be refused (interface descriptions, CFG-SIGNAL).
  private static let signalGroup: UInt32 = 0x31
  /// A change of signals or constellations restarts the search for satellites, and replies are late.
  private static let restart = Milliseconds(500)

  // MARK: Commands

  func command(for work: Work) -> Command? {
    switch work {
    case .readPort: .poll(.cfgPRT)
    case .confirmOldRate: .poll(.monVER)
    case .perform(.read, .items(let indices)), .perform(.verify, .items(let indices)):
      Configuration.valget(indices.compactMap { entries[$0].item?.id })
    case .perform(.write, .items(let indices)): writing(indices.compactMap { entries[$0].item })
    case .perform(.restore, .items(let indices)): writing(indices.compactMap(foundPair))
    case .perform(.read, .record(let index)), .perform(.verify, .record(let index)):
      .poll(records[index].identity, records[index].selector)
    case .perform(.write, .record(let index)): writing(records[index], records[index].written)
    case .perform(.restore, .record(let index)): records[index].found.map { writing(records[index], $0) }
    }
  }

  /// The item of an entry with the value that was read.
  private func foundPair(_ index: Int) -> ConfigurationPair? {
    guard let pair = entries[index].item, let bits = entries[index].found else { return nil }
    return ConfigurationPair(id: pair.id, bits: bits)
  }

  private func writing(_ pairs: [ConfigurationPair]) -> Command {
    let restarts = pairs.contains { $0.id >> 16 & 0xFF == Self.signalGroup }
    return Configuration.valset(pairs, layers: 1).with(pause: restarts ? Self.restart : nil)
  }

  private func writing(_ record: Record, _ payload: [UInt8]) -> Command {
    let pause: Milliseconds? =
      switch record.identity {
      // A port that restarts drops the bytes in its buffers.
      case .cfgPRT: Milliseconds(100)
      case .cfgGNSS: Self.restart
      default: nil
      }
    return Command(record.identity, payload, answer: .acknowledgement).with(pause: pause)
  }

  /// Returns steps with items, signals first, so that they are in one message.
  private func steps(_ step: Step, items: [Int]) -> [Work] {
    func isSignal(_ index: Int) -> Bool { entries[index].item.map { $0.id >> 16 & 0xFF == Self.signalGroup } ?? false }
    let sorted = items.filter(isSignal) + items.filter { !isSignal($0) }
    return stride(from: 0, to: sorted.count, by: ConfigurationWriter.mostItems).map {
      .perform(step, .items(Array(sorted[$0..<min($0 + ConfigurationWriter.mostItems, sorted.count)])))
    }
  }

  func indices(of target: Target) -> [Int] {
    switch target {
    case .items(let indices): indices
    case .record(let index): records[index].entries
    }
  }

  private mutating func setResult(_ result: Result, of target: Target) {
    for index in indices(of: target) where entries[index].result == nil { entries[index].result = result }
  }

  private mutating func repeatInHalves(_ step: Step, _ indices: [Int]) {
    let middle = indices.count / 2
    work.insert(.perform(step, .items(Array(indices[middle...]))), at: 0)
    work.insert(.perform(step, .items(Array(indices[..<middle]))), at: 0)
  }

  // MARK: Reading

  mutating func startReading(isPortKnown: Bool, usesItems: Bool) {
    var items: [Int] = []
    var needsPort = lineRate != nil && !usesItems
    for (index, entry) in entries.enumerated() {
      switch entry.setting {
      case .item: items.append(index)
      case .message(let identity, let selector, let change):
        if case .messageRate = change { needsPort = true }
        if identity == .cfgPRT, !selector.isEmpty { needsPort = true }
        if let at = records.firstIndex(where: { $0.identity == identity && $0.selector == selector }) {
          records[at].entries.append(index)
        } else {
          records.append(Record(identity: identity, selector: selector, entries: [index]))
        }
      }
    }
    // The rate is written last: more fixes a second than the line can carry leave no capacity for replies.
    records = records.filter { $0.identity != .cfgRATE } + records.filter { $0.identity == .cfgRATE }
    if needsPort, !isPortKnown { work.append(.readPort) }
    work += steps(.read, items: items)
    work += records.indices.map { .perform(.read, .record($0)) }
  }

  mutating func receivePort(_ outcome: Outcome) {
    var known: ReceiverPortNumber?
    if case .answered(let payload) = outcome, let number = payload.first {
      port = Int(number)
      known = ReceiverPortNumber(rawValue: number)
      if let lineRate, known?.rateKey == nil { end(with: Self.hasNoRate(names[lineRate.owner])) }
    }
    takeOwnRates(known)
  }

  /// Makes the rate of the port at this line the rate of the line. It is not written as a field.
  private mutating func takeOwnRates(_ known: ReceiverPortNumber?) {
    defer { portRates = [] }
    for own in portRates where own.selector == [UInt8(truncatingIfNeeded: port)] && problem == nil {
      do throws(SettingProblem) {
        try setLineRate(own.rate, entries[own.entry].owner, known)
        entries[own.entry].result = .unchanged
      } catch {
        guard scope == .bestEffort else { return end(with: error) }
        entries[own.entry].result = .missing
      }
      for index in records.indices { records[index].entries.removeAll { $0 == own.entry } }
    }
    work.removeAll {
      if case .perform(.read, .record(let index)) = $0 { records[index].entries.isEmpty } else { false }
    }
  }

  mutating func receiveItems(_ indices: [Int], _ outcome: Outcome) {
    switch outcome {
    case .answered(let payload):
      let pairs = Configuration.pairs(payload)
      for index in indices {
        guard let desired = entries[index].item else { continue }
        guard let pair = pairs.first(where: { $0.id == desired.id }) else {
          entries[index].result = .missing
          continue
        }
        entries[index].found = pair.bits
        if pair == desired { entries[index].result = .unchanged }
      }
    case .refused where indices.count > 1: repeatInHalves(.read, indices)
    case .refused:
      for index in indices { entries[index].result = entries[index].isOffIfMissing ? .unchanged : .missing }
    default: setResult(.silent, of: .items(indices))
    }
  }

  mutating func receiveRecord(_ index: Int, _ outcome: Outcome) {
    switch outcome {
    case .answered(let payload): receiveRecord(index, payload: payload)
    case .refused: setResult(.missing, of: .record(index))
    default:
      // Old firmware does not report the rates of a message, and applies a rate to the port that the command arrives at.
      guard records[index].identity == .cfgMSG, records[index].entries.count == 1,
        case .message(_, let selector, .messageRate(let rate)) = entries[records[index].entries[0]].setting
      else { return setResult(.silent, of: .record(index)) }
      records[index].written = selector + [rate]
    }
  }

  private mutating func receiveRecord(_ record: Int, payload: [UInt8]) {
    let identity = records[record].identity
    if identity == .cfgPRT, records[record].selector.isEmpty, let number = payload.first { port = Int(number) }
    records[record].found = payload
    var desired = payload
    for index in records[record].entries {
      guard let change = entries[index].change, change.has(all: payload),
        let changed = change.applied(to: desired, identity, port: port)
      else {
        entries[index].result = .missing
        continue
      }
      if change.isSame(changed, desired, identity) { entries[index].result = .unchanged }
      desired = changed
    }
    // The mask covers the changes of all entries, not only of the last one.
    let fields = records[record].entries.flatMap { entries[$0].change?.fieldNames ?? [] }
    if !fields.isEmpty { ApplicationMask.set(identity, for: fields, in: &desired) }
    records[record].written = desired
    if identity == .cfgPRT, payload.first == UInt8(truncatingIfNeeded: port), Self.disablesUBX(payload, desired) {
      let name = names[entries[records[record].entries[0]].owner]
      if scope == .allOrNothing { end(with: Self.cutsLine(name)) } else { setResult(.refused, of: .record(record)) }
    }
  }

  /// Whether a port that reads and writes UBX no longer does; CFG-PRT, inProtoMask at 12 and outProtoMask at 14.
  private static func disablesUBX(_ found: [UInt8], _ desired: [UInt8]) -> Bool {
    found.count >= 16 && desired.count >= 16 && [12, 14].contains { found[$0] & ~desired[$0] & 1 != 0 }
  }

  // MARK: Writing

  mutating func startWriting() {
    work += steps(.write, items: entries.indices.filter { entries[$0].item != nil && entries[$0].result == nil })
    for (index, record) in records.enumerated() where record.entries.contains(where: { entries[$0].result == nil }) {
      work.append(.perform(.write, .record(index)))
    }
  }

  mutating func receiveWritten(items indices: [Int], _ outcome: Outcome) {
    switch outcome {
    case .refused where indices.count > 1: repeatInHalves(.write, indices)
    case .refused: setResult(.refused, of: .items(indices))
    // Without a reply the receiver may have the values: reading shows it.
    default: work.insert(.perform(.verify, .items(indices)), at: 0)
    }
  }

  mutating func receiveWritten(record index: Int, _ outcome: Outcome) {
    if case .refused = outcome {
      setResult(.refused, of: .record(index))
      // Further changes would be restored.
      if scope == .allOrNothing { work = [] }
    } else if records[index].written.count == 3, records[index].found == nil {
      // A rate that cannot be polled cannot be verified.
      setResult(outcome == .acknowledged ? .changed : .silent, of: .record(index))
    } else {
      work.insert(.perform(.verify, .record(index)), at: 0)
    }
  }

  mutating func receiveVerified(items indices: [Int], _ outcome: Outcome) {
    guard case .answered(let payload) = outcome else { return setResult(.silent, of: .items(indices)) }
    let pairs = Configuration.pairs(payload)
    let isSame = indices.map { index in entries[index].item.map { pairs.contains($0) } ?? true }
    finishVerifying(.items(indices), isSame)
  }

  mutating func receiveVerified(record index: Int, _ outcome: Outcome) {
    guard case .answered(let payload) = outcome else { return setResult(.silent, of: .record(index)) }
    let record = records[index]
    let isSame = record.entries.map { entries[$0].change?.isSame(payload, record.written, record.identity) ?? true }
    finishVerifying(.record(index), isSame)
  }

  private mutating func finishVerifying(_ target: Target, _ isSame: [Bool]) {
    if isSame.contains(false), mayReadAgain() { return work.insert(.perform(.verify, target), at: 0) }
    resetRereadings()
    for (index, isSame) in zip(indices(of: target), isSame) where entries[index].result == nil {
      entries[index].result = isSame ? .changed : .notVerified
    }
  }

  // MARK: Restoring

  mutating func startRestoring() {
    func mayDiffer(_ index: Int) -> Bool { [.changed, .notVerified, .silent].contains(entries[index].result) }
    work += steps(.restore, items: entries.indices.filter { mayDiffer($0) && foundPair($0) != nil })
    for (index, record) in records.enumerated() where record.found != nil && record.entries.contains(where: mayDiffer) {
      // The rate is restored first: it may be the reason for a full line.
      work.insert(.perform(.restore, .record(index)), at: record.identity == .cfgRATE ? 0 : work.count)
    }
  }
}
