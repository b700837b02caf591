// SPDX-License-Identifier: Apache-2.0
import UBX

/// The payload of a message by its layout: the inverse of decoding. Fields that are not assigned are zero, but for the
/// bytes that distinguish layouts and the counts of groups.
struct MessageEncoding {
  private(set) var payload: [UInt8] = []
  /// The fields of the payload that are not assigned.
  private(set) var unset: [String] = []

  private let layout: MessageLayout
  private let assignments: FieldAssignments
  /// The rounds of each group whose count is in an earlier field.
  private var counts: [(field: FieldLayout, offset: Int, shift: UInt64, mask: UInt64, rounds: Int)] = []

  init(_ layout: MessageLayout, _ assignments: FieldAssignments) throws(SettingProblem) {
    self.layout = layout
    self.assignments = assignments
    payload = [UInt8](repeating: 0, count: try length())
    for case .byte(let offset, let value) in layout.conditions where offset < payload.count {
      payload[offset] = value
    }
    for count in counts { set(UInt64(count.rounds) << count.shift, count.field, count.offset) }
    try assign()
    try checkCounts()
    payload += assignments.items
    guard layout.fits(unsafe payload.span.bytes) else {
      throw SettingProblem("\(layout.name): these values do not go together with its other fields")
    }
  }

  // MARK: Length

  /// The length of the payload without configuration items, bytes. Optional fields at the end are present up to the last
  /// assigned one. Throws a problem for a length above the longest payload's.
  private mutating func length() throws(SettingProblem) -> Int {
    var offset = 0
    var assigned = 0
    for (index, item) in layout.items.enumerated() {
      switch item {
      case .field(let field):
        let isAssigned = assignments.fields.contains { $0.path == field.name.description.lowercased() }
        offset += field.type.size * (field.count == 0 ? try openCount(field) : field.count)
        if isAssigned { assigned = offset }
      case .group(let times, let size, _):
        let rounds = try rounds(times, PayloadFields.groupName(layout, index))
        offset += rounds * size
        if rounds > 0 { assigned = offset }
      }
    }
    var length = max(layout.minimumLength, assigned)
    for case .length(let needed) in layout.conditions { length = max(length, needed) }
    guard length <= UBXFrame.longestPayload else { throw NamedMessage.tooLong("\(layout.name)") }
    return length
  }

  private mutating func rounds(_ times: MessageLayout.Times, _ group: String) throws(SettingProblem) -> Int {
    let rounds = assignments.rounds(of: group)
    switch times {
    case .fixed(let count):
      guard rounds <= count else { throw SettingProblem("\(group): the message has \(count) of them") }
      return count
    case .rest: return rounds
    case .field(let name, let shift, let mask):
      var offset = 0
      for case .field(let field) in layout.items {
        if field.name.description == name.description {
          let most = mask & (UInt64.max >> UInt64(64 - field.type.size * 8)) >> shift
          guard UInt64(rounds) <= most else {
            throw SettingProblem("\(group): the message has at most \(most) of them")
          }
          counts.append((field, offset, shift, mask, rounds))
          break
        }
        offset += field.size(within: 0)
      }
      return rounds
    }
  }

  /// The number of values of a field that fills the rest of the payload.
  private func openCount(_ field: FieldLayout) throws(SettingProblem) -> Int {
    let those = assignments.fields.filter { $0.path == field.name.description.lowercased() }
    var count = 0
    for one in those {
      if let element = one.element {
        count = max(count, element + 1)
      } else {
        do { count = max(count, try PayloadFields.values(one.value, field, count: 0).count) } catch {
          throw problem(error, one, field)
        }
      }
    }
    return count
  }

  // MARK: Values

  private mutating func assign() throws(SettingProblem) {
    let fields = PayloadFields.list(layout, payload)
    var isSet = Set<String>()
    for one in assignments.fields {
      guard let field = fields.first(where: { $0.path.lowercased() == one.path }) else {
        throw SettingProblem("\(one.name): not part of this message")
      }
      if let element = one.element, element >= field.values {
        throw SettingProblem("\(one.name): the field has \(field.values) value\(field.values == 1 ? "" : "s")")
      }
      do { try PayloadFields.set(field, element: one.element, one.value, in: &payload) } catch {
        throw problem(error, one, field.layout)
      }
      isSet.insert(one.path)
    }
    let given = layout.conditions.compactMap { if case .byte(let offset, _) = $0 { offset } else { nil } }
    unset = fields.filter { field in
      // The layout determines the version.
      field.values > 0 && !["version", "msgVer"].contains(field.path) && !isSet.contains(field.path.lowercased())
        && !given.contains(field.offset)
        && !counts.contains { $0.offset == field.offset }
    }.map(\.path)
  }

  /// Sets the counts of groups that an assignment has cleared, and refuses wrong ones.
  private mutating func checkCounts() throws(SettingProblem) {
    for count in counts {
      let bits = count.field.unsigned(in: unsafe payload.span.bytes, at: count.offset)
      let value = bits >> count.shift & count.mask
      if value == 0 { set(bits | UInt64(count.rounds) << count.shift, count.field, count.offset) }
      guard value == 0 || value == UInt64(count.rounds) else {
        throw SettingProblem("\(count.field.name): counts \(value) groups, but there are \(count.rounds)")
      }
    }
  }

  private mutating func set(_ bits: UInt64, _ field: FieldLayout, _ offset: Int) {
    for byte in 0..<field.type.size { payload[offset + byte] = UInt8(truncatingIfNeeded: bits >> (byte * 8)) }
  }

  private func problem(
    _ problem: WireText.Problem, _ one: FieldAssignments.Assignment, _ field: FieldLayout
  ) -> SettingProblem {
    SettingWord.problem(
      problem, one.name, one.value, field.unit.description, isArray: field.isArray && one.element == nil)
  }
}
