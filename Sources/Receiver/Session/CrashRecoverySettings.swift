// SPDX-License-Identifier: Apache-2.0
import ReceiverStream
import UBX
import WireBytes

/// The changed settings of a receiver as they were found, for the next program if this one is killed.
public struct CrashRecoverySettings: Sendable, Equatable {
  /// The name of the receiver: another receiver is not changed. `unidentified` before the first reply.
  public let receiver: String
  /// The receiver's port, where the kind of the line shows it: settings of one port do not apply to another.
  let port: ReceiverPortNumber?
  /// The settings as they were found, in the order of their changes.
  let found: [Setting]
  let backup: BackupStore.Before
  /// The values of another maker's receiver as they were found.
  var values: [ReceiverValue] = []
  /// The log of a user that was stopped for a restart.
  var stoppedLog: LoggerState?

  /// The settings of `memory`; nil without a change.
  init?(_ memory: SessionMemory, of description: ReceiverDescription, on line: SessionSettings.Line) {
    guard memory.hasChanges else { return nil }
    receiver = Self.name(description)
    port = line.port
    found = memory.found
    backup = memory.backup
    values = memory.foundValues
    stoppedLog = memory.stoppedLog
  }

  private static let unidentified = "?"
  /// Whether the receiver had not replied when the record was made.
  public var isUnidentified: Bool { receiver == Self.unidentified }
  /// Whether the name is the id of a chip, which no other receiver has.
  public var hasUniqueID: Bool { Self.bytes(receiver) != nil }

  /// The settings of a receiver that has not replied yet, before its UBX output was switched on; nil if it was not.
  init?(ofUnidentified found: [Setting]) {
    if found.isEmpty { return nil }
    receiver = Self.unidentified
    port = nil
    self.found = found
    backup = BackupStore.Before()
  }

  /// Whether these settings belong to a receiver. Without a name they belong to a receiver of u-blox, and with the name of a model to
  /// each of it: the reply with the id can be lost.
  func isOf(_ description: ReceiverDescription) -> Bool {
    Self.names(description).contains(receiver) || isUnidentified && description.family == nil
  }

  /// The settings as they were found, in the language of the receiver.
  func found(on description: ReceiverDescription) -> [Setting] {
    guard isUnidentified else { return found }
    return found.filter { if case .item = $0 { description.can(.valset) } else { !description.can(.valset) } }
  }

  /// Returns the names of a receiver, the one for records first: the id of its chip if it was read, and the name of its model.
  public static func names(_ description: ReceiverDescription) -> [String] {
    [description.uniqueID.map { Self.hex($0) }, model(description)].compactMap(\.self)
  }

  /// Returns the name of a receiver in records, without blanks.
  public static func name(_ description: ReceiverDescription) -> String { names(description)[0] }

  /// Whether two descriptions can be of one receiver: the ids are equal, or one was not read and the models are.
  public static func isSame(_ first: ReceiverDescription, _ second: ReceiverDescription) -> Bool {
    if let id = first.uniqueID, let other = second.uniqueID { return id == other }
    return model(first) == model(second)
  }

  private static func model(_ description: ReceiverDescription) -> String {
    if let family = description.family {
      // On a full line the reply with the model may be lost.
      let words = [family.rawValue, description.firmware ?? description.model].compactMap(\.self).joined(separator: "-")
      return String(words.filter { !$0.isWhitespace })
    }
    let words = [description.hardware, description.firmware].compactMap(\.self).joined(separator: "-")
    return String(words.filter { !$0.isWhitespace })
  }

  /// The settings as lines of text, without those that are not plain values: they are never restored.
  public var text: String {
    var lines = ["of \(receiver)" + (port.map { " port \($0.rawValue)" } ?? "")]
    lines += found.compactMap(Self.line)
    lines += values.map { "value \($0.text)" }
    if let stoppedLog { lines.append("log \(stoppedLog.interval)") }
    lines += backup.kept.map { "kept \($0.id) \($0.bits)" }
    switch backup.knowledge {
    case .complete: break
    case .emptyIfReadable: lines.append("unread")
    case .incomplete: lines.append("unreadable")
    }
    if backup.isWhole { lines.append("whole") }
    return lines.joined(separator: "\n")
  }

