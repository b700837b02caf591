// SPDX-License-Identifier: Apache-2.0

/// Memory for the incomplete frame at the end of a read, until the next read.
///
/// This is the only file of the stream with a raw pointer. The memory is allocated once, owned by this value alone, and
/// freed with it; or the caller provides it. Every access is through a bounds-checked span.
@usableFromInline @safe struct CarryBuffer: ~Copyable {
  private let memory: UnsafeMutableRawBufferPointer
  private let isLent: Bool
  /// Bytes in use, from the start.
  @usableFromInline private(set) var count = 0

  @usableFromInline
  init(capacity: Int) {
    unsafe memory = .allocate(byteCount: capacity, alignment: 16)
    isLent = false
  }

  /// Uses memory of the caller, which must exist as long as this value, and which nothing else uses.
  @unsafe
  init(lent memory: UnsafeMutableRawBufferPointer) {
    unsafe self.memory = memory
    isLent = true
  }

  @usableFromInline
  deinit { if !isLent { unsafe memory.deallocate() } }

  /// The number of bytes that can be added.
  @usableFromInline var room: Int { unsafe memory.count - count }

  /// The bytes in use.
  @usableFromInline var bytes: RawSpan {
    @_lifetime(borrow self) get {
      let span = unsafe RawSpan(_unsafeStart: memory.baseAddress!, byteCount: count)
      return unsafe _overrideLifetime(span, borrowing: self)
    }
  }

  /// Adds bytes at the end. Traps when there is no room.
  @usableFromInline
  mutating func append(_ added: RawSpan) {
    precondition(added.byteCount <= room)
    unsafe added.withUnsafeBytes { source in
      guard let start = source.baseAddress else { return }
      unsafe memory.baseAddress!.advanced(by: count).copyMemory(from: start, byteCount: source.count)
    }
    count += added.byteCount
  }

  /// Drops bytes from the start.
  @usableFromInline
  mutating func removeFirst(_ dropped: Int) {
    precondition(dropped >= 0 && dropped <= count)
    count -= dropped
    unsafe memory.baseAddress!.copyMemory(from: memory.baseAddress!.advanced(by: dropped), byteCount: count)
  }
}
