// SPDX-License-Identifier: Apache-2.0

/// Frames from the simplest code that follows the protocol descriptions, as a reference for the modules.
public enum Wire {
  /// `$`, `content`, checksum, CR LF.
  public static func nmea(_ content: String, ending: String = "\r\n") -> [UInt8] {
    ascii("$\(content)*\(checksum(ofSentence: content))\(ending)")
  }

  /// The exclusive or of all characters, as two hexadecimal digits.
  public static func checksum(ofSentence content: String) -> String {
    let sum = content.utf8.reduce(0) { $0 ^ $1 }
    let digits = String(sum, radix: 16, uppercase: true)
    return digits.utf8.count == 1 ? "0" + digits : digits
  }

  public static func ubx(_ messageClass: UInt8, _ id: UInt8, _ payload: [UInt8] = []) -> [UInt8] {
    let length = UInt16(payload.count)
    let summed = [messageClass, id, UInt8(length & 0xFF), UInt8(length >> 8)] + payload
    let (a, b) = fletcher(summed[...])
    return [0xB5, 0x62] + summed + [a, b]
  }

  /// CK_A and CK_B, computed with the loop in the interface descriptions.
  public static func fletcher(_ bytes: ArraySlice<UInt8>) -> (a: UInt8, b: UInt8) {
    var a: UInt8 = 0
    var b: UInt8 = 0
    for byte in bytes {
      a &+= byte
      b &+= a
    }
    return (a, b)
  }

  public static func rtcm3(_ payload: [UInt8]) -> [UInt8] {
    let head = [0xD3, UInt8(payload.count >> 8), UInt8(payload.count & 0xFF)] + payload
    let remainder = crc24(head[...])
    return head + [UInt8(remainder >> 16), UInt8(remainder >> 8 & 0xFF), UInt8(remainder & 0xFF)]
  }

  /// CRC-24Q bit by bit.
  public static func crc24(_ bytes: ArraySlice<UInt8>) -> UInt32 {
    var remainder: UInt32 = 0
    for byte in bytes {
      remainder ^= UInt32(byte) << 16
      for _ in 0..<8 {
        remainder <<= 1
        if remainder & 0x100_0000 != 0 { remainder ^= 0x186_4CFB }
      }
    }
    return remainder
  }

  /// Whether `bytes` is a complete frame of one of the protocols with a correct checksum.
  public static func isFrame(_ bytes: [UInt8]) -> Bool {
    switch bytes.first {
    case 0xB5:
      guard bytes.count >= 8 else { return false }
      return bytes == ubx(bytes[2], bytes[3], Array(bytes[6..<bytes.count - 2]))
    case 0xD3:
      guard bytes.count >= 6 else { return false }
      return bytes == rtcm3(Array(bytes[3..<bytes.count - 3]))
    default: return isSentence(bytes)
    }
  }

  private static func isSentence(_ bytes: [UInt8]) -> Bool {
    var line = bytes[...]
    if line.last == 10 { line.removeLast() }
    if line.last == 13 { line.removeLast() }
    guard line.count >= 5, line.first == UInt8(ascii: "$") || line.first == UInt8(ascii: "!") else { return false }
    guard line[line.endIndex - 3] == UInt8(ascii: "*") else { return false }
    let content = String(decoding: line.dropFirst().dropLast(3), as: UTF8.self)
    return String(decoding: line.suffix(2), as: UTF8.self).uppercased() == checksum(ofSentence: content)
  }
}
