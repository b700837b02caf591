// SPDX-License-Identifier: Apache-2.0

/// Bits of a navigation message, the most significant first.
struct SubframeBits {
  private let bytes: [UInt8]

  init(_ bytes: [UInt8]) { self.bytes = bytes }

  /// - Parameter width: the number of the lower bits of each word.
  init(words: [UInt32], width: Int) {
    var bytes = [UInt8](repeating: 0, count: (words.count * width + 7) / 8)
    for (index, word) in words.enumerated() {
      for bit in 0..<width where word >> UInt32(width - 1 - bit) & 1 != 0 {
        let at = index * width + bit
        bytes[at / 8] |= 0x80 >> UInt8(at % 8)
      }
    }
    self.bytes = bytes
  }

  func unsigned(_ at: Int, _ count: Int) -> UInt64 {
    (at..<at + count).reduce(0) { value, bit in
      let isSet = bit / 8 < bytes.count && bytes[bit / 8] & 0x80 >> UInt8(bit % 8) != 0
      return value << 1 | (isSet ? 1 : 0)
    }
  }

  func int(_ at: Int, _ count: Int) -> Int { Int(unsigned(at, count)) }

  /// A number in two's complement.
  func signed(_ at: Int, _ count: Int) -> Double { Self.signed(unsigned(at, count), count) }

  /// A number in two's complement whose upper bits precede the parity of a word, and whose lower bits follow it.
  func signed(_ upper: (at: Int, count: Int), _ lower: (at: Int, count: Int)) -> Double {
    Self.signed(joined(upper, lower), upper.count + lower.count)
  }

  func unsigned(_ upper: (at: Int, count: Int), _ lower: (at: Int, count: Int)) -> Double {
    Double(joined(upper, lower))
  }

  private func joined(_ upper: (at: Int, count: Int), _ lower: (at: Int, count: Int)) -> UInt64 {
    unsigned(upper.at, upper.count) << UInt64(lower.count) | unsigned(lower.at, lower.count)
  }

  private static func signed(_ value: UInt64, _ count: Int) -> Double {
    let spare = UInt64(64 - count)
    return Double(Int64(bitPattern: value << spare) >> Int64(spare))
  }

  /// A number with a sign and a magnitude, as GLONASS has it.
  func magnitude(_ at: Int, _ count: Int) -> Double {
    let value = Double(unsigned(at + 1, count - 1))
    return unsigned(at, 1) != 0 ? -value : value
  }
}
