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

  private static func tooLong(_ name: String) -> SettingProblem {
    SettingProblem("\(name): too long; a payload has at most \(UBXFrame.longestPayload) bytes")
  }
}

extension MessageLayout {
  var isInput: Bool { directions.contains { if case .input = $0 { true } else { false } } }
  var isOutput: Bool { directions.contains { if case .output = $0 { true } else { false } } }
  var isPoll: Bool { directions.contains { if case .poll = $0 { true } else { false } } }
}
