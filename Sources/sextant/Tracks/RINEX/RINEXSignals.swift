// SPDX-License-Identifier: Apache-2.0
import Receiver

/// The band and the attribute of a RINEX code, such as 1C (RINEX 3.05, tables 4 to 10).
struct RINEXSignal: Hashable, Comparable {
  var band: UInt8
  var attribute: UInt8

  /// - Parameter code: band and attribute, such as "1C".
  init(_ code: String) {
    var characters = code.utf8.makeIterator()
    band = characters.next() ?? 0
    attribute = characters.next() ?? 0
  }

  /// Bands in the order of their frequencies' use: B1I, whose band is 2, comes first.
  static func < (a: RINEXSignal, b: RINEXSignal) -> Bool { (a.band, a.attribute) < (b.band, b.attribute) }

  /// The frequency of the carrier in Hz; nil for an unknown band, and for GLONASS without its channel.
  func hertz(_ system: RINEXSatellite.System, channel: Int?) -> Double? {
    switch (system, band) {
    case (.glonass, UInt8(ascii: "1")): channel.map { 1602e6 + Double($0) * 562_500 }
    case (.glonass, UInt8(ascii: "2")): channel.map { 1246e6 + Double($0) * 437_500 }
    case (.glonass, _): nil
    case (.beiDou, UInt8(ascii: "2")): 1_561_098_000
    case (.beiDou, UInt8(ascii: "6")): 1_268_520_000
    case (_, UInt8(ascii: "1")): 1_575_420_000
    case (_, UInt8(ascii: "2")): 1_227_600_000
    case (_, UInt8(ascii: "5")): 1_176_450_000
    case (_, UInt8(ascii: "6")): 1_278_750_000
    case (_, UInt8(ascii: "7")): 1_207_140_000
    case (_, UInt8(ascii: "8")): 1_191_795_000
    default: nil
    }
  }
}

extension RINEXSatellite {
  /// The satellite of u-blox's numbers; nil for an unknown one, as svId 255 of GLONASS.
  init?(gnssId: UInt8, svId: UInt8) {
    let (system, offset): (System, UInt8)
    switch gnssId {
    case 0: (system, offset) = (.gps, 0)
    case 1: (system, offset) = (.sbas, 100)
    case 2: (system, offset) = (.galileo, 0)
    case 3: (system, offset) = (.beiDou, 0)
    case 5: (system, offset) = (.qzss, 0)
    case 6: (system, offset) = (.glonass, 0)
    case 7: (system, offset) = (.navIC, 0)
    default: return nil
    }
    guard svId > offset, svId - offset < 100 else { return nil }
    self.init(system: system, number: svId - offset)
  }
}

extension RINEXSignal {
  /// The signal of u-blox's numbers (interface descriptions, "signal identifiers"); nil for an unknown one.
  ///
  /// - Parameter version: the version of RXM-RAWX. Version 0, of M8, has no signal identifier.
  init?(gnssId: UInt8, sigId: UInt8, version: UInt8) {
    let code: String
    switch (gnssId, version == 0 ? 0 : sigId) {
    case (0, 0), (1, 0), (6, 0), (5, 0): code = "1C"
    case (0, 3), (5, 5): code = "2L"
    case (0, 4), (5, 4): code = "2S"
    case (0, 6), (5, 8): code = "5I"
    case (0, 7), (5, 9): code = "5Q"
    case (2, 0): code = version == 0 ? "1X" : "1C"
    case (2, 1): code = "1B"
    case (2, 3): code = "5I"
    case (2, 4): code = "5Q"
    case (2, 5): code = "7I"
    case (2, 6): code = "7Q"
    case (2, 8): code = "6B"
    case (2, 9): code = "6C"
    case (3, 0), (3, 1): code = "2I"
    case (3, 2), (3, 3): code = "7I"
    case (3, 4), (3, 10): code = "6I"
    case (3, 5): code = "1P"
    case (3, 6): code = "1D"
    case (3, 7): code = "5P"
    case (3, 8): code = "5D"
    case (5, 1): code = "1Z"
    case (6, 2): code = "2C"
    case (7, 0): code = "5A"
    default: return nil
    }
    self.init(code)
  }

  /// The signal of a multiple signal message (RTCM 10403.3, tables 3.5-91, -96, -99, -102, -105 and -108); nil for a reserved one.
  ///
  /// - Parameter number: 1…32.
  init?(_ system: RINEXSatellite.System, msm number: Int) {
    let code: String
    switch (system, number) {
    case (.gps, 2), (.glonass, 2), (.galileo, 2), (.sbas, 2), (.qzss, 2): code = "1C"
    case (.gps, 3), (.glonass, 3): code = "1P"
    case (.gps, 4): code = "1W"
    case (.gps, 8), (.glonass, 8): code = "2C"
    case (.gps, 9), (.glonass, 9): code = "2P"
    case (.gps, 10): code = "2W"
    case (.gps, 15), (.qzss, 15): code = "2S"
    case (.gps, 16), (.qzss, 16): code = "2L"
    case (.gps, 17), (.qzss, 17): code = "2X"
    case (.gps, 22), (.galileo, 22), (.sbas, 22), (.qzss, 22): code = "5I"
    case (.gps, 23), (.galileo, 23), (.sbas, 23), (.qzss, 23): code = "5Q"
    case (.gps, 24), (.galileo, 24), (.sbas, 24), (.qzss, 24), (.beiDou, 24): code = "5X"
    case (.gps, 30), (.qzss, 30): code = "1S"
    case (.gps, 31), (.qzss, 31): code = "1L"
    case (.gps, 32), (.qzss, 32), (.beiDou, 32), (.galileo, 5): code = "1X"
    case (.galileo, 3): code = "1A"
    case (.galileo, 4): code = "1B"
    case (.galileo, 6): code = "1Z"
    case (.galileo, 8): code = "6C"
    case (.galileo, 9): code = "6A"
    case (.galileo, 10): code = "6B"
    case (.galileo, 11), (.qzss, 11), (.beiDou, 10): code = "6X"
    case (.galileo, 12): code = "6Z"
    case (.galileo, 14), (.beiDou, 14): code = "7I"
    case (.galileo, 15), (.beiDou, 15): code = "7Q"
    case (.galileo, 16), (.beiDou, 16): code = "7X"
    case (.galileo, 18): code = "8I"
    case (.galileo, 19): code = "8Q"
    case (.galileo, 20): code = "8X"
    case (.qzss, 9): code = "6S"
    case (.qzss, 10): code = "6L"
    case (.beiDou, 2): code = "2I"
    case (.beiDou, 3): code = "2Q"
    case (.beiDou, 4): code = "2X"
    case (.beiDou, 8): code = "6I"
    case (.beiDou, 9): code = "6Q"
    case (.beiDou, 22): code = "5D"
    case (.beiDou, 23): code = "5P"
    case (.beiDou, 25): code = "7D"
    case (.beiDou, 30): code = "1D"
    case (.beiDou, 31): code = "1P"
    case (.navIC, 22): code = "5A"
    default: return nil
    }
    self.init(code)
  }
}
