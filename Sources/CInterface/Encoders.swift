// SPDX-License-Identifier: Apache-2.0
import CSextant
import NMEA
import RTCM3
import UBX

// The encoders of `sextant.h`; the header describes them.
//
// `unsafe` because the arguments are C pointers with a byte count.

/// Passes the output buffer of a C program to `body`, which returns the number of bytes that it wrote; nil if it wrote
/// none.
@inline(__always)
func write(
  _ output: UnsafeMutableRawPointer?, _ capacity: Int, _ body: (inout MutableRawSpan) -> Int?
) -> Int {
  guard let output = unsafe output, capacity > 0 else { return 0 }
  var span = unsafe MutableRawSpan(_unsafeStart: output, byteCount: capacity)
  return body(&span) ?? 0
}

/// The input of a C program; empty without input.
@inline(__always)
@_lifetime(immortal)
func span(_ bytes: UnsafeRawPointer?, _ count: Int) -> RawSpan {
  guard let bytes = unsafe bytes, count > 0 else { return RawSpan() }
  let span = unsafe RawSpan(_unsafeStart: bytes, byteCount: count)
  return unsafe _overrideLifetime(span, copying: ())
}

@c @implementation
public func sextant_encode_nmea(
  _ content: UnsafePointer<CChar>!, _ count: Int, _ output: UnsafeMutableRawPointer!, _ capacity: Int
) -> Int {
  unsafe write(output, capacity) { unsafe encodeSentence(content: span(content, count), into: &$0) }
}

@c @implementation
public func sextant_encode_ubx(
  _ messageClass: UInt8, _ messageID: UInt8, _ payload: UnsafeRawPointer!, _ count: Int,
  _ output: UnsafeMutableRawPointer!, _ capacity: Int
) -> Int {
  let payload = unsafe span(payload, count)
  guard payload.byteCount == count, count <= UBXFrame.longestPayload, capacity >= count + UBXFrame.overhead else {
    return 0
  }
  return unsafe write(output, capacity) {
    UBX.encodeFrame(MessageIdentity(messageClass, messageID), payload: payload, into: &$0)
  }
}

@c @implementation
public func sextant_encode_rtcm3(
  _ payload: UnsafeRawPointer!, _ count: Int, _ output: UnsafeMutableRawPointer!, _ capacity: Int
) -> Int {
  let payload = unsafe span(payload, count)
  guard payload.byteCount == count, count <= 1023, capacity >= count + RTCM3Frame.overhead else { return 0 }
  return unsafe write(output, capacity) { RTCM3.encodeFrame(payload: payload, into: &$0) }
}
