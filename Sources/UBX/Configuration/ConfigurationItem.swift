/// An item of the receivers' configuration database (interface descriptions, "configuration interface"). The items are
/// made from `Layouts/configuration-items.keys`.
public struct ConfigurationItem: Sendable {
  /// The key by which CFG-VALSET, VALGET and VALDEL name the item.
  public var id: UInt32
  /// The interface description's name, such as `CFG-RATE-MEAS`.
  public var name: StaticString
  public var type: FieldLayout.WireType
  /// What a value on the wire is multiplied by to be in the unit.
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

  /// The item with a key; nil when the database does not have it.
  public static func with(id: UInt32) -> ConfigurationItem? {
    var low = 0
    var high = all.count
    while low < high {
      let middle = (low + high) / 2
      if all[middle].id < id { low = middle + 1 } else { high = middle }
    }
    return low < all.count && all[low].id == id ? all[low] : nil
  }

  /// The item with a name, such as `CFG-RATE-MEAS`; nil when the database does not have it. It looks at each item:
  /// a program that needs one often keeps what it found.
  public static func named(_ name: StaticString) -> ConfigurationItem? { all.first { $0.name.equals(name) } }

  /// The item whose name is the characters of `name`.
  public static func named(_ name: Span<UInt8>) -> ConfigurationItem? { all.first { $0.name.equals(name) } }
}

/// How many bytes the value of the item with this key has: bits 28 to 30 of the key say it, so that a list can be walked
/// over items that are not known. Nil when the key is none.
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
