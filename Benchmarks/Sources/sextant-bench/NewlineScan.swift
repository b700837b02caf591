// SPDX-License-Identifier: Apache-2.0
import Glibc

/// Counts the line ends of `bytes` with the C library's memchr, as the reference of every other stage. It takes
/// pointers into the array, which does not change during the call.
///
/// - Parameter skip: The number of bytes to skip at the start. A different value in each round prevents the optimizer
/// from sharing the work of the rounds.
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

/// Prevents the optimizer from removing the computation of `value`.
@inline(never)
func keep<Value>(_ value: borrowing Value) {}
