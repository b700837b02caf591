import MonotonicTime
import NMEA
import ReceiverStream
import WireBytes

/// When a caster is told where the receiver is, and with which sentence.
///
///     granted ── nothing comes for 5 s ──▶ the position is wanted ── every 10 s ──▶ GGA
///             └─ corrections come ──▶ it is not
///
/// A caster that makes corrections for the user's place sends none before it has a GGA (RTCM 10410.1, source table field
/// "nmea"). The others begin by themselves, and are not told: the place is nobody's business who needs it not. It has no
/// clock and no socket.
public struct CasterPosition: Sendable {
  /// How long a caster that needs no position takes to begin.
  static let patience = Milliseconds(5000)
  /// How often it is told.
  static let period = Milliseconds(10_000)

  /// Where the receiver is, as of the last fix.
  public var fix: Fix?
  private var dueAt: Instant?

  public init() {}

  /// When a sentence may be due; nil where none is to be told.
  public var deadline: Instant? { fix?.hasPosition == true ? dueAt : nil }

  /// The stream is granted.
  public mutating func connected(at now: Instant) { dueAt = now + Self.patience }

  /// Corrections came. A caster that was told the position before has to be told again.
  public mutating func received() { if !isWanted { dueAt = nil } }

  /// The connection is gone.
  public mutating func disconnected() {
    dueAt = nil
    isWanted = false
  }

  private var isWanted = false

  /// The sentence, if it is time for one and the place is known.
  public mutating func sentence(at now: Instant) -> [UInt8]? {
    guard let dueAt, now >= dueAt, let fix, fix.hasPosition, let content = GGA(fix) else { return nil }
    isWanted = true
    self.dueAt = now + Self.period
    var bytes = [UInt8](repeating: 0, count: 256)
    var span = bytes.mutableSpan
    // Bytes have no invalid bit patterns.
    var room = unsafe span.mutableBytes
    let count = content.encode(talker: .gps, into: &room)
    return Array(bytes[..<count])
  }
}

extension GGA {
  /// What a caster has to know of a fix; nil without a position.
  fileprivate init?(_ fix: Fix) {
    guard let latitude = fix.latitudeDegrees, let longitude = fix.longitudeDegrees else { return nil }
    self.init()
    if let time = fix.time {
      let seconds = time.nanosecondsOfDay / 1_000_000_000
      self.time = TimeOfDay(
        hour: UInt8(seconds / 3600), minute: UInt8(seconds / 60 % 60), second: UInt8(seconds % 60),
        nanosecond: UInt32(time.nanosecondsOfDay % 1_000_000_000))
    }
    self.latitude = Coordinate(latitudeDegrees: latitude)
    self.longitude = Coordinate(longitudeDegrees: longitude)
    quality =
      switch fix.quality {
      case .differential: 2
      case .preciseService: 3
      case .rtkFixed: 4
      case .rtkFloat: 5
      case .estimated: 6
      case .manual: 7
      case .simulated: 8
      case .unknown, .autonomous: 1
      }
    satellitesUsed = fix.satellitesUsed.map { Int32(clamping: min($0, 99)) }
    hdop = fix.hdop.flatMap { FixedPoint(rounding: $0, fractionDigits: 2) }
    altitude = fix.heightAboveSeaLevelMetres.flatMap { FixedPoint(rounding: $0, fractionDigits: 1) }
    geoidSeparation = fix.geoidSeparationMetres.flatMap { FixedPoint(rounding: $0, fractionDigits: 1) }
  }
}
