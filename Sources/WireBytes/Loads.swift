// SPDX-License-Identifier: Apache-2.0

/// Loads of integers from borrowed bytes: the only place where the wire formats load from memory.
///
/// The loads of `RawSpan` are unsafe because some types have invalid bit patterns. The types below have none, and every
/// load checks its bounds.
extension RawSpan {
  /// The byte at `offset`. Traps when `offset` is outside the span.
  @inlinable @inline(__always)
  public func u1(_ offset: Int) -> UInt8 {
    unsafe unsafeLoad(fromByteOffset: offset, as: UInt8.self)
  }

  /// The signed byte at `offset`.
  @inlinable @inline(__always)
  public func i1(_ offset: Int) -> Int8 { Int8(bitPattern: u1(offset)) }

  /// The little-endian integer at `offset`, at any alignment.
  @inlinable @inline(__always)
  public func littleEndian<Value: FixedWidthInteger & BitwiseCopyable>(_ offset: Int, as: Value.Type) -> Value {
    unsafe Value(littleEndian: unsafeLoadUnaligned(fromByteOffset: offset, as: Value.self))
  }

  /// The big-endian integer at `offset`, at any alignment.
  @inlinable @inline(__always)
  public func bigEndian<Value: FixedWidthInteger & BitwiseCopyable>(_ offset: Int, as: Value.Type) -> Value {
    unsafe Value(bigEndian: unsafeLoadUnaligned(fromByteOffset: offset, as: Value.self))
  }

  /// The `count` bytes from `offset`. Traps when they are not all in the span.
  @inlinable @inline(__always)
  @_lifetime(copy self)
  public func part(_ offset: Int, _ count: Int) -> RawSpan {
    precondition(offset >= 0 && count >= 0 && byteCount &- offset >= count)
    return unsafe extracting(unchecked: Range(uncheckedBounds: (offset, offset &+ count)))
  }

  /// Sixteen bytes from `offset` as a vector. Traps when fewer are left.
  @inlinable @inline(__always)
  public func block16(_ offset: Int) -> SIMD16<UInt8> {
    unsafe unsafeLoadUnaligned(fromByteOffset: offset, as: SIMD16<UInt8>.self)
  }

  /// Eighty bytes from `offset` as five vectors. Traps when fewer are left; the bounds are checked once for all.
  @inlinable @inline(__always)
  public func blocks80(_ offset: Int) -> Blocks80 {
    precondition(offset >= 0 && byteCount &- offset >= 80)
    return unsafe Blocks80(
      a: unsafeLoadUnaligned(fromUncheckedByteOffset: offset, as: SIMD16<UInt8>.self),
      b: unsafeLoadUnaligned(fromUncheckedByteOffset: offset &+ 16, as: SIMD16<UInt8>.self),
      c: unsafeLoadUnaligned(fromUncheckedByteOffset: offset &+ 32, as: SIMD16<UInt8>.self),
      d: unsafeLoadUnaligned(fromUncheckedByteOffset: offset &+ 48, as: SIMD16<UInt8>.self),
      e: unsafeLoadUnaligned(fromUncheckedByteOffset: offset &+ 64, as: SIMD16<UInt8>.self))
  }
}

/// Eighty bytes in a row.
public struct Blocks80: Sendable {
  public var a, b, c, d, e: SIMD16<UInt8>

  @inlinable @inline(__always)
  init(a: SIMD16<UInt8>, b: SIMD16<UInt8>, c: SIMD16<UInt8>, d: SIMD16<UInt8>, e: SIMD16<UInt8>) {
    self.a = a
    self.b = b
    self.c = c
    self.d = d
    self.e = e
  }
}

extension MutableRawSpan {
  /// Stores `value` at `offset` in little-endian order. Traps when it does not fit.
  @inlinable @inline(__always)
  @_lifetime(self: copy self)
  public mutating func setLittleEndian<Value: FixedWidthInteger & BitwiseCopyable>(_ value: Value, at offset: Int) {
    storeBytes(of: value.littleEndian, toByteOffset: offset, as: Value.self)
  }
}

extension RawSpan {
  /// The unsigned 24-bit little-endian integer at `offset`.
  @inlinable @inline(__always)
  public func littleEndian24(_ offset: Int) -> UInt32 {
    UInt32(littleEndian(offset, as: UInt16.self)) | UInt32(u1(offset &+ 2)) << 16
  }

  /// The signed 24-bit little-endian integer at `offset`.
  @inlinable @inline(__always)
  public func signed24(_ offset: Int) -> Int32 {
    Int32(bitPattern: littleEndian24(offset) << 8) >> 8
  }
}

extension MutableRawSpan {
  /// Stores the low 24 bits of `value` at `offset` in little-endian order.
  @inlinable @inline(__always)
  @_lifetime(self: copy self)
  public mutating func setLittleEndian24(_ value: UInt32, at offset: Int) {
    setLittleEndian(UInt16(truncatingIfNeeded: value), at: offset)
    setLittleEndian(UInt8(truncatingIfNeeded: value >> 16), at: offset &+ 2)
  }

  /// Stores the bytes of `text` at `offset`, truncated to `room` bytes.
  @inlinable
  @_lifetime(self: copy self)
  public mutating func setText(_ text: StaticString, at offset: Int, room: Int) {
    // Safe: a static string's bytes exist as long as the program.
    let count = min(room, text.utf8CodeUnitCount)
    for index in 0..<max(0, count) {
      setLittleEndian(unsafe text.utf8Start[index], at: offset &+ index)
    }
  }

  /// Stores characters of one byte each at `offset`, truncated to `room` bytes.
  @inlinable
  @_lifetime(self: copy self)
  public mutating func setText(_ characters: Span<UInt8>, at offset: Int, room: Int) {
    for index in 0..<max(0, min(room, characters.count)) { setLittleEndian(characters[index], at: offset &+ index) }
  }

  /// Copies all of `bytes` to `offset`. Traps when they do not fit.
  @inlinable
  @_lifetime(self: copy self)
  public mutating func copy(_ bytes: RawSpan, to offset: Int) {
    for index in 0..<bytes.byteCount { setLittleEndian(bytes.u1(index), at: offset &+ index) }
  }
}
