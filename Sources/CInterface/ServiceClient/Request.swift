// SPDX-License-Identifier: Apache-2.0

/// A method of org.sextant.Location, with its parameters in metres; nil selects the service's default.
enum ServiceCall {
  case status
  case location(accuracy: Double?)
  case subscription(accuracy: Double?, distance: Double?)

  /// Writes the message with its NUL at the start of `output`, which has 256 bytes or more. Returns its length.
  func write(_ output: inout MutableSpan<UInt8>) -> Int {
    var count = 0
    append("{\"method\":\"org.sextant.Location.", &output, &count)
    switch self {
    case .status: append("GetStatus\"", &output, &count)
    case .location(let accuracy):
      append("RequestLocation\",\"parameters\":{", &output, &count)
      if let accuracy { append("\"desiredAccuracy\":", accuracy, &output, &count) }
      append("}", &output, &count)
    case .subscription(let accuracy, let distance):
      append("Subscribe\",\"parameters\":{", &output, &count)
      if let accuracy { append("\"desiredAccuracy\":", accuracy, &output, &count) }
      if let distance {
        append(accuracy == nil ? "\"distanceFilter\":" : ",\"distanceFilter\":", distance, &output, &count)
      }
      append("},\"more\":true", &output, &count)
    }
    append("}\0", &output, &count)
    return count
  }

  private func append(_ text: StaticString, _ output: inout MutableSpan<UInt8>, _ count: inout Int) {
    for index in 0..<text.utf8CodeUnitCount {
      // `index` is below the number of code units.
      output[count] = unsafe text.utf8Start[index]
      count += 1
    }
  }

  /// A member with a number of metres, rounded to a millimetre.
  private func append(
    _ name: StaticString, _ metres: Double, _ output: inout MutableSpan<UInt8>, _ count: inout Int
  ) {
    append(name, &output, &count)
    let millimetres = UInt64((metres * 1000).rounded())
    var unit: UInt64 = 1000
    while millimetres / unit >= 10 { unit *= 10 }
    while unit > 0 {
      if unit == 100 { append(".", &output, &count) }
      output[count] = UInt8(ascii: "0") + UInt8(millimetres / unit % 10)
      count += 1
      unit /= 10
    }
  }
}

/// A distance of `sextant.h` in metres; NaN selects the service's default.
struct Distance {
  let metres: Double?

  /// Nil if the value is negative or 10^9 m or more.
  init?(_ value: Double) {
    guard value.isNaN || value >= 0 && value < 1e9 else { return nil }
    metres = value.isNaN ? nil : value
  }
}
