// SPDX-License-Identifier: Apache-2.0

/// Writes the Swift of a message: a view for reading, a view for writing, and the table entry for names, JSON and
/// documentation.
struct SwiftEmitter {
  /// The attribute of the members that read and set fields: they are compiled in the modules that use them. 298
  /// messages have 6,359 such members, of which a program uses few, and the code of all of them took a third of the
  /// module's compile time.
  private let inClients = "@_alwaysEmitIntoClient"

  private(set) var text =
    "// Made from the layout files by UBXLayoutCompiler. Change those, not this.\nimport WireBytes\n"

  mutating func put(_ line: String = "", _ indent: Int = 0) {
    text += String(repeating: "  ", count: indent) + line + "\n"
  }

  mutating func emit(_ message: Message) {
    let places = FieldOffsets(message)
    reader(message, places)
    writer(message, places)
  }

  // MARK: Reading

  private mutating func reader(_ message: Message, _ places: FieldOffsets) {
    put()
    put(
      "/// \(message.name) (0x\(hex(message.messageClass)) 0x\(hex(message.messageID))): \(sentence(message.summary))")
    put("///")
    put("/// A view of a payload that something else owns; nothing is copied. \(lengthSentence(message))")
    put("///")
    put("/// ## Example")
    put("///")
    for line in Example(message).lines { put("///     \(line)") }
    put("public struct \(message.swiftName): Message, ~Escapable {")
    put("/// The payload's bytes.", 1)
    put("public let payload: RawSpan", 1)
    put("/// Class and id.", 1)
    put(
      "@inlinable public static var identity: MessageIdentity { MessageIdentity(0x\(hex(message.messageClass)), 0x\(hex(message.messageID))) }",
      1)
    put("/// The shortest payload, in bytes.", 1)
    put("@inlinable public static var minimumLength: Int { \(message.minimumLength) }", 1)
    put()
    put("/// Looks at `payload`; nil when it is too short for this layout, or is another version's.", 1)
    put("@inlinable @_lifetime(copy payload) public init?(payload: RawSpan) {", 1)
    put("guard payload.byteCount >= \(message.minimumLength)\(conditions(message)) else { return nil }", 2)
    put("self.payload = payload", 2)
    for (index, item) in message.items.enumerated() {
      guard case .group(let group) = item, places.isVariable(index) else { continue }
      if case .rest = group.times { continue }
      put("guard payload.hasBlocks(\(places.blocks(index))) else { return nil }", 2)
    }
    put("}", 1)
    for (index, item) in message.items.enumerated() {
      switch item {
      case .field(let field):
        getter(field, at: places.start(index), optionalBefore: places.isOptional(index), 1)
      case .group(let group): groupReader(message, group, index, places)
      }
    }
    put("}")
  }

  private func conditions(_ message: Message) -> String {
    message.conditions.map {
      switch $0 {
      case .length(let n): ", payload.byteCount == \(n)"
      case .field(let offset, let value): ", payload.u1(\(offset)) == \(value)"
      }
    }.joined()
  }

  private mutating func getter(_ field: Field, at start: String, optionalBefore isOptional: Bool, _ indent: Int) {
    if field.isReserved { return }
    put("", 0)
    doc(field, indent)
    let guarded = isOptional ? "payload.byteCount < \(sum(start, field.size)) ? nil : " : ""
    let mark = isOptional ? "?" : ""
    switch field.count {
    case .one:
      put(
        "\(inClients) public var \(escaped(field.name)): \(field.type.swift)\(mark) { \(guarded)\(load(field.type, start)) }",
        indent)
      for bits in field.bits { bitGetter(bits, of: field, mark, indent) }
      scaledGetter(field, mark, indent)
    case .fixed(let n):
      if field.type == .ch {
        put(
          "\(inClients) public var \(escaped(field.name)): Text\(mark) { @_lifetime(copy self) get { \(guarded)Text(payload.part(\(start), \(n))) } }",
          indent)
      } else {
        put(
          "\(inClients) public func \(escaped(field.name))(_ index: Int) -> \(field.type.swift)\(mark) { \(guarded)\(load(field.type, "place(\(start), index, \(field.type.size), of: \(n))")) }",
          indent)
      }
    case .rest:
      if field.type == .ch {
        put(
          "\(inClients) public var \(escaped(field.name)): Text { @_lifetime(copy self) get { Text(payload.rest(\(start))) } }",
          indent)
      } else {
        put(
          "\(inClients) public var \(escaped(field.name)): RawSpan { @_lifetime(copy self) get { payload.rest(\(start)) } }",
          indent)
      }
    }
  }

