// SPDX-License-Identifier: Apache-2.0
import MonotonicTime
import Receiver
import ReceiverRuntime

extension CheckClient {
  /// The parts of the check, in the order of the report.
  enum Part: CaseIterable {
    /// Identity and replies; rate, messages, constellations and baud, in this order.
    case settings
    case sleep, batch, hotStart, warmStart
    /// After the user has interrupted the supply.
    case powerLoss
    /// The receiver is as it was found.
    case restored
  }

  /// A setting that is changed, observed and changed back.
  enum Trial { case rate, messages, constellations }

  /// The event that the client waits for.
  enum Stage {
    /// Until the receiver is identified.
    case waiting
    case polling(SessionTicket, since: Instant)
    case reading(SessionTicket)
    /// Epochs are observed before a change.
    case observing(until: Instant)
    case changing(Trial, since: Instant)
    /// Epochs are observed after it.
    case verifying(Trial, until: Instant)
    case changingRate(to: UInt32, since: Instant)
    case fallingAsleep
    case asleep(until: Instant)
    case waking(since: Instant)
    case findingFix(CheckReport.Start, since: Instant)
    case restarting(CheckReport.Start, SessionTicket)
    case readingBatch(SessionTicket)
    case startingBatch
    case storing(until: Instant)
    case retrieving
    case repairing(SessionTicket)
    case over

    /// The name of the finding that the stage belongs to.
    var name: String {
      switch self {
      case .polling, .reading: "replies"
      case .changing(.rate, _), .verifying(.rate, _): "rate"
      case .changing(.messages, _), .verifying(.messages, _): "messages"
      case .changing(.constellations, _), .verifying(.constellations, _): "constellations"
      case .changingRate: "baud"
      case .fallingAsleep, .asleep: "sleep"
      case .waking: "wake"
      case .findingFix(let start, _), .restarting(let start, _): start.rawValue
      case .readingBatch, .startingBatch, .storing, .retrieving: "batch"
      case .waiting, .observing, .repairing, .over: "restoring"
      }
    }
  }
}

extension Command {
  /// The poll of a u-blox receiver's identity.
  static var identityPoll: Command { .poll(.monVER) }

  /// A poll of the time between two measurements of a u-blox receiver.
  static func measurementPeriod(of receiver: ReceiverDescription) -> Command {
    // CFG-RATE-MEAS.
    receiver.can(.valset) ? .poll(.cfgVALGET, [0, 0, 0, 0, 0x01, 0x00, 0x21, 0x30]) : .poll(.cfgRATE)
  }

  /// The time in the reply, in milliseconds; nil for another payload.
  static func measurementPeriod(in payload: [UInt8], of receiver: ReceiverDescription) -> UInt16? {
    let at = receiver.can(.valset) ? 8 : 0
    return payload.count >= at + 2 ? payload.u2(at) : nil
  }
}
