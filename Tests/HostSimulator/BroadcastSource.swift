// SPDX-License-Identifier: Apache-2.0
import RTCM3
import ReceiverStream

/// The ephemerides that a caster sends at a time: RTCM 3 1019, 1020, 1042 and 1046 of the simulator's satellites, with orbits of
/// nominal size.
public enum BroadcastSource {
  /// - Parameter utc: the time.
  /// - Returns: frames, for `FrameStream`.
  public static func frames(at utc: UTCTime) -> [UInt8] {
    var bytes: [UInt8] = []
    for number in 1...30 { bytes += gps(number, at: utc) }
    for number in 1...24 { bytes += galileo(number, at: utc) + beiDou(number, at: utc) + glonass(number, at: utc) }
    return bytes
  }

  private static let week: Int64 = 604_800

  private static func gpsSeconds(_ utc: UTCTime) -> Int64 {
    (utc.nanosecondsSince1970 / 1_000_000_000) - 315_964_800 + Int64(LeapSeconds.on(utc.day))
  }

  /// RTCM 3 1019.
  ///
  /// - Parameter reference: the reference time in seconds of GPS; nil for the next full two hours, as satellites have it.
  public static func gps(
    _ number: Int, at utc: UTCTime, reference: Int64? = nil, issue: Int64 = 7, health: Int64 = 0,
    root: Int64 = 5153 << 19
  ) -> [UInt8] {
    let reference = reference ?? (gpsSeconds(utc) / 7200 + 1) * 7200
    let second = reference % week / 16
    return frame([
      (1019, 12), (Int64(number), 6), (reference / week % 1024, 10), (1, 4), (1, 2), (-3, 14), (issue, 8), (second, 16),
      (0, 8), (-2, 16), (1 << 20, 22), (issue, 10), (-64, 16), (5, 16), (1 << 30, 32), (9, 16), (1 << 25, 32), (-9, 16),
      (root, 32), (second, 16), (1, 16), (1 << 30, 32), (2, 16), (1 << 29, 32), (32, 16), (-(1 << 30), 32), (-7, 24),
      (-1, 8), (health, 6), (0, 1), (0, 1),
    ])
  }

  /// RTCM 3 1046, or 1045.
  public static func galileo(_ number: Int, at utc: UTCTime, reference: Int64? = nil, isFNAV: Bool = false) -> [UInt8] {
    let reference = reference ?? gpsSeconds(utc) / 600 * 600
    let second = reference % week / 60
    var fields: [(Int64, Int)] = [
      (isFNAV ? 1045 : 1046, 12), (Int64(number), 6), (reference / week - 1024, 12), (33, 10), (107, 8), (-3, 14),
      (second, 14), (0, 6), (-2, 21), (1 << 24, 31), (-64, 16), (5, 16), (1 << 30, 32), (9, 16), (1 << 23, 32),
      (-9, 16),
      (5440 << 19, 32), (second, 14), (1, 16), (1 << 30, 32), (2, 16), (1 << 29, 32), (32, 16), (-(1 << 30), 32),
      (-7, 24), (5, 10),
    ]
    fields += isFNAV ? [(0, 2), (0, 1), (0, 7)] : [(6, 10), (0, 2), (0, 1), (0, 2), (0, 1), (0, 2)]
    return frame(fields)
  }

  /// RTCM 3 1042.
  public static func beiDou(_ number: Int, at utc: UTCTime, reference: Int64? = nil) -> [UInt8] {
    let reference = reference ?? gpsSeconds(utc) / 3600 * 3600
    let second = reference % week / 8
    return frame([
      (1042, 12), (Int64(number), 6), (reference / week - 1356, 13), (2, 4), (-3, 14), (4, 5), (second, 17), (0, 11),
      (-2, 22), (1 << 20, 24), (3, 5), (-64, 18), (5, 16), (1 << 30, 32), (9, 18), (1 << 23, 32), (-9, 18),
      (5282 << 19, 32), (second, 17), (1, 18), (1 << 30, 32), (2, 18), (1 << 29, 32), (32, 18), (-(1 << 30), 32),
      (-7, 24), (12, 10), (-13, 10), (0, 1),
    ])
  }

  /// RTCM 3 1020.
  public static func glonass(_ number: Int, at utc: UTCTime) -> [UInt8] {
    let moscow = (utc.nanosecondsSince1970 / 1_000_000_000 + 3 * 3600) % 86_400
    let (frameSecond, reference) = (moscow / 30 * 30, moscow / 900)
    return frame([
      (1020, 12), (Int64(number), 6), (Int64(number % 7) + 7, 5), (0, 4), (frameSecond / 3600, 5),
      (frameSecond / 60 % 60, 6), (frameSecond / 30 % 2, 1), (0, 1), (0, 1), (reference, 7),
      // Velocity, position and acceleration of each axis, with sign and magnitude.
      (3 << 20, 24), (25_510 << 11, 27), (1, 5), (1 << 23 | 1 << 20, 24), (0, 27), (1 << 4 | 1, 5), (0, 24), (0, 27),
      (0, 5), (0, 1), (1 << 10 | 5, 11), (0, 3), (1 << 21 | 1000, 22), (3, 5), (1, 5), (0, 1), (2, 4), (0, 64),
    ])
  }

  /// A frame of fields of bits, in two's complement.
  private static func frame(_ fields: [(value: Int64, width: Int)]) -> [UInt8] {
    let count = fields.reduce(0) { $0 + $1.width }
    var payload = [UInt8](repeating: 0, count: (count + 7) / 8)
    var at = 0
    for field in fields {
      for bit in (0..<field.width).reversed() {
        if field.value >> Int64(bit) & 1 != 0 { payload[at / 8] |= 0x80 >> UInt8(at % 8) }
        at += 1
      }
    }
    var bytes = [UInt8](repeating: 0, count: payload.count + RTCM3Frame.overhead)
    var span = bytes.mutableSpan
    // Safe: bytes have no invalid bit patterns.
    var output = unsafe span.mutableBytes
    _ = unsafe encodeFrame(payload: payload.span.bytes, into: &output)
    return bytes
  }
}

/// Predicted orbits as a service sends them: MGA-ANO of GPS, Galileo and GLONASS, whose content is the simulator's own.
public enum PredictionSource {
  private static let systems: [(UInt8, ClosedRange<UInt8>)] = [(0, 1...30), (2, 1...24), (6, 1...24)]

  /// The number of satellites.
  public static let satellites = systems.reduce(0) { $0 + $1.1.count }

  /// - Parameters:
  ///   - utc: a time of the first day.
  ///   - days: the number of days.
  /// - Returns: UBX frames.
  public static func frames(from utc: UTCTime, days: Int) -> [UInt8] {
    var bytes: [UInt8] = []
    for offset in 0..<Int64(days) {
      let (year, month, day) = Day(since1970: utc.day.since1970 + offset).components
      for (system, numbers) in systems {
        for number in numbers {
          let head = [0, 0, number, system, UInt8(year - 2000), UInt8(month), UInt8(day), 0]
          bytes += frame(head + [UInt8](repeating: number, count: 68))
        }
      }
    }
    return bytes
  }

  private static func frame(_ payload: [UInt8]) -> [UInt8] {
    var frame: [UInt8] = [0xB5, 0x62, 0x13, 0x20, UInt8(payload.count), 0] + payload
    var (a, b): (UInt8, UInt8) = (0, 0)
    for byte in frame.dropFirst(2) {
      a &+= byte
      b &+= a
    }
    frame += [a, b]
    return frame
  }
}
