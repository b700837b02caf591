// SPDX-License-Identifier: Apache-2.0

import MonotonicTime
import UBX

/// Changes settings of a receiver in its RAM: reads the present values, writes the differences and reads them back.
///
///     read all ─▶ a missing name? ── all or nothing ──▶ over, nothing was written
///        ▼
///     write ── refused ─▶ in halves, until a refused setting is written by itself
///        ▼
///     read back ─▶ over            all or nothing, and a refusal: ─▶ restore the values that were read ─▶ over
///                    └─ the line does not get its new rate: ─▶ poll ─▶ the same
///
/// CFG-VALSET applies all keys of a message or none, and does not report which key it refuses (interface descriptions,
/// CFG-VALSET). A CFG message is read, changed and written as a whole.
package struct SettingsEdit: ReceiverScript {
  /// The result of a setting.
  package enum Result: Sendable, Equatable {
    /// The receiver had the desired value.
    case unchanged
    case changed
    /// The receiver does not have the setting.
    case missing
    /// The receiver refuses the value.
    case refused
    /// The change was acknowledged, but another value was read back.
    case notVerified
    /// No reply: the value is unknown.
    case silent
    /// The setting was not written, or was restored, because another one could not be set.
    case withdrawn
    /// The setting was written and could not be restored after another one was refused.
    case notRestored
  }

  /// The effect of a refusal on the other settings.
  package enum Scope: Sendable {
    /// No setting is changed.
    case allOrNothing
    /// The other settings are changed.
    case bestEffort
  }

  /// One setting of the user's words in the form that the receiver stores.
  struct Entry: Sendable {
    var setting: Setting
    /// The index of its word.
    var owner: Int
    /// Whether a receiver without the setting has the desired state: a constellation that is to be off.
    var isOffIfMissing = false
    /// The value of an item before the change.
    var found: UInt64?
    var result: Result?

    // Not inlined, because the optimizer of Swift 6.3.1 fails on the inlined form ("Found outside of lifetime use").
    @inline(never) var item: ConfigurationPair? { if case .item(let pair) = setting { pair } else { nil } }

    var change: Setting.Change? { if case .message(_, _, let change) = setting { change } else { nil } }
  }

  /// The entries that change one CFG message.
  struct Record: Sendable {
    var identity: MessageIdentity
    var selector: [UInt8]
    var entries: [Int]
    var found: [UInt8]?
    var written: [UInt8] = []
  }

  /// The rate of a port that may be the one of this line.
  struct PortRate: Sendable {
    var entry: Int
    var selector: [UInt8]
    var rate: UInt32
  }

  /// A new rate of this line, and the index of the word that sets it.
  struct LineRate: Sendable {
    var rate: UInt32
    var owner: Int
  }

  enum Step: Sendable { case read, write, verify, restore }

  /// The object of a step: entries with items, or one record.
  enum Target: Sendable {
    case items([Int])
    case record(Int)
  }

  enum Work: Sendable {
    case readPort
    case perform(Step, Target)
    /// A poll at the old rate, after the line did not get the new one.
    case confirmOldRate
  }

  private enum Phase: Sendable { case reading, writing, restoring, over }

  /// The names of the words, in the order of the user.
  package let names: [String]
  /// The rate that the line gets at the end. The owner of the line changes it.
  package var portRate: UInt32? { lineRate?.rate }
  /// Whether the receiver replies neither at the new rate of the line nor at the old one.
  package private(set) var isReceiverLost = false
  /// Why the words cannot be set over this line, as the replies of the receiver have shown.
  package private(set) var problem: SettingProblem?

  let scope: Scope
  let hasRate: Bool
  private let usesItems: Bool
  private let line: MeasuredLine?
  var entries: [Entry] = []
  var records: [Record] = []
  var lineRate: LineRate?
  /// The number of the receiver's port at this line; 1 until it is known.
  var port: Int
  /// Rates of ports, until the port of this line is known.
  var portRates: [PortRate] = []
  var work: [Work] = []
  private var phase = Phase.reading
  private var done = 0
  private var rereadings = SettingsEdit.mostRereadings
  /// On a full line a request that was sent three times has three replies, of which two come after its end.
  private static let mostRereadings = 2

  /// - Parameters:
  ///   - words: the settings.
  ///   - receiver: the receiver to change.
  ///   - port: the receiver's port at this line, if known.
  ///   - hasRate: whether the line has a baud rate.
  ///   - line: the measured load of the line; if it is given, more epochs than the line can carry are refused.
  ///   - scope: the effect of a refusal on the other settings.
  package init(
    _ words: [SettingWord], of receiver: ReceiverDescription, port: ReceiverPortNumber?, hasRate: Bool,
    line: MeasuredLine? = nil, scope: Scope = .allOrNothing
  ) throws(SettingProblem) {
    names = words.map(\.name)
    self.line = line
    self.scope = scope
    self.hasRate = hasRate
    self.port = Int(port?.rawValue ?? 1)
    usesItems = receiver.can(.valset)
    for (owner, word) in words.enumerated() { try add(word, owner, receiver, port, usesItems: usesItems) }
    startReading(isPortKnown: port != nil, usesItems: usesItems)
    if work.isEmpty { phase = .over }
  }

  // MARK: Results

  package var progress: (done: Int, of: Int) { (done, done + work.count) }

  /// The result of each word.
  package var results: [Result] {
    names.indices.map { owner in
      let all = entries.filter { $0.owner == owner }.map { $0.result ?? .withdrawn }
      // The result that needs the user's attention most comes first.
      let order: [Result] = [.notRestored, .refused, .missing, .silent, .notVerified, .withdrawn, .changed]
      return order.first { all.contains($0) } ?? .unchanged
    }
  }

  /// The settings with a result, by the receiver's names.
  package func names(of result: Result) -> [String] {
    entries.filter { $0.result == result }.map { entry in
      switch entry.setting {
      case .item(let pair): pair.item?.name.description ?? SettingValue.name(ofKey: pair.id)
      case .message(let identity, let selector, let change):
        ConfigurationRecord(identity, selector).name + change.fieldName
      }
    }
  }

  // MARK: Script

  /// Continues after the line did not get `portRate`: the rate counts as refused, or as silent if the receiver is lost.
  package mutating func abandonPortRate() {
    guard let lineRate else { return }
    self.lineRate = nil
    entries.append(Entry(setting: setting(of: lineRate.rate), owner: lineRate.owner))
    work = [.confirmOldRate]
    phase = .writing
  }

  /// The rate of the port at this line, as the receiver stores it.
  private func setting(of rate: UInt32) -> Setting {
    let number = UInt8(truncatingIfNeeded: port)
    if usesItems, let key = ReceiverPortNumber(rawValue: number)?.rateKey {
      return .item(ConfigurationPair(id: key, bits: UInt64(rate)))
    }
    let value = FieldPath("baudRate").map { Setting.FieldValue(field: $0, text: "\(rate)") }
    return .message(.cfgPRT, selector: [number], .fields([value].compactMap(\.self)))
  }

  private mutating func receiveAtOldRate(_ outcome: Outcome) {
    isReceiverLost = !outcome.isReply
    entries[entries.count - 1].result = isReceiverLost ? .silent : .refused
    guard isReceiverLost, scope == .allOrNothing else { return }
    for index in entries.indices where entries[index].result == .changed { entries[index].result = .notRestored }
  }

  package func next() -> Command? {
    // A line that a setting has just filled carries a reply only now and then.
    work.first.flatMap(command(for:))?.with(timeout: Milliseconds(700))
  }

  package mutating func receive(_ outcome: Outcome) {
    guard !work.isEmpty else { return }
    let finished = work.removeFirst()
    done += 1
    switch finished {
    case .readPort: receivePort(outcome)
    case .confirmOldRate: receiveAtOldRate(outcome)
    case .perform(.read, .items(let indices)): receiveItems(indices, outcome)
    case .perform(.read, .record(let index)): receiveRecord(index, outcome)
    case .perform(.write, .items(let indices)): receiveWritten(items: indices, outcome)
    case .perform(.write, .record(let index)): receiveWritten(record: index, outcome)
    case .perform(.verify, .items(let indices)): receiveVerified(items: indices, outcome)
    case .perform(.verify, .record(let index)): receiveVerified(record: index, outcome)
    case .perform(.restore, let target):
      // Settings that were refused or not verified keep that result: it is the reason of the restoration.
      for index in indices(of: target) where entries[index].result == .changed {
        entries[index].result = outcome == .acknowledged ? .withdrawn : .notRestored
      }
    }
    if work.isEmpty { startNextPhase() }
  }

  private mutating func startNextPhase() {
    switch phase {
    case .reading:
      phase = .writing
      if scope == .allOrNothing, entries.contains(where: { $0.result == .missing || $0.result == .silent }) {
        withdrawOpenEntries()
      } else if let problem = lineProblem {
        return end(with: problem)
      } else {
        startWriting()
      }
    case .writing:
      phase = .restoring
      let failures: [Result] = [.refused, .missing, .silent, .notVerified]
      if scope == .allOrNothing, entries.contains(where: { failures.contains($0.result ?? .changed) }) {
        startRestoring()
        withdrawOpenEntries()
      }
    case .restoring, .over: break
    }
    if work.isEmpty { phase = .over }
  }

  /// Ends the script. No further setting is written.
  mutating func end(with problem: SettingProblem) {
    self.problem = problem
    lineRate = nil
    withdrawOpenEntries()
    work = []
    phase = .over
  }

  private mutating func withdrawOpenEntries() {
    for index in entries.indices where entries[index].result == nil { entries[index].result = .withdrawn }
  }

  /// More epochs than the line can carry would leave no capacity for the replies to this and all later commands.
  private var lineProblem: SettingProblem? {
    guard let line else { return nil }
    var period = EpochPeriod()
    for entry in entries {
      if let pair = entry.item, let found = entry.found { period.change(pair.id, from: found, to: pair.bits) }
    }
    for record in records where record.identity == .cfgRATE {
      if let found = record.found { period.change(from: found, to: record.written) }
    }
    let owner = entries.first { $0.setting.changesEpochPeriod }?.owner
    return period.problem(line, at: min(portRate ?? line.restoredRate, line.rate)).map { reason in
      SettingProblem(owner.map { "\(names[$0]): \(reason)" } ?? reason)
    }
  }

  /// Whether a value that differs from the written one is read again. Each call counts.
  mutating func mayReadAgain() -> Bool {
    rereadings -= 1
    return rereadings >= 0
  }

  mutating func resetRereadings() { rereadings = Self.mostRereadings }
}

