import MonotonicTime
import NMEA
import ReceiverStream
import UBX

/// Notices that a receiver has lost the configuration that it was given: it says what it was told not to say, or its
/// boot text, or leaves out what it was told to say.
struct ConfigurationWatch: Sendable {
  /// The wished message that comes with each epoch, and how often.
  private let message: MessageIdentity?
  private let period: Milliseconds
  private let expectsNoNMEA: Bool
  /// It starts anew for each fix, as it is to, and says so.
  private let startsOften: Bool
  private var lastMessage: Instant
  private var unwanted = 0
  private let settledAt: Instant

  /// Sentences that were in the receiver's buffer when it was told to write none.
  static var settling: Milliseconds { Milliseconds(1500) }

  /// - Parameters:
  ///   - wish: what the receiver was told.
  ///   - wanted: the message that is to come, with its rate; nil where nothing comes regularly.
  ///   - start: from when on what comes counts.
  init(_ desired: DesiredConfiguration, message wanted: DesiredConfiguration.MessageRate?, from start: Instant) {
    message = wanted?.message
    // Three epochs, and never less than the pauses that receivers make when they search.
    let epoch = UInt64(desired.wantedMeasurementPeriod ?? 1000) * UInt64(wanted?.rate ?? 1)
    period = max(Milliseconds(2500), Milliseconds(3 * epoch))
    expectsNoNMEA = desired.writesNMEA == false
    startsOften = desired.powerSave?.sleepsBetweenFixes == true
    lastMessage = start
    settledAt = start + Self.settling
  }

  /// A frame came; whether the configuration is lost.
  mutating func receive(_ frame: borrowing Frame, at now: Instant) -> Bool {
    switch frame.kind {
    case .ubx:
      if let ubx = frame.ubx, ubx.identity == message { lastMessage = now }
    case .nmea where expectsNoNMEA && now >= settledAt:
      if startsOften, let sentence = frame.nmea, sentence.formatter == Formatter("TXT") { break }
      unwanted += 1
      return unwanted == 1
    default: break
    }
    // Something else comes and the wished message does not.
    return message != nil && now >= lastMessage + period
  }
}
