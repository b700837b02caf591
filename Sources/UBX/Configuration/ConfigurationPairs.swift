// SPDX-License-Identifier: Apache-2.0
import WireBytes

/// A key and its value, as in CFG-VALSET and CFG-VALGET.
public struct ConfigurationPair: Sendable, Equatable {
  /// The item's key.
  public var id: UInt32
  /// The value's bits, not sign-extended.
  public var bits: UInt64

  @inlinable
  public init(id: UInt32, bits: UInt64) {
    self.id = id
    self.bits = bits
  }

  /// The item; nil when the database has no such item.
  public var item: ConfigurationItem? { ConfigurationItem.with(id: id) }

  /// The value as a whole number on the wire, sign-extended for an item of an I type.
  public func integer(as type: FieldLayout.WireType) -> Int64 {
    switch type {
    case .i1, .i2, .i3, .i4, .i8:
      let spare = UInt64(64 - type.size * 8)
      return Int64(bitPattern: bits << spare) >> Int64(spare)
    default: return Int64(bitPattern: bits)
    }
  }

  /// The value in the unit of the item, rounded to a `Double`.
  public func value(of item: ConfigurationItem) -> Double {
    let number: Double =
      switch item.type {
      case .r4: Double(Float(bitPattern: UInt32(truncatingIfNeeded: bits)))
      case .r8: Double(bitPattern: bits)
      case .i1, .i2, .i3, .i4, .i8: Double(integer(as: item.type))
      default: Double(bits)
      }
    return switch item.scale {
    case .one: number
    case .decimal(let digits): number / Self.powerOfTen(digits)
    case .factor(let factor): number * factor
    }
  }

  /// The pair that sets `item` to `value` in its unit, rounded to the nearest value of the wire. Nil when the value is
  /// not finite or does not fit the type of the item.
  public init?(_ item: ConfigurationItem, _ value: Double) {
    let number =
      switch item.scale {
      case .one: value
      case .decimal(let digits): value * Self.powerOfTen(digits)
      case .factor(let factor): value / factor
      }
    guard number.isFinite else { return nil }
    id = item.id
    switch item.type {
    case .r4:
      guard Float(number).isFinite else { return nil }
      bits = UInt64(Float(number).bitPattern)
    case .r8: bits = number.bitPattern
    default:
      guard let bits = Self.bits(of: number.rounded(), item.type) else { return nil }
      self.bits = bits
    }
  }

  private static func bits(of number: Double, _ type: FieldLayout.WireType) -> UInt64? {
    let width = UInt64(type.size * 8)
    let mask = width == 64 ? UInt64.max : 1 << width - 1
    switch type {
    case .i1, .i2, .i3, .i4, .i8:
      guard let whole = Int64(exactly: number), whole == (whole << Int64(64 - width)) >> Int64(64 - width) else {
        return nil
      }
      return UInt64(bitPattern: whole) & mask
    case .l: return number == 0 || number == 1 ? UInt64(clamping: number) : nil
    default:
      guard let whole = UInt64(exactly: number), whole <= mask else { return nil }
      return whole
    }
  }

  private static func powerOfTen(_ digits: Int) -> Double {
    var power = 1.0
    for _ in 0..<digits { power *= 10 }
    return power
  }
}

/// Reads the pairs of a CFG-VALSET or CFG-VALGET: the bytes of `cfgData`.
public struct ConfigurationPairs: ~Escapable {
  private let bytes: RawSpan
  private var at = 0

  /// Starts at the first pair.
  @_lifetime(copy bytes)
  public init(_ bytes: RawSpan) { self.bytes = bytes }

  /// Whether all bytes belong to the pairs that were read. If it is false at the end, the list is truncated or a key is
  /// invalid.
  public var isComplete: Bool { at == bytes.byteCount }

  /// The next pair; nil at the end.
  @_lifetime(self: copy self)
  public mutating func next() -> ConfigurationPair? {
    guard at + 4 <= bytes.byteCount else { return nil }
    let id = bytes.littleEndian(at, as: UInt32.self)
    guard let size = configurationValueSize(id), at + 4 + size <= bytes.byteCount else { return nil }
    let start = at + 4
    at = start + size
    let bits: UInt64 =
      switch size {
      case 1: UInt64(bytes.u1(start))
      case 2: UInt64(bytes.littleEndian(start, as: UInt16.self))
      case 4: UInt64(bytes.littleEndian(start, as: UInt32.self))
      default: bytes.littleEndian(start, as: UInt64.self)
      }
    return ConfigurationPair(id: id, bits: bits)
  }
}
