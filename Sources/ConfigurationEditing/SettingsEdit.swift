import MonotonicTime
import Receiver
import UBX

/// Changes settings of a receiver in its RAM: reads what there is, writes what differs, reads it back.
///
///     read all ─▶ a name that it does not have? ── whole or nothing ──▶ over, nothing was written
///        ▼
///     write ── refused ─▶ in halves, until what is refused stands alone
///        ▼
///     read back ─▶ over            whole or nothing, and something refused: ─▶ write what was there ─▶ over
///
/// CFG-VALSET applies all of a message or nothing and does not say which key it refuses (interface descriptions,
/// CFG-VALSET); a CFG message is read, changed and written as a whole.
public struct SettingsEdit: ReceiverScript {
  /// What came of a setting.
  public enum Result: Sendable, Equatable {
    /// It was as wanted.
    case unchanged
    case changed
    /// The receiver does not have it.
    case missing
    /// The receiver refuses the value.
    case refused
    /// It was acknowledged and reads otherwise.
    case notVerified
    /// No answer: it is not known whether it is set.
    case silent
    /// It was left out because another one could not be set, or was set and put back.
    case withdrawn
    /// It was set and could not be put back after another one was refused.
    case left
  }

  /// What one does when a part is refused.
  public enum Scope: Sendable {
    /// Then nothing of it is set.
    case wholeOrNothing
    /// The rest is set.
    case whatIsPossible
  }

  /// One thing of the user's words as the receiver stores it.
  private struct Entry: Sendable {
    var setting: Setting
    /// The word that it belongs to.
    var owner: Int
    /// Whether a receiver that does not have it is as wanted: a constellation that is to be off.
    var isOffWhereMissing = false
    /// What was there, for items.
    var found: UInt64?
    var result: Result?
  }

  /// The entries that change one CFG message.
  private struct Record: Sendable {
    var identity: MessageIdentity
    var selector: [UInt8]
    var entries: [Int]
    var found: [UInt8]?
    var written: [UInt8] = []
  }

  /// A rate of a port that is perhaps the one that is talked over.
  private struct Rate: Sendable {
    var entry: Int
    var selector: [UInt8]
    var rate: UInt32
  }

  private enum Work: Sendable {
    case readPort
    case readItems([Int])
    case readRecord(Int)
    case writeItems([Int])
    case writeRecord(Int)
    case verifyItems([Int])
    case verifyRecord(Int)
    case putBackItems([Int])
    case putBackRecord(Int)
  }

  private enum Phase: Sendable { case reading, writing, puttingBack, over }

  /// The words, in the user's order.
  public let names: [String]
  /// The rate that the line is to have in the end; it is the holder of the line that changes it.
  public private(set) var portRate: UInt32?
  /// The word that it is of.
  private var portRateName = ""
  /// Why nothing of it can be set over this line, as the receiver's own answers have shown: of the user's words, not of the
  /// receiver.
  public private(set) var problem: SettingProblem?

  private let scope: Scope
  private var entries: [Entry] = []
  private var records: [Record] = []
  /// Until the receiver has told its port.
  private var rates: [Rate] = []
  private let hasRate: Bool
  private let line: MeasuredLine?
  private var work: [Work] = []
  private var phase = Phase.reading
  private var done = 0
  private var port: Int
  /// How often what reads otherwise than it was written is read again.
  private var rereadings = SettingsEdit.mostRereadings
  /// A question that was asked thrice on a full line is answered thrice, and each answer but the first comes too late.
  private static let mostRereadings = 2

  /// CFG-SIGNAL's items belong together: what lies between may be refused (interface descriptions, CFG-SIGNAL).
  private static let signalGroup: UInt32 = 0x31
  /// A change of the signals or the systems starts the search for satellites anew, and answers are late.
  private static let restart = Milliseconds(500)

  /// - Parameters:
  ///   - words: what is to be set.
  ///   - receiver: who it is.
  ///   - port: the port that is talked over, where known.
  ///   - hasRate: whether the line has a rate.
  ///   - line: what the line carries, where more epochs than it has room for are to be refused.
  ///   - scope: what one refusal makes of the others.
  public init(
    _ words: [SettingWord], of receiver: ReceiverDescription, port: ReceiverPortNumber?, hasRate: Bool,
    line: MeasuredLine? = nil, scope: Scope = .wholeOrNothing
  ) throws(SettingProblem) {
    names = words.map(\.name)
    self.line = line
    self.scope = scope
    self.hasRate = hasRate
    self.port = Int(port?.rawValue ?? 1)
    let usesItems = receiver.can(.valset)
    for (owner, word) in words.enumerated() {
      try add(word, owner, receiver, port, usesItems: usesItems, hasRate: hasRate)
    }
    startReading(isPortKnown: port != nil, usesItems: usesItems)
  }

