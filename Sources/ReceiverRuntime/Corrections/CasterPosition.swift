// SPDX-License-Identifier: Apache-2.0
import MonotonicTime
import NMEA
import ReceiverStream
import WireBytes

/// Decides when a caster receives the receiver's position, and returns the sentence.
///
///     granted ── no corrections for 5 s, or the source table asks ──▶ the position is needed ── every 10 s ──▶ GGA
///             └─ corrections arrive ──▶ it is not needed
///
/// A caster that computes corrections for a position sends none before it has a GGA sentence (RTCM 10410.1, source
/// table field "nmea"), but may send a text or the description of its station. Other casters start on their own;
/// they do not receive the position, which is private. The value does not use a clock or sockets.
package struct CasterPosition: Sendable {
  /// The time without corrections after which a caster is assumed to need a position.
  static let silence = Milliseconds(5000)
  /// The interval of the sentences.
  static let period = Milliseconds(10_000)

  /// The last fix of the receiver.
  package var fix: Fix?
  private var dueAt: Instant?
  /// Whether the caster has received a position. It then needs more of them.
  private var needsPosition = false

  package init() {}

  /// The time at which a sentence may be due; nil if none is.
  package var deadline: Instant? { fix?.hasPosition == true ? dueAt : nil }

  /// Records that the caster has granted the stream.
  ///
  /// - Parameters:
  ///   - isAsked: whether its source table asks for the position.
  ///   - now: the current instant.
  package mutating func connected(isAsked: Bool = false, at now: Instant) {
    dueAt = isAsked ? now : now + Self.silence
    needsPosition = isAsked
  }

  /// Records that corrections arrived. A caster that has received a position needs more of them.
  package mutating func received() { if !needsPosition { dueAt = nil } }

  /// Records that the connection is closed.
  package mutating func disconnected() {
    dueAt = nil
    needsPosition = false
  }

  /// Returns the sentence if one is due and the position is known.
  package mutating func sentence(at now: Instant) -> [UInt8]? {
    guard let dueAt, now >= dueAt, let fix, fix.hasPosition, let content = GGA(fix) else { return nil }
    needsPosition = true
    self.dueAt = now + Self.period
    var bytes = [UInt8](repeating: 0, count: 256)
    var span = bytes.mutableSpan
    // Safe: bytes have no invalid bit patterns.
    var room = unsafe span.mutableBytes
    let count = content.encode(talker: .gps, into: &room)
    return Array(bytes[..<count])
  }
}

extension GGA {
  /// The sentence for a fix; nil if it has no position.
  fileprivate init?(_ fix: Fix) {
    guard let latitude = fix.latitudeDegrees, let longitude = fix.longitudeDegrees else { return nil }
    self.init()
    time = fix.time.map { TimeOfDay($0) }
    self.latitude = Coordinate(latitudeDegrees: latitude)
    self.longitude = Coordinate(longitudeDegrees: longitude)
    quality = fix.quality.ofGGA
    satellitesUsed = fix.satellitesUsed.map { Int32(clamping: min($0, 99)) }
    hdop = fix.hdop.flatMap { FixedPoint(rounding: $0, fractionDigits: 2) }
    altitude = fix.heightAboveSeaLevelMetres.flatMap { FixedPoint(rounding: $0, fractionDigits: 1) }
    geoidSeparation = fix.geoidSeparationMetres.flatMap { FixedPoint(rounding: $0, fractionDigits: 1) }
  }
}