  /// Reads `text`; nil if a line is malformed.
  public init?(_ text: some StringProtocol) {
    let lines = text.split(whereSeparator: \.isNewline).map { $0.split(separator: " ") }
    guard let first = lines.first, first.count == 2 || first.count == 4, first[0] == "of" else { return nil }
    if first.count == 4 {
      guard first[2] == "port", let number = UInt8(first[3]), let port = ReceiverPortNumber(rawValue: number) else {
        return nil
      }
      self.port = port
    } else {
      port = nil
    }
    var found: [Setting] = []
    var backup = BackupStore.Before()
    var values: [ReceiverValue] = []
    for words in lines.dropFirst() {
      switch words.first {
      // A line of blanks.
      case nil: return nil
      case "kept":
        guard let pair = Self.pair(words) else { return nil }
        backup.kept.append(pair)
      // A record of version 0.2 names the items that were added; the whole memory is restored now.
      case "added": break
      case "value":
        guard words.count == 3, let value = ReceiverValue(String(words[1]), String(words[2])) else { return nil }
        values.append(value)
      case "log":
        guard words.count == 2, let interval = UInt16(words[1]) else { return nil }
        stoppedLog = .resuming(interval: interval)
      case "unread": backup.knowledge = .emptyIfReadable
      case "unreadable": backup.knowledge = .incomplete
      case "whole": backup.isWhole = true
      default:
        guard let setting = Self.setting(words) else { return nil }
        found.append(setting)
      }
    }
    receiver = String(first[1])
    self.found = found
    self.backup = backup
    self.values = values
  }

  private static func line(_ setting: Setting) -> String? {
    switch setting {
    case .item(let pair): return "item \(pair.id) \(pair.bits)"
    case .message(let identity, let selector, let change):
      let change: String? =
        switch change {
        case .payload(let bytes): "payload \(hex(bytes))"
        case .messageRate(let rate): "rate \(rate)"
        case .measurementPeriod(let period): "period \(period)"
        case .dynamicModel(let model): "model \(model)"
        case .answersToAssistance(let answers): "answers \(answers ? 1 : 0)"
        case .portProtocols(let input, let output): "protocols \(input) \(output)"
        case .lowPower(let mode): "low \(mode)"
        case .powerSave(.continuous): "continuous"
        case .port, .constellations, .fields, .powerSave, .batch: nil
        }
      return change.map { "message \(identity.key) \(hex(selector)) \($0)" }
    }
  }

  private static func setting(_ words: [some StringProtocol]) -> Setting? {
    if words.first == "item" { return pair(words).map { .item($0) } }
    guard words.count >= 4, words[0] == "message", let key = UInt16(words[1]), let selector = bytes(words[2]) else {
      return nil
    }
    let identity = MessageIdentity(UInt8(key >> 8), UInt8(key & 0xFF))
    let numbers = words.dropFirst(4).map { UInt16($0) }
    let change: Setting.Change? =
      switch (words[3], numbers.count) {
      case ("payload", 1): bytes(words[4]).map { .payload($0) }
      case ("rate", 1): numbers[0].flatMap { UInt8(exactly: $0) }.map { .messageRate($0) }
      case ("period", 1): numbers[0].map { .measurementPeriod($0) }
      case ("model", 1): numbers[0].flatMap { UInt8(exactly: $0) }.map { .dynamicModel($0) }
      case ("answers", 1): numbers[0].map { .answersToAssistance($0 != 0) }
      case ("protocols", 2):
        if let input = numbers[0], let output = numbers[1] { .portProtocols(input: input, output: output) } else { nil }
      case ("low", 1): numbers[0].flatMap { UInt8(exactly: $0) }.map { .lowPower($0) }
      case ("continuous", 0): .powerSave(.continuous)
      default: nil
      }
    return change.map { .message(identity, selector: selector, $0) }
  }

  private static func pair(_ words: [some StringProtocol]) -> ConfigurationPair? {
    guard words.count == 3, let key = UInt32(words[1]), let bits = UInt64(words[2]) else { return nil }
    return ConfigurationPair(id: key, bits: bits)
  }

  /// Returns two digits for each byte after a mark, so that no bytes are a word too.
  private static func hex(_ bytes: [UInt8]) -> String {
    "x" + bytes.hexadecimalDigits
  }

  private static func bytes(_ word: some StringProtocol) -> [UInt8]? {
    word.first == "x" ? [UInt8](hexadecimalDigits: word.dropFirst()) : nil
  }
}

/// The record of a receiver that a killed program left at another line, or that another receiver has replaced.
public struct OtherCrashRecoveryRecord: Sendable {
  public var recovery: CrashRecoveryRecord
  public var settings: CrashRecoverySettings
  /// Whether the receiver was at this line. At another line it is recognised by the id of its chip alone.
  public var wasAtThisLine: Bool

  public init(_ recovery: CrashRecoveryRecord, _ settings: CrashRecoverySettings, wasAtThisLine: Bool) {
    self.recovery = recovery
    self.settings = settings
    self.wasAtThisLine = wasAtThisLine
  }

  /// Whether it is the record of a receiver at a line.
  func isOf(_ description: ReceiverDescription, on line: SessionSettings.Line) -> Bool {
    guard !settings.isUnidentified, settings.isOf(description) else { return false }
    return wasAtThisLine || settings.hasUniqueID && settings.port == line.port
  }
}