// The user's words as settings of this receiver.
extension SettingsEdit {
  mutating func add(
    _ word: SettingWord, _ owner: Int, _ receiver: ReceiverDescription, _ port: ReceiverPortNumber?, usesItems: Bool
  ) throws(SettingProblem) {
    var desired = DesiredConfiguration()
    switch word.meaning {
    case .measurementPeriod(let period): desired.measurementPeriodMilliseconds = period
    case .model(let model): desired.dynamicModel = model
    case .constellations(let constellations):
      // GPS and QZSS share their signals. With only one of them enabled the receiver takes satellites of the one for
      // satellites of the other (interface descriptions, CFG-GNSS).
      let needsQZSS = constellations.contains(.gps) && !constellations.contains(.qzss)
      desired.constellations = needsQZSS ? constellations + [.qzss] : constellations
      if usesItems { return addItems(of: constellations, owner) }
    case .messages(let messages): return try add(messages, word.name, owner, port, usesItems: usesItems)
    case .writesNMEA(let writes): desired.writesNMEA = writes
    case .portRate(let rate): return try setLineRate(rate, owner, port)
    case .item(let pair): return try add(pair, word.name, owner, receiver, port)
    case .field(let record, let value): return try add(value, of: record, word.name, owner, receiver, port)
    }
    let settings = usesItems ? desired.itemSettings(port ?? .uart1) : desired.messageSettings(for: receiver)
    for setting in settings { entries.append(Entry(setting: setting, owner: owner)) }
  }

