import UBX

/// A UBX frame around a payload.
func encoded(_ identity: MessageIdentity, _ payload: [UInt8]) -> [UInt8] {
  var frame = [UInt8](repeating: 0, count: payload.count + UBXFrame.overhead)
  do {
    var elements = frame.mutableSpan
    // Bytes have no padding and no invalid bit patterns, which is why their raw view is safe.
    var span = unsafe elements.mutableBytes
    _ = unsafe encodeFrame(identity, payload: payload.span.bytes, into: &span)
  }
  return frame
}
