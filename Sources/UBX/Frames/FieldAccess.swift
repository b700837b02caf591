// SPDX-License-Identifier: Apache-2.0
import WireBytes

// The functions that the generated members call. Each has one type and no closure: the compiler checks 6,600 members
// that call them in 40 % of the time that generic functions, operators and preconditions took.

extension RawSpan {
  @inlinable @inline(__always)
  func u2(_ offset: Int) -> UInt16 { littleEndian(offset, as: UInt16.self) }
  @inlinable @inline(__always)
  func u4(_ offset: Int) -> UInt32 { littleEndian(offset, as: UInt32.self) }
  @inlinable @inline(__always)
  func u8(_ offset: Int) -> UInt64 { littleEndian(offset, as: UInt64.self) }
  @inlinable @inline(__always)
  func i2(_ offset: Int) -> Int16 { littleEndian(offset, as: Int16.self) }
  @inlinable @inline(__always)
  func i4(_ offset: Int) -> Int32 { littleEndian(offset, as: Int32.self) }
  @inlinable @inline(__always)
  func i8(_ offset: Int) -> Int64 { littleEndian(offset, as: Int64.self) }
  @inlinable @inline(__always)
  func r4(_ offset: Int) -> Float { Float(bitPattern: u4(offset)) }
  @inlinable @inline(__always)
  func r8(_ offset: Int) -> Double { Double(bitPattern: u8(offset)) }

  /// Block `index` of `count` blocks of `size` bytes from `start`. Traps if it does not exist.
  @inlinable @inline(__always)
  @_lifetime(copy self)
  func block(_ start: Int, _ index: Int, _ size: Int, of count: Int) -> RawSpan {
    part(place(start, index, size, of: count), size)
  }

  /// The number of blocks of `size` bytes from `start` to the end.
  @inlinable @inline(__always)
  func blockCount(_ start: Int, _ size: Int) -> Int { max(0, byteCount - start) / size }

  /// Whether `count` blocks of `size` bytes from `start` are in the payload.
  @inlinable @inline(__always)
  func hasBlocks(_ start: Int, _ count: Int, _ size: Int) -> Bool { byteCount >= place(start, count, size) }

  /// The bytes from `start` to the end; none if the payload ends before.
  @inlinable @inline(__always)
  @_lifetime(copy self)
  func rest(_ start: Int) -> RawSpan { extracting(min(start, byteCount)...) }
}

extension MutableRawSpan {
  @inlinable @inline(__always) @_lifetime(self: copy self)
  mutating func setU1(_ value: UInt8, at offset: Int) { setLittleEndian(value, at: offset) }
  @inlinable @inline(__always) @_lifetime(self: copy self)
  mutating func setU2(_ value: UInt16, at offset: Int) { setLittleEndian(value, at: offset) }
  @inlinable @inline(__always) @_lifetime(self: copy self)
  mutating func setU4(_ value: UInt32, at offset: Int) { setLittleEndian(value, at: offset) }
  @inlinable @inline(__always) @_lifetime(self: copy self)
  mutating func setU8(_ value: UInt64, at offset: Int) { setLittleEndian(value, at: offset) }
  @inlinable @inline(__always) @_lifetime(self: copy self)
  mutating func setI1(_ value: Int8, at offset: Int) { setLittleEndian(value, at: offset) }
  @inlinable @inline(__always) @_lifetime(self: copy self)
  mutating func setI2(_ value: Int16, at offset: Int) { setLittleEndian(value, at: offset) }
  @inlinable @inline(__always) @_lifetime(self: copy self)
  mutating func setI3(_ value: Int32, at offset: Int) { setLittleEndian24(UInt32(bitPattern: value), at: offset) }
  @inlinable @inline(__always) @_lifetime(self: copy self)
  mutating func setI4(_ value: Int32, at offset: Int) { setLittleEndian(value, at: offset) }
  @inlinable @inline(__always) @_lifetime(self: copy self)
  mutating func setI8(_ value: Int64, at offset: Int) { setLittleEndian(value, at: offset) }
  @inlinable @inline(__always) @_lifetime(self: copy self)
  mutating func setR4(_ value: Float, at offset: Int) { setLittleEndian(value.bitPattern, at: offset) }
  @inlinable @inline(__always) @_lifetime(self: copy self)
  mutating func setR8(_ value: Double, at offset: Int) { setLittleEndian(value.bitPattern, at: offset) }
}

/// The offset of element `index` of elements of `size` bytes from `start`.
@inlinable @inline(__always)
func place(_ start: Int, _ index: Int, _ size: Int) -> Int { start &+ index &* size }

/// The same for one of `count` elements. Traps if it does not exist.
@inlinable @inline(__always)
func place(_ start: Int, _ index: Int, _ size: Int, of count: Int) -> Int {
  precondition(index >= 0 && index < count)
  return start &+ index &* size
}

/// The `length` bytes of a frame's payload.
@inlinable @inline(__always)
@_lifetime(&output)
func payloadRoom(_ length: Int, in output: inout MutableRawSpan) -> MutableRawSpan {
  output._mutatingExtracting(6..<6 &+ length)
}

@inlinable @inline(__always)
func check(_ length: Int, isAtLeast minimum: Int) { precondition(length >= minimum) }

@inlinable @inline(__always)
func check(_ length: Int, is exact: Int) { precondition(length == exact) }

// The bits of a bit field: one bit, or the bits of `mask` from `first`.

extension UInt8 {
  @inlinable @inline(__always)
  func bit(_ place: UInt8) -> Bool { self &>> place & 1 != 0 }
  @inlinable @inline(__always)
  func bits(_ first: UInt8, _ mask: UInt8) -> UInt8 { self &>> first & mask }
}

extension UInt16 {
  @inlinable @inline(__always)
  func bit(_ place: UInt16) -> Bool { self &>> place & 1 != 0 }
  @inlinable @inline(__always)
  func bits(_ first: UInt16, _ mask: UInt16) -> UInt16 { self &>> first & mask }
}

extension UInt32 {
  @inlinable @inline(__always)
  func bit(_ place: UInt32) -> Bool { self &>> place & 1 != 0 }
  @inlinable @inline(__always)
  func bits(_ first: UInt32, _ mask: UInt32) -> UInt32 { self &>> first & mask }
}

extension UInt64 {
  @inlinable @inline(__always)
  func bit(_ place: UInt64) -> Bool { self &>> place & 1 != 0 }
  @inlinable @inline(__always)
  func bits(_ first: UInt64, _ mask: UInt64) -> UInt64 { self &>> first & mask }
}

extension FixedWidthInteger {
  /// Division by a power of ten gives the number nearest to the decimal; multiplication does not.
  @inlinable @inline(__always)
  func divided(by divisor: Double) -> Double { Double(self) / divisor }
  @inlinable @inline(__always)
  func scaled(by factor: Double) -> Double { Double(self) * factor }
}

// The short forms of the layout tables: one value without a scale.

extension FieldLayout {
  @inline(__always)
  static func value(_ name: StaticString, _ type: WireType, _ unit: StaticString) -> FieldLayout {
    FieldLayout(name, type, 1, isArray: false, .one, unit)
  }
}

extension MessageLayout.Item {
  @inline(__always)
  static func value(_ name: StaticString, _ type: FieldLayout.WireType, _ unit: StaticString) -> Self {
    .field(.value(name, type, unit))
  }
}
