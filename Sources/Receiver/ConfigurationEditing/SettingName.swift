// SPDX-License-Identifier: Apache-2.0

import UBX

/// The name of a setting: a configuration item, a CFG message, or a field of a CFG message.
package enum SettingName: Sendable {
  /// A key, and the item if the database has it.
  case item(UInt32, ConfigurationItem?)
  case field(ConfigurationRecord, FieldPath)
  case record(ConfigurationRecord)
  /// A name that works on every family: an item on newer receivers, a field on older ones.
  indirect case family(item: SettingName, field: SettingName)

  /// Names of every family that stand for one item or one field.
  private static let single: [(name: String, item: String, field: String)] = [
    ("rate", "CFG-RATE-MEAS", "CFG-RATE.measRate"), ("model", "CFG-NAVSPG-DYNMODEL", "CFG-NAV5.dynModel"),
  ]

  /// Names of every family that stand for several settings, and the patterns of their items and fields.
  private static let several: [(name: String, items: String, fields: String)] = [
    ("constellations", "CFG-SIGNAL-*", "CFG-GNSS*"), ("messages", "CFG-MSGOUT-*", "CFG-MSG*"),
    ("nmea", "CFG-*OUTPROT-NMEA", "CFG-PRT*.outProtoMask"), ("baud", "CFG-UART*-BAUDRATE", "CFG-PRT*.baudRate"),
  ]

  /// Whether a name stands for several settings, which ``pattern(of:for:)`` finds.
  package static func isOfSeveral(_ text: String) -> Bool { several.contains { $0.name == text.lowercased() } }

  /// Returns the pattern of the settings that a name of every family stands for; nil for another name.
  package static func pattern(of text: String, for receiver: ReceiverDescription) -> String? {
    several.first { $0.name == text.lowercased() }.map { receiver.can(.valset) ? $0.items : $0.fields }
  }

  /// Reads a name, regardless of case: `CFG-RATE-MEAS`, `RATE-MEAS`, `0x30210001`, `CFG-NAV5.dynModel`, `CFG-PRT[1]`,
  /// and `rate` and `model` of every family.
  package init(_ text: String) throws(SettingProblem) {
    if let family = Self.single.first(where: { $0.name == text.lowercased() }) {
      self = .family(item: try SettingName(family.item), field: try SettingName(family.field))
      return
    }
    if Self.isOfSeveral(text) {
      throw SettingProblem(
        "\(text): not a single setting; `sextant configure get \(text)`, without other names, prints it")
    }
    let name = text.uppercased()
    if name.hasPrefix("0X") {
      guard let id = UInt32(name.dropFirst(2), radix: 16), configurationValueSize(id) != nil else {
        throw SettingProblem("\(text): not the key of an item; a key has eight digits, such as 0x30210001")
      }
      self = .item(id, ConfigurationItem.with(id: id))
      return
    }
    for candidate in [name, "CFG-" + name] {
      let bytes = Array(candidate.utf8)
      if let item = ConfigurationItem.named(bytes.span) {
        self = .item(item.id, item)
        return
      }
      if let record = ConfigurationRecord(named: candidate) {
        self = .record(record)
        return
      }
    }
    // The field keeps its case for messages to the user.
    guard let point = Self.point(text) else { throw Self.unknown(text) }
    let before = text[..<point]
    guard let record = ConfigurationRecord(named: before) ?? ConfigurationRecord(named: "CFG-" + before),
      let path = FieldPath(text[text.index(after: point)...]),
      PayloadFields.declared(record.identity, path.path) != nil
    else { throw Self.unknown(text) }
    self = .field(record, path)
  }

  /// The name of this setting on a receiver.
  func resolved(for receiver: ReceiverDescription) -> SettingName {
    guard case .family(let item, let field) = self else { return self }
    return receiver.can(.valset) ? item : field
  }

  /// The point between the message and the field.
  private static func point(_ text: String) -> String.Index? { text.firstIndex(of: ".") }

  /// Returns the problem with an unknown name, with the most similar known names.
  static func unknown(_ text: String) -> SettingProblem {
    if let point = point(text), let record = ConfigurationRecord(named: text[..<point]) {
      let field = String(text[text.index(after: point)...])
      let near = NameMatching.nearest(to: field, among: PayloadFields.names(record.identity))
      return SettingProblem(
        "\(text): \(record.name) has no such field" + suggestion(near.map { "\(record.name).\($0)" }))
    }
    if ["CFG-MSG", "CFG-INF"].contains(text.uppercased()) {
      return SettingProblem(
        "\(text): name one of them, such as \(text)[\(text.uppercased() == "CFG-MSG" ? "NAV-PVT" : "1")]")
    }
    let full = text.uppercased().hasPrefix("CFG-") ? text : "CFG-" + text
    var near = NameMatching.nearest(to: full, among: names)
    if near.isEmpty { near = NameMatching.nearest(to: text, among: names) }
    // The names of every family are short, and would be lost among the items that contain such a word.
    let families = text.count > 2 ? NameMatching.nearest(to: text, among: SettingWord.families.map(\.name)) : []
    near = Array((families + near.filter { !families.contains($0) }).prefix(3))
    return SettingProblem("\(text): no such setting" + suggestion(near))
  }

  static func suggestion(_ near: [String]) -> String {
    NameMatching.suggestion(near, otherwise: "`sextant configure show` lists all")
  }

  /// All names of settings.
  private static var names: some Sequence<String> {
    ConfigurationItem.all.lazy.map(\.name.description)
      + (SettingWord.families.map(\.name) + ConfigurationRecord.declared.map(\.name))
  }
}

extension ConfigurationItem {
  /// The type of an item that the database lacks, by the size in its key.
  static func plainType(_ id: UInt32) -> FieldLayout.WireType {
    switch id >> 28 & 7 {
    case 1: .l
    case 2: .u1
    case 3: .u2
    case 4: .u4
    default: .u8
    }
  }
}
