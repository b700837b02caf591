// SPDX-License-Identifier: Apache-2.0
import ReceiverStream

// The encoded form of values between programs. Module ReceiverStream has no Codable, because it is compiled for
// microcontrollers.

/// Encoded as an integer: nanoseconds since 1970-01-01 00:00:00 UTC.
extension UTCTime: Codable {
  public init(from decoder: any Decoder) throws {
    self.init(nanosecondsSince1970: try decoder.singleValueContainer().decode(Int64.self))
  }

  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(nanosecondsSince1970)
  }
}

/// Encoded as text: 32 hexadecimal digits in groups (RFC 9562, section 4), as JSON numbers have no 64 bits without sign.
extension BeaconUUID: Codable {
  public init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    let text = try container.decode(String.self)
    let digits = text.utf8.filter { $0 != UInt8(ascii: "-") }
    guard digits.count == 32, digits.allSatisfy({ Character(Unicode.Scalar($0)).isHexDigit }),
      let high = UInt64(String(decoding: digits[..<16], as: UTF8.self), radix: 16),
      let low = UInt64(String(decoding: digits[16...], as: UTF8.self), radix: 16)
    else { throw DecodingError.dataCorruptedError(in: container, debugDescription: "\(text) is no UUID") }
    self.init(high: high, low: low)
  }

  public func encode(to encoder: any Encoder) throws {
    let halves = [high, low].map { half in
      String(repeating: "0", count: min(half.leadingZeroBitCount / 4, 15)) + String(half, radix: 16)
    }
    var text = ""
    for (index, digit) in halves.joined().enumerated() {
      if [8, 12, 16, 20].contains(index) { text += "-" }
      text.append(digit)
    }
    var container = encoder.singleValueContainer()
    try container.encode(text)
  }
}
