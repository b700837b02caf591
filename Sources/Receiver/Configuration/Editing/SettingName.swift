import UBX

/// The name of a setting: an item of the configuration database, or a CFG message or a field of one.
public enum SettingName: Sendable {
  /// The key; the item where the database has it.
  case item(UInt32, ConfigurationItem?)
  case field(ConfigurationRecord, FieldPath)
  case record(ConfigurationRecord)

  /// Reads `CFG-RATE-MEAS`, `RATE-MEAS`, `0x30210001`, `CFG-NAV5.dynModel` or `CFG-PRT[1]`, whatever the case.
  public init(_ text: String) throws(SettingProblem) {
    let name = text.uppercased()
    if name.hasPrefix("0X") {
      guard let id = UInt32(name.dropFirst(2), radix: 16), configurationValueSize(id) != nil else {
        throw SettingProblem("\(text): no key of an item; a key is eight digits such as 0x30210001")
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
    // The field's part keeps its case: it is told as it was written.
    guard let point = Self.point(text) else { throw Self.unknown(text) }
    let before = text[..<point]
    guard let record = ConfigurationRecord(named: before) ?? ConfigurationRecord(named: "CFG-" + before),
      let path = FieldPath(text[text.index(after: point)...]),
      PayloadFields.declared(record.identity, path.path) != nil
    else { throw Self.unknown(text) }
    self = .field(record, path)
  }

  /// The point between the message and the field.
  private static func point(_ text: String) -> String.Index? { text.firstIndex(of: ".") }

  /// The problem with a name that does not exist, with the nearest that do.
  static func unknown(_ text: String) -> SettingProblem {
    if let point = point(text), let record = ConfigurationRecord(named: text[..<point]) {
      let field = String(text[text.index(after: point)...])
      let near = NameMatching.nearest(to: field, among: PayloadFields.names(record.identity))
      return SettingProblem(
        "\(text): \(record.name) has no such field" + suggestion(near.map { "\(record.name).\($0)" }))
    }
    if ["CFG-MSG", "CFG-INF"].contains(text.uppercased()) {
      return SettingProblem("\(text): say which, such as \(text)[\(text.uppercased() == "CFG-MSG" ? "NAV-PVT" : "1")]")
    }
    let wanted = text.uppercased().hasPrefix("CFG-") ? text : "CFG-" + text
    var near = NameMatching.nearest(to: wanted, among: names)
    if near.isEmpty { near = NameMatching.nearest(to: text, among: names) }
    return SettingProblem("\(text): no such setting" + suggestion(near))
  }

  static func suggestion(_ near: [String]) -> String {
    near.isEmpty ? "; sextant configure show lists all" : "; did you mean \(near.joined(separator: ", "))?"
  }

  /// All names that there are.
  private static var names: some Sequence<String> {
    ConfigurationItem.all.lazy.map(\.name.description)
      + (SettingWord.families.map(\.name) + ConfigurationRecord.declared.map(\.name))
  }
}

extension ConfigurationItem {
  /// The type of an item that the database does not have, by the size in its key.
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