  // MARK: Words to settings

  private mutating func add(
    _ word: SettingWord, _ owner: Int, _ receiver: ReceiverDescription, _ port: ReceiverPortNumber?, usesItems: Bool,
    hasRate: Bool
  ) throws(SettingProblem) {
    var desired = DesiredConfiguration()
    switch word.meaning {
    case .measurementPeriod(let period): desired.measurementPeriodMilliseconds = period
    case .model(let model): desired.dynamicModel = model
    case .constellations(let those):
      // The two share their signals: one without the other takes the one for the other (interface descriptions, CFG-GNSS).
      let withQZSS = those.contains(.gps) && !those.contains(.qzss) ? those + [.qzss] : those
      desired.constellations = withQZSS
      if usesItems { return addConstellations(those, owner) }
    case .messages(let messages): return try add(messages, word.name, owner, port, usesItems: usesItems)
    case .writesNMEA(let writes): desired.writesNMEA = writes
    case .portRate(let rate): return try setPortRate(rate, word.name, port, hasRate: hasRate)
    case .item(let pair):
      try SettingsReading.check(receiver, hasItems: true)
      let own = port ?? .uart1
      if pair.id == own.rateKey {
        return try setPortRate(UInt32(truncatingIfNeeded: pair.bits), word.name, port, hasRate: hasRate)
      }
      if pair.bits == 0, pair.id == own.inputProtocolKey(1) || pair.id == own.outputProtocolKey(1) {
        throw Self.cutsLine(word.name)
      }
      entries.append(Entry(setting: .item(pair), owner: owner))
      return
    case .field(let record, let value):
      try SettingsReading.check(receiver, hasItems: false)
      if record.identity == .cfgPRT, value.field.path.lowercased() == "baudrate" {
        guard let rate = UInt32(value.text) else { throw SettingProblem("\(word.name)=\(value.text): not a rate") }
        if record.selector.isEmpty || port.map({ record.selector == [$0.rawValue] }) ?? false {
          return try setPortRate(rate, word.name, port, hasRate: hasRate)
        }
        if port == nil { rates.append(Rate(entry: entries.count, selector: record.selector, rate: rate)) }
      }
      entries.append(
        Entry(setting: .message(record.identity, selector: record.selector, .fields([value])), owner: owner))
      return
    }
    let settings = usesItems ? desired.itemSettings(port ?? .uart1) : desired.messageSettings(for: receiver)
    for setting in settings { entries.append(Entry(setting: setting, owner: owner)) }
  }

  private mutating func addConstellations(_ those: [DesiredConfiguration.Constellation], _ owner: Int) {
    let hasGPS = those.contains(.gps)
    for one in DesiredConfiguration.Constellation.allCases {
      let isOn = those.contains(one)
      // A receiver without QZSS is right where only GPS was asked for.
      let follows = one == .qzss && hasGPS && !isOn
      let pair = ConfigurationPair(id: one.enablingKey, bits: isOn || follows ? 1 : 0)
      entries.append(Entry(setting: .item(pair), owner: owner, isOffWhereMissing: !isOn))
    }
  }

  private mutating func add(
    _ messages: [DesiredConfiguration.MessageRate], _ name: String, _ owner: Int, _ port: ReceiverPortNumber?,
    usesItems: Bool
  ) throws(SettingProblem) {
    for one in messages {
      let message = one.message
      guard usesItems else {
        entries.append(
          Entry(
            setting: .message(
              .cfgMSG, selector: [message.messageClass, message.messageID], .messageRate(one.rate)), owner: owner))
        continue
      }
      guard let key = MessageOutput.key(of: message, on: port ?? .uart1) else {
        throw SettingProblem("\(name): \(MessageNames.name(message)) cannot be switched by an item")
      }
      entries.append(Entry(setting: .item(ConfigurationPair(id: key, bits: UInt64(one.rate))), owner: owner))
    }
  }

