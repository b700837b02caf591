// SPDX-License-Identifier: Apache-2.0
import MonotonicTime
import NMEA
import ReceiverStream
import UBX

/// Notices that a receiver has lost its configuration: it sends messages that are off, or its boot text, or does not send a
/// desired message.
struct ConfigurationWatch: Sendable {
  /// A desired periodic message, and the time without it that means a loss.
  private let message: MessageIdentity?
  private let period: Milliseconds
  private let expectsNoNMEA: Bool
  /// Whether it restarts for each fix, with boot text.
  private let startsOften: Bool
  private var lastMessage: Instant
  private var unwanted = 0
  private let settledAt: Instant

  /// The time for sentences that were in the receiver's buffer when they were switched off.
  static var settling: Milliseconds { Milliseconds(1500) }

  /// - Parameters:
  ///   - desired: the applied configuration.
  ///   - wanted: a periodic message with its rate; nil without one.
  ///   - start: when the watch begins.
  init(_ desired: DesiredConfiguration, message wanted: DesiredConfiguration.MessageRate?, from start: Instant) {
    message = wanted?.message
    // Three epochs, and not less than the pauses of receivers while they search.
    let epoch = UInt64(desired.wantedMeasurementPeriod ?? 1000) * UInt64(wanted?.rate ?? 1)
    period = max(Milliseconds(2500), Milliseconds(3 * epoch))
    expectsNoNMEA = desired.writesNMEA == false
    startsOften = desired.powerSave?.sleepsBetweenFixes == true
    lastMessage = start
    settledAt = start + Self.settling
  }

  /// Handles a frame. Returns whether the configuration is lost.
  mutating func receive(_ frame: borrowing Frame, at now: Instant) -> Bool {
    switch frame.kind {
    case .ubx:
      if let ubx = frame.ubx, ubx.identity == message { lastMessage = now }
    case .nmea where expectsNoNMEA && now >= settledAt:
      // Only a boot text is a sign of a loss: receivers also write texts while their configuration is in place.
      if let sentence = frame.nmea, sentence.formatter == TXT.formatter {
        guard !startsOften, ReceiverText(sentence)?.announcesStart == true else { break }
      }
      unwanted += 1
      return unwanted == 1
    default: break
    }
    // Other frames arrive, and the desired message does not.
    return message != nil && now >= lastMessage + period
  }
}
