// SPDX-License-Identifier: Apache-2.0

import UBX

/// A UBX message in the user's words: a name such as `CFG-RATE`, or class and id as in `0x06-0x08`, and fields such as
/// `measRate=200`. Names, types and scales come from the layouts that decode messages.
package struct NamedMessage: Sendable, Equatable {
  /// The purpose of a message, which selects among the layouts of its name.
  package enum Use: Sendable { case command, poll }

  /// The name in the interface descriptions; class and id for a message without a layout.
  package var name: String
  package var identity: MessageIdentity
  package var payload: [UInt8]
  /// The fields that the user did not name. They are zero.
  package private(set) var unset: [String] = []

  /// A message with a given payload.
  package init(_ text: String, payload: [UInt8]) throws(SettingProblem) {
    (name, identity, _) = try Self.find(text)
    guard payload.count <= UBXFrame.longestPayload else { throw Self.tooLong(name) }
    self.payload = payload
  }

  /// A message of fields. A poll without fields has no payload.
  ///
  /// - Parameters:
  ///   - text: the name, regardless of case.
  ///   - words: `NAME=VALUE`; for CFG-VALSET also items (`CFG-RATE-MEAS=0.2`), for CFG-VALGET and CFG-VALDEL their names.
  ///   - use: whether the message is polled.
  package init(_ text: String, fields words: [String], for use: Use) throws(SettingProblem) {
    let layouts: ArraySlice<MessageLayout>
    (name, identity, layouts) = try Self.find(text)
    payload = []
    if use == .poll, words.isEmpty {
      guard layouts.isEmpty || layouts.contains(where: { $0.isPoll || $0.isOutput }) else {
        throw SettingProblem("\(name): a receiver has no reply to a poll of it; `sextant send` sends it")
      }
      return
    }
    let usable = layouts.filter { use == .command ? $0.isInput : $0.isPoll && !$0.isOutput }
    guard !usable.isEmpty else { throw Self.notPossible(name, layouts, use) }
    let assignments = try FieldAssignments(words, of: name, layouts: usable)
    var problem: SettingProblem?
    var found: MessageEncoding?
    for layout in usable where assignments.areDeclared(in: layout) {
      do {
        let encoding = try MessageEncoding(layout, assignments)
        if encoding.unset.count < found?.unset.count ?? .max { found = encoding }
      } catch { problem = problem ?? error }
    }
    guard let found else {
      throw problem ?? SettingProblem("\(name): no form of the message has all of these fields")
    }
    guard found.payload.count <= UBXFrame.longestPayload else { throw Self.tooLong(name) }
    payload = found.payload
    unset = found.unset
  }

  private static func find(
    _ text: String
  ) throws(SettingProblem) -> (name: String, identity: MessageIdentity, layouts: ArraySlice<MessageLayout>) {
    var wanted = text.uppercased()
    if wanted.hasPrefix("UBX-") { wanted.removeFirst(4) }
    let named = MessageLayout.all.filter { $0.name.description == wanted }
    if let first = named.first { return (wanted, first.identity, named[...]) }
    if let identity = MessageNames.message(wanted), wanted.hasPrefix("0X") {
      let layouts = MessageLayout.candidates(for: identity)
      return (layouts.first?.name.description ?? wanted.lowercased(), identity, layouts)
    }
    let near = NameMatching.nearest(to: wanted, among: Set(MessageLayout.all.map(\.name.description)))
    let suggestion = NameMatching.suggestion(
      near, otherwise: "docs/reference/ubx-messages.md lists the messages; class and id are 0x06-0x08")
    throw SettingProblem("\(text): no such message\(suggestion)")
  }

  private static func notPossible(
    _ name: String, _ layouts: ArraySlice<MessageLayout>, _ use: Use
  ) -> SettingProblem {
    if layouts.isEmpty { return SettingProblem("\(name): its fields are not known; give the payload with --hex") }
    return SettingProblem(
      use == .poll
        ? "\(name): a poll of it takes no fields"
        : "\(name): receivers send this message and do not accept it; `sextant poll \(name)` requests it")
  }

  /// The problem of a message, or of a field, that is longer than a payload.
  static func tooLong(_ name: String) -> SettingProblem {
    SettingProblem("\(name): too long; a payload has at most \(UBXFrame.longestPayload) bytes")
  }
}

extension MessageLayout {
  var isInput: Bool { directions.contains { if case .input = $0 { true } else { false } } }
  var isOutput: Bool { directions.contains { if case .output = $0 { true } else { false } } }
  var isPoll: Bool { directions.contains { if case .poll = $0 { true } else { false } } }
}

/// The fields of a message in the user's words, and configuration items for the messages that have them.
struct FieldAssignments {
  struct Assignment {
    /// As the user wrote it.
    var name: String
    /// The path in lower case.
    var path: String
    /// The index of one of several values.
    var element: Int?
    var value: String
  }

  private(set) var fields: [Assignment] = []
  /// Keys, and pairs of keys and values, as they stand on the wire.
  private(set) var items: [UInt8] = []

