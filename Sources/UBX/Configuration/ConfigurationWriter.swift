// SPDX-License-Identifier: Apache-2.0

import WireBytes

/// Writes the frames of the configuration interface: CFG-VALSET, and the key lists of CFG-VALGET and CFG-VALDEL.
///
///     var writer = ConfigurationWriter(.valset(layers: 1), output.mutableBytes)
///     _ = writer.append(ConfigurationPair(id: 0x3021_0001, bits: 1000))
///     let length = writer.finish()
public struct ConfigurationWriter: ~Copyable, ~Escapable {
  /// The frame to write.
  public enum Kind: Sendable {
    /// Sets items in the layers of the mask (1 RAM, 2 battery-backed RAM, 4 flash), without a transaction.
    case valset(layers: UInt8)
    /// Requests items of a layer (0 RAM, 1 battery-backed RAM, 2 flash, 7 default), from the result number `position`
    /// on.
    case valget(layer: UInt8, position: UInt16)
    /// Deletes items from the layers of the mask.
    case valdel(layers: UInt8)
  }

  /// The maximum number of keys in a frame (interface descriptions, CFG-VALSET).
  public static var mostItems: Int { 64 }

  private var output: MutableRawSpan
  private var end = 10
  private var items = 0

  /// Starts a frame at the start of `output`, which must have room for at least 12 bytes.
  @_lifetime(copy output)
  public init(_ kind: Kind, _ output: consuming MutableRawSpan) {
    self.output = output
    let identity: MessageIdentity
    switch kind {
    case .valset: identity = MessageIdentity(0x06, 0x8A)
    case .valget: identity = MessageIdentity(0x06, 0x8B)
    case .valdel: identity = MessageIdentity(0x06, 0x8C)
    }
    _ = beginFrame(identity, length: 4, in: &self.output)
    switch kind {
    case .valset(let layers), .valdel(let layers): self.output.setLittleEndian(layers, at: 7)
    case .valget(let layer, let position):
      self.output.setLittleEndian(layer, at: 7)
      self.output.setLittleEndian(position, at: 8)
    }
  }

  /// Adds a key with its value, for CFG-VALSET. Returns false, and adds nothing, when the frame or `output` is full or
  /// the key is invalid.
  @_lifetime(self: copy self)
  public mutating func append(_ pair: ConfigurationPair) -> Bool {
    guard let size = configurationValueSize(pair.id), hasRoom(4 + size) else { return false }
    output.setLittleEndian(pair.id, at: end)
    switch size {
    case 1: output.setLittleEndian(UInt8(truncatingIfNeeded: pair.bits), at: end + 4)
    case 2: output.setLittleEndian(UInt16(truncatingIfNeeded: pair.bits), at: end + 4)
    case 4: output.setLittleEndian(UInt32(truncatingIfNeeded: pair.bits), at: end + 4)
    default: output.setLittleEndian(pair.bits, at: end + 4)
    }
    end += 4 + size
    items += 1
    return true
  }

  /// Adds a key without a value, for CFG-VALGET and CFG-VALDEL. Returns false when the frame or `output` is full.
  @_lifetime(self: copy self)
  public mutating func append(key id: UInt32) -> Bool {
    guard hasRoom(4) else { return false }
    output.setLittleEndian(id, at: end)
    end += 4
    items += 1
    return true
  }

  private func hasRoom(_ size: Int) -> Bool { items < Self.mostItems && end + size + 2 <= output.byteCount }

  /// Writes length and checksum, and returns the length of the frame in bytes.
  @_lifetime(self: copy self)
  public mutating func finish() -> Int {
    output.setLittleEndian(UInt16(end - 6), at: 4)
    finishFrame(end + 2, in: &output)
    return end + 2
  }
}

/// An item of the configuration database (interface descriptions, "configuration interface"). The items are generated
/// from `Layouts/configuration-items.keys`.
public struct ConfigurationItem: Sendable {
  /// The key of the item in CFG-VALSET, VALGET and VALDEL.
  public var id: UInt32
  /// The interface description's name, such as `CFG-RATE-MEAS`.
  public var name: ConfigurationText
  public var type: FieldLayout.WireType
  /// The factor between a value on the wire and the unit.
  public var scale: FieldLayout.Scale
  /// The unit as the interface description writes it; empty for none.
  public var unit: ConfigurationText

  /// Every item, sorted by key.
  public static let all: [ConfigurationItem] = {
    var all: [ConfigurationItem] = []
    var table = ConfigurationTable()
    while let entry = table.next() { all.append(entry.item) }
    return all
  }()

  /// The item with a key; nil when the database has no such item.
  public static func with(id: UInt32) -> ConfigurationItem? {
    var low = 0
    var high = all.count
    while low < high {
      let middle = (low + high) / 2
      if all[middle].id < id { low = middle + 1 } else { high = middle }
    }
    return low < all.count && all[low].id == id ? all[low] : nil
  }

  /// The item with a name, such as `CFG-RATE-MEAS`; nil when the database has no such item. The search is linear: a
  /// program that needs an item often stores the result.
  public static func named(_ name: StaticString) -> ConfigurationItem? { all.first { $0.name == name } }

  /// The item with the characters of `name` as its name.
  public static func named(_ name: Span<UInt8>) -> ConfigurationItem? { all.first { $0.name.equals(name) } }
}

/// The length of the value of a key, in bytes, from bits 28 to 30 of the key: so a list with unknown items can be read.
/// Nil for an invalid key.
@inlinable
public func configurationValueSize(_ id: UInt32) -> Int? {
  switch id >> 28 & 7 {
  case 1, 2: 1
  case 3: 2
  case 4: 4
  case 5: 8
  default: nil
  }
}

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

  #if !hasFeature(Embedded)
    /// The bytes of key and value in CFG-VALSET and CFG-VALGET; of an invalid key without a value.
    package var bytes: [UInt8] {
      littleEndianBytes(id) + littleEndianBytes(bits).prefix(configurationValueSize(id) ?? 0)
    }
  #endif

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