  /// The value in its unit in addition to the raw value, for a field with a scale.
  private mutating func scaledGetter(_ field: Field, _ mark: String, _ indent: Int) {
    guard let name = field.scaledName, let literal = scaleLiteral(field.scale) else { return }
    let raw = mark.isEmpty ? escaped(field.name) : "$0"
    let digits = (1...12).first { Double(field.scale) == Double("1e-\($0)") }
    let value =
      if field.type.isReal {
        digits.map { "Double(\(raw)) / 1e\($0)" } ?? "Double(\(raw)) * \(literal)"
      } else {
        digits.map { "\(raw).divided(by: 1e\($0))" } ?? "\(raw).scaled(by: \(literal))"
      }
    put(
      "/// `\(field.name)`\(unitPhrase(field)): the value in the unit\(field.unit.isEmpty ? "" : " \(field.unit)").",
      indent)
    let body = mark.isEmpty ? value : "\(escaped(field.name)).map { \(value) }"
    put("\(inClients) public var \(name): Double\(mark) { \(body) }", indent)
  }

  private mutating func bitGetter(_ bits: Bits, of field: Field, _ mark: String, _ indent: Int) {
    let range = bits.width == 1 ? "bit \(bits.first)" : "bits \(bits.first)…\(bits.last)"
    put("/// \(range) of `\(field.name)`. \(sentence(bits.summary))", indent)
    let name = bitName(bits, of: field)
    let value = mark.isEmpty ? escaped(field.name) : "$0"
    let expression: String
    let type: String
    if bits.width == 1 && !bits.isSigned {
      type = "Bool"
      expression =
        field.type.isSigned
        ? "\(value) & 0x\(String(UInt64(1) << UInt64(bits.first), radix: 16)) != 0" : "\(value).bit(\(bits.first))"
    } else {
      type = bits.isSigned ? "Int" : "UInt\(field.type.size == 3 ? 32 : field.type.size * 8)"
      let mask = "0x\(String((UInt64(1) << UInt64(bits.width)) - 1, radix: 16))"
      expression =
        bits.isSigned
        ? "(Int(truncatingIfNeeded: \(value) >> \(bits.first)) << \(64 - bits.width)) >> \(64 - bits.width)"
        : "\(field.type.isSigned ? "\(type)(truncatingIfNeeded: \(value))" : value).bits(\(bits.first), \(mask))"
    }
    if mark.isEmpty {
      put("\(inClients) public var \(name): \(type) { \(expression) }", indent)
    } else {
      put("\(inClients) public var \(name): \(type)? { \(escaped(field.name)).map { \(expression) } }", indent)
    }
  }

  private mutating func groupReader(_ message: Message, _ group: Group, _ index: Int, _ places: FieldOffsets) {
    let property = lowerFirst(group.swiftName)
    put()
    put("/// How many `\(group.swiftName)` the message has.", 1)
    put("\(inClients) public var \(property)Count: Int {", 1)
    put(places.count(index), 2)
    put("}", 1)
    put("/// The `\(group.swiftName)` number `index`, from 0. Traps if it does not exist.", 1)
    put("\(inClients) @_lifetime(copy self) public func \(property)(_ index: Int) -> \(group.swiftName) {", 1)
    put(
      "\(group.swiftName)(payload: payload.block(\(places.start(index)), index, \(group.size), of: \(property)Count))",
      2)
    put("}", 1)
    put("/// One of the repeated blocks, \(group.size) bytes.", 1)
    put("public struct \(group.swiftName): ~Escapable {", 1)
    put("/// The block's bytes.", 2)
    put("public let payload: RawSpan", 2)
    put("\(inClients) @_lifetime(copy payload) init(payload: RawSpan) { self.payload = payload }", 2)
    var offset = 0
    for field in group.fields {
      getter(field, at: String(offset), optionalBefore: false, 2)
      offset += field.size
    }
    put("}", 1)
  }

