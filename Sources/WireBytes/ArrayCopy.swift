// SPDX-License-Identifier: Apache-2.0
#if !hasFeature(Embedded)
  extension [UInt8] {
    /// A copy of the bytes of a span. Allocates, so it is absent from the embedded build.
    public init(copying bytes: RawSpan) {
      self.init()
      reserveCapacity(bytes.byteCount)
      for index in 0..<bytes.byteCount { append(bytes.u1(index)) }
    }
  }
#endif
