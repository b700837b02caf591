import Corrections
import MonotonicTime
import Receiver
import ReceiverRuntime
import SerialPort

/// Corrections for the receiver that a command holds: refused where it cannot take them, else fed.
final class CorrectionClient {
  let feed: CorrectionFeed
  private let name: String
  private var isOpen = false
  private var refusal: CommandFailure?

  init(_ source: CorrectionSource) {
    name = source.name
    // The connection has token 1.
    feed = CorrectionFeed(
      source, token: Poller.Token(rawValue: 4), at: SystemClock.monotonic)
  }

  var deadline: Instant? { isOpen ? feed.deadline : .zero }

  func receive(_ event: ReceiverConnection.Event, _ connection: ReceiverConnection, path: String) {
    switch event {
    case .opened where connection.isWritable == false:
      refuse("\(path): cannot be written to, so it takes no corrections; name the receiver's own port")
    case .session(.identified(let receiver)) where !receiver.can(.rtcmInput):
      refuse(
        "\(path): \(sextant.name(of: receiver)) takes no RTCM 3 corrections; leave --corrections out, or use a receiver "
          + "with RTK (such as ZED-F9P)")
    case .session(.notIdentified):
      refuse(
        "\(path): the receiver does not show itself as one of u-blox that takes corrections; leave --corrections out")
    case .finished(let ticket, _): feed.finished(ticket)
    default: break
    }
  }

  /// A round is over. Throws why the receiver takes no corrections, or what the user has to mend at the source.
  func work(_ connection: ReceiverConnection, _ poller: inout Poller, at now: Instant) throws {
    if let refusal { throw refusal }
    if !isOpen {
      isOpen = true
      try feed.open(&poller, at: now)
    }
    feed.work(connection, &poller, at: now)
  }

  private func refuse(_ text: String) {
    refusal = CommandFailure(exitCode: CommandFailure.unavailable, description: text)
  }
}
