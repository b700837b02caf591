// SPDX-License-Identifier: Apache-2.0

extension FrameStream {
  /// Handles the next piece of the stream from an array, such as the bytes of a file. `body` receives each frame that
  /// this piece completes.
  @inlinable @inline(__always)
  public mutating func receive(_ bytes: [UInt8], _ body: (borrowing Frame) -> Void) {
    // Safe: bytes have no invalid bit patterns.
    unsafe receive(bytes.span.bytes, body)
  }
}
