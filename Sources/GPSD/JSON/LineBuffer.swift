// SPDX-License-Identifier: Apache-2.0

/// Memory for lines. It is reused for each line and grows if a line needs more.
///
/// This is the only file of the module that writes through pointers: an array would check at each byte whether it is
/// shared and has capacity. The value owns the memory and frees it at its end, and `reserve` precedes each write.
@safe struct LineBuffer: ~Copyable {
  private var memory: UnsafeMutableRawBufferPointer
  private(set) var count = 0

  init(capacity: Int) {
    unsafe memory = .allocate(byteCount: capacity, alignment: 16)
  }

  deinit { unsafe memory.deallocate() }

  /// The bytes written so far.
  var bytes: RawSpan {
    @_lifetime(borrow self) get {
      let span = unsafe RawSpan(_unsafeStart: memory.baseAddress!, byteCount: count)
      return unsafe _overrideLifetime(span, borrowing: self)
    }
  }

  mutating func removeAll() { count = 0 }

  /// Removes the bytes after the first `size`.
  mutating func truncate(to size: Int) { count = min(count, max(0, size)) }

  /// Reserves `more` bytes.
  @inline(__always)
  private mutating func reserve(_ more: Int) {
    if unsafe count &+ more > memory.count { grow(more) }
  }

  @inline(never)
  private mutating func grow(_ more: Int) {
    let larger = unsafe UnsafeMutableRawBufferPointer.allocate(
      byteCount: max(2 * memory.count, count + more), alignment: 16)
    unsafe larger.baseAddress!.copyMemory(from: memory.baseAddress!, byteCount: count)
    unsafe memory.deallocate()
    unsafe memory = larger
  }

  @inline(__always)
  mutating func append(_ byte: UInt8) {
    reserve(1)
    unsafe memory.baseAddress!.storeBytes(of: byte, toByteOffset: count, as: UInt8.self)
    count &+= 1
  }

  /// Appends a static string, whose bytes exist as long as the program.
  @inline(__always)
  mutating func append(_ text: StaticString) {
    let length = text.utf8CodeUnitCount
    reserve(length)
    unsafe memory.baseAddress!.advanced(by: count).copyMemory(from: text.utf8Start, byteCount: length)
    count &+= length
  }

  /// Appends bytes.
  mutating func append(_ bytes: Span<UInt8>) {
    let length = bytes.count
    reserve(length)
    unsafe bytes.withUnsafeBytes { bytes in
      guard let first = bytes.baseAddress else { return }
      unsafe memory.baseAddress!.advanced(by: count).copyMemory(from: first, byteCount: length)
    }
    count &+= length
  }

  /// Appends the decimal digits of a number below 1000.
  @inline(__always)
  mutating func append(small value: UInt32) {
    reserve(3)
    let place = unsafe memory.baseAddress!.advanced(by: count)
    let zero = UInt32(UInt8(ascii: "0"))
    let (hundreds, tens, ones) = (value / 100, value / 10 % 10, value % 10)
    let digits = hundreds + zero | (tens + zero) << 8 | (ones + zero) << 16
    let length = value >= 100 ? 3 : value >= 10 ? 2 : 1
    let shown = digits >> UInt32(8 * (3 - length))
    unsafe place.storeBytes(of: UInt8(truncatingIfNeeded: shown), as: UInt8.self)
    if length > 1 {
      unsafe place.storeBytes(of: UInt8(truncatingIfNeeded: shown >> 8), toByteOffset: 1, as: UInt8.self)
    }
    if length > 2 {
      unsafe place.storeBytes(of: UInt8(truncatingIfNeeded: shown >> 16), toByteOffset: 2, as: UInt8.self)
    }
    count &+= length
  }

  /// Appends the decimal digits of a number, at least `width` (at most 20) of them.
  mutating func append(_ value: UInt64, width: Int) {
    reserve(20)
    var length = max(1, min(width, 20))
    var bound: UInt64 = 10
    for _ in 1..<length { bound = bound &* 10 }
    // With more than 19 digits the bound overflows; no value has more than 20.
    while length < 20, value >= bound {
      length &+= 1
      bound = length == 20 ? .max : bound &* 10
    }
    var rest = value
    var at = count &+ length
    while at > count {
      at &-= 1
      unsafe memory.baseAddress!.storeBytes(
        of: UInt8(ascii: "0") &+ UInt8(truncatingIfNeeded: rest % 10), toByteOffset: at, as: UInt8.self)
      rest /= 10
    }
    count &+= length
  }
}