  private mutating func setPortRate(
    _ rate: UInt32, _ name: String, _ port: ReceiverPortNumber?, hasRate: Bool
  ) throws(SettingProblem) {
    guard hasRate, port.map({ $0.rateKey != nil }) ?? true else { throw Self.hasNoRate(name) }
    guard (4800...8_000_000).contains(rate) else { throw SettingProblem("\(name): a rate is 4800 baud or more") }
    (portRate, portRateName) = (rate, name)
  }

  /// The rate of the port that is talked over is the line's, and not written as a field.
  private mutating func takeOwnRates(_ known: ReceiverPortNumber?) {
    defer { rates = [] }
    for own in rates where own.selector == [UInt8(truncatingIfNeeded: port)] && problem == nil {
      do throws(SettingProblem) {
        try setPortRate(own.rate, names[entries[own.entry].owner], known, hasRate: hasRate)
        entries[own.entry].result = .unchanged
      } catch {
        guard scope == .whatIsPossible else { return end(with: error) }
        entries[own.entry].result = .missing
      }
      for index in records.indices { records[index].entries.removeAll { $0 == own.entry } }
    }
    work.removeAll { if case .readRecord(let index) = $0 { records[index].entries.isEmpty } else { false } }
  }

  private static func hasNoRate(_ name: String) -> SettingProblem {
    SettingProblem("\(name): this line has no rate")
  }

  private static func cutsLine(_ name: String) -> SettingProblem {
    SettingProblem("\(name): this command talks UBX over that port; switch it off over another one")
  }

  /// Nothing is written.
  private mutating func end(with problem: SettingProblem) {
    self.problem = problem
    portRate = nil
    for index in entries.indices where entries[index].result == nil { entries[index].result = .withdrawn }
    work = []
    phase = .over
  }

  // MARK: Script

  public var progress: (done: Int, of: Int) { (done, done + work.count) }

  /// What came of each word.
  public var results: [Result] {
    names.indices.map { owner in
      let all = entries.filter { $0.owner == owner }.map { $0.result ?? .withdrawn }
      // What the user has to hear comes first.
      let order: [Result] = [.left, .refused, .missing, .silent, .notVerified, .withdrawn, .changed]
      return order.first { all.contains($0) } ?? .unchanged
    }
  }

  /// The settings by the receiver's names that came to `result`.
  public func names(of result: Result) -> [String] {
    entries.filter { $0.result == result }.map { entry in
      switch entry.setting {
      case .item(let pair): pair.item?.name.description ?? SettingValue.name(ofKey: pair.id)
      case .message(let identity, let selector, let change):
        ConfigurationRecord(identity, selector).name + change.fieldName
      }
    }
  }

  public func next() -> Command? {
    guard var command = current else { return nil }
    // A line that a setting has just filled has room for an answer now and then.
    command.patience = Milliseconds(700)
    return command
  }

  private var current: Command? {
    switch work.first {
    case .readPort: return .poll(.cfgPRT)
    case .readItems(let those), .verifyItems(let those): return Configuration.valget(pairs(those))
    case .readRecord(let index), .verifyRecord(let index):
      return .poll(records[index].identity, records[index].selector)
    case .writeItems(let those): return writing(pairs(those))
    case .putBackItems(let those):
      return writing(those.compactMap { index in found(index) })
    case .writeRecord(let index): return writing(records[index], records[index].written)
    case .putBackRecord(let index): return records[index].found.map { writing(records[index], $0) }
    case nil: return nil
    }
  }

  public mutating func receive(_ outcome: Outcome) {
    guard !work.isEmpty else { return }
    let finished = work.removeFirst()
    done += 1
    switch finished {
    case .readPort:
      var known: ReceiverPortNumber?
      if case .answered(let payload) = outcome, let number = payload.first {
        port = Int(number)
        known = ReceiverPortNumber(rawValue: number)
        if portRate != nil, known?.rateKey == nil { end(with: Self.hasNoRate(portRateName)) }
      }
      takeOwnRates(known)
    case .readItems(let those): receiveItems(those, outcome)
    case .readRecord(let index): receiveRecord(index, outcome)
    case .writeItems(let those): receiveWritten(those, outcome)
    case .writeRecord(let index): receiveWritten(index, outcome)
    case .verifyItems(let those): receiveVerified(those, outcome)
    case .verifyRecord(let index): receiveVerified(index, outcome)
    case .putBackItems(let those):
      // What did not take keeps its own result: it is the reason.
      for index in those where entries[index].result == .changed {
        entries[index].result = outcome == .acknowledged ? .withdrawn : .left
      }
    case .putBackRecord(let record):
      for index in records[record].entries where entries[index].result == .changed {
        entries[index].result = outcome == .acknowledged ? .withdrawn : .left
      }
    }
    if work.isEmpty { startNextPhase() }
  }

