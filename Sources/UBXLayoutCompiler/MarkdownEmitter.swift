// SPDX-License-Identifier: Apache-2.0

/// The message reference: a table for each message.
func markdown(_ messages: [Message]) -> String {
  var text = """
    # UBX messages

    Made from `Sources/UBX/Layouts` by `docs/generate reference`; change the layouts, not this page. Offsets count bytes of the
    payload; a value on the wire times its scale is in its unit.


    """
  for message in messages {
    text += "## \(message.name)\(message.conditions.isEmpty ? "" : " (`\(message.swiftName)`)")\n\n"
    text +=
      "0x\(hex(message.messageClass)) 0x\(hex(message.messageID)), \(message.directions.joined(separator: ", ")); "
    text += message.isFixed ? "\(message.fixedSize) bytes. " : "\(message.minimumLength) bytes or more. "
    text += "\(message.summary)\n\n"
    if message.items.isEmpty { continue }
    text += "| Offset | Type | Field | Scale | Unit | |\n|---|---|---|---|---|---|\n"
    var offset: Int? = 0
    func row(_ field: Field, _ place: String) -> String {
      let count =
        switch field.count {
        case .one: ""
        case .fixed(let n): "[\(n)]"
        case .rest: "[…]"
        }
      let bits = field.bits.map {
        ($0.width == 1 ? "b\($0.first) " : "b\($0.first)–\($0.last) ") + "`\($0.name)`"
      }.joined(separator: ", ")
      let notes = [field.summary, bits].filter { !$0.isEmpty }.joined(separator: "; ")
      return
        "| \(place) | \(field.type.rawValue)\(count) | \(field.name) | \(field.scale) | \(field.unit) | \(notes) |\n"
    }
    for item in message.items {
      switch item {
      case .field(let field):
        text += row(field, offset.map(String.init) ?? "…")
        offset? += field.size
      case .group(let group):
        let times =
          switch group.times {
          case .field(let name): "`\(name)` times"
          case .bits(let name, let bits): "`\(name).\(bits.name)` times"
          case .fixed(let n): "\(n) times"
          case .rest: "to the end"
          }
        text += "| | | **\(group.swiftName)**, \(times): | | | \(group.size) bytes each |\n"
        var inner = 0
        for field in group.fields {
          text += row(field, (offset.map { "\($0) + " } ?? "… + ") + String(inner))
          inner += field.size
        }
        if case .fixed(let n) = group.times { offset? += n * group.size } else { offset = nil }
      }
    }
    text += "\n"
  }
  return text
}

/// The configuration items: a table, sorted by name.
func markdown(_ keys: [ConfigurationKey]) -> String {
  var text = "## Configuration items\n\nOf CFG-VALSET, CFG-VALGET and CFG-VALDEL.\n\n"
  text += "| Item | Key | Type | Scale | Unit |\n|---|---|---|---|---|\n"
  for key in keys.sorted(by: { $0.name < $1.name }) {
    text += "| \(key.name) | 0x\(String(key.id, radix: 16)) | \(key.type.uppercased()) | \(key.scale) | \(key.unit) |\n"
  }
  return text
}
