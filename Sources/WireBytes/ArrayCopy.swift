// SPDX-License-Identifier: Apache-2.0
#if !hasFeature(Embedded)
  extension [UInt8] {
    /// A copy of the bytes of a span. Allocates, so it is absent from the embedded build.
    public init(copying bytes: RawSpan) {
      self = unsafe bytes.withUnsafeBytes { unsafe [UInt8]($0) }
    }
  }
#endif
