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

  /// A SPARTN frame with a time of half a day and CRC-24 (SPARTN 2.0.1, transport layer).
  ///
  /// - Parameter key: the number of the key, 0…15; nil without encryption.
  public static func spartn(_ type: Int, _ subtype: Int, _ payload: [UInt8], key: Int? = nil) -> [UInt8] {
    // Type 7 bits, length 10, encryption 1, kind of check 2, and the check of these bits 4.
    let start = type << 13 | payload.count << 3 | (key == nil ? 0 : 4) | 2
    var check = 0
    for half in [start >> 12, start >> 16, start >> 4, start >> 8, 0, start] {
      check ^= half & 15
      for _ in 0..<4 { check = check & 1 == 1 ? check >> 1 ^ 9 : check >> 1 }
    }
    let words = [(start << 4 | check, 3), (subtype << 28 | 4711 << 11, 4)] + (key.map { [($0 << 12, 2)] } ?? [])
    let head = words.flatMap { word, size in (0..<size).reversed().map { UInt8(word >> (8 * $0) & 0xFF) } }
    let body = head + payload
    let remainder = crc24(body[...])
    return [0x73] + body + [UInt8(remainder >> 16), UInt8(remainder >> 8 & 0xFF), UInt8(remainder & 0xFF)]
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
