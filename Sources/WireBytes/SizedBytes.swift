// SPDX-License-Identifier: Apache-2.0

/// Bytes with a stored count, for loops over long streams: for a span, the compiler calls a function for its count, several times a
/// frame.
///
/// `unsafe`: the span does not check the loads. They are checked against the stored count.
public struct SizedBytes: ~Escapable {
  public let bytes: RawSpan
  /// The `byteCount` of the span.
  public let size: Int

  @inlinable @inline(__always)
  @_lifetime(copy bytes)
  public init(_ bytes: RawSpan) {
    self.bytes = bytes
    self.size = bytes.byteCount
  }

  /// The byte at `offset`. Traps when `offset` is outside.
  @inlinable @inline(__always)
  public func u1(_ offset: Int) -> UInt8 {
    precondition(offset >= 0 && offset < size)
    return unsafe bytes.unsafeLoad(fromUncheckedByteOffset: offset, as: UInt8.self)
  }

  /// The `count` bytes from `offset`. Traps when they are not all inside.
  @inlinable @inline(__always)
  @_lifetime(copy self)
  public func part(_ offset: Int, _ count: Int) -> RawSpan {
    precondition(offset >= 0 && count >= 0 && size &- offset >= count)
    return unsafe bytes.extracting(unchecked: Range(uncheckedBounds: (offset, offset &+ count)))
  }
}
