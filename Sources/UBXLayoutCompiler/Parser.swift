// SPDX-License-Identifier: Apache-2.0

/// Parses layout files. The format is described in docs/reference/ubx-layouts.md.
///
///     message NAV-TIMELS 01 26 output poll ; Leap second event information
///       U4     iTOW   ms        ; GPS time of week
///       U1[3]  reserved0
///       X1     valid            ; Validity flags
///         b0     validCurrLs    ; currLs is valid
///       I4     lon    1e-7 deg  ; Longitude
///       repeat numCh as Channel
///         U1   chn
///       end
struct Parser {
  struct Failure: Error {
    var file: String
    var line: Int
    var reason: String
  }

  let file: String
  private var line = 0
  private var messages: [Message] = []
  private var group: Group?

  init(file: String) { self.file = file }

  mutating func parse(_ text: String) throws(Failure) -> [Message] {
    for row in text.split(separator: "\n", omittingEmptySubsequences: false) {
      line += 1
      let parts = row.split(separator: ";", maxSplits: 1, omittingEmptySubsequences: false)
      let words = parts[0].split(whereSeparator: { $0 == " " || $0 == "\t" || $0 == "\r" }).map(String.init)
      let summary = parts.count > 1 ? trimmed(parts[1]) : ""
      guard let first = words.first, !first.hasPrefix("#") else { continue }
      switch first {
      case "message": try startMessage(words, summary)
      case "minimum": try setMinimum(words)
      case "repeat": try startGroup(words)
      case "end": try endGroup()
      case _ where first.first == "b" || first.first == "i": try addBits(words, summary)
      default: try addField(words, summary)
      }
    }
    try finishMessage()
    return messages
  }

  private func fail(_ reason: String) -> Failure { Failure(file: file, line: line, reason: reason) }

  private mutating func startMessage(_ words: [String], _ summary: String) throws(Failure) {
    try finishMessage()
    guard words.count >= 5, let messageClass = UInt8(words[2], radix: 16), let id = UInt8(words[3], radix: 16) else {
      throw fail("expected: message NAME CLASS ID DIRECTION… [as NAME] [when …] ; summary")
    }
    var message = Message(
      name: words[1], messageClass: messageClass, messageID: id, directions: [], swiftName: swiftName(words[1]),
      conditions: [], summary: summary, minimum: nil, items: [])
    var rest = words.dropFirst(4)
    while let word = rest.popFirst() {
      switch word {
      case "output", "input", "poll": message.directions.append(word)
      case "as":
        guard let name = rest.popFirst() else { throw fail("`as` needs a name") }
        message.swiftName = name
      case "when":
        guard let condition = rest.popFirst() else { throw fail("`when` needs length=N or @OFFSET=VALUE") }
        message.conditions.append(try self.condition(condition))
      default: throw fail("unknown word \(word)")
      }
    }
    guard !message.directions.isEmpty else { throw fail("a message is output, input or poll") }
    messages.append(message)
  }

  private func condition(_ text: String) throws(Failure) -> Condition {
    let sides = text.split(separator: "=").map(String.init)
    guard sides.count == 2, let value = number(sides[1]) else { throw fail("cannot read the condition \(text)") }
    if sides[0] == "length" { return .length(value) }
    guard sides[0].first == "@", let offset = Int(sides[0].dropFirst()) else {
      throw fail("a condition is length=N or @OFFSET=VALUE")
    }
    return .field(offset: offset, value: value)
  }

  private mutating func setMinimum(_ words: [String]) throws(Failure) {
    guard !messages.isEmpty, words.count == 2, let length = Int(words[1]) else { throw fail("expected: minimum BYTES") }
    messages[messages.count - 1].minimum = length
  }

  private mutating func startGroup(_ words: [String]) throws(Failure) {
    guard group == nil, let message = messages.last else { throw fail("a group stands in a message, not in a group") }
    guard words.count == 2 || (words.count == 4 && words[2] == "as") else {
      throw fail("expected: repeat FIELD|FIELD.BITS|NUMBER|* [as NAME]")
    }
    let times: Group.Times
    let what = words[1].split(separator: ".").map(String.init)
    if words[1] == "*" {
      times = .rest
    } else if let number = Int(words[1]) {
      times = .fixed(number)
    } else {
      let earlier = message.items.lazy.compactMap { item -> Field? in
        if case .field(let field) = item { field.name == what[0] ? field : nil } else { nil }
      }.first
      guard let earlier, earlier.count == .one else { throw fail("no earlier field \(what[0])") }
      if what.count == 2 {
        guard let bits = earlier.bits.first(where: { $0.name == what[1] }) else { throw fail("no bits \(words[1])") }
        times = .bits(field: what[0], bits)
      } else {
        times = .field(what[0])
      }
    }
    group = Group(times: times, swiftName: words.count == 4 ? words[3] : "Block", fields: [])
  }

