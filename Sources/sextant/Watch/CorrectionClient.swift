// SPDX-License-Identifier: Apache-2.0
import LinuxIO
import MonotonicTime
import Receiver
import ReceiverRuntime
import SerialPort

/// Sends corrections to the receiver of a command, or refuses if the receiver does not accept them.
final class CorrectionClient {
  let feed: CorrectionFeed
  private var isOpen = false
  private var refusal: CommandFailure?

  init(_ sources: [CorrectionSource]) {
    // The connection has token 1.
    feed = CorrectionFeed(
      sources, token: Poller.Token(rawValue: 4), at: SystemClock.monotonic)
  }

  var deadline: Instant? { isOpen ? feed.deadline : .zero }

  func receive(_ event: ReceiverConnection.Event, _ connection: ReceiverConnection, path: String) {
    switch event {
    case .opened where connection.isWritable == false:
      refuse("\(path): the port cannot be written, so corrections cannot be sent; name the receiver's own port")
    case .session(.identified(let receiver)) where !receiver.can(.rtcmInput):
      refuse(
        "\(path): \(receiver.summary) accepts no RTCM 3 corrections; leave --corrections out, or use a receiver with RTK "
          + "(such as ZED-F9P)")
    case .session(.notIdentified):
      refuse(
        "\(path): the receiver is not identified as one of u-blox that accepts corrections; leave --corrections out")
    case .finished(let ticket, _): feed.finished(ticket)
    default: break
    }
  }

  /// Ends a round of events. Throws if the receiver accepts no corrections, or if the source cannot be opened.
  func work(_ connection: ReceiverConnection, _ poller: inout Poller, at now: Instant) throws {
    if let refusal { throw refusal }
    if !isOpen {
      isOpen = true
      try feed.open(&poller, at: now)
    }
    feed.work(connection, &poller, at: now)
  }

  private func refuse(_ text: String) {
    refusal = CommandFailure(.unavailable, text)
  }
}
