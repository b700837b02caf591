import ReceiverStream
import UBX

/// An epoch that was kept in the receiver.
public struct BatchedFix: Sendable, Equatable {
  /// The number of its LOG-BATCH, which goes on from one retrieval to the next.
  public var number: UInt16
  public var fix: Fix
}

extension BatchedFix {
  /// The fix that a LOG-BATCH or LOG-RETRIEVEPOS frame tells; nil for every other frame.
  public init?(_ frame: UBXFrame) {
    switch frame.identity {
    case LogBATCH.identity: self.init(logBATCH: frame.payload)
    case LogRETRIEVEPOS.identity: self.init(logRETRIEVEPOS: frame.payload)
    default: return nil
    }
  }

  /// Reads a LOG-BATCH payload: 100 bytes, version 0 (interface descriptions, LOG-BATCH). Nil for anything else.
  public init?(logBATCH payload: [UInt8]) {
    let bytes = payload.span
    unsafe self.init(logBATCH: bytes.bytes)
  }

  /// The same of bytes that are lent.
  public init?(logBATCH payload: RawSpan) {
    guard let message = LogBATCH(payload: payload), message.version == 0 else { return nil }
    number = message.msgCnt
    fix = Fix()
    if message.valid_validDate, message.valid_validTime {
      fix.time = Self.time(message)
      fix.timeIsResolved = true
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
    fix.horizontalAccuracyMetres = Double(message.hAcc) / 1000
    fix.accuracySource = .receiver
    fix.speedMetresPerSecond = Double(message.gSpeed) / 1000
    let course = Double(message.headMot) * 1e-5
    fix.courseDegrees = course < 0 ? course + 360 : course
    if message.contentValid_extraPvt { Self.readExtraOfPosition(message, into: &fix) }
  }

  private static func time(_ message: borrowing LogBATCH) -> UTCTime? {
    guard let day = Day(year: Int(message.year), month: Int(message.month), day: Int(message.day)), message.hour < 24,
      message.min < 60, message.sec <= 60, abs(message.fracSec) <= 1_000_000_000
    else { return nil }
    let seconds = Int64(message.hour) * 3600 + Int64(message.min) * 60 + Int64(message.sec)
    return UTCTime(day: day, nanosecondsOfDay: seconds * 1_000_000_000 + Int64(message.fracSec))
  }

  private static func readExtra(_ message: borrowing LogBATCH, into fix: inout Fix) {
    if message.tAcc != .max { fix.timeAccuracySeconds = Double(message.tAcc) / 1e9 }
    fix.satellitesUsed = Int(message.numSV)
    if message.pDOP < 9999 { fix.pdop = Double(message.pDOP) / 100 }
  }

  private static func readExtraOfPosition(_ message: borrowing LogBATCH, into fix: inout Fix) {
    if message.fixType == 3 {
      fix.heightAboveSeaLevelMetres = Double(message.hMSL) / 1000
      fix.geoidSeparationMetres = Double(message.height - message.hMSL) / 1000
      fix.verticalAccuracyMetres = Double(message.vAcc) / 1000
    }
    fix.velocityMetresPerSecond = SIMD3(
      Double(message.velN) / 1000, Double(message.velE) / 1000, Double(message.velD) / 1000)
    fix.climbMetresPerSecond = -Double(message.velD) / 1000
    fix.speedAccuracyMetresPerSecond = Double(message.sAcc) / 1000
    if message.headAcc <= 180 * 100_000 { fix.courseAccuracyDegrees = Double(message.headAcc) * 1e-5 }
  }
}
