// SPDX-License-Identifier: Apache-2.0
import GPSD
import ReceiverStream
import WireBytes

extension JSONLine {
  /// Writes a decimal number without zeros at the end of its fraction. Writes nothing for a number that is not finite
  /// or is 1e9 or larger: `isWritable` is the condition.
  mutating func number(_ value: Double, digits: Int) {
    guard isWritable(value) else { return }
    var scale = 1.0
    for _ in 0..<digits { scale *= 10 }
    trimmed(UInt64(clamping: (abs(value) * scale).rounded()), isNegative: value < 0, digits: digits)
  }

  func isWritable(_ value: Double) -> Bool { value.isFinite && abs(value) < 1e9 }

  /// Writes an XML element with a number; nothing if it is nil.
  mutating func element(_ name: StaticString, _ value: Double?, digits: Int) {
    guard let value, isWritable(value) else { return }
    begin(name)
    number(value, digits: digits)
    end(name)
  }

  mutating func element(_ name: StaticString, _ value: Int?) {
    guard let value else { return }
    begin(name)
    integer(Int64(value))
    end(name)
  }

  mutating func element(_ name: StaticString, _ text: StaticString) {
    begin(name)
    put(text)
    end(name)
  }

  mutating func element(_ name: StaticString, _ time: UTCTime?) {
    guard let time else { return }
    begin(name)
    timestamp(time)
    end(name)
  }

  mutating func begin(_ name: StaticString) {
    put("<")
    put(name)
    put(">")
  }

  mutating func end(_ name: StaticString) {
    put("</")
    put(name)
    put(">")
  }

  /// A longitude and a latitude, degrees, and a height, metres, between `separator`s.
  mutating func coordinates(_ fix: Fix, height: Double?, separator: StaticString) {
    number(fix.longitudeDegrees ?? 0, digits: 8)
    put(separator)
    number(fix.latitudeDegrees ?? 0, digits: 8)
    guard let height, isWritable(height) else { return }
    put(separator)
    number(height, digits: 3)
  }
}
