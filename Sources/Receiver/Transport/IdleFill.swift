/// Takes the fill out of a stream that was read from an I2C bus: a receiver that has nothing to say is read as 0xFF. In a
/// UBX or RTCM 3 frame a 0xFF is data.
public struct IdleFill: Sendable {
  private enum Place {
    case outside
    /// Behind the first byte of a UBX frame; `header` counts those after it, `length` is collected on the way.
    case ubx(header: Int, length: Int)
    case rtcm3(header: Int, length: Int)
    /// In a frame that has so many bytes left.
    case inside(Int)
  }
  private var place = Place.outside
  /// The longest payload that a frame of a receiver is taken to have, bytes.
  private static let longestPayload = 8192

  public init() {}

  /// Whether the next byte of the stream belongs to what the receiver said.
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

  /// 0x62, class, id, length in two bytes, low one first; then the payload and two bytes of checksum.
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

  /// Six zero bits and ten of length; then the payload and three bytes of checksum.
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