  // MARK: Writing

  private mutating func writer(_ message: Message, _ places: FieldOffsets) {
    put()
    put("extension \(message.swiftName) {")
    put("/// Writes a frame of this message at the start of `output` and returns how many bytes it has.", 1)
    put("///", 1)
    put("/// - Parameters:", 1)
    put("///   - output: room for `length` + 8 bytes; traps when there is less.", 1)
    put("///   - length: the payload's length in bytes; traps when this layout has no such payload.", 1)
    let presets = message.conditions.compactMap {
      if case .field(let offset, let value) = $0 { (offset, value) } else { nil }
    }
    let rest = presets.isEmpty ? "zero" : "zero, but for what tells this layout from others"
    put("///   - body: sets the fields. What it does not set is \(rest).", 1)
    let needed = message.conditions.compactMap { if case .length(let length) = $0 { length } else { nil } }.first
    let length = message.hasUsualLength ? " = \(needed ?? message.fixedSize)" : ""
    put("@_lifetime(output: copy output)", 1)
    put(
      "\(inClients) public static func encode(into output: inout MutableRawSpan, length: Int\(length), _ body: (inout Writer) -> Void) -> Int {",
      1)
    put("check(length, \(needed.map { "is: \($0)" } ?? "isAtLeast: \(message.minimumLength)"))", 2)
    put("let total = beginFrame(identity, length: length, in: &output)", 2)
    for (offset, value) in presets { put("output.setU1(\(value), at: \(6 + offset))", 2) }
    put("do {", 2)
    put("var writer = Writer(payload: payloadRoom(length, in: &output))", 3)
    put("body(&writer)", 3)
    put("}", 2)
    put("finishFrame(total, in: &output)", 2)
    put("return total", 2)
    put("}", 1)
    put("/// Writes a payload in place. Fields that are not set are zero.", 1)
    put("public struct Writer: ~Copyable, ~Escapable {", 1)
    put("@usableFromInline var payload: MutableRawSpan", 2)
    put(
      "\(inClients) @_lifetime(copy payload) public init(payload: consuming MutableRawSpan) { self.payload = payload }",
      2
    )
    for (index, item) in message.items.enumerated() {
      switch item {
      case .field(let field): setter(field, places.writerStart(index), 2)
      case .group(let group):
        guard let start = places.writerStart(index) else { continue }
        for field in group.fields {
          let inner = group.fields.prefix { $0.name != field.name }.reduce(0) { $0 + $1.size }
          groupSetter(field, group, "place(\(start + inner), index, \(group.size))", 2)
        }
      }
    }
    put("}", 1)
    put("}")
  }

  private mutating func setter(_ field: Field, _ start: Int?, _ indent: Int) {
    guard let start, !field.isReserved else { return }
    switch field.count {
    case .one:
      put("/// Sets `\(field.name)`\(unitPhrase(field)).", indent)
      put(
        "\(inClients) @_lifetime(self: copy self) public mutating func \(escaped(field.name))(_ value: \(field.type.swift)) { \(store(field.type, String(start))) }",
        indent)
    case .fixed where field.type == .ch, .rest where field.type == .ch:
      put("/// Sets the text `\(field.name)`, cut at the room there is.", indent)
      let room = field.count == .rest ? "payload.byteCount - \(start)" : "\(field.size)"
      put(
        "\(inClients) @_lifetime(self: copy self) public mutating func \(escaped(field.name))(_ text: StaticString) { payload.setText(text, at: \(start), room: \(room)) }",
        indent)
      put("/// Sets the text `\(field.name)` to characters of one byte each, cut at the room there is.", indent)
      put(
        "\(inClients) @_lifetime(self: copy self) public mutating func \(escaped(field.name))(_ characters: Span<UInt8>) { payload.setText(characters, at: \(start), room: \(room)) }",
        indent)
    case .fixed(let n):
      put("/// Sets `\(field.name)` number `index`\(unitPhrase(field)).", indent)
      put(
        "\(inClients) @_lifetime(self: copy self) public mutating func \(escaped(field.name))(_ index: Int, _ value: \(field.type.swift)) { \(store(field.type, "place(\(start), index, \(field.type.size), of: \(n))")) }",
        indent)
    case .rest:
      put("/// Sets element `index` of `\(field.name)`\(unitPhrase(field)).", indent)
      put(
        "\(inClients) @_lifetime(self: copy self) public mutating func \(escaped(field.name))(_ index: Int, _ value: \(field.type.swift)) { \(store(field.type, "place(\(start), index, \(field.type.size))")) }",
        indent)
    }
  }

