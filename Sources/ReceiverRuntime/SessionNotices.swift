// SPDX-License-Identifier: Apache-2.0
import Receiver
import ReceiverStream

/// The silence before advice, with its unit.
private let silence = "\(Listener.helpAfter.count / 1000) s"

extension ReceiverConnection.Event {
  /// One line for the user, with the next step if there is one; nil for an event without a notice.
  ///
  /// - Parameters:
  ///   - path: the device.
  ///   - baud: the fixed rate; nil if the rate is found.
  ///   - bytes: the number of bytes of the line so far.
  ///   - counters: their frames, and the faults of the others.
  package func notice(
    path: String, baud: UInt32?, bytes: UInt64 = 0, _ counters: StreamCounters = StreamCounters()
  ) -> String? {
    switch self {
    case .opened, .rate, .ended, .finished, .batch, .lost, .unreachable: nil
    case .notice(let text): text
    case .session(.adviseOnSilence) where Self.fault(path, counters, bytes, baud) != nil:
      Self.fault(path, counters, bytes, baud).map { "\(path): still waiting after \(silence): \($0)" }
    case .session(let report):
      report.notice(baud: baud, (try? LineAddress(path))?.networkSource).map { "\(path): \($0)" }
    }
  }

  /// The cause of a line without a valid frame, as far as its bytes show it. With a fixed rate the rate is the first suspect, and a
  /// network source has none.
  private static func fault(_ path: String, _ counters: StreamCounters, _ bytes: UInt64, _ baud: UInt32?) -> String? {
    let hasRate = baud == nil && (try? LineAddress(path))?.networkSource == nil
    return hasRate ? RecordingFault.fault(counters, bytes: bytes) : RecordingFault.checksumFault(counters, bytes: bytes)
  }
}

extension SessionReport {
  fileprivate func notice(baud: UInt32?, _ network: NetworkSource?) -> String? {
    switch self {
    case .identified(let description): description.summary
    case .notIdentified(let isOtherVendor):
      isOtherVendor ? nil : "the receiver does not identify itself; its messages are used as they are"
    case .configured(let refused):
      refused == 0 ? nil : "the receiver refused \(refused) setting\(refused == 1 ? "" : "s"); the others are set"
    case .configurationFailed(let isRefused):
      "\(Self.configurationFailure(isRefused: isRefused)); its messages are used as they are "
        + (isRefused ? "(is its configuration locked?)" : "(do they fill the line?)")
    case .assisted(let given, _):
      given == 0 ? nil : "the receiver has just started; position and orbits of the last run were sent to it"
    case .withoutPositions:
      "the receiver sends no sentence with a position; enable GGA and RMC in it (a Septentrio receiver needs a stream that is "
        + "not in use)"
    case .wasReset: "the receiver was reset and is configured again"
    case .silent: "the receiver is silent; waiting for it (check power and cable)"
    case .notUnderstood:
      baud.map { "no valid frame any more at \($0) baud; leave --baud out to search for the rate" }
        ?? "no valid frame any more; searching for the baud rate again"
    case .back: "the receiver is back"
    case .rateNotChanged(let rate): "the receiver was not found at \(rate) baud; the old rate stays"
    case .awake(.unrequested): "the receiver woke without a request"
    case .wakesByTimer(let rest):
      "the receiver sleeps until its timer ends, at most \(rest.count / 1000 + 1) s; no command wakes it sooner"
    case .doesNotSleep: "the receiver does not go to sleep"
    case .cannotSleep: "this receiver cannot be put to sleep at this port"
    case .refusesSaving:
      "the receiver refuses to save settings that a sleep would lose, and stays awake (is its configuration locked?)"
    case .resetToWake: "the receiver does not wake; resetting it"
    case .doesNotWake: "the receiver does not wake; trying again from time to time"
    case .notRestored:
      "some changes could not be restored; switch the receiver off and on, or check `sextant configure show`"
    case .warned(let text): "the receiver warns: \(text)"
    case .adviseOnSilence where network != nil:
      network.map { "no valid frame for \(silence); still waiting (\($0.adviceOnSilence))" }
    case .adviseOnSilence:
      baud.map { "no valid frame at \($0) baud for \(silence); leave --baud out to search for the rate" }
        ?? "no valid frame for \(silence); still waiting "
        + "(check that it is a receiver, that it is awake, and its wiring RX to TX)"
    case .loggerHolds(let count) where count > 0:
      "its logger holds \(count) earlier record\(count == 1 ? "" : "s"); they are neither printed nor erased"
    case .rateFound, .asleep, .awake(.requested), .awake(.time), .batching, .orbits, .loggerHolds: nil
    }
  }
}

extension ReceiverDescription {
  /// The notice after a restart of a receiver whose logger runs; nil for others.
  package var noticeOfRestartedLog: String? {
    runningLog == nil ? nil : "its logger was off during the restart, and runs again; its records are kept"
  }

  /// Such as "u-blox NEO-M9N, firmware SPG 4.04, protocol 32.01".
  package var summary: String {
    var text = vendor + " " + (model ?? generation?.rawValue ?? "receiver")
    if let firmware { text += ", firmware \(firmware)" }
    if let protocolVersionText { text += ", protocol \(protocolVersionText)" }
    return text
  }
}
