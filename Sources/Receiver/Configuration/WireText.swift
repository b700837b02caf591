// SPDX-License-Identifier: Apache-2.0
import UBX
import WireBytes

/// A value as people write it, and as it stands on the wire: exact, in the unit of the interface description.
package enum WireText {
  /// Why a text is not a value of a field.
  package enum Problem: Error, Equatable {
    case notANumber
    /// It does not fit the field.
    case outOfRange(lowest: String, highest: String)
    /// The wire format cannot represent the value: this is its resolution.
    case tooFine(step: String)
  }

  /// Bit fields in hexadecimal, numbers with the digits that they have and no more.
  package static func text(_ bits: UInt64, _ type: FieldLayout.WireType, _ scale: FieldLayout.Scale) -> String {
    switch type {
    case .x1, .x2, .x3, .x4, .x8: return "0x" + String(bits, radix: 16)
    case .r4:
      return real(
        Double(Float(bitPattern: UInt32(truncatingIfNeeded: bits))),
        "\(Float(bitPattern: UInt32(truncatingIfNeeded: bits)))", scale)
    case .r8: return real(Double(bitPattern: bits), "\(Double(bitPattern: bits))", scale)
    default:
      let number = signed(bits, type)
      let magnitude = isSigned(type) ? number.magnitude : bits
      let sign = isSigned(type) && number < 0 ? "-" : ""
      switch scale {
      case .one: return sign + String(magnitude)
      case .decimal(let digits): return sign + pointed(magnitude, digits)
      case .factor(let factor): return "\((sign.isEmpty ? 1 : -1) * Double(magnitude) * factor)"
      }
    }
  }

  /// The bits of a value on the wire.
  ///
  /// - Parameters:
  ///   - text: a number in the unit, which may follow it; hexadecimal for whole numbers; on and off for logical ones.
  ///   - unit: as the interface description writes it; empty for none.
  package static func bits(
    _ text: some StringProtocol, _ type: FieldLayout.WireType, _ scale: FieldLayout.Scale, unit: String
  ) throws(Problem) -> UInt64 {
    let text = text.lowercased()
    if type == .l {
      switch text {
      case "1", "on", "yes", "true": return 1
      case "0", "off", "no", "false": return 0
      default: throw .notANumber
      }
    }
    if text.hasPrefix("0x") {
      guard scale == .one, type != .r4, type != .r8, let number = UInt64(text.dropFirst(2), radix: 16) else {
        throw .notANumber
      }
      guard number <= mask(type) else { throw range(type, scale) }
      return number
    }
    let (number, factorDigits) = withoutUnit(text, unit.lowercased())
    guard let decimal = Decimal(number) else { throw .notANumber }
    if type == .r4 || type == .r8 { return try realBits(decimal, factorDigits, type, scale) }
    switch scale {
    case .one: return try whole(decimal, digits: 0, less: factorDigits, type, scale)
    case .decimal(let digits): return try whole(decimal, digits: digits, less: factorDigits, type, scale)
    case .factor(let factor):
      let value = (decimal.double / power(factorDigits) / factor).rounded()
      guard value.magnitude < 9e18 else { throw range(type, scale) }
      return try fitted(value.magnitude == 0 ? 0 : UInt64(clamping: value.magnitude), value < 0, type, scale)
    }
  }

  // MARK: Writing

  private static func real(_ value: Double, _ plain: String, _ scale: FieldLayout.Scale) -> String {
    switch scale {
    case .one: plain
    case .decimal(let digits): "\(value / power(digits))"
    case .factor(let factor): "\(value * factor)"
    }
  }

  /// A whole number with a point before its last `digits` digits, and no zeros at the end.
  private static func pointed(_ magnitude: UInt64, _ digits: Int) -> String {
    let text = magnitude.digits(digits + 1)
    var fraction = text.suffix(digits)
    while fraction.last == "0" { fraction.removeLast() }
    let number = text.dropLast(digits)
    return fraction.isEmpty ? String(number) : number + "." + fraction
  }

  // MARK: Reading

  /// A decimal number: digits and a power of ten.
  private struct Decimal {
    var isNegative = false
    var digits: UInt64 = 0
    var exponent = 0

    init?(_ text: Substring) {
      var rest = text[...]
      if rest.first == "-" || rest.first == "+" { isNegative = rest.removeFirst() == "-" }
      var count = 0
      var isBehindPoint = false
      while let character = rest.first, character != "e" {
        rest.removeFirst()
        if character == "." {
          if isBehindPoint { return nil }
          isBehindPoint = true
          continue
        }
        guard character.isASCII, let digit = character.wholeNumberValue else { return nil }
        let (tenfold, isTooLarge) = digits.multipliedReportingOverflow(by: 10)
        let (sum, overflows) = tenfold.addingReportingOverflow(UInt64(digit))
        if isTooLarge || overflows { return nil }
        digits = sum
        count += 1
        if isBehindPoint { exponent -= 1 }
      }
      if count == 0 { return nil }
      if rest.first == "e" {
        guard let power = Int(rest.dropFirst()), power.magnitude < 400 else { return nil }
        exponent += power
      }
    }

    var double: Double { Double("\(isNegative ? "-" : "")\(digits)e\(exponent)") ?? 0 }
  }

  /// The number and, where its unit is a smaller one of time, how many digits smaller.
  private static func withoutUnit(_ text: String, _ unit: String) -> (Substring, Int) {
    if unit == "s" {
      for (name, digits) in [("ms", 3), ("us", 6), ("ns", 9)] where text.hasSuffix(name) {
        return (text.dropLast(name.count), digits)
      }
    }
    return !unit.isEmpty && text.hasSuffix(unit) ? (text.dropLast(unit.count), 0) : (text[...], 0)
  }

  private static func whole(
    _ decimal: Decimal, digits: Int, less: Int, _ type: FieldLayout.WireType, _ scale: FieldLayout.Scale
  ) throws(Problem) -> UInt64 {
    var magnitude = decimal.digits
    var shift = decimal.exponent + digits - less
    while shift > 0, magnitude > 0 {
      let (product, overflows) = magnitude.multipliedReportingOverflow(by: 10)
      if overflows { throw range(type, scale) }
      magnitude = product
      shift -= 1
    }
    while shift < 0, magnitude > 0 {
      guard magnitude % 10 == 0 else { throw .tooFine(step: pointed(1, digits)) }
      magnitude /= 10
      shift += 1
    }
    return try fitted(magnitude, decimal.isNegative, type, scale)
  }

  private static func fitted(
    _ magnitude: UInt64, _ isNegative: Bool, _ type: FieldLayout.WireType, _ scale: FieldLayout.Scale
  ) throws(Problem) -> UInt64 {
    let mask = mask(type)
    if isSigned(type) {
      let limit = mask / 2 + (isNegative ? 1 : 0)
      guard magnitude <= limit else { throw range(type, scale) }
      return isNegative ? (~magnitude &+ 1) & mask : magnitude
    }
    guard magnitude <= mask, !isNegative || magnitude == 0 else { throw range(type, scale) }
    return magnitude
  }

  private static func realBits(
    _ decimal: Decimal, _ less: Int, _ type: FieldLayout.WireType, _ scale: FieldLayout.Scale
  ) throws(Problem) -> UInt64 {
    let number = decimal.double / power(less)
    let value =
      switch scale {
      case .one: number
      case .decimal(let digits): number * power(digits)
      case .factor(let factor): number / factor
      }
    return type == .r4 ? UInt64(Float(value).bitPattern) : value.bitPattern
  }

  private static func range(_ type: FieldLayout.WireType, _ scale: FieldLayout.Scale) -> Problem {
    let mask = mask(type)
    return isSigned(type)
      ? .outOfRange(lowest: text(mask / 2 + 1, type, scale), highest: text(mask / 2, type, scale))
      : .outOfRange(lowest: "0", highest: text(mask, type, scale))
  }

  private static func mask(_ type: FieldLayout.WireType) -> UInt64 {
    type.size == 8 ? .max : 1 << UInt64(type.size * 8) - 1
  }

  private static func isSigned(_ type: FieldLayout.WireType) -> Bool {
    switch type {
    case .i1, .i2, .i3, .i4, .i8: true
    default: false
    }
  }

  private static func signed(_ bits: UInt64, _ type: FieldLayout.WireType) -> Int64 {
    let spare = UInt64(64 - type.size * 8)
    return Int64(bitPattern: bits << spare) >> Int64(spare)
  }

  private static func power(_ digits: Int) -> Double {
    var power = 1.0
    for _ in 0..<digits { power *= 10 }
    return power
  }
}
