// SPDX-License-Identifier: Apache-2.0
import WireBytes

/// The characters of a CH field: ASCII according to the interface descriptions, padded with zeros.
public struct Text: ~Escapable {
  /// The characters without the padding.
  public let bytes: RawSpan

  @inlinable
  @_lifetime(copy bytes)
  public init(_ bytes: RawSpan) {
    var count = 0
    while count < bytes.byteCount, bytes.u1(count) != 0 { count &+= 1 }
    self.bytes = bytes.extracting(0..<count)
  }
}

#if !hasFeature(Embedded)
  extension Text {
    /// The characters as a string. Allocates, so it is absent from the embedded build.
    public var string: String { String(decoding: [UInt8](copying: bytes), as: UTF8.self) }
  }
#endif
