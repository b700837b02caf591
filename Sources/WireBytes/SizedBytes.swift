/// Bytes with their size and their place at hand, for loops that go through long streams: in those the compiler asks a span for
/// its size by a call, several times a frame.
///
/// What is unsafe here: the pointer is the span's, which lives as long as this value may, and nothing is read that is not
/// inside the size.
@safe public struct SizedBytes: ~Escapable {
  public let bytes: RawSpan
  /// The span's `byteCount`.
  public let size: Int
  @usableFromInline let start: UnsafeRawPointer?

  @inlinable @inline(__always)
  @_lifetime(copy bytes)
  public init(_ bytes: RawSpan) {
    self.bytes = bytes
    self.size = bytes.byteCount
    unsafe self.start = bytes.withUnsafeBytes { buffer in buffer.baseAddress }
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

  /// Lends the `count` characters from `offset` to `body`, which must not keep the pointer nor read others; nil when they are
  /// not all inside.
  @unsafe @inlinable @inline(__always)
  public func withCharacters<Result>(_ offset: Int, _ count: Int, _ body: (UnsafePointer<UInt8>) -> Result) -> Result? {
    guard offset >= 0, size &- offset >= count, let start = unsafe start else { return nil }
    return unsafe body(start.advanced(by: offset).assumingMemoryBound(to: UInt8.self))
  }
}
