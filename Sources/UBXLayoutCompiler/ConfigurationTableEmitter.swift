// SPDX-License-Identifier: Apache-2.0

extension SwiftEmitter {
  /// The configuration items as one text, as `ConfigurationTable` describes it.
  mutating func configurationTable(_ keys: [ConfigurationKey]) {
    put()
    put("extension ConfigurationTable {")
    put("/// Every item, sorted by key.", 1)
    put("static var text: StaticString {", 1)
    put("\"\"\"", 2)
    for key in keys.sorted(by: { $0.id < $1.id }) {
      let digits = String(key.id, radix: 16)
      let id = String(repeating: "0", count: 8 - digits.count) + digits
      put("\(id)\(key.type.prefix(1))\(places(key))\(key.name)\\0\(key.unit)\\0\\", 2)
    }
    put("", 2)
    put("\"\"\"", 2)
    put("}", 1)
    put("}")
  }

  /// The scale of an item as one character.
  private func places(_ key: ConfigurationKey) -> String {
    if key.scale.isEmpty { return "0" }
    if key.scale.hasPrefix("2^-"), let exponent = Int(key.scale.dropFirst(3)), (1...26).contains(exponent) {
      return String(UnicodeScalar(UInt8(ascii: "a") + UInt8(exponent - 1)))
    }
    if let value = Double(key.scale) {
      for digits in 0...9 where value == Double("1e-\(digits)") { return "\(digits)" }
    }
    fail("\(key.name): the table has no character for the scale \(key.scale)", 65)
  }
}
