/// The header of every multiple signal message, MSM1 to MSM7 of each constellation (RTCM 10403.3, section 3.5.16).
public struct MSMHeader: Equatable, Sendable {
  /// The constellations that have multiple signal messages, by the tens of their message numbers.
  public enum System: Int, Sendable {
    case gps = 107, glonass = 108, galileo = 109, sbas = 110, qzss = 111, beiDou = 112, navIC = 113
  }

  public var system: System
  /// 1 to 7: which observables follow, and how precise.
  public var kind: Int
  /// Reference station, DF003.
  public var stationID: Int
  /// The epoch as it is sent, 30 bits: milliseconds of the constellation's week; for GLONASS the day of the week in the
  /// upper three bits and the milliseconds of the day, Moscow time, in the others.
  public var epoch: UInt32
  /// Whether more messages of the same epoch follow, DF393.
  public var hasMore: Bool
  /// Issue of data of the station, DF409.
  public var stationIssue: Int
  /// DF411: 0 clock not steered, 1 steered, 2 unknown.
  public var clockSteering: Int
  /// DF412: 0 internal clock, 1 external and locked, 2 external and perhaps not locked, 3 unknown.
  public var externalClock: Int
  /// Whether pseudoranges are smoothed without divergence, DF417.
  public var isSmoothed: Bool
  /// Smoothing interval, a code, DF418.
  public var smoothingInterval: Int
  /// A bit for each satellite, number 1 in the highest, DF394.
  public var satellites: UInt64
  /// A bit for each signal, number 1 in the highest, DF395.
  public var signals: UInt32
  /// A bit for each pair of a satellite and a signal that is observed, satellite by satellite, the first in the highest
  /// of `satelliteCount` × `signalCount` bits, DF396.
  public var cells: UInt64

  /// How many satellites are observed.
  public var satelliteCount: Int { satellites.nonzeroBitCount }
  /// How many signals are observed.
  public var signalCount: Int { signals.nonzeroBitCount }
  /// How many pairs of a satellite and a signal are observed.
  public var cellCount: Int { cells.nonzeroBitCount }

  /// The header of a message; nil when it is none of these or too short.
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
    // The standard bounds the mask at 64 bits; more is no message that a receiver may send.
    guard pairs <= 64 else { return nil }
    cells = bits.unsigned(pairs)
    if bits.isExhausted { return nil }
  }
}
