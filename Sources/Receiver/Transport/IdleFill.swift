// SPDX-License-Identifier: Apache-2.0

/// Removes the fill from a stream that was read from an I2C bus: a receiver without data is read as 0xFF. In a UBX or RTCM 3
/// frame 0xFF is data.
public struct IdleFill: Sendable {
  private enum Place {
    case outside
    /// After the first byte of a UBX frame; `header` counts the bytes after it.
    case ubx(header: Int, length: Int)
    case rtcm3(header: Int, length: Int)
    /// In a frame with this many bytes left.
    case inside(Int)
  }
  private var place = Place.outside
  /// The longest plausible payload, in bytes.
  private static let longestPayload = 8192

  public init() {}

  /// Whether the next byte of the stream is data.
  public mutating func keeps(_ byte: UInt8) -> Bool {
    switch place {
    case .inside(let left):
      place = left > 1 ? .inside(left - 1) : .outside
      return true
    case .ubx(let header, let length): return takeUBX(byte, header, length)
    case .rtcm3(let header, let length): return takeRTCM3(byte, header, length)
    case .outside: return begin(byte)
    }
  }

  private mutating func begin(_ byte: UInt8) -> Bool {
    switch byte {
    case 0xB5: place = .ubx(header: 0, length: 0)
    case 0xD3: place = .rtcm3(header: 0, length: 0)
    case 0xFF:
      place = .outside
      return false
    default: place = .outside
    }
    return true
  }

  /// Takes 0x62, class, id, and a length of two bytes, low byte first; the payload and two bytes of checksum follow.
  private mutating func takeUBX(_ byte: UInt8, _ header: Int, _ length: Int) -> Bool {
    switch header {
    case 0 where byte != 0x62: return begin(byte)
    case 3: place = .ubx(header: 4, length: Int(byte))
    case 4:
      let total = length | Int(byte) << 8
      place = total > Self.longestPayload ? .outside : .inside(total + 2)
    default: place = .ubx(header: header + 1, length: 0)
    }
    return true
  }

  /// Takes six zero bits and ten bits of length; the payload and three bytes of checksum follow.
  private mutating func takeRTCM3(_ byte: UInt8, _ header: Int, _ length: Int) -> Bool {
    if header == 0 {
      if byte & 0xFC != 0 { return begin(byte) }
      place = .rtcm3(header: 1, length: Int(byte))
    } else {
      place = .inside((length << 8 | Int(byte)) + 3)
    }
    return true
  }
}
