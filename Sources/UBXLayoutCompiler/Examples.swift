// SPDX-License-Identifier: Apache-2.0

/// The example of a message in its documentation: some fields in their units, which are read from `frame`, or set in
/// `output` where the receiver does not send the message.
struct Example {
  /// The fields of a message, and of a block, that an example has at most.
  private let most = 3

  let message: Message
  let places: FieldOffsets

  init(_ message: Message) {
    self.message = message
    places = FieldOffsets(message)
  }

  var lines: [String] { message.directions.contains("output") ? reading : writing }

  /// A function with the example, for a compiler that checks it.
  var function: String {
    let isReading = message.directions.contains("output")
    let parameter = isReading ? "_ frame: borrowing UBXFrame" : "_ bytes: inout [UInt8]"
    let room = isReading ? [] : ["var span = bytes.mutableSpan", "var output = span.mutableBytes"]
    return "func example\(message.swiftName)(\(parameter)) {\n" + (room + lines).map { "  \($0)\n" }.joined() + "}\n"
  }

  private var reading: [String] {
    let fields = selected(
      message.items.enumerated().compactMap { index, item in
        if case .field(let field) = item, !places.isOptional(index) { field } else { nil }
      })
    let group = message.items.lazy.compactMap { if case .group(let group) = $0 { group } else { nil } }.first
    let inGroup = group.map { selected($0.fields) } ?? []
    guard !fields.isEmpty || !inGroup.isEmpty else {
      return ["if frame.message(\(message.swiftName).self) != nil { print(\"\(message.name)\") }"]
    }
    var lines = ["if let message = frame.message(\(message.swiftName).self) {"]
    lines += fields.map { "  \(printing($0, of: "message"))" }
    if let group, !inGroup.isEmpty {
      let property = lowerFirst(group.swiftName)
      lines.append("  for index in 0..<message.\(property)Count {")
      lines += inGroup.map { "    \(printing($0, of: "message.\(property)(index)"))" }
      lines.append("  }")
    }
    return lines + ["}"]
  }

  private var writing: [String] {
    let fields = selected(
      message.items.enumerated().compactMap { index, item in
        guard case .field(let field) = item, let start = places.writerStart(index), field.count != .rest,
          start + field.size <= message.minimumLength
        else { return nil }
        return field
      })
    let length = message.hasUsualLength ? "" : ", length: \(message.swiftName).minimumLength"
    let call = "let count = \(message.swiftName).encode(into: &output\(length))"
    let body = fields.isEmpty ? ["\(call) { _ in }"] : ["\(call) {"] + fields.map { "  \(setting($0))" } + ["}"]
    return body + ["print(count, \"bytes\")"]
  }

  /// Fields with a scale first, then those with a unit; chosen fields are in the order of the wire.
  private func selected(_ fields: [Field]) -> [Field] {
    let named = fields.filter { !$0.isReserved }
    let chosen = (0...3).flatMap { rank in named.filter { self.rank($0) == rank } }.prefix(most).map(\.name)
    return named.filter { chosen.contains($0.name) }
  }

  private func rank(_ field: Field) -> Int {
    if field.name == "iTOW" || field.name == "version" { return 3 }
    return field.scaledName != nil ? 0 : field.unit.isEmpty ? 2 : 1
  }

  private func printing(_ field: Field, of owner: String) -> String {
    let name = escaped(field.name)
    let isText = field.type == .ch
    let value =
      switch field.count {
      case .one where isText: name
      case .one: field.scaledName ?? name
      case .fixed: isText ? "\(name).string" : "\(name)(0)"
      case .rest: isText ? "\(name).string" : "\(name).byteCount"
      }
    let isScaled = field.count == .one && field.scaledName != nil
    let unit = !isScaled && !field.scale.isEmpty ? "\(field.scale) \(field.unit)" : field.unit
    let words = field.count == .rest && !isText ? "bytes" : unit
    return "print(\"\(field.name)\", \(owner).\(value)\(words.isEmpty ? "" : ", \"\(words)\""))"
  }

  private func setting(_ field: Field) -> String {
    let name = escaped(field.name)
    let call =
      switch field.count {
      case .fixed where field.type == .ch: "\(name)(\"text\" as StaticString)"
      case .fixed: "\(name)(0, 1)"
      default: "\(name)(1)"
      }
    let unit = [field.scale, field.unit].filter { !$0.isEmpty }.joined(separator: " ")
    return "$0.\(call)\(unit.isEmpty ? "" : "  // \(unit)")"
  }
}

/// A Swift file with the examples of all messages.
func exampleFile(_ messages: [Message]) -> String {
  "import UBX\n\n" + messages.map { Example($0).function }.joined(separator: "\n")
}
