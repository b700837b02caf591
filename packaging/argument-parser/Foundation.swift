// SPDX-License-Identifier: Apache-2.0
// In the place of the file of this name of swift-argument-parser in the programs that are installed (replace.sh). Its original is
// the one import of FoundationEssentials in `sextant`: four megabytes, for the JSON of --experimental-dump-help.

extension Error {
  func describe() -> String { String(describing: self) }
}

/// JSON of the values of ArgumentParserToolInfo: structures, enumerations, lists, dictionaries, strings, integers and truth values.
enum JSONEncoder {
  static func encode<T: Encodable>(_ value: T) -> String { json(value) ?? "null" }

  /// The JSON that a synthesized `Encodable` has; nil for nil, which is left out of an object.
  private static func json(_ value: Any) -> String? {
    if let string = value as? String { return quoted(string) }
    if let raw = value as? any RawRepresentable<String> { return quoted(raw.rawValue) }
    let mirror = Mirror(reflecting: value)
    switch mirror.displayStyle {
    case .optional: return mirror.children.first.flatMap { json($0.value) }
    case .collection: return "[\(mirror.children.compactMap { json($0.value) }.joined(separator: ","))]"
    case .dictionary:
      let members = mirror.children.compactMap { child in
        (child.value as? (key: AnyHashable, value: Any)).flatMap { object([("\($0.key)", $0.value)]) }
      }
      return "{\(members.map { $0.dropFirst().dropLast() }.sorted().joined(separator: ","))}"
    case .enum:
      // A case without values has no children.
      guard let child = mirror.children.first, let name = child.label else { return "{\(quoted("\(value)")):{}}" }
      return json(child.value).map { "{\(quoted(name)):\($0)}" }
    case .struct, .tuple: return object(mirror.children.map { ($0.label ?? "_0", $0.value) })
    default: return "\(value)"
    }
  }

  private static func object(_ members: [(name: String, value: Any)]) -> String {
    "{\(members.compactMap { member in json(member.value).map { "\(quoted(member.name)):\($0)" } }.joined(separator: ","))}"
  }

  /// A string of RFC 8259, section 7.
  private static func quoted(_ text: String) -> String {
    let characters = text.unicodeScalars.map { scalar in
      switch scalar {
      case "\"", "\\": "\\\(scalar)"
      case "\u{20}"...: String(scalar)
      default: "\\u00\(scalar.value < 16 ? "0" : "")\(String(scalar.value, radix: 16))"
      }
    }
    return "\"\(characters.joined())\""
  }
}
