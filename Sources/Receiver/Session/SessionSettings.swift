// SPDX-License-Identifier: Apache-2.0
import MonotonicTime
import ReceiverStream
import UBX
import WireBytes

/// The settings of a session.
public struct SessionSettings: Sendable {
  /// The purpose of a session, which limits what it may send.
  public enum Intent: Sendable {
    /// Nothing is sent.
    case readOnly
    /// Only a receiver that shows to be a u-blox one is polled and configured.
    case serve
    /// Any receiver is polled for its identity, except one of another manufacturer.
    case identify
  }

  /// The kind of the line.
  public enum Line: Sendable, Equatable {
    /// A line whose rate the session finds.
    case serial
    /// A line with a given rate; no other one is tried.
    case bound
    /// The receiver's own USB port, which has no rate.
    case usb
    /// A device of the kernel's GNSS subsystem, an I2C bus or a FIFO, without a rate.
    case withoutRate(ReceiverPortNumber?)
  }

  public var intent: Intent
  public var line: Line
  /// Whether the bytes come from a recording. Their dates are not the computer's.
  public var isRecording = false
  /// Whether the device is a u-blox receiver, by its USB ids or by an earlier session.
  public var isKnownUBlox = false
  /// Earlier rates of the receiver, in baud.
  public var likelyRates: [UInt32] = []
  /// The desired configuration of an identified receiver.
  public var desired: @Sendable (ReceiverDescription) -> DesiredConfiguration = { .navigation(for: $0) }
  /// The assistance for a receiver after its start; nil for none.
  public var assistance: AssistanceSettings?
  /// Whether the receiver is polled for the validity of its orbits after the first fix of a start.
  public var pollsOrbits = false
  /// Whether the end of the session restores what was changed.
  public var restoresAtEnd = true
  /// Whether UBX may be switched on at a u-blox receiver without UBX replies, which changes its port until it loses power.
  public var maySwitchUBXOn = true
  /// The beginning of the frame, perhaps empty, that a killed reader received last. The line still has its rate, which the
  /// first bytes outside of frames do not refute.
  public var unfinishedFrame: [UInt8]?
  /// The record of a killed program: the receiver is woken at its rate first.
  public var recovery: CrashRecoveryRecord?
  /// The settings that the killed program changed.
  public var recoverySettings: CrashRecoverySettings?
  /// The memory of the session before, on the same receiver.
  public var memory: SessionMemory?

  public init(intent: Intent, line: Line) {
    self.intent = intent
    self.line = line
  }
}

/// What a session leaves to the next one with the same receiver, after an unplug for example.
public struct SessionMemory: Sendable {
  /// The rate at which frames were received.
  public var rate: UInt32?
  /// The rate that the line was found at, if it was raised from that; the end restores it.
  var foundRate: UInt32?
  /// The name of the family's port whose rate was raised.
  var raisedPort: String?
  public var description: ReceiverDescription?
  /// Whether the receiver had no reply to the probes of any family: it is not probed again while it is the same one.
  public var isUnanswering = false
  /// The receiver's orbits at the end of the session, if `AssistanceSettings.readsDatabaseAtEnd` is set.
  public var database: [AssistanceRecord.Message] = []
  /// The settings as they were found before they were changed.
  var found: [Setting] = []
  /// The values of another maker's receiver as they were found before they were changed.
  var foundValues: [ReceiverValue] = []
  /// The content of battery-backed memory before it was written.
  var backup = BackupStore.Before()

  /// Keeps settings as they were found, the first finding of each.
  mutating func keep(_ settings: [Setting]) {
    for one in settings where !found.contains(where: { $0.isOfSame(one) }) { found.append(one) }
  }

  mutating func keep(_ values: [ReceiverValue]) {
    for one in values {
      if let index = foundValues.firstIndex(where: { $0.kind == one.kind }) {
        foundValues[index] = foundValues[index].adding(one)
      } else {
        foundValues.append(one)
      }
    }
  }

  mutating func clearSettings() {
    found = []
    foundValues = []
    foundRate = nil
    raisedPort = nil
    backup = BackupStore.Before()
  }
}

/// The changed settings of a receiver as they were found, for the next program if this one is killed.
public struct CrashRecoverySettings: Sendable, Equatable {
  /// The name of the receiver: another receiver is not changed. `unidentified` before the first reply.
  let receiver: String
  /// The settings as they were found, in the order of their changes.
  let found: [Setting]
  let backup: BackupStore.Before
  /// The values of another maker's receiver as they were found.
  var values: [ReceiverValue] = []

  /// The settings of `memory`; nil without a change.
  init?(_ memory: SessionMemory, of description: ReceiverDescription) {
    guard !(memory.found.isEmpty && memory.backup.isEmpty && memory.foundValues.isEmpty) else { return nil }
    receiver = Self.name(description)
    found = memory.found
    backup = memory.backup
    values = memory.foundValues
  }

  private static let unidentified = "?"

  /// The settings of a receiver that has not replied yet: UBX output was switched on at this port.
  init(switchedOn port: ReceiverPortNumber) {
    receiver = Self.unidentified
    found = [.item(port.writesUBX(false))]
    backup = BackupStore.Before()
  }

  /// Whether these settings belong to a receiver. Without a name they belong to one with configuration items.
  func isOf(_ description: ReceiverDescription) -> Bool {
    receiver == Self.name(description) || receiver == Self.unidentified && description.can(.valset)
  }

  /// Returns the name of a receiver, without blanks.
  static func name(_ description: ReceiverDescription) -> String {
    if let id = description.uniqueID { return Self.hex(id) }
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
    var lines = ["of \(receiver)"]
    lines += found.compactMap(Self.line)
    lines += values.map { "value \($0.text)" }
    lines += backup.kept.map { "kept \($0.id) \($0.bits)" }
    if backup.isUnreadable { lines.append("unreadable") }
    if backup.isWhole { lines.append("whole") }
    return lines.joined(separator: "\n")
  }

  /// Reads `text`; nil if a line is malformed.
  public init?(_ text: some StringProtocol) {
    let lines = text.split(whereSeparator: \.isNewline).map { $0.split(separator: " ") }
    guard let first = lines.first, first.count == 2, first[0] == "of" else { return nil }
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
      case "value":
        guard words.count == 3, let value = ReceiverValue(String(words[1]), String(words[2])) else { return nil }
        values.append(value)
      case "unreadable": backup.isUnreadable = true
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