  private mutating func addItems(of constellations: [DesiredConfiguration.Constellation], _ owner: Int) {
    for one in DesiredConfiguration.Constellation.allCases {
      let isOn = constellations.contains(one)
      // A receiver without QZSS has the desired state if only GPS was requested.
      let followsGPS = one == .qzss && constellations.contains(.gps) && !isOn
      let pair = ConfigurationPair(id: one.enablingKey, bits: isOn || followsGPS ? 1 : 0)
      entries.append(Entry(setting: .item(pair), owner: owner, isOffIfMissing: !isOn))
    }
  }

  private mutating func add(
    _ messages: [DesiredConfiguration.MessageRate], _ name: String, _ owner: Int, _ port: ReceiverPortNumber?,
    usesItems: Bool
  ) throws(SettingProblem) {
    for one in messages {
      let message = one.message
      guard usesItems else {
        let selector = [message.messageClass, message.messageID]
        entries.append(Entry(setting: .message(.cfgMSG, selector: selector, .messageRate(one.rate)), owner: owner))
        continue
      }
      guard let key = MessageOutput.key(of: message, on: port ?? .uart1) else {
        throw SettingProblem("\(name): no item switches \(MessageNames.name(message))")
      }
      entries.append(Entry(setting: .item(ConfigurationPair(id: key, bits: UInt64(one.rate))), owner: owner))
    }
  }

