// SPDX-License-Identifier: Apache-2.0
import CSextant
import UBX

// The configuration items of `sextant.h`; the header describes them.
//
// `unsafe` because the arguments are C pointers.

@c @implementation
public func sextant_configuration_item_named(
  _ name: UnsafePointer<CChar>!, _ item: UnsafeMutablePointer<sextant_configuration_item>!
) -> Bool {
  guard let name = unsafe name, let item = unsafe item else { return false }
  var table = ConfigurationTable()
  while let entry = table.next() {
    // Both strings are zero-terminated.
    var at = 0
    while unsafe entry.name.start[at] != 0, unsafe UInt8(bitPattern: name[at]) == entry.name.start[at] { at += 1 }
    if at == entry.name.count, unsafe name[at] == 0 {
      unsafe item.pointee = sextant_configuration_item(entry)
      return true
    }
  }
  return false
}

@c @implementation
public func sextant_configuration_item_with_key(
  _ key: UInt32, _ item: UnsafeMutablePointer<sextant_configuration_item>!
) -> Bool {
  guard let item = unsafe item else { return false }
  var table = ConfigurationTable()
  while let entry = table.next() {
    if entry.id == key {
      unsafe item.pointee = sextant_configuration_item(entry)
      return true
    }
  }
  return false
}

@c @implementation
public func sextant_configuration_items(
  _ body: (@convention(c) (UnsafeMutableRawPointer?, UnsafePointer<sextant_configuration_item>?) -> Bool)!,
  _ context: UnsafeMutableRawPointer!
) {
  guard let body = unsafe body else { return }
  var table = ConfigurationTable()
  while let entry = table.next() {
    var item = unsafe sextant_configuration_item(entry)
    guard unsafe body(context, &item) else { return }
  }
}

@c @implementation
public func sextant_configuration_value_make(
  _ item: UnsafePointer<sextant_configuration_item>!, _ value: Double,
  _ result: UnsafeMutablePointer<sextant_configuration_value>!
) -> Bool {
  guard let item = unsafe item, let result = unsafe result,
    let pair = unsafe ConfigurationPair(item.pointee.item, value)
  else { return false }
  unsafe result.pointee = sextant_configuration_value(key: pair.id, bits: pair.bits)
  return true
}

@c @implementation
public func sextant_configuration_value_in_unit(
  _ item: UnsafePointer<sextant_configuration_item>!, _ bits: UInt64
) -> Double {
  guard let item = unsafe item else { return .nan }
  return unsafe ConfigurationPair(id: item.pointee.key, bits: bits).value(of: item.pointee.item)
}

@c @implementation
public func sextant_encode_valset(
  _ layers: UInt8, _ values: UnsafePointer<sextant_configuration_value>!, _ count: Int,
  _ output: UnsafeMutableRawPointer!, _ capacity: Int
) -> Int {
  let values = unsafe UnsafeBufferPointer(start: values, count: values == nil ? 0 : max(0, count))
  return unsafe configure(.valset(layers: layers), values.count == count, output, capacity) { writer in
    for index in 0..<count {
      let value = unsafe values[index]
      guard writer.append(ConfigurationPair(id: value.key, bits: value.bits)) else { return false }
    }
    return true
  }
}

@c @implementation
public func sextant_encode_valget(
  _ layer: UInt8, _ position: UInt16, _ keys: UnsafePointer<UInt32>!, _ count: Int,
  _ output: UnsafeMutableRawPointer!, _ capacity: Int
) -> Int {
  unsafe configure(.valget(layer: layer, position: position), keys, count, output, capacity)
}

@c @implementation
public func sextant_encode_valdel(
  _ layers: UInt8, _ keys: UnsafePointer<UInt32>!, _ count: Int, _ output: UnsafeMutableRawPointer!, _ capacity: Int
) -> Int {
  unsafe configure(.valdel(layers: layers), keys, count, output, capacity)
}

/// Writes a list of keys.
private func configure(
  _ kind: ConfigurationWriter.Kind, _ keys: UnsafePointer<UInt32>?, _ count: Int,
  _ output: UnsafeMutableRawPointer?, _ capacity: Int
) -> Int {
  let keys = unsafe UnsafeBufferPointer(start: keys, count: keys == nil ? 0 : max(0, count))
  return unsafe configure(kind, keys.count == count, output, capacity) { writer in
    for index in 0..<count { guard unsafe writer.append(key: keys[index]) else { return false } }
    return true
  }
}

/// Writes a frame of the configuration interface; 0 if `isValid` is false or `body` reports that an item does not fit.
private func configure(
  _ kind: ConfigurationWriter.Kind, _ isValid: Bool, _ output: UnsafeMutableRawPointer?, _ capacity: Int,
  _ body: (inout ConfigurationWriter) -> Bool
) -> Int {
  guard isValid, capacity >= 12 else { return 0 }
  return unsafe write(output, capacity) { span in
    var writer = ConfigurationWriter(kind, span._mutatingExtracting(0..<span.byteCount))
    return body(&writer) ? writer.finish() : nil
  }
}

/// The `sextant_value_type` of each kind of value in the table.
private func kind(ofType type: UInt8) -> UInt8 {
  switch UInt32(type) {
  case SEXTANT_SIGNED.rawValue: UInt8(ascii: "i")
  case SEXTANT_BITS.rawValue: UInt8(ascii: "x")
  case SEXTANT_ENUMERATION.rawValue: UInt8(ascii: "e")
  case SEXTANT_LOGICAL.rawValue: UInt8(ascii: "l")
  case SEXTANT_FLOAT.rawValue: UInt8(ascii: "r")
  default: UInt8(ascii: "u")
  }
}

extension sextant_configuration_item {
  init(_ entry: ConfigurationTable.Entry) {
    unsafe self.init()
    unsafe name = UnsafePointer(UnsafeRawPointer(entry.name.start).assumingMemoryBound(to: CChar.self))
    unsafe unit = UnsafePointer(UnsafeRawPointer(entry.unit.start).assumingMemoryBound(to: CChar.self))
    unsafe key = entry.id
    unsafe size = UInt8(configurationValueSize(entry.id) ?? 0)
    unsafe decimals = entry.decimals
    unsafe binary_places = entry.binaryPlaces
    for value in 0...5 where CInterface.kind(ofType: UInt8(value)) == entry.kind { unsafe type = UInt8(value) }
  }

  /// The item for conversions of its value.
  var item: ConfigurationItem {
    unsafe ConfigurationItem(
      id: key, kind: CInterface.kind(ofType: type), size: Int(size), decimals: decimals, binaryPlaces: binary_places)
  }
}
