import Glibc

/// Counts the line ends of `bytes` with the C library's memchr: what every other stage is compared with. It takes
/// pointers into the array, which does not change meanwhile.
///
/// - Parameter skip: bytes to leave out at the start. With another value in each round, the optimizer cannot do the
///   rounds' work once.
@inline(never)
func scanNewlines(_ bytes: [UInt8], skipping skip: Int) -> Int {
  unsafe bytes.withUnsafeBytes { buffer in
    var count = 0
    guard let start = buffer.baseAddress else { return 0 }
    var at = unsafe start + min(skip, buffer.count)
    let end = unsafe start + buffer.count
    while let found = unsafe memchr(at, 10, end - at) {
      count += 1
      unsafe at = UnsafeRawPointer(found) + 1
    }
    return count
  }
}

/// Makes the optimizer believe that `value` is needed.
@inline(never)
func keep<Value>(_ value: borrowing Value) {}