  private mutating func add(
    _ pair: ConfigurationPair, _ name: String, _ owner: Int, _ receiver: ReceiverDescription,
    _ port: ReceiverPortNumber?
  ) throws(SettingProblem) {
    try SettingsReading.check(receiver, hasItems: true)
    let own = port ?? .uart1
    if pair.id == own.rateKey { return try setLineRate(UInt32(truncatingIfNeeded: pair.bits), owner, port) }
    if pair.bits == 0, pair.id == own.inputProtocolKey(1) || pair.id == own.outputProtocolKey(1) {
      throw Self.cutsLine(name)
    }
    entries.append(Entry(setting: .item(pair), owner: owner))
  }

  private mutating func add(
    _ value: Setting.FieldValue, of record: ConfigurationRecord, _ name: String, _ owner: Int,
    _ receiver: ReceiverDescription, _ port: ReceiverPortNumber?
  ) throws(SettingProblem) {
    try SettingsReading.check(receiver, hasItems: false)
    if record.identity == .cfgPRT, value.field.path.lowercased() == "baudrate" {
      guard let rate = UInt32(value.text) else { throw SettingProblem("\(name)=\(value.text): not a baud rate") }
      if record.selector.isEmpty || port.map({ record.selector == [$0.rawValue] }) ?? false {
        return try setLineRate(rate, owner, port)
      }
      if port == nil { portRates.append(PortRate(entry: entries.count, selector: record.selector, rate: rate)) }
    }
    entries.append(
      Entry(setting: .message(record.identity, selector: record.selector, .fields([value])), owner: owner))
  }

  mutating func setLineRate(_ rate: UInt32, _ owner: Int, _ port: ReceiverPortNumber?) throws(SettingProblem) {
    let name = names[owner]
    guard hasRate, port.map({ $0.rateKey != nil }) ?? true else { throw Self.hasNoRate(name) }
    guard (4800...8_000_000).contains(rate) else {
      throw SettingProblem("\(name): a baud rate is at least 4800 and at most 8000000")
    }
    lineRate = LineRate(rate: rate, owner: owner)
  }

  static func hasNoRate(_ name: String) -> SettingProblem { SettingProblem("\(name): this line has no rate") }

  static func cutsLine(_ name: String) -> SettingProblem {
    SettingProblem("\(name): this command uses UBX on that port; switch it off over another port")
  }
}