  // MARK: Reading

  private mutating func startReading(isPortKnown: Bool, usesItems: Bool) {
    var items: [Int] = []
    var needsPort = portRate != nil && !usesItems
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
    // The rate last: more fixes a second than the line has room for leave none for answers.
    records = records.filter { $0.identity != .cfgRATE } + records.filter { $0.identity == .cfgRATE }
    if needsPort, !isPortKnown { work.append(.readPort) }
    // Signals first: they stay in one message.
    let ordered = items.filter { isSignal($0) } + items.filter { !isSignal($0) }
    work += Self.batches(ordered).map { .readItems($0) }
    work += records.indices.map { .readRecord($0) }
    if work.isEmpty { phase = .over }
  }

  private mutating func receiveItems(_ those: [Int], _ outcome: Outcome) {
    switch outcome {
    case .answered(let payload):
      let there = Configuration.pairs(payload)
      for index in those {
        guard case .item(let wanted) = entries[index].setting else { continue }
        guard let pair = there.first(where: { $0.id == wanted.id }) else {
          entries[index].result = .missing
          continue
        }
        entries[index].found = pair.bits
        if pair == wanted { entries[index].result = .unchanged }
      }
    case .refused:
      if those.count > 1 {
        let middle = those.count / 2
        work.insert(.readItems(Array(those[middle...])), at: 0)
        work.insert(.readItems(Array(those[..<middle])), at: 0)
      } else if let index = those.first {
        entries[index].result = entries[index].isOffWhereMissing ? .unchanged : .missing
      }
    default: for index in those { entries[index].result = .silent }
    }
  }

  private mutating func receiveRecord(_ record: Int, _ outcome: Outcome) {
    switch outcome {
    case .answered(let payload):
      let identity = records[record].identity
      if identity == .cfgPRT, records[record].selector.isEmpty, let number = payload.first { port = Int(number) }
      records[record].found = payload
      var wanted = payload
      for index in records[record].entries {
        guard case .message(_, _, let change) = entries[index].setting, change.has(all: payload),
          let changed = change.applied(to: wanted, identity, port: port)
        else {
          entries[index].result = .missing
          continue
        }
        if change.isSame(changed, wanted, identity) { entries[index].result = .unchanged }
        wanted = changed
      }
      setMask(record, &wanted)
      records[record].written = wanted
      if identity == .cfgPRT, payload.first == UInt8(truncatingIfNeeded: port), Self.cutsLine(payload, wanted) {
        let name = names[entries[records[record].entries[0]].owner]
        if scope == .wholeOrNothing { end(with: Self.cutsLine(name)) } else { setResult(.refused, of: record) }
      }
    case .refused: setResult(.missing, of: record)
    default:
      // Old firmware does not tell a message's rates, and takes one for the port that it comes over.
      guard records[record].identity == .cfgMSG, records[record].entries.count == 1,
        case .message(_, let selector, .messageRate(let rate)) = entries[records[record].entries[0]].setting
      else { return setResult(.silent, of: record) }
      records[record].written = selector + [rate]
    }
  }

  /// Whether a port that reads and writes UBX no longer does; CFG-PRT, inProtoMask at 12 and outProtoMask at 14.
  private static func cutsLine(_ found: [UInt8], _ wanted: [UInt8]) -> Bool {
    found.count >= 16 && wanted.count >= 16 && [12, 14].contains { found[$0] & ~wanted[$0] & 1 != 0 }
  }

  /// The mask of a message holds what all entries change, and not what the last one does.
  private func setMask(_ record: Int, _ payload: inout [UInt8]) {
    let fields = records[record].entries.flatMap { index -> [String] in
      guard case .message(_, _, let change) = entries[index].setting else { return [] }
      return change.fieldNames
    }
    if !fields.isEmpty { ApplicationMask.set(records[record].identity, for: fields, in: &payload) }
  }

