// SPDX-License-Identifier: Apache-2.0

/// 1005 and 1006: position of the reference station's antenna (RTCM 10403.3, tables 3.5-6 and 3.5-7).
public struct StationPosition: Equatable, Sendable {
  /// Reference station, DF003.
  public var stationID: Int
  /// The year of the reference frame's realisation, DF021; 0 when unknown.
  public var realisationYear: Int
  /// Services of the station by constellation, DF022 to DF024.
  public var servesGPS: Bool
  public var servesGLONASS: Bool
  public var servesGalileo: Bool
  /// Whether the station is not physical, DF141.
  public var isVirtual: Bool
  /// Earth-centred, earth-fixed coordinates of the antenna's reference point, in 0.1 mm, DF025 to DF027.
  public var x: Int64
  public var y: Int64
  public var z: Int64
  /// Whether one oscillator is used for all observations, DF142.
  public var hasSingleOscillator: Bool
  /// Correction of quarter-cycle shifts, DF364: 0 unknown, 1 corrected, 2 not corrected.
  public var quarterCycle: Int
  /// Height of the antenna above the marker, in 0.1 mm, DF028; only in 1006.
  public var antennaHeight: Int?

  /// The content of a message; nil for messages other than 1005 and 1006, and when the message is too short.
  public init?(_ frame: borrowing RTCM3Frame) {
    guard let number = frame.messageNumber, number == 1005 || number == 1006 else { return nil }
    var bits = BitReader(frame.payload)
    _ = bits.unsigned(12)
    stationID = bits.int(12)
    realisationYear = bits.int(6)
    servesGPS = bits.flag()
    servesGLONASS = bits.flag()
    servesGalileo = bits.flag()
    isVirtual = bits.flag()
    x = bits.signed(38)
    hasSingleOscillator = bits.flag()
    _ = bits.flag()
    y = bits.signed(38)
    quarterCycle = bits.int(2)
    z = bits.signed(38)
    antennaHeight = number == 1006 ? bits.int(16) : nil
    if bits.isExhausted { return nil }
  }
}
