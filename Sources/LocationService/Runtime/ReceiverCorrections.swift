// SPDX-License-Identifier: Apache-2.0
import LinuxIO
import Messages
import MonotonicTime
import Receiver
import ReceiverRuntime
import UBX

/// The corrections of the daemon's first receiver: whether it accepts them, their feed, and the keys of SPARTN.
final class ReceiverCorrections {
  /// The service's own descriptors have the tokens up to 15.
  private static let token = Poller.Token(rawValue: 15)
  /// The interval at which the file of keys is read while corrections flow, and otherwise, for the report of their end: an
  /// administrator adds keys while the daemon runs.
  private static let keyInterval = Milliseconds(10_000)
  private static let idleKeyInterval = Milliseconds(6 * 3_600_000)
  private static let longestKeyFile = 65_536
  private static let keyMessage = MessageIdentity(0x02, 0x36)

  let feed: CorrectionFeed
  private let isReadOnly: Bool
  /// The last report about a receiver that gets no corrections.
  private var reported: String?
  private var isSPARTNReported = false
  private var reports: [String] = []

  private let keyFile: String?
  private var keys: SPARTNKeyDelivery
  private var keysReadAt: Instant?
  private var isForwarding = false
  /// The time at which the keys were last compared with the clock.
  private var keysAssessedAt: Instant?
  /// The request of the keys that is in progress, and whether it is their poll.
  private var keyRequest: (ticket: SessionTicket, isPoll: Bool)?
  /// The request that follows a reply.
  private var keyAction: SPARTNKeyDelivery.Action?

  init(_ settings: ServiceSettings, at now: Instant) {
    isReadOnly = settings.isReadOnly
    keyFile = settings.spartnKeys
    keys = SPARTNKeyDelivery(path: settings.spartnKeys)
    feed = CorrectionFeed(
      settings.corrections, token: Self.token,
      silence: settings.correctionStallSeconds.map { Milliseconds(seconds: $0) } ?? CorrectionLink.silence, at: now)
  }

  var deadline: Instant? {
    guard keyFile != nil else { return feed.deadline }
    return .earlier(feed.deadline, keysReadAt.map { $0 + interval } ?? .zero)
  }

  private var interval: Milliseconds { isForwarding ? Self.keyInterval : Self.idleKeyInterval }

  func nextReport() -> String? { reports.isEmpty ? feed.nextReport() : reports.removeFirst() }

  /// The state of the keys of SPARTN, for `sextant status`; nil if no file of keys is named.
  var keyState: SPARTNKeyDelivery.State? { keyFile == nil ? nil : keys.state(at: System.referenceTime()) }

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
    let receiver = connection?.description
    isForwarding = isNeeded && receiver?.can(.rtcmInput) == true && obstacle == nil
    feed.isForwarding = isForwarding
    feed.acceptsSPARTN = receiver?.can(.spartnInput) == true
    feed.set(needed: isForwarding || needsEphemerides, &poller, at: now)
    deliverKeys(connection, &poller, at: now)
    feed.work(connection, &poller, at: now)
    if isForwarding, let connection { reportRefusedSPARTN(connection) }
  }

  /// Records that a command of the connection has ended.
  func finished(_ ticket: SessionTicket, _ outcome: Outcome) {
    feed.finished(ticket)
    guard let request = keyRequest, request.ticket == ticket else { return }
    keyRequest = nil
    guard request.isPoll else { return }
    if case .answered(let reply) = outcome { keyAction = keys.receive(reply) } else { keyAction = keys.receive(nil) }
  }

  /// Handles a start of the receiver, or another receiver: it gets the keys again.
  func receiverStarted() {
    keys.restart()
    (keyRequest, keyAction, keysAssessedAt) = (nil, nil, nil)
  }

  /// Reads the file of keys when it is due, and sends the receiver what it needs of them.
  private func deliverKeys(_ connection: ReceiverConnection?, _ poller: inout Poller, at now: Instant) {
    readKeys(at: now)
    if feed.spartnFrames.encrypted > 0 { keys.sawEncryptedCorrection() }
    // A round is shorter than a second, and a key is valid for weeks.
    guard keyAction != nil || keysAssessedAt.map({ now >= $0 + Milliseconds(1000) }) ?? true else { return }
    let accepts = isForwarding && feed.acceptsSPARTN && connection?.isReadyForStream == true && keyRequest == nil
    var due = keyAction
    if due == nil {
      keysAssessedAt = now
      due = keys.next(at: System.referenceTime(), accepts: accepts)
    }
    while let text = keys.nextReport() { reports.append(text) }
    guard accepts, let connection, let due else { return }
    keyAction = nil
    let (command, isPoll) =
      switch due {
      case .send(let payload): (Command(Self.keyMessage, payload, answer: .none), false)
      case .poll: (Command.poll(Self.keyMessage), true)
      }
    keyRequest = connection.submit(command, &poller, at: now).map { ($0, isPoll) }
  }

  private func readKeys(at now: Instant) {
    guard let keyFile, keysReadAt.map({ now >= $0 + interval }) ?? true else { return }
    (keysReadAt, keysAssessedAt) = (now, nil)
    do {
      keys.read(try UserFile.read(keyFile, limit: Self.longestKeyFile))
    } catch {
      keys.fail(error.reason)
    }
  }

  /// Reports once that the source sends SPARTN to a receiver that does not accept it.
  private func reportRefusedSPARTN(_ connection: ReceiverConnection) {
    guard !isSPARTNReported, feed.spartnFrames.all > 0, !feed.acceptsSPARTN else { return }
    isSPARTNReported = true
    reports.append(
      "\(connection.path): \(connection.description?.model ?? "the receiver") accepts no SPARTN corrections; use a source of RTCM 3, "
        + "or a receiver that does (ZED-F9P with HPG 1.30 or later, ZED-X20P)")
  }

  /// The reason why the receiver gets no corrections, with the next step; nil if it does, and before it is identified.
  private func obstacle(_ connection: ReceiverConnection?) -> String? {
    if isReadOnly { return "corrections are not sent: nothing is sent to the receivers (--read-only)" }
    guard let connection, let receiver = connection.description, !receiver.can(.rtcmInput) else { return nil }
    let advice = "so none are fetched; use a receiver with RTK (such as ZED-F9P)"
    return "\(connection.path): \(receiver.model ?? "the receiver") accepts no RTCM 3 corrections, \(advice)"
  }
}