  private mutating func groupSetter(_ field: Field, _ group: Group, _ start: String, _ indent: Int) {
    if field.isReserved { return }
    let name = "\(lowerFirst(group.swiftName))_\(field.name)"
    switch field.count {
    case .one:
      put("/// Sets `\(field.name)` of block `index`\(unitPhrase(field)).", indent)
      put(
        "\(inClients) @_lifetime(self: copy self) public mutating func \(name)(_ index: Int, _ value: \(field.type.swift)) { \(store(field.type, start)) }",
        indent)
    case .fixed(let n) where field.type != .ch:
      put("/// Sets element `at` of `\(field.name)` of block `index`\(unitPhrase(field)).", indent)
      put(
        "\(inClients) @_lifetime(self: copy self) public mutating func \(name)(_ index: Int, at: Int, _ value: \(field.type.swift)) { \(store(field.type, "place(\(start), at, \(field.type.size), of: \(n))")) }",
        indent)
    case .fixed(let n):
      put("/// Sets the text `\(field.name)` of block `index`, cut at the room there is.", indent)
      put(
        "\(inClients) @_lifetime(self: copy self) public mutating func \(name)(_ index: Int, _ text: StaticString) { payload.setText(text, at: \(start), room: \(n)) }",
        indent)
      put(
        "/// Sets the text `\(field.name)` of block `index` to characters of one byte each, cut at the room there is.",
        indent)
      put(
        "\(inClients) @_lifetime(self: copy self) public mutating func \(name)(_ index: Int, _ characters: Span<UInt8>) { payload.setText(characters, at: \(start), room: \(n)) }",
        indent)
    case .rest: break
    }
  }

  // MARK: The table

  /// The registry: every layout, sorted by class and id. Layouts with the same id are in the order of their
  /// declaration.
  mutating func registry(_ messages: [Message]) {
    put()
    put("extension MessageLayout {")
    put("/// Every message that is declared, sorted by class and id.", 1)
    put("public static let all: [MessageLayout] = [", 1)
    let order = messages.enumerated().sorted {
      (UInt16($0.element.messageClass) << 8 | UInt16($0.element.messageID), $0.offset)
        < (UInt16($1.element.messageClass) << 8 | UInt16($1.element.messageID), $1.offset)
    }
    for (_, message) in order { put("\(message.swiftName).layout,", 2) }
    put("]", 1)
    put("}")
  }

  mutating func table(_ message: Message) {
    put()
    put("extension \(message.swiftName) {")
    put("/// The layout as data: names, types, scales and units.", 1)
    put("public static let layout = MessageLayout(", 1)
    put(
      "name: \"\(message.name)\", identity: MessageIdentity(0x\(hex(message.messageClass)), 0x\(hex(message.messageID))),",
      2)
    put(
      "directions: [\(message.directions.map { ".\($0)" }.joined(separator: ", "))], minimumLength: \(message.minimumLength),",
      2)
    let conditions = message.conditions.map {
      switch $0 {
      case .length(let n): ".length(\(n))"
      case .field(let offset, let value): ".byte(at: \(offset), is: \(value))"
      }
    }
    put("conditions: [\(conditions.joined(separator: ", "))],", 2)
    put("items: [", 2)
    for item in message.items {
      switch item {
      case .field(let field): put(isPlain(field) ? "\(entry(field))," : ".field(\(entry(field))),", 3)
      case .group(let group):
        put(".group(\(times(group.times)), size: \(group.size), fields: [", 3)
        for field in group.fields { put("\(entry(field)),", 4) }
        put("]),", 3)
      }
    }
    put("])", 2)
    put("}")
  }

