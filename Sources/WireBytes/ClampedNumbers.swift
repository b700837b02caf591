// SPDX-License-Identifier: Apache-2.0

// The only conversion of numbers to integers. Numbers come from clients, files, receivers and command lines, and
// `init(_:)` of a Double traps if the number is not finite or out of range. Tests/lint/conversions.py forbids it
// elsewhere.
extension FixedWidthInteger {
  /// The integer part of a number, limited to the range of the type; 0 for NaN.
  @inlinable package init(clamping number: Double) {
    if number.isNaN {
      self = 0
    } else if number >= 0x1p64 {
      self = .max
    } else if number >= 0 {
      self.init(clamping: UInt64(number))
    } else if number <= -0x1p63 {
      self = .min
    } else {
      self.init(clamping: Int64(number))
    }
  }
  /// The nearest whole number, limited to the range of the type; 0 for NaN.
  package init(nearest number: Double) { self.init(clamping: number.rounded()) }
}
