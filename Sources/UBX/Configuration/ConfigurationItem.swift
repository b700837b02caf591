// SPDX-License-Identifier: Apache-2.0

/// An item of the configuration database (interface descriptions, "configuration interface"). The items are generated
/// from `Layouts/configuration-items.keys`.
public struct ConfigurationItem: Sendable {
  /// The key of the item in CFG-VALSET, VALGET and VALDEL.
  public var id: UInt32
  /// The interface description's name, such as `CFG-RATE-MEAS`.
  public var name: StaticString
  public var type: FieldLayout.WireType
  /// The factor between a value on the wire and the unit.
  public var scale: FieldLayout.Scale
  /// The unit as the interface description writes it; empty for none.
  public var unit: StaticString

  init(
    _ id: UInt32, _ name: StaticString, _ type: FieldLayout.WireType, _ scale: FieldLayout.Scale, _ unit: StaticString
  ) {
    self.id = id
    self.name = name
    self.type = type
    self.scale = scale
    self.unit = unit
  }

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
  public static func named(_ name: StaticString) -> ConfigurationItem? { all.first { $0.name.equals(name) } }

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
