// SPDX-License-Identifier: Apache-2.0

/// The header of the multiple signal messages (MSM), MSM1 to MSM7 of each constellation (RTCM 10403.3, section 3.5.16).
public struct MSMHeader: Equatable, Sendable {
  /// The constellations with multiple signal messages: the message number divided by ten.
  public enum System: Int, Sendable {
    case gps = 107, glonass = 108, galileo = 109, sbas = 110, qzss = 111, beiDou = 112, navIC = 113
  }

  public var system: System
  /// The kind of the message, 1…7: its observables and their precision.
  public var kind: Int
  /// Reference station, DF003.
  public var stationID: Int
  /// The epoch as sent, 30 bits: milliseconds of the constellation's week. GLONASS: the day of the week in the upper
  /// three bits and milliseconds of the day, Moscow time, below.
  public var epoch: UInt32
  /// Whether more messages of the same epoch follow, DF393.
  public var hasMore: Bool
  /// Issue of the station's data, DF409.
  public var stationIssue: Int
  /// DF411: 0 clock not steered, 1 steered, 2 unknown.
  public var clockSteering: Int
  /// DF412: 0 internal clock, 1 external and locked, 2 external and possibly not locked, 3 unknown.
  public var externalClock: Int
  /// Whether divergence-free smoothing is applied to the pseudoranges, DF417.
  public var isSmoothed: Bool
  /// The code of the smoothing interval, DF418.
  public var smoothingInterval: Int
  /// A bit for each satellite, satellite 1 in the highest bit, DF394.
  public var satellites: UInt64
  /// A bit for each signal, signal 1 in the highest bit, DF395.
  public var signals: UInt32
  /// A bit for each observed pair of satellite and signal, satellite by satellite, the first in the highest of
  /// `satelliteCount` × `signalCount` bits, DF396.
  public var cells: UInt64

  /// The number of observed satellites.
  public var satelliteCount: Int { satellites.nonzeroBitCount }
  /// The number of observed signals.
  public var signalCount: Int { signals.nonzeroBitCount }
  /// The number of observed pairs of satellite and signal.
  public var cellCount: Int { cells.nonzeroBitCount }

  /// The header of a message; nil for other messages and when the message is too short.
  public init?(_ frame: borrowing RTCM3Frame) {
    guard let number = frame.messageNumber, let system = System(rawValue: number / 10), (1...7).contains(number % 10)
    else { return nil }
    var bits = BitReader(frame.payload)
    _ = bits.unsigned(12)
    self.system = system
    kind = number % 10
    stationID = bits.int(12)
    epoch = UInt32(bits.unsigned(30))
    hasMore = bits.flag()
    stationIssue = bits.int(3)
    _ = bits.unsigned(7)
    clockSteering = bits.int(2)
    externalClock = bits.int(2)
    isSmoothed = bits.flag()
    smoothingInterval = bits.int(3)
    satellites = bits.unsigned(64)
    signals = UInt32(bits.unsigned(32))
    let pairs = satellites.nonzeroBitCount * signals.nonzeroBitCount
    // The standard limits the mask to 64 bits.
    guard pairs <= 64 else { return nil }
    cells = bits.unsigned(pairs)
    if bits.isExhausted { return nil }
  }
}