  private func entry(_ field: Field) -> String {
    if isPlain(field) { return ".value(\"\(field.name)\", .\(field.type), \"\(field.unit)\")" }
    let count =
      switch field.count {
      case .one: "1"
      case .fixed(let n): String(n)
      case .rest: "0"
      }
    let isArray = field.count == .one ? "false" : "true"
    return
      "FieldLayout(\"\(field.name)\", .\(field.type), \(count), isArray: \(isArray), \(scale(field.scale)), \"\(field.unit)\")"
  }

  /// Whether the short form describes a field: one value without a scale.
  private func isPlain(_ field: Field) -> Bool { field.count == .one && scale(field.scale) == ".one" }

  private func times(_ times: Group.Times) -> String {
    switch times {
    case .field(let name): ".field(\"\(name)\", shift: 0, mask: 0xffff_ffff)"
    case .bits(let name, let bits):
      ".field(\"\(name)\", shift: \(bits.first), mask: 0x\(String((1 << bits.width) - 1, radix: 16)))"
    case .fixed(let n): ".fixed(\(n))"
    case .rest: ".rest"
    }
  }

  /// A power of ten is separate, because it keeps decimals exact.
  private func scale(_ text: String) -> String {
    if text.isEmpty { return ".one" }
    if let value = Double(text) {
      for digits in 1...12 where value == Double("1e-\(digits)") { return ".decimal(digits: \(digits))" }
      if value == 1 { return ".one" }
    }
    return ".factor(\(scaleLiteral(text)!))"
  }

  // MARK: Words

  private mutating func doc(_ field: Field, _ indent: Int) {
    put(
      "/// \(sentence(field.summary.isEmpty ? field.name : field.summary)) \(field.type.rawValue)\(unitPhrase(field)).",
      indent)
  }

  private func unitPhrase(_ field: Field) -> String {
    if field.scale.isEmpty { return field.unit.isEmpty ? "" : ", \(field.unit)" }
    return ", \(field.scale) \(field.unit)"
  }

  private func sentence(_ text: String) -> String {
    text.isEmpty || text.hasSuffix(".") ? text : text + "."
  }

  private func lengthSentence(_ message: Message) -> String {
    message.isFixed ? "\(message.fixedSize) bytes." : "\(message.minimumLength) bytes or more."
  }

  private func load(_ type: WireType, _ at: String) -> String {
    switch type {
    case .u3, .x3: "payload.littleEndian24(\(at))"
    case .i3: "payload.signed24(\(at))"
    default: "payload.\(type.accessor)(\(at))"
    }
  }

  private func store(_ type: WireType, _ at: String) -> String {
    switch type {
    case .u3, .x3: "payload.setLittleEndian24(value, at: \(at))"
    default: "payload.set\(type.accessor.uppercased())(value, at: \(at))"
    }
  }

  /// The name of a bit, prefixed with the field's name if it is not unique.
  private func bitName(_ bits: Bits, of field: Field) -> String { "\(field.name)_\(bits.name)" }
}

func hex(_ byte: UInt8) -> String { (byte < 16 ? "0" : "") + String(byte, radix: 16) }
func lowerFirst(_ text: String) -> String { text.prefix(1).lowercased() + text.dropFirst() }
func sum(_ start: String, _ size: Int) -> String {
  if let number = Int(start) { return String(number + size) }
  return "\(start) &+ \(size)"
}

/// A name that is a word of Swift, in backticks.
func escaped(_ name: String) -> String {
  [
    "class", "extension", "repeat", "in", "protocol", "default", "init", "self", "switch", "case", "is", "as",
    "operator", "import",
  ].contains(name)
    ? "`\(name)`" : name
}

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
