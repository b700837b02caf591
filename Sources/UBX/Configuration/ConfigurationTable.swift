// SPDX-License-Identifier: Apache-2.0

/// The configuration items as one constant text, which needs no allocation. The text is generated from
/// `Layouts/configuration-items.keys`, sorted by key. An item in it:
///
///     40030009 i 7 CFG-TMODE-LAT 0 deg 0
///
/// without the spaces: the key in eight hexadecimal digits; the type, a character of `WireType`; the scale, `0`…`9` for the number of
/// decimals, or `a`… for one and more binary places; the name and the unit, each with a zero after it.
public struct ConfigurationTable {
  /// An item of the table.
  public struct Entry: Sendable {
    /// The key of the item in CFG-VALSET, VALGET and VALDEL.
    public let id: UInt32
    /// The kind of the value: `u`, `i`, `x` (bits), `e` (enumeration), `l` (logical) or `r` (IEEE 754).
    public let kind: UInt8
    /// The value in the unit is the value on the wire by 10 to the power of `decimals` and 2 to the power of `binaryPlaces`.
    public let decimals: UInt8
    public let binaryPlaces: UInt8
    public let name: ConfigurationText
    public let unit: ConfigurationText
  }

  private var at = 0

  /// Starts before the first item.
  public init() {}

  /// The next item, in ascending order of the keys; nil at the end.
  public mutating func next() -> Entry? {
    // `unsafe`: reads the bytes of a static string. They exist as long as the program, and the loop ends at its last
    // byte, which is a zero.
    let text = Self.text
    guard at < text.utf8CodeUnitCount else { return nil }
    let start = unsafe text.utf8Start
    let head = at
    let name = head + 10
    let nameEnd = unsafe Self.end(start, name)
    let unitEnd = unsafe Self.end(start, nameEnd + 1)
    at = unitEnd + 1
    var id: UInt32 = 0
    for place in head..<head + 8 { id = unsafe id << 4 | UInt32(Self.hexadecimal(start[place])) }
    let scale = unsafe start[head + 9]
    let isDecimal = scale <= UInt8(ascii: "9")
    return unsafe Entry(
      id: id, kind: start[head + 8], decimals: isDecimal ? scale - UInt8(ascii: "0") : 0,
      binaryPlaces: isDecimal ? 0 : scale - UInt8(ascii: "a") + 1,
      name: ConfigurationText(start: start + name, count: nameEnd - name),
      unit: ConfigurationText(start: start + nameEnd + 1, count: unitEnd - nameEnd - 1))
  }

  private static func end(_ start: UnsafePointer<UInt8>, _ from: Int) -> Int {
    var at = from
    while unsafe start[at] != 0 { at += 1 }
    return at
  }

  private static func hexadecimal(_ digit: UInt8) -> UInt8 {
    digit <= UInt8(ascii: "9") ? digit - UInt8(ascii: "0") : digit - UInt8(ascii: "a") + 10
  }
}

/// A text of the table: ASCII in a constant of the program, with a zero after it.
///
/// `@unchecked Sendable`: the constant does not change, and exists as long as the program.
@safe public struct ConfigurationText: @unchecked Sendable {
  /// The first character, or the zero.
  public let start: UnsafePointer<UInt8>
  /// The number of characters, without the zero.
  public let count: Int

  init(start: UnsafePointer<UInt8>, count: Int) { unsafe (self.start, self.count) = (start, count) }

  /// A literal, which has a zero after its last character.
  init(_ text: StaticString) { unsafe self.init(start: text.utf8Start, count: text.utf8CodeUnitCount) }

  public static func == (text: ConfigurationText, other: StaticString) -> Bool {
    other.withUTF8Buffer { unsafe text.equals($0.span) }
  }

  /// Whether the text has these characters.
  func equals(_ characters: Span<UInt8>) -> Bool {
    guard count == characters.count else { return false }
    for index in 0..<count where unsafe start[index] != characters[index] { return false }
    return true
  }
}

#if !hasFeature(Embedded)
  extension ConfigurationText: CustomStringConvertible {
    public var description: String {
      unsafe String(decoding: UnsafeBufferPointer(start: start, count: count), as: UTF8.self)
    }
  }
#endif

extension ConfigurationTable.Entry {
  /// The item, for conversions of its value.
  public var item: ConfigurationItem {
    var item = ConfigurationItem(
      id: id, kind: kind, size: configurationValueSize(id) ?? 0, decimals: decimals, binaryPlaces: binaryPlaces)
    (item.name, item.unit) = (name, unit)
    return item
  }
}

extension ConfigurationItem {
  /// An item without name and unit.
  ///
  /// - Parameters:
  ///   - id: the key of the item.
  ///   - kind: as in `ConfigurationTable.Entry`.
  ///   - size: of the value in bytes: 1, 2, 4 or 8.
  ///   - decimals: the decimal places of the scale, 0 with `binaryPlaces`.
  ///   - binaryPlaces: the binary places of the scale, 0 with `decimals`.
  public init(id: UInt32, kind: UInt8, size: Int, decimals: UInt8, binaryPlaces: UInt8) {
    let type: FieldLayout.WireType =
      switch (kind, size) {
      case (UInt8(ascii: "l"), _): .l
      case (UInt8(ascii: "i"), 1): .i1
      case (UInt8(ascii: "i"), 2): .i2
      case (UInt8(ascii: "i"), 4): .i4
      case (UInt8(ascii: "i"), _): .i8
      case (UInt8(ascii: "x"), 1): .x1
      case (UInt8(ascii: "x"), 2): .x2
      case (UInt8(ascii: "x"), 4): .x4
      case (UInt8(ascii: "x"), _): .x8
      case (UInt8(ascii: "e"), 1): .e1
      case (UInt8(ascii: "e"), 2): .e2
      case (UInt8(ascii: "e"), 4): .e4
      case (UInt8(ascii: "r"), 4): .r4
      case (UInt8(ascii: "r"), 8): .r8
      case (_, 1): .u1
      case (_, 2): .u2
      case (_, 4): .u4
      default: .u8
      }
    var factor = 1.0
    for _ in 0..<binaryPlaces { factor /= 2 }
    let scale: FieldLayout.Scale =
      decimals > 0 ? .decimal(digits: Int(decimals)) : binaryPlaces > 0 ? .factor(factor) : .one
    let none = ConfigurationText("")
    self.init(id: id, name: none, type: type, scale: scale, unit: none)
  }
}
