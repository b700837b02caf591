// SPDX-License-Identifier: Apache-2.0

/// A number as JSON writes it: ±`mantissa` · 10^`exponent`. `strtod` is unsuitable: its decimal point depends on the
/// locale.
struct DecimalNumber {
  private var mantissa: UInt64 = 0
  private var exponent = 0
  private var isNegative = false

  /// Nil if the text is not a number of RFC 8259, section 6. Digits after the nineteenth are truncated.
  init?(_ text: Span<UInt8>) {
    var at = 0
    func byte() -> UInt8 { at < text.count ? text[at] : 0 }
    func isDigit() -> Bool { byte() &- UInt8(ascii: "0") < 10 }
    if byte() == UInt8(ascii: "-") {
      isNegative = true
      at += 1
    }
    guard isDigit() else { return nil }
    while isDigit() {
      append(byte(), isFraction: false)
      at += 1
    }
    if byte() == UInt8(ascii: ".") {
      at += 1
      guard isDigit() else { return nil }
      while isDigit() {
        append(byte(), isFraction: true)
        at += 1
      }
    }
    if byte() | 0x20 == UInt8(ascii: "e") {
      at += 1
      let isSmall = byte() == UInt8(ascii: "-")
      if isSmall || byte() == UInt8(ascii: "+") { at += 1 }
      guard isDigit() else { return nil }
      var power = 0
      while isDigit() {
        // A larger exponent also gives zero or infinity.
        power = min(power * 10 + Int(byte() & 0xF), 100_000)
        at += 1
      }
      exponent += isSmall ? -power : power
    }
    guard at == text.count else { return nil }
  }

  private mutating func append(_ digit: UInt8, isFraction: Bool) {
    guard mantissa < 1_000_000_000_000_000_000 else {
      if !isFraction { exponent += 1 }
      return
    }
    mantissa = mantissa * 10 + UInt64(digit & 0xF)
    if isFraction { exponent -= 1 }
  }

  /// The nearest `Double` for exponents of -19...0, which cover 17 digits from 0.001 on; an approximation otherwise.
  var value: Double {
    let magnitude = -19...0 ~= exponent ? exactMagnitude : scaledMagnitude
    return isNegative ? -magnitude : magnitude
  }

  private var exactMagnitude: Double {
    guard mantissa > 0 else { return 0 }
    var divisor: UInt64 = 1
    for _ in exponent..<0 { divisor *= 10 }
    // The quotient has 63 bits or more. Its lowest bit is set if there is a remainder, so that the conversion rounds
    // once.
    let shift = mantissa.leadingZeroBitCount
    let dividend = UInt128(mantissa << shift) << 64
    let quotient = dividend / UInt128(divisor)
    let leading = quotient.leadingZeroBitCount
    let normal = quotient << leading
    var bits = UInt64(truncatingIfNeeded: normal >> 64)
    if UInt64(truncatingIfNeeded: normal) != 0 || quotient * UInt128(divisor) != dividend { bits |= 1 }
    return Double(bits) * Double(sign: .plus, exponent: -shift - leading, significand: 1)
  }

  private var scaledMagnitude: Double {
    var magnitude = Double(mantissa)
    for _ in 0..<min(abs(exponent), 400) { magnitude = exponent < 0 ? magnitude / 10 : magnitude * 10 }
    return magnitude
  }
}

/// The ISO 8601 time in UTC, such as `2026-06-01T12:01:50.200Z`, in nanoseconds since 1970; nil if the text is not such
/// a time, or its year is before 1970 or after 2261.
func nanosecondsSince1970(_ text: Span<UInt8>) -> Int64? {
  let form: StaticString = "0000-00-00T00:00:00"
  guard text.count > form.utf8CodeUnitCount else { return nil }
  var numbers = InlineArray<6, Int64>(repeating: 0)
  var index = 0
  for at in 0..<form.utf8CodeUnitCount {
    // `at` is below the number of code units.
    let expected = unsafe form.utf8Start[at]
    if expected == UInt8(ascii: "0") {
      guard text[at] &- UInt8(ascii: "0") < 10 else { return nil }
      numbers[index] = numbers[index] * 10 + Int64(text[at] & 0xF)
    } else {
      guard text[at] == expected else { return nil }
      index += 1
    }
  }
  var at = form.utf8CodeUnitCount
  var nanoseconds: Int64 = 0
  if text[at] == UInt8(ascii: ".") {
    at += 1
    var unit: Int64 = 100_000_000
    while at < text.count, text[at] &- UInt8(ascii: "0") < 10 {
      nanoseconds += Int64(text[at] & 0xF) * unit
      unit /= 10
      at += 1
    }
  }
  guard at == text.count - 1, text[at] == UInt8(ascii: "Z"), 1970...2261 ~= numbers[0], 1...12 ~= numbers[1],
    1...31 ~= numbers[2], numbers[3] < 24, numbers[4] < 60, numbers[5] <= 60
  else { return nil }
  // Years that begin in March have the leap day last.
  let year = numbers[1] > 2 ? numbers[0] : numbers[0] - 1
  let dayOfYear = (153 * ((numbers[1] + 9) % 12) + 2) / 5 + numbers[2] - 1
  let day = year * 365 + year / 4 - year / 100 + year / 400 + dayOfYear - 719_468
  let seconds = day * 86_400 + numbers[3] * 3_600 + numbers[4] * 60 + numbers[5]
  return seconds * 1_000_000_000 + nanoseconds
}
