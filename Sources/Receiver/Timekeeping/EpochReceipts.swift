// SPDX-License-Identifier: Apache-2.0

import MonotonicTime
import NMEA
import ReceiverStream
import UBX
import WireBytes

/// The arrival time of the first byte of each epoch, and the receiver's messages about its pulse and leap seconds.
package struct EpochReceipts: ~Copyable {
  /// A receiver's message about its pulse.
  package struct PulseNotice: Equatable, Sendable {
    /// The second of the week of the next pulse.
    package var secondOfWeek: Int64
    /// Whether the second belongs to UTC's week, not GPS's.
    package var isUTC: Bool
    /// The quantization error of the pulse, picoseconds, positive for an early pulse; nil if the receiver does not know it.
    package var errorPicoseconds: Int32?
    package var isLocked: Bool

    package init(secondOfWeek: Int64, isUTC: Bool, errorPicoseconds: Int32?, isLocked: Bool) {
      self.secondOfWeek = secondOfWeek
      self.isUTC = isUTC
      self.errorPicoseconds = errorPicoseconds
      self.isLocked = isLocked
    }

    /// Interface descriptions, UBX-TIM-TP.
    init(_ message: borrowing TimTP) {
      secondOfWeek = (Int64(message.towMS) + 500) / 1000
      isUTC = message.flags_timeBase
      errorPicoseconds = message.flags_qErrInvalid ? nil : message.qErr
      isLocked = !message.flags_TpNotLocked
    }
  }

  package enum Event: Equatable, Sendable {
    case pulse(PulseNotice)
    case leapSecond(LeapSecondNotice)
  }

  /// The number of epochs that are kept until their report.
  private static let kept = 4

  private var stream = FrameStream()
  private var unfinished = UnfinishedFrame()
  private var received: UInt64 = 0
  private var epochs: [(tag: EpochTag, firstByte: Instant)] = []

  package init() {}

  /// Handles bytes of a receiver.
  ///
  /// - Parameters:
  ///   - raw: the time at which they were read.
  ///   - secondsPerByte: the time of a byte on the line; 0 if the line has no rate. Bytes that are read together
  ///     arrived one after the other.
  ///   - utc: the time of the receiver's last epoch, to which an announced leap second refers; nil before the first.
  package mutating func receive(
    _ bytes: RawSpan, at raw: Instant, secondsPerByte: Double, utc: UTCTime?
  ) -> [Event] {
    var events: [Event] = []
    var found: [(EpochTag, offset: UInt64)] = []
    let earlier = received
    func take(_ frame: borrowing Frame) {
      if let ubx = frame.ubx {
        switch ubx.identity {
        case TimTP.identity:
          if let message = TimTP(payload: ubx.payload) { events.append(.pulse(PulseNotice(message))) }
        case NavTIMELS.identity:
          if let utc, let message = NavTIMELS(payload: ubx.payload),
            let notice = LeapSecondNotice(message, utc: utc)
          {
            events.append(.leapSecond(notice))
          }
        default: break
        }
      }
      // A frame that a false start delayed arrived earlier, at an unknown time.
      guard frame.offset + UInt64(frame.bytes.byteCount) > earlier, let tag = Self.tag(of: frame) else { return }
      found.append((tag, frame.offset))
    }
    stream.receive(bytes, take)
    stream.skipFalseStarts(if: &unfinished, at: raw.nanoseconds, take)
    received += UInt64(bytes.byteCount)
    for (tag, offset) in found where !epochs.contains(where: { $0.tag == tag }) {
      epochs.append((tag, raw.moved(by: -Double(received - offset) * secondsPerByte)))
      if epochs.count > Self.kept { epochs.removeFirst() }
    }
    return events
  }

  /// Returns the arrival time of the first byte of an epoch; nil if its messages have another time.
  package func firstByte(of utc: UTCTime, leapSeconds: Int?) -> Instant? {
    let leap = leapSeconds ?? LeapSeconds.on(utc.day)
    let ofDay = EpochTag.timeOfDay(utc.nanosecondsOfDay)
    let week: Int64 = 604_800_000
    let gps = utc.nanosecondsSince1970 - Day.gpsEpoch.since1970 * UTCTime.nanosecondsPerDay
    let ofWeek = EpochTag.timeOfWeek(UInt32(((gps + 500_000) / 1_000_000 + Int64(leap) * 1000) % week))
    return epochs.last {
      switch $0.tag {
      case .timeOfDay: $0.tag.isSame(as: ofDay, leapSeconds: leap)
      case .timeOfWeek(let iTOW): $0.tag == ofWeek || Self.isNear(iTOW, ofWeek, week)
      }
    }?.firstByte
  }

  /// Whether two times of week differ only by rounding: 10 ms, as in `EpochTag`.
  private static func isNear(_ iTOW: UInt32, _ tag: EpochTag, _ week: Int64) -> Bool {
    guard case .timeOfWeek(let other) = tag else { return false }
    let difference = abs(Int64(iTOW) - Int64(other))
    return min(difference, week - difference) <= 10
  }

  /// Returns the time of the epoch that a frame belongs to; nil for a frame that may be sent at any time.
  private static func tag(of frame: borrowing Frame) -> EpochTag? {
    if let ubx = frame.ubx {
      switch ubx.identity {
      case NavPVT.identity, NavSOL.identity, NavPOSLLH.identity, NavVELNED.identity, NavTIMEUTC.identity,
        NavTIMEGPS.identity, NavDOP.identity, NavSTATUS.identity, NavEOE.identity:
        return ubx.payload.byteCount >= 4 ? .timeOfWeek(ubx.payload.littleEndian(0, as: UInt32.self)) : nil
      default: return nil
      }
    }
    guard let sentence = frame.nmea, !sentence.isProprietary else { return nil }
    var rejected = 0
    let time: TimeOfDay? =
      switch sentence.formatter {
      case RMC.formatter: sentence.decode(RMC.self, rejected: &rejected).time
      case GGA.formatter: sentence.decode(GGA.self, rejected: &rejected).time
      case GNS.formatter: sentence.decode(GNS.self, rejected: &rejected).time
      case GLL.formatter: sentence.decode(GLL.self, rejected: &rejected).time
      case ZDA.formatter: sentence.decode(ZDA.self, rejected: &rejected).time
      default: nil
      }
    return time.map { .timeOfDay($0.nanoseconds) }
  }
}

