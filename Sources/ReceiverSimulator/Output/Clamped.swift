// SPDX-License-Identifier: Apache-2.0
extension FixedWidthInteger {
  /// The nearest whole number to a value, limited to the range of the field; 0 for a value that is not a number.
  init(nearest value: Double) {
    let whole = value.rounded()
    if whole.isNaN {
      self = 0
    } else if let exact = Self(exactly: whole) {
      self = exact
    } else {
      self = whole < 0 ? .min : .max
    }
  }
}
