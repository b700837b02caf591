// SPDX-License-Identifier: Apache-2.0
import UBX
import WireBytes

// UBX messages from their layouts. Only messages with configuration items are known by name.
extension JSONLine {
  /// Writes name, position and fields of a UBX frame. Returns whether its bytes should follow because the fields do not
  /// cover them.
  mutating func message(_ frame: UBXFrame, offset: UInt64) -> Bool {
    name("name")
    if let layout = MessageLayout.of(frame) {
      quoted(layout.name)
      position(offset, frame.bytes.byteCount)
      return !fields(frame.payload, layout)
    }
    guard let declared = MessageLayout.candidates(for: frame.identity).first else {
      unknownName(frame.identity)
      position(offset, frame.bytes.byteCount)
      return true
    }
    quoted(declared.name)
    position(offset, frame.bytes.byteCount)
    // A poll is often a frame without payload, regardless of its reply.
    guard frame.payload.isEmpty else { return true }
    beginObject("fields")
    endObject()
    return false
  }

  private mutating func quoted(_ text: StaticString) {
    put(raw: UInt8(ascii: "\""))
    put(text)
    put(raw: UInt8(ascii: "\""))
  }

  /// Writes class and id of a message without a declaration, such as `0x27-0x09`.
  private mutating func unknownName(_ identity: MessageIdentity) {
    put("\"0x")
    hexadecimal(identity.messageClass)
    put("-0x")
    hexadecimal(identity.messageID)
    put(raw: UInt8(ascii: "\""))
  }

  /// Writes all fields except the reserved ones. Returns false if there are bytes that do not belong to a field.
  private mutating func fields(_ payload: RawSpan, _ layout: MessageLayout) -> Bool {
    beginObject("fields")
    var cursor = FieldCursor(layout)
    var item = -1
    var groups = 0
    var isInGroup = false
    var isWhole = true
    while let place = cursor.next(in: payload) {
      if place.item != item {
        if isInGroup { endGroup() }
        emptyGroups(layout, item + 1..<place.item, &groups)
        item = place.item
        isInGroup = place.round != nil
        if isInGroup {
          groups += 1
          beginGroup(groups)
        }
      }
      if place.startsRound {
        if place.round != 0 { endObject() }
        beginObject()
      }
      if place.field.isReserved { continue }
      if place.field.hasConfigurationPairs(layout) {
        isWhole = configuration(payload.extracting(place.offset...), place.field.name)
      } else {
        name(place.field.name)
        values(of: place.field, payload, place.offset)
      }
    }
    if isInGroup { endGroup() }
    emptyGroups(layout, item + 1..<layout.items.count, &groups)
    endObject()
    return isWhole && cursor.offset == payload.byteCount
  }

  private mutating func beginGroup(_ number: Int) {
    switch number {
    case 1: beginArray("groups")
    case 2: beginArray("groups2")
    default: beginArray("groups3")
    }
  }

  private mutating func endGroup() {
    endObject()
    endArray()
  }

  /// Writes groups without repetitions as empty arrays.
  private mutating func emptyGroups(_ layout: MessageLayout, _ items: Range<Int>, _ groups: inout Int) {
    for index in items {
      guard case .group = layout.items[index] else { continue }
      groups += 1
      beginGroup(groups)
      endArray()
    }
  }

  private mutating func values(of field: FieldLayout, _ payload: RawSpan, _ offset: Int) {
    let count = field.values(within: payload.byteCount - offset)
    if field.type == .ch { return string(Text(payload.extracting(offset..<offset + count)).bytes) }
    guard field.isArray else { return value(of: field, payload, offset) }
    put(raw: UInt8(ascii: "["))
    for index in 0..<count {
      if index > 0 { put(raw: UInt8(ascii: ",")) }
      value(of: field, payload, offset + index * field.type.size)
    }
    put(raw: UInt8(ascii: "]"))
  }

  private mutating func value(of field: FieldLayout, _ payload: RawSpan, _ offset: Int) {
    value(field.unsigned(in: payload, at: offset), field.type, field.scale)
  }

  /// Writes a value on the wire, multiplied by its scale.
  mutating func value(_ bits: UInt64, _ type: FieldLayout.WireType, _ scale: FieldLayout.Scale) {
    switch type {
    case .r4: real(Float(bitPattern: UInt32(truncatingIfNeeded: bits)), scale)
    case .r8: real(Double(bitPattern: bits), scale)
    case .i1, .i2, .i3, .i4, .i8:
      let spare = UInt64(64 - type.size * 8)
      let number = Int64(bitPattern: bits << spare) >> Int64(spare)
      integer(number.magnitude, isNegative: number < 0, scale)
    default: integer(bits, isNegative: false, scale)
    }
  }

  private mutating func integer(_ magnitude: UInt64, isNegative: Bool, _ scale: FieldLayout.Scale) {
    switch scale {
    case .one: trimmed(magnitude, isNegative: isNegative, digits: 0)
    case .decimal(let digits): trimmed(magnitude, isNegative: isNegative, digits: digits)
    case .factor(let factor): shortest((isNegative ? -Double(magnitude) : Double(magnitude)) * factor)
    }
  }

  private mutating func real<Value: BinaryFloatingPoint & CustomStringConvertible>(
    _ value: Value, _ scale: FieldLayout.Scale
  ) {
    switch scale {
    case .one: shortest(value)
    case .decimal(let digits):
      var divisor = 1.0
      for _ in 0..<digits { divisor *= 10 }
      shortest(Double(value) / divisor)
    case .factor(let factor): shortest(Double(value) * factor)
    }
  }
}
