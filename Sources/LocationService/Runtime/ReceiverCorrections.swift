// SPDX-License-Identifier: Apache-2.0
import LinuxIO
import MonotonicTime
import Receiver
import ReceiverRuntime

/// The corrections of the daemon's first receiver: whether it accepts them, and their feed.
final class ReceiverCorrections {
  /// The service's own descriptors have the tokens up to 15.
  private static let token = Poller.Token(rawValue: 15)

  let feed: CorrectionFeed
  private let isReadOnly: Bool
  /// The last report about a receiver that gets no corrections.
  private var reported: String?
  private var reports: [String] = []

  init(_ settings: ServiceSettings, at now: Instant) {
    isReadOnly = settings.isReadOnly
    feed = CorrectionFeed(
      settings.corrections, token: Self.token,
      silence: settings.correctionStallSeconds.map { Milliseconds(seconds: $0) } ?? CorrectionLink.silence, at: now)
  }

  var deadline: Instant? { feed.deadline }

  func nextReport() -> String? { reports.isEmpty ? feed.nextReport() : reports.removeFirst() }

  /// Ends a round: connects the source while corrections are useful and the receiver accepts them, and sends the
  /// received corrections.
  ///
  /// - Parameter needsEphemerides: whether the source is connected for its ephemerides alone.
  func work(
    _ connection: ReceiverConnection?, isNeeded: Bool, needsEphemerides: Bool, _ poller: inout Poller, at now: Instant
  ) {
    let obstacle = isNeeded ? obstacle(connection) : nil
    if let obstacle, obstacle != reported {
      reported = obstacle
      reports.append(obstacle)
    }
    let accepts = connection?.description?.can(.rtcmInput) == true && obstacle == nil
    feed.isForwarding = isNeeded && accepts
    feed.set(needed: isNeeded && accepts || needsEphemerides, &poller, at: now)
    feed.work(connection, &poller, at: now)
  }

  /// The reason why the receiver gets no corrections, with the next step; nil if it does, and before it is identified.
  private func obstacle(_ connection: ReceiverConnection?) -> String? {
    if isReadOnly { return "corrections are not sent: nothing is sent to the receivers (--read-only)" }
    guard let connection, let receiver = connection.description, !receiver.can(.rtcmInput) else { return nil }
    let advice = "so none are fetched; use a receiver with RTK (such as ZED-F9P)"
    return "\(connection.path): \(receiver.model ?? "the receiver") accepts no RTCM 3 corrections, \(advice)"
  }
}