  // MARK: Writing

  private mutating func startNextPhase() {
    switch phase {
    case .reading:
      phase = .writing
      if scope == .wholeOrNothing, entries.contains(where: { $0.result == .missing || $0.result == .silent }) {
        for index in entries.indices where entries[index].result == nil { entries[index].result = .withdrawn }
        phase = .over
        return
      }
      if let problem = lineProblem { return end(with: problem) }
      startWriting()
      if work.isEmpty { phase = .over }
    case .writing:
      let bad: [Result] = [.refused, .missing, .silent, .notVerified]
      guard scope == .wholeOrNothing, entries.contains(where: { bad.contains($0.result ?? .changed) }) else {
        phase = .over
        return
      }
      phase = .puttingBack
      startPuttingBack()
      if work.isEmpty { phase = .over }
    case .puttingBack, .over: phase = .over
    }
  }

  /// More epochs than the line has room for would leave none for the answers to this and all later commands.
  private var lineProblem: SettingProblem? {
    guard let line else { return nil }
    var period = EpochPeriod()
    for entry in entries {
      if case .item(let pair) = entry.setting, let found = entry.found {
        period.change(pair.id, from: found, to: pair.bits)
      }
    }
    for record in records where record.identity == .cfgRATE {
      if let found = record.found { period.change(from: found, to: record.written) }
    }
    let owner = entries.first { $0.setting.isOfEpochs }?.owner
    return period.problem(line, at: min(portRate ?? line.rate, line.rate)).map { reason in
      SettingProblem(owner.map { "\(names[$0]): \(reason)" } ?? reason)
    }
  }

  private mutating func startWriting() {
    let different = entries.indices.filter { index in
      if case .item = entries[index].setting { entries[index].result == nil } else { false }
    }
    // Those that are as wanted come along within the signals: a message has to make sense for itself.
    work += Self.batches(different.filter { isSignal($0) } + different.filter { !isSignal($0) }).map { .writeItems($0) }
    for (index, record) in records.enumerated() where record.entries.contains(where: { entries[$0].result == nil }) {
      work.append(.writeRecord(index))
    }
  }

  private mutating func receiveWritten(_ those: [Int], _ outcome: Outcome) {
    switch outcome {
    case .refused:
      guard those.count > 1 else { return those.forEach { entries[$0].result = .refused } }
      let middle = those.count / 2
      work.insert(.writeItems(Array(those[middle...])), at: 0)
      work.insert(.writeItems(Array(those[..<middle])), at: 0)
    default:
      // Without an answer too: reading shows whether it was heard.
      work.insert(.verifyItems(those), at: 0)
    }
  }

  private mutating func receiveVerified(_ those: [Int], _ outcome: Outcome) {
    guard case .answered(let payload) = outcome else {
      for index in those { entries[index].result = .silent }
      return
    }
    let there = Configuration.pairs(payload)
    if !pairs(those).allSatisfy({ there.contains($0) }), readsAgain { return work.insert(.verifyItems(those), at: 0) }
    rereadings = Self.mostRereadings
    for index in those {
      guard case .item(let wanted) = entries[index].setting else { continue }
      entries[index].result = there.contains(wanted) ? .changed : .notVerified
    }
  }

  private mutating func receiveWritten(_ record: Int, _ outcome: Outcome) {
    if case .refused = outcome {
      setResult(.refused, of: record)
      // The rest is not tried where it would be taken back.
      if scope == .wholeOrNothing { work = [] }
      return
    }
    if records[record].written.count == 3, records[record].found == nil {
      // What cannot be asked for cannot be read back.
      setResult(outcome == .acknowledged ? .changed : .silent, of: record)
    } else {
      work.insert(.verifyRecord(record), at: 0)
    }
  }

  private mutating func receiveVerified(_ record: Int, _ outcome: Outcome) {
    guard case .answered(let payload) = outcome else { return setResult(.silent, of: record) }
    let isSame = records[record].entries.map { index in
      guard case .message(let identity, _, let change) = entries[index].setting else { return true }
      return change.isSame(payload, records[record].written, identity)
    }
    if isSame.contains(false), readsAgain { return work.insert(.verifyRecord(record), at: 0) }
    rereadings = Self.mostRereadings
    for (index, isSame) in zip(records[record].entries, isSame) where entries[index].result == nil {
      entries[index].result = isSame ? .changed : .notVerified
    }
  }

