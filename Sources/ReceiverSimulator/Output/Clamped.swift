// SPDX-License-Identifier: Apache-2.0
import WireBytes

extension FixedWidthInteger {
  /// The nearest whole number to a value, limited to the range of the field; 0 for a value that is not a number.
  init(nearest value: Double) { self.init(clamping: value.rounded()) }
}
