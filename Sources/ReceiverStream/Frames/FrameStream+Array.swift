// SPDX-License-Identifier: Apache-2.0

extension FrameStream {
  /// Takes the next piece of the stream from an array, such as the bytes of a file. `body` receives each frame that is whole with it.
  @inlinable @inline(__always)
  public mutating func receive(_ bytes: [UInt8], _ body: (borrowing Frame) -> Void) {
    // Bytes have no invalid bit patterns.
    unsafe receive(bytes.span.bytes, body)
  }
}
