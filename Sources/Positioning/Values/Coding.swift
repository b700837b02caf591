// SPDX-License-Identifier: Apache-2.0
import ReceiverStream
import WireBytes

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

extension UTCTime {
  /// ISO 8601 with milliseconds: 2026-11-24T10:00:00.000Z.
  package var iso8601: String {
    let date = day.components
    let milliseconds = nanosecondsOfDay / 1_000_000
    let seconds = milliseconds / 1000
    return "\(date.year.digits(4))-\(date.month.digits(2))-\(date.day.digits(2))T"
      + "\((seconds / 3600).digits(2)):\((seconds / 60 % 60).digits(2)):\((seconds % 60).digits(2))"
      + ".\((milliseconds % 1000).digits(3))Z"
  }
}

/// Encoded as text: 32 hexadecimal digits in groups (RFC 9562, section 4), because JSON numbers cannot represent all
/// unsigned 64-bit values.
extension SignalTrust: Codable {}

extension BeaconUUID: Codable {
  public init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    let text = try container.decode(String.self)
    let digits = text.utf8.filter { $0 != UInt8(ascii: "-") }
    guard digits.count == 32, digits.allSatisfy({ Character(Unicode.Scalar($0)).isHexDigit }),
      let high = UInt64(String(decoding: digits[..<16], as: UTF8.self), radix: 16),
      let low = UInt64(String(decoding: digits[16...], as: UTF8.self), radix: 16)
    else { throw DecodingError.dataCorruptedError(in: container, debugDescription: "\(text) is not a UUID") }
    self.init(high: high, low: low)
  }

  public func encode(to encoder: any Encoder) throws {
    var text = ""
    for (index, digit) in (high.hexadecimalDigits + low.hexadecimalDigits).enumerated() {
      if [8, 12, 16, 20].contains(index) { text += "-" }
      text.append(digit)
    }
    var container = encoder.singleValueContainer()
    try container.encode(text)
  }
}

/// Encoded as an array for compactness, because one is sent to every program in each epoch: the numbers in the order of
/// the properties, the time, then the floor and the source if present. A later version may append elements.
extension Location: Codable {
  public init(from decoder: any Decoder) throws {
    var values = try decoder.unkeyedContainer()
    var numbers = LocationNumbers(repeating: 0)
    for index in numbers.indices { numbers[index] = try values.decodeNumber() }
    self.init(numbers, timestamp: UTCTime(nanosecondsSince1970: try values.decode(Int64.self)))
    floorLevel = try values.decodeIfPresent(Int.self)
    source = try values.decodeIfPresent(Source.self)
  }

  public func encode(to encoder: any Encoder) throws {
    var values = encoder.unkeyedContainer()
    let numbers = numbers
    for index in numbers.indices {
      let value = numbers[index]
      if value.isFinite { try values.encode(value) } else { try values.encode(CodedNumber(value)) }
    }
    try values.encode(timestamp.nanosecondsSince1970)
    guard floorLevel != nil || source != nil else { return }
    try values.encode(floorLevel)
    try values.encode(source)
  }

  /// The numbers in the order of the coded form.
  package var numbers: LocationNumbers {
    [
      coordinate.latitudeDegrees, coordinate.longitudeDegrees, horizontalAccuracyMetres, altitudeMetres,
      ellipsoidalAltitudeMetres, verticalAccuracyMetres, courseDegrees, courseAccuracyDegrees, speedMetresPerSecond,
      speedAccuracyMetresPerSecond,
    ]
  }

  /// A location with these numbers, without floor and source.
  package init(_ numbers: LocationNumbers, timestamp: UTCTime) {
    self.init(
      Coordinate(latitudeDegrees: numbers[0], longitudeDegrees: numbers[1]), horizontalAccuracyMetres: numbers[2],
      timestamp: timestamp)
    altitudeMetres = numbers[3]
    ellipsoidalAltitudeMetres = numbers[4]
    verticalAccuracyMetres = numbers[5]
    courseDegrees = numbers[6]
    courseAccuracyDegrees = numbers[7]
    speedMetresPerSecond = numbers[8]
    speedAccuracyMetresPerSecond = numbers[9]
  }
}

/// The numbers of a location in its coded form.
package typealias LocationNumbers = InlineArray<10, Double>

extension UnkeyedDecodingContainer {
  /// Nearly all numbers are finite, and finite numbers do not need a separate decoder.
  fileprivate mutating func decodeNumber() throws -> Double {
    if let value = try? decode(Double.self) { return value }
    return try decode(CodedNumber.self).value
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
      // Tried second: nearly all values are numbers, and a failed attempt costs as much as all other members together.
      guard let text = try? container.decode(String.self) else { throw error }
      guard let value = Double(text), !value.isFinite else {
        throw DecodingError.dataCorruptedError(in: container, debugDescription: "\(text) is not a number")
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
// the standard library's. Every Double member of this module's types is therefore encoded as a `CodedNumber`.
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
