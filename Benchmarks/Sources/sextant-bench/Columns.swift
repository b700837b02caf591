// SPDX-License-Identifier: Apache-2.0

/// The cells of the printed tables.

/// Left-aligned text.
func pad(_ text: String, _ width: Int) -> String {
  text + String(repeating: " ", count: max(0, width - text.utf8.count))
}

/// Right-aligned text.
func right(_ text: String, _ width: Int) -> String {
  String(repeating: " ", count: max(0, width - text.utf8.count)) + text
}

/// A number with `digits` digits behind the point, 9 at the most; 999,999,999 for a larger one.
func fixed(_ value: Double, _ digits: Int) -> String {
  let scale = (0..<digits).reduce(UInt64(1)) { scale, _ in scale * 10 }
  let scaled = UInt64((min(abs(value), 999_999_999) * Double(scale)).rounded())
  let sign = value < 0 && scaled > 0 ? "-" : ""
  guard digits > 0 else { return sign + String(scaled) }
  return sign + String(scaled / scale) + "." + String(String(scale + scaled % scale).dropFirst())
}
