// SPDX-License-Identifier: Apache-2.0
import CByteMask

/// A decimal number as written: `mantissa` / 10^`fractionDigits`.
public struct FixedPoint: Hashable, Sendable {
  public var mantissa: Int64
  /// Digits after the decimal point, 0…18.
  public var fractionDigits: UInt8

  @inlinable
  public init(_ mantissa: Int64, fractionDigits: UInt8 = 0) {
    self.mantissa = mantissa
    self.fractionDigits = fractionDigits
  }

  /// The maximum of digits after the decimal point. Numbers with more are neither read nor written.
  @inlinable public static var mostFractionDigits: UInt8 { 18 }
  /// The least magnitude of a mantissa that is neither read nor written: nineteen digits.
  @inlinable public static var tooLarge: UInt64 { 1_000_000_000_000_000_000 }

  /// `value` rounded to `fractionDigits` digits, at most 18; nil when it is not a number, or does not fit in 64 bits
  /// with this number of digits.
  @inlinable
  public init?(rounding value: Double, fractionDigits: UInt8) {
    let digits = min(fractionDigits, FixedPoint.mostFractionDigits)
    guard let mantissa = Int64(exactly: (value * powerOfTen(digits)).rounded()) else { return nil }
    self.mantissa = mantissa
    self.fractionDigits = digits
  }

  /// The nearest `Double`.
  @inlinable
  public var value: Double { Double(mantissa) / powerOfTen(fractionDigits) }
}

/// 10^`digits` for 0…18: exact as a `Double`.
@inlinable @inline(__always)
public func powerOfTen(_ digits: UInt8) -> Double { c_power_of_ten(digits) }

/// A latitude or longitude as written: minutes of arc and a hemisphere character.
public struct Coordinate: Hashable, Sendable {
  /// The whole angle in minutes of arc, not negative, with up to 11 digits after the decimal point.
  public var minutes: FixedPoint
  /// `N`, `S`, `E` or `W`.
  public var hemisphere: UInt8
  /// The digits before the point as written, 0…5. The standard has leading zeros: 4 for a latitude (ddmm), 5 for a longitude
  /// (dddmm). Some receivers omit them.
  public var wholeDigits: UInt8

  /// A coordinate in the standard's form, or with other digits before the point.
  @inlinable @inline(__always)
  public init(minutes: FixedPoint, hemisphere: UInt8, wholeDigits: UInt8? = nil) {
    self.minutes = minutes
    self.hemisphere = hemisphere
    self.wholeDigits = wholeDigits ?? (hemisphere == UInt8(ascii: "E") || hemisphere == UInt8(ascii: "W") ? 5 : 4)
  }

  /// The maximum of digits after the decimal point of the minutes. Coordinates with more are not read; a writer
  /// truncates them.
  @inlinable public static var mostFractionDigits: UInt8 { 11 }

  /// A latitude in degrees, −90…90, north positive, rounded to `fractionDigits` digits of a minute, at most 11; nil
  /// when it is out of range.
  public init?(latitudeDegrees degrees: Double, fractionDigits: UInt8 = 5) {
    self.init(
      degrees: degrees, most: 90, fractionDigits: fractionDigits,
      hemisphere: degrees < 0 ? UInt8(ascii: "S") : UInt8(ascii: "N"))
  }

  /// A longitude in degrees, −180…180, east positive, rounded to `fractionDigits` digits of a minute, at most 11; nil
  /// when it is out of range.
  public init?(longitudeDegrees degrees: Double, fractionDigits: UInt8 = 5) {
    self.init(
      degrees: degrees, most: 180, fractionDigits: fractionDigits,
      hemisphere: degrees < 0 ? UInt8(ascii: "W") : UInt8(ascii: "E"))
  }

  private init?(degrees: Double, most: Double, fractionDigits: UInt8, hemisphere: UInt8) {
    let digits = min(fractionDigits, Coordinate.mostFractionDigits)
    guard abs(degrees) <= most, let minutes = FixedPoint(rounding: abs(degrees) * 60, fractionDigits: digits) else {
      return nil
    }
    self.init(minutes: minutes, hemisphere: hemisphere)
  }

  /// Degrees, north and east positive.
  @inlinable
  public var degrees: Double {
    let value = Double(minutes.mantissa) / (60 * powerOfTen(minutes.fractionDigits))
    return hemisphere == UInt8(ascii: "S") || hemisphere == UInt8(ascii: "W") ? -value : value
  }
}

/// Up to fifteen decoded characters, stored by value: a comma for the `^2C` of a sentence.
public struct ShortText: Hashable, Sendable {
  /// The characters, zero after the last.
  public var characters: SIMD16<UInt8>
  public var count: UInt8

  @inlinable
  public init() {
    self.characters = SIMD16()
    self.count = 0
  }

  /// The first fifteen characters of `text`.
  @inlinable
  public init(_ text: StaticString) {
    self.init()
    for index in 0..<min(15, text.utf8CodeUnitCount) { append(unsafe text.utf8Start[index]) }
  }

  /// The characters as a whole number; nil when there are other characters than digits.
  @inlinable
  public var wholeNumber: Int? {
    guard count > 0 else { return nil }
    var number = 0
    for index in 0..<Int(count) {
      guard case let digit = characters[index] &- UInt8(ascii: "0"), digit < 10 else { return nil }
      number = number * 10 + Int(digit)
    }
    return number
  }

  /// Adds a character; a sixteenth is dropped.
  @inlinable
  public mutating func append(_ character: UInt8) {
    guard count < 15 else { return }
    characters[Int(count)] = character
    count &+= 1
  }
}

/// The range of a field's characters in a sentence, or in the text of a writer. The value is only meaningful together
/// with those bytes.
public struct TextRange: Hashable, Sendable {
  /// The first character's offset.
  public var offset: UInt16
  public var count: UInt16

  /// The characters at `offsets`, which are below 65,536.
  @inlinable
  public init(_ offsets: Range<Int>) {
    self.offset = UInt16(offsets.lowerBound)
    self.count = UInt16(offsets.count)
  }

  /// The characters' offsets.
  @inlinable
  public var offsets: Range<Int> { Int(offset)..<Int(offset) + Int(count) }
}

extension Sentence {
  /// The characters of a field of this sentence, as received. Traps when `range` is outside the sentence.
  @inlinable
  @_lifetime(copy self)
  public func text(_ range: TextRange) -> RawSpan { bytes.extracting(range.offsets) }
}