/// A leap second that a receiver has announced.
package struct LeapSecondNotice: Equatable, Sendable {
  /// The midnight, UTC, before which a second is inserted or deleted.
  package var midnight: UTCTime
  package var leap: TimeSample.Leap

  package init(midnight: UTCTime, leap: TimeSample.Leap) {
    self.midnight = midnight
    self.leap = leap
  }

  /// The announcement in NAV-TIMELS; nil if there is no future one. Interface descriptions, UBX-NAV-TIMELS: `lsChange`
  /// and `timeToLsEvent` belong to a past event if none is scheduled.
  ///
  /// - Parameter utc: the time of the message's epoch.
  package init?(_ message: borrowing NavTIMELS, utc: UTCTime) {
    guard message.valid_validTimeToLsEvent, message.timeToLsEvent > 0, message.lsChange != 0 else { return nil }
    let event = utc.nanosecondsSince1970 &+ Int64(message.timeToLsEvent) * second
    // The event is in GPS time; the midnight is near.
    let day = (event + UTCTime.nanosecondsPerDay / 2) / UTCTime.nanosecondsPerDay
    guard abs(event - day * UTCTime.nanosecondsPerDay) < 60 * second else { return nil }
    midnight = UTCTime(nanosecondsSince1970: day * UTCTime.nanosecondsPerDay)
    leap = message.lsChange > 0 ? .insertion : .deletion
  }

  /// Returns the announcement that applies at a time: it applies to the day that ends with the leap second.
  func leap(at time: UTCTime) -> TimeSample.Leap {
    let distance = midnight.nanosecondsSince1970 &- time.nanosecondsSince1970
    return distance > 0 && distance <= UTCTime.nanosecondsPerDay ? leap : .none
  }
}

extension UTCTime {
  /// Whether a leap second may be near: from a second before the end of any month until two seconds after (ITU-R TF.460-6,
  /// annex 1, section 2). POSIX has no number for it, and a receiver need not announce it.
  var isAtLeapSecond: Bool {
    let (before, after) = (second, 2 * second)
    let shifted = nanosecondsSince1970 &+ before
    let ofDay = shifted % UTCTime.nanosecondsPerDay
    guard ofDay >= 0, ofDay <= before + after else { return false }
    return UTCTime(nanosecondsSince1970: shifted).day.components.day == 1
  }
}
