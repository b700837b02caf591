// SPDX-License-Identifier: Apache-2.0

/// The configuration items as one constant text, for programs that allocate no memory. The text is generated from
/// `Layouts/configuration-items.keys`, sorted by key. An item in it:
///
///     40030009 i 7 CFG-TMODE-LAT 0 deg 0
///
/// without the spaces: the key in eight hexadecimal digits; the type, a character of `WireType`; the scale, `0`…`9` for the number of
/// decimals, or `a`… for one and more binary places; the name and the unit, each with a zero after it.
public struct ConfigurationTable {
  /// An item of the table. The name and the unit are constants of the program, with a zero after the last character.
  @safe public struct Entry {
    /// The key of the item in CFG-VALSET, VALGET and VALDEL.
    public let id: UInt32
    /// The kind of the value: `u`, `i`, `x` (bits), `e` (enumeration), `l` (logical) or `r` (IEEE 754).
    public let kind: UInt8
    /// The value in the unit is the value on the wire by 10 to the power of `decimals` and 2 to the power of `binaryPlaces`.
    public let decimals: UInt8
    public let binaryPlaces: UInt8
    public let name: UnsafePointer<UInt8>
    public let nameLength: Int
    public let unit: UnsafePointer<UInt8>
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
      binaryPlaces: isDecimal ? 0 : scale - UInt8(ascii: "a") + 1, name: start + name, nameLength: nameEnd - name,
      unit: start + nameEnd + 1)
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

extension ConfigurationTable.Entry {
  /// The item, without name and unit, for conversions of its value.
  public var item: ConfigurationItem {
    let size = configurationValueSize(id) ?? 0
    return ConfigurationItem(id: id, kind: kind, size: size, decimals: decimals, binaryPlaces: binaryPlaces)
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
    self.init(id, "", type, scale, "")
  }
}
