// SPDX-License-Identifier: Apache-2.0
import ReceiverStream
import UBX

/// An epoch that was stored in the receiver.
public struct BatchedFix: Sendable, Equatable {
  /// The number of its LOG-BATCH, which continues from one retrieval to the next.
  public var number: UInt16
  public var fix: Fix
}

extension BatchedFix {
  /// Reads a LOG-BATCH or LOG-RETRIEVEPOS frame; nil for every other frame.
  public init?(_ frame: UBXFrame) {
    switch frame.identity {
    case LogBATCH.identity: self.init(logBATCH: frame.payload)
    case LogRETRIEVEPOS.identity: self.init(logRETRIEVEPOS: frame.payload)
    default: return nil
    }
  }

  /// Reads a LOG-BATCH payload of 100 bytes, version 0 (interface descriptions, LOG-BATCH); nil for anything else.
  public init?(logBATCH payload: [UInt8]) {
    let bytes = payload.span
    unsafe self.init(logBATCH: bytes.bytes)
  }

  /// Reads the same from borrowed bytes.
  public init?(logBATCH payload: RawSpan) {
    guard let message = LogBATCH(payload: payload), message.version == 0 else { return nil }
    number = message.msgCnt
    fix = Fix()
    if message.valid_validDate, message.valid_validTime {
      fix.time = Self.time(message)
      fix.timeIsResolved = fix.time != nil
    }
    if message.contentValid_extraPvt { Self.readExtra(message, into: &fix) }
    guard message.fixType == 2 || message.fixType == 3 else { return }
    let latitude = Double(message.lat) * 1e-7
    let longitude = Double(message.lon) * 1e-7
    guard abs(latitude) <= 90, abs(longitude) <= 180 else { return }
    fix.kind = message.fixType == 3 ? .threeD : .twoD
    fix.quality = message.flags & 2 != 0 ? .differential : .autonomous
    fix.isWithinLimits = message.flags & 1 != 0
    fix.source = .ubx
    fix.latitudeDegrees = latitude
    fix.longitudeDegrees = longitude
    if message.fixType == 3 { fix.heightAboveEllipsoidMetres = Double(message.height) / 1000 }
    Self.setAccuracy(message.hAcc, of: &fix)
    Self.setSpeed(Double(message.gSpeed) / 1000, course: Double(message.headMot) / 1e5, of: &fix)
    if message.contentValid_extraPvt { Self.readExtraOfPosition(message, into: &fix) }
  }

  private static func time(_ message: borrowing LogBATCH) -> UTCTime? {
    time(
      year: message.year, month: message.month, day: message.day, hour: message.hour, minute: message.min,
      second: message.sec, nanoseconds: message.fracSec)
  }

  private static func readExtra(_ message: borrowing LogBATCH, into fix: inout Fix) {
    fix.timeAccuracySeconds = accuracy(message.tAcc, 1e9)
    fix.satellitesUsed = Int(message.numSV)
    // 99.99 and 0 mean "none".
    if message.pDOP > 0, message.pDOP < 9999 { fix.pdop = Double(message.pDOP) / 100 }
  }

  private static func readExtraOfPosition(_ message: borrowing LogBATCH, into fix: inout Fix) {
    if message.fixType == 3 {
      fix.heightAboveSeaLevelMetres = Double(message.hMSL) / 1000
      fix.geoidSeparationMetres = (Double(message.height) - Double(message.hMSL)) / 1000
      fix.verticalAccuracyMetres = accuracy(message.vAcc, 1000)
    }
    fix.velocityMetresPerSecond = SIMD3(
      Double(message.velN) / 1000, Double(message.velE) / 1000, Double(message.velD) / 1000)
    fix.climbMetresPerSecond = -Double(message.velD) / 1000
    fix.speedAccuracyMetresPerSecond = accuracy(message.sAcc, 1000)
    if message.headAcc <= 180 * 100_000 { fix.courseAccuracyDegrees = Double(message.headAcc) * 1e-5 }
  }
}

// The ranges match NAV-PVT (EpochAssembler): a value out of range is absent.
extension BatchedFix {
  /// Returns a time; second 60, a leap second, becomes the start of the next minute.
  static func time(
    year: UInt16, month: UInt8, day: UInt8, hour: UInt8, minute: UInt8, second: UInt8, nanoseconds: Int32 = 0
  ) -> UTCTime? {
    guard UTCTime.believedYears.contains(Int(year)), let date = Day(year: Int(year), month: Int(month), day: Int(day)),
      hour < 24, minute < 60, second <= 60, nanoseconds.magnitude <= 1_000_000_000
    else { return nil }
    let seconds = Int64(hour) * 3600 + Int64(minute) * 60 + Int64(second)
    let time = UTCTime(day: date, nanosecondsOfDay: seconds * 1_000_000_000 + Int64(nanoseconds))
    return time.isBelieved ? time : nil
  }

  /// Sets the horizontal accuracy, in millimetres.
  static func setAccuracy(_ millimetres: UInt32, of fix: inout Fix) {
    guard let metres = accuracy(millimetres, 1000) else { return }
    fix.horizontalAccuracyMetres = metres
    fix.accuracySource = .receiver
  }

  /// Sets the speed, in metres per second, and the course, in degrees; neither if the speed is out of range.
  static func setSpeed(_ speed: Double, course degrees: Double, of fix: inout Fix) {
    guard speed >= 0, speed < 10_000 else { return }
    fix.speedMetresPerSecond = speed
    guard abs(degrees) <= 720 else { return }
    let course = degrees.truncatingRemainder(dividingBy: 360)
    fix.courseDegrees = course < 0 ? course + 360 : course
  }

  /// Returns an accuracy from parts of its unit; nil for the largest values, which mean "none".
  private static func accuracy(_ raw: UInt32, _ parts: Double) -> Double? {
    raw >= 0xFFFF_FFF0 ? nil : Double(raw) / parts
  }
}
