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

/// A number that JSON may not have (RFC 8259, section 6): infinity and not-a-number are the strings "inf", "-inf" and
/// "nan", every other value is a number.
struct CodedNumber: Codable {
  let value: Double

  init(_ value: Double) { self.value = value }

  init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    do { value = try container.decode(Double.self) } catch {
      // Second, as nearly all values are numbers, and an attempt that fails costs as much as the other members together.
      guard let text = try? container.decode(String.self) else { throw error }
      guard let value = Double(text), !value.isFinite else {
        throw DecodingError.dataCorruptedError(in: container, debugDescription: "\(text) is no number")
      }
      self.value = value
    }
  }

  func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    if value.isFinite { try container.encode(value) } else { try container.encode(value.description) }
  }
}

// The conformances that the compiler writes for this module's types use these functions, which take precedence over
// those of the standard library: so every Double of this module that is a member has the form of `CodedNumber`.
extension KeyedEncodingContainer {
  mutating func encode(_ value: Double, forKey key: Key) throws { try encode(CodedNumber(value), forKey: key) }

  mutating func encodeIfPresent(_ value: Double?, forKey key: Key) throws {
    try encodeIfPresent(value.map(CodedNumber.init), forKey: key)
  }
}

extension KeyedDecodingContainer {
  func decode(_: Double.Type, forKey key: Key) throws -> Double { try decode(CodedNumber.self, forKey: key).value }

  func decodeIfPresent(_: Double.Type, forKey key: Key) throws -> Double? {
    try decodeIfPresent(CodedNumber.self, forKey: key)?.value
  }
}