  private var readsAgain: Bool {
    mutating get {
      rereadings -= 1
      return rereadings >= 0
    }
  }

  private mutating func setResult(_ result: Result, of record: Int) {
    for index in records[record].entries where entries[index].result == nil { entries[index].result = result }
  }

  // MARK: Putting back

  private mutating func startPuttingBack() {
    let items = entries.indices.filter { index in
      guard case .item = entries[index].setting else { return false }
      return isPerhapsSet(entries[index].result) && entries[index].found != nil
    }
    work += Self.batches(items).map { .putBackItems($0) }
    for (index, record) in records.enumerated() where record.found != nil {
      guard record.entries.contains(where: { isPerhapsSet(entries[$0].result) }) else { continue }
      // The rate first: it may be what fills the line.
      work.insert(.putBackRecord(index), at: record.identity == .cfgRATE ? 0 : work.count)
    }
    for index in entries.indices where entries[index].result == nil { entries[index].result = .withdrawn }
  }

  /// Whether a setting with this result may be other than it was.
  private func isPerhapsSet(_ result: Result?) -> Bool {
    [.changed, .notVerified, .silent].contains(result)
  }

  // MARK: Commands

  private func pairs(_ those: [Int]) -> [ConfigurationPair] {
    those.compactMap { if case .item(let pair) = entries[$0].setting { pair } else { nil } }
  }

  private func found(_ index: Int) -> ConfigurationPair? {
    guard case .item(let pair) = entries[index].setting, let bits = entries[index].found else { return nil }
    return ConfigurationPair(id: pair.id, bits: bits)
  }

  private func isSignal(_ index: Int) -> Bool {
    if case .item(let pair) = entries[index].setting { pair.id >> 16 & 0xFF == Self.signalGroup } else { false }
  }

  private func writing(_ pairs: [ConfigurationPair]) -> Command {
    var command = Configuration.valset(pairs, layers: 1)
    if pairs.contains(where: { $0.id >> 16 & 0xFF == Self.signalGroup }) { command.pause = Self.restart }
    return command
  }

  private func writing(_ record: Record, _ payload: [UInt8]) -> Command {
    var command = Command(record.identity, payload, answer: .acknowledgement)
    // A port that starts anew drops what is on its way.
    if record.identity == .cfgPRT { command.pause = Milliseconds(100) }
    if record.identity == .cfgGNSS { command.pause = Self.restart }
    return command
  }

  private static func batches(_ those: [Int]) -> [[Int]] {
    stride(from: 0, to: those.count, by: ConfigurationWriter.mostItems).map {
      Array(those[$0..<min($0 + ConfigurationWriter.mostItems, those.count)])
    }
  }
}

extension Setting {
  /// Whether it says how often an epoch comes.
  fileprivate var isOfEpochs: Bool {
    switch self {
    case .item(let pair): EpochPeriod.items.contains(pair.id)
    case .message(let identity, _, _): identity == .cfgRATE
    }
  }
}

extension Setting.Change {
  /// Whether a message has a place for what is wanted: CFG-GNSS has a block for each system of the receiver.
  func has(all payload: [UInt8]) -> Bool {
    guard case .constellations(let wanted) = self, payload.count >= 4 else { return true }
    let places = (0..<Int(payload[3])).map { 4 + 8 * $0 }
    let blocks = places.filter { $0 < payload.count }.map { payload[$0] }
    // QZSS goes with GPS where there is one.
    return wanted.allSatisfy { blocks.contains($0) || $0 == DesiredConfiguration.Constellation.qzss.rawValue }
  }

  /// The names of the fields that it changes, for messages with masks.
  var fieldNames: [String] {
    switch self {
    case .fields(let values): values.map(\.field.path)
    case .dynamicModel: ["dynModel"]
    case .answersToAssistance: ["ackAiding"]
    default: []
    }
  }

  /// The field, as it follows the message's name.
  var fieldName: String {
    switch self {
    case .fields(let values): values.first.map { "." + $0.field.text } ?? ""
    case .measurementPeriod: ".measRate"
    case .dynamicModel: ".dynModel"
    case .answersToAssistance: ".ackAiding"
    case .messageRate: ".rate"
    default: ""
    }
  }
}