  private mutating func endGroup() throws(Failure) {
    guard let group else { throw fail("`end` without `repeat`") }
    guard group.size > 0 else { throw fail("an empty group") }
    messages[messages.count - 1].items.append(.group(group))
    self.group = nil
  }

  private mutating func addField(_ words: [String], _ summary: String) throws(Failure) {
    guard !messages.isEmpty else { throw fail("a field before the first message") }
    guard words.count >= 2, words.count <= 4 else { throw fail("expected: TYPE NAME [SCALE] [UNIT] ; summary") }
    var typeName = words[0]
    var count = Count.one
    if let bracket = typeName.firstIndex(of: "[") {
      let inner = typeName[typeName.index(after: bracket)...].dropLast()
      if inner == "*" {
        count = .rest
      } else {
        guard let n = Int(inner), n > 0 else { throw fail("cannot read the count in \(typeName)") }
        count = .fixed(n)
      }
      typeName = String(typeName[..<bracket])
    }
    guard let type = WireType(rawValue: typeName) else { throw fail("unknown type \(typeName)") }
    if group != nil, count == .rest { throw fail("an open-ended field cannot repeat") }
    var scale = ""
    var unit = ""
    switch words.count {
    case 4: (scale, unit) = (words[2], words[3])
    case 3: if words[2].first!.isNumber, !isCountedUnit(words[2]) { scale = words[2] } else { unit = words[2] }
    default: break
    }
    guard scale.isEmpty || scaleLiteral(scale) != nil else { throw fail("cannot read the scale \(scale)") }
    let field = Field(type: type, name: words[1], count: count, scale: scale, unit: unit, summary: summary)
    if group != nil { group!.fields.append(field) } else { messages[messages.count - 1].items.append(.field(field)) }
  }

  private mutating func addBits(_ words: [String], _ summary: String) throws(Failure) {
    let range = words[0].dropFirst().split(separator: ".").compactMap { Int($0) }
    guard words.count == 2, let first = range.first, let last = range.last, first <= last else {
      throw fail("expected: bN NAME or bN..M NAME")
    }
    let bits = Bits(first: first, last: last, isSigned: words[0].first == "i", name: words[1], summary: summary)
    func append(to field: inout Field) -> Bool {
      guard last < field.type.size * 8, field.count == .one, !field.type.isReal else { return false }
      field.bits.append(bits)
      return true
    }
    var done = false
    if group?.fields.isEmpty == false {
      done = append(to: &group!.fields[group!.fields.count - 1])
    } else if let index = messages.indices.last, case .field(var field)? = messages[index].items.last {
      done = append(to: &field)
      messages[index].items[messages[index].items.count - 1] = .field(field)
    }
    if !done { throw fail("these bits fit no field before them") }
  }

  /// Checks that need the whole message.
  private mutating func finishMessage() throws(Failure) {
    if group != nil { throw fail("a group without `end`") }
    guard let message = messages.last else { return }
    var names: Set<String> = []
    var open = false
    for item in message.items {
      if open { throw fail("\(message.name): nothing can follow an open-ended part") }
      switch item {
      case .field(let field):
        guard names.insert(field.name).inserted else { throw fail("\(message.name): \(field.name) stands twice") }
        open = field.count == .rest
      case .group(let group):
        if case .rest = group.times { open = true }
        var inner: Set<String> = []
        for field in group.fields {
          guard inner.insert(field.name).inserted else { throw fail("\(message.name): \(field.name) stands twice") }
        }
      }
    }
    if let minimum = message.minimum, minimum > message.fixedSize {
      throw fail("\(message.name): the minimum \(minimum) is more than all fields, \(message.fixedSize)")
    }
  }

  private func trimmed(_ text: Substring) -> String {
    String(text.drop { $0 == " " }.reversed().drop { $0 == " " || $0 == "\r" }.reversed())
  }
}

/// A decimal or hexadecimal (`0x`) number.
func number(_ text: String) -> Int? {
  text.hasPrefix("0x") ? Int(text.dropFirst(2), radix: 16) : Int(text)
}

/// Whether a word is a unit that begins with a number, such as the interface descriptions' `0.1mm`.
func isCountedUnit(_ text: String) -> Bool {
  let unit = text.drop { $0.isNumber || $0 == "." }
  return !unit.isEmpty && unit.count < text.count && unit.allSatisfy(\.isLetter)
}

/// The Swift expression of a scale: `1e-7`, `0.01`, `64` or a power of two such as `2^-12`.
func scaleLiteral(_ text: String) -> String? {
  if text.hasPrefix("2^") {
    guard let exponent = Int(text.dropFirst(2)) else { return nil }
    return "0x1p\(exponent)"
  }
  return Double(text) == nil ? nil : text
}

/// `NAV-PVT` → `NavPVT`, `MGA-INI-POS_LLH` → `MgaINI_POS_LLH`.
func swiftName(_ name: String) -> String {
  let parts = name.split(separator: "-").map(String.init)
  let head = parts[0].prefix(1) + parts[0].dropFirst().lowercased()
  return head + parts.dropFirst().joined(separator: "_")
}
