// SPDX-License-Identifier: Apache-2.0

/// A beacon's advertisement: the iBeacon form of the manufacturer's data in a Bluetooth LE advertisement.
package struct BeaconAdvertisement: Hashable, Sendable {
  /// The identifier of the company that the data belongs to.
  package static let company = 0x004C

  /// The family's 128 bits, big-endian.
  package var uuid: (high: UInt64, low: UInt64) { (high, low) }
  private let high, low: UInt64
  package let major: UInt16
  package let minor: UInt16
  /// The strength at one metre, dBm.
  package let strengthAtOneMetre: Int8

  /// Reads the data after the company's number: type 2, length 21, then UUID, major, minor and strength, big-endian.
  ///
  /// - Returns: nil for other data; the company's devices advertise other types as well.
  package init?(_ data: [UInt8]) {
    guard data.count == 23, data[0] == 0x02, data[1] == 0x15 else { return nil }
    func number(_ range: Range<Int>) -> UInt64 { data[range].reduce(0) { $0 << 8 | UInt64($1) } }
    high = number(2..<10)
    low = number(10..<18)
    major = UInt16(number(18..<20))
    minor = UInt16(number(20..<22))
    strengthAtOneMetre = Int8(bitPattern: data[22])
  }
}
