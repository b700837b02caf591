// SPDX-License-Identifier: Apache-2.0
@_exported import struct ReceiverSimulator.SeededRandomNumberGenerator

extension SeededRandomNumberGenerator {
  public mutating func byte() -> UInt8 { UInt8(truncatingIfNeeded: next()) }

  public mutating func bytes(_ count: Int) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(count)
    var word: UInt64 = 0
    for index in 0..<count {
      if index % 8 == 0 { word = next() }
      bytes.append(UInt8(truncatingIfNeeded: word))
      word >>= 8
    }
    return bytes
  }
}
