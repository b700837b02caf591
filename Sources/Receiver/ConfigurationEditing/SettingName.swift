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

/// Search for names: by a pattern, and by similarity to a name that does not exist.
package enum NameMatching {
  /// Whether a name matches a pattern, regardless of case. `*` matches any characters and `?` one. A pattern without
  /// them matches anywhere in the name.
  static func matches(_ name: String, _ pattern: String) -> Bool {
    let name = Array(name.lowercased().utf8)
    let pattern = Array(pattern.lowercased().utf8)
    let star = UInt8(ascii: "*")
    let one = UInt8(ascii: "?")
    guard pattern.contains(star) || pattern.contains(one) else { return contains(name, pattern) }
    var n = 0
    var p = 0
    // The place to continue at if the part after the last star does not match.
    var back: (name: Int, pattern: Int)?
    while n < name.count {
      if p < pattern.count, pattern[p] == star {
        back = (n, p + 1)
        p += 1
      } else if p < pattern.count, pattern[p] == one || pattern[p] == name[n] {
        n += 1
        p += 1
      } else if let last = back {
        back = (last.name + 1, last.pattern)
        n = last.name + 1
        p = last.pattern
      } else {
        return false
      }
    }
    while p < pattern.count, pattern[p] == star { p += 1 }
    return p == pattern.count
  }

  /// Returns up to three names that are most similar to `name`, the best first.
  package static func nearest(to name: String, among names: some Sequence<String>) -> [String] {
    let target = Array(name.lowercased().utf8)
    guard !target.isEmpty else { return [] }
    let most = max(2, target.count / 3)
    var best: [(name: String, score: Int)] = []
    for candidate in names {
      let other = Array(candidate.lowercased().utf8)
      // A part of a name is closer than any misspelling.
      let isPart = contains(other, target)
      // A distance is never below the difference of the lengths: text that is much longer than names costs little.
      guard isPart || abs(target.count - other.count) <= most else { continue }
      let score = isPart ? 0 : distance(target, other)
      guard score <= most else { continue }
      best.append((candidate, score * 64 + abs(other.count - target.count)))
    }
    return best.sorted { ($0.score, $0.name) < ($1.score, $1.name) }.prefix(3).map(\.name)
  }

  /// Returns the end of a message about an unknown name.
  ///
  /// - Parameters:
  ///   - near: the most similar names.
  ///   - nextStep: what the user can do if there are none.
  package static func suggestion(_ near: [String], otherwise nextStep: String) -> String {
    near.isEmpty ? "; \(nextStep)" : "; did you mean \(near.joined(separator: ", "))?"
  }

  private static func contains(_ name: [UInt8], _ part: [UInt8]) -> Bool {
    guard name.count >= part.count else { return false }
    return (0...name.count - part.count).contains { name[$0..<$0 + part.count].elementsEqual(part) }
  }

  /// The number of characters to insert, delete, replace or swap with their neighbour (optimal string alignment).
  private static func distance(_ a: [UInt8], _ b: [UInt8]) -> Int {
    var before: [Int] = []
    var row = Array(0...b.count)
    for i in a.indices {
      var next = [i + 1]
      for j in b.indices {
        var least = min(next[j] + 1, row[j + 1] + 1, row[j] + (a[i] == b[j] ? 0 : 1))
        if i > 0, j > 0, a[i] == b[j - 1], a[i - 1] == b[j] { least = min(least, before[j - 1] + 1) }
        next.append(least)
      }
      before = row
      row = next
    }
    return row[b.count]
  }
}