  /// - Parameters:
  ///   - words: `NAME=VALUE`, or the name of an item.
  ///   - message: the name of the message.
  ///   - layouts: the layouts that may be used.
  /// - Throws: a problem for a name that no layout has, and for one that occurs twice.
  init(_ words: [String], of message: String, layouts: [MessageLayout]) throws(SettingProblem) {
    let takesPairs = layouts.contains { $0.itemField?.type == .u1 }
    let takesKeys = layouts.contains { $0.itemField?.type == .u4 }
    for word in words {
      let equals = word.firstIndex(of: "=")
      let name = SettingWord.trimmed(word[..<(equals ?? word.endIndex)])
      if takesPairs, let equals, Self.isItem(name) {
        let value = SettingWord.trimmed(word[word.index(after: equals)...])
        guard case .item(let pair) = try SettingWord(name: name, value: value).meaning else { continue }
        items += pair.bytes
      } else if takesKeys, equals == nil {
        guard case .item(let id, _) = try SettingName(name) else {
          throw SettingProblem("\(name): not a configuration item")
        }
        items.append(u4: id)
      } else if let equals, let path = FieldPath(name) {
        try add(path, name, SettingWord.trimmed(word[word.index(after: equals)...]), of: message, layouts)
      } else {
        let example = Self.names(of: layouts).first ?? "field"
        throw SettingProblem("\(word): a field is NAME=VALUE, such as \(example)=1")
      }
    }
  }

  private mutating func add(
    _ path: FieldPath, _ name: String, _ value: String, of message: String, _ layouts: [MessageLayout]
  ) throws(SettingProblem) {
    let assignment = Assignment(name: name, path: path.path.lowercased(), element: path.element, value: value)
    guard layouts.contains(where: { $0.field(at: assignment.path) != nil }) else {
      let near = NameMatching.nearest(to: name, among: Self.names(of: layouts))
      let suggestion = NameMatching.suggestion(
        near, otherwise: "its fields are \(Self.names(of: layouts).joined(separator: ", "))")
      throw SettingProblem("\(name): \(message) has no such field\(suggestion)")
    }
    guard path.element ?? 0 < UBXFrame.longestPayload else { throw NamedMessage.tooLong(name) }
    if fields.contains(where: { $0.path == assignment.path && $0.element == assignment.element }) {
      throw SettingProblem("\(name): the field occurs twice")
    }
    fields.append(assignment)
  }

  /// Whether a layout has all of these fields.
  func areDeclared(in layout: MessageLayout) -> Bool {
    fields.allSatisfy { layout.field(at: $0.path) != nil } && (items.isEmpty || layout.itemField != nil)
  }

  /// The number of rounds of a group that the fields need.
  func rounds(of group: String) -> Int {
    fields.compactMap { MessageLayout.round(of: $0.path, in: group).map { $0 + 1 } }.max() ?? 0
  }

  /// Whether a name is the name or the key of a configuration item.
  private static func isItem(_ name: String) -> Bool {
    if case .item? = try? SettingName(name) {
      name.uppercased().hasPrefix("CFG-") || name.hasPrefix("0x")
    } else {
      false
    }
  }

  private static func names(of layouts: [MessageLayout]) -> [String] {
    var names: [String] = []
    for layout in layouts {
      for (index, item) in layout.items.enumerated() {
        switch item {
        case .field(let field): if !field.isReserved { names.append(field.name.description) }
        case .group(_, _, let fields):
          let group = PayloadFields.groupName(layout, index)
          for field in fields where !field.isReserved { names.append("\(group)[0].\(field.name)") }
        }
      }
    }
    return names.reduce(into: []) { unique, name in if !unique.contains(name) { unique.append(name) } }
  }
}

extension MessageLayout {
  /// The field of configuration items at the end of CFG-VALSET, CFG-VALGET and CFG-VALDEL: pairs, or keys (U4).
  var itemField: FieldLayout? {
    guard [CfgVALSET.identity, CfgVALGET.identity, CfgVALDEL.identity].contains(identity),
      case .field(let field)? = items.last, field.count == 0
    else { return nil }
    return field
  }

  /// The field with a path in lower case, such as `measrate` or `groups[1].flags`.
  func field(at path: String) -> FieldLayout? {
    for (index, item) in items.enumerated() {
      switch item {
      case .field(let field):
        if !field.isReserved, field.name.description.lowercased() == path { return field }
      case .group(_, _, let fields):
        let group = PayloadFields.groupName(self, index)
        guard Self.round(of: path, in: group) != nil, let point = path.firstIndex(of: ".") else { continue }
        let name = path[path.index(after: point)...]
        if let field = fields.first(where: { !$0.isReserved && $0.name.description.lowercased() == name }) {
          return field
        }
      }
    }
    return nil
  }

  /// The round in a path such as `groups[1].flags`; nil for a path outside the group.
  static func round(of path: String, in group: String) -> Int? {
    guard path.hasPrefix(group + "["), let end = path.firstIndex(of: "]") else { return nil }
    guard let round = Int(path.dropFirst(group.count + 1)[..<end]), 0..<UBXFrame.longestPayload ~= round else {
      return nil
    }
    return round
  }
}
