// SPDX-License-Identifier: Apache-2.0

/// Spans of arrays for tests. Bytes have no padding and no invalid bit patterns, which is why their raw view is safe.
extension [UInt8] {
  public var raw: RawSpan {
    @_lifetime(borrow self) get { unsafe span.bytes }
  }
}

/// Returns the bytes that `write` leaves at the start of a buffer of `room` zeros.
public func written(room: Int = 1024, _ write: (inout MutableRawSpan) -> Int) -> [UInt8] {
  var bytes = [UInt8](repeating: 0, count: room)
  var elements = bytes.mutableSpan
  var span = unsafe elements.mutableBytes
  let count = write(&span)
  return Array(bytes[..<count])
}

/// A copy of a span.
public func array(_ bytes: RawSpan) -> [UInt8] {
  var copy: [UInt8] = []
  copy.reserveCapacity(bytes.byteCount)
  for index in bytes.byteOffsets { copy.append(unsafe bytes.unsafeLoad(fromByteOffset: index, as: UInt8.self)) }
  return copy
}

/// Bytes from hexadecimal digits; spaces are ignored.
public func hex(_ digits: String) -> [UInt8] {
  var bytes: [UInt8] = []
  for word in digits.split(separator: " ") { bytes.append(UInt8(word, radix: 16)!) }
  return bytes
}

/// Characters as bytes.
public func ascii(_ text: String) -> [UInt8] { Array(text.utf8) }
