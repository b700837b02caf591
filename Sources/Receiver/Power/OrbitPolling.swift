// SPDX-License-Identifier: Apache-2.0
import MonotonicTime
import ReceiverStream

/// When the receiver is polled for its orbits: once after the first fix of each of its starts.
///
///     waiting ── fix with its satellites ───▶ due ── poll ──▶ polled ── reply ──▶ done
///        ▲                                                                        │
///        └──────────────────── start: line lost, reset, another receiver ─────────┘
///
/// Later polls would have no new result: an ephemeris takes half a minute to receive, as long as the policy waits without
/// a report.
struct OrbitPolling: Sendable {
  private enum State: Sendable {
    /// `lacking`: the fixes so far whose satellites were not all known.
    case waiting(lacking: Int)
    case due(used: [OrbitReport.Satellite])
    case polled(used: [OrbitReport.Satellite], Message)
    case done
  }

  private enum Message { case navORB, rxmSVSI }

  private var state = State.waiting(lacking: 0)

  /// The satellites that a position in three dimensions needs.
  private static var leastSatellites: Int { 4 }
  /// A fix may state more satellites than the receiver lists. After this many such fixes the listed ones count.
  private static var mostLacking: Int { 3 }
  /// The longest usual reply in bytes: a hundred satellites.
  private static var replyBytes: Int { 16 + 6 * 100 }

  /// Takes an epoch. One that lost a sentence has a part of its satellites only: their number would give a short
  /// validity, and nothing would correct it.
  mutating func receive(_ fix: borrowing Fix, _ sky: borrowing Sky) {
    guard case .waiting(let lacking) = state, fix.hasPosition, sky.used >= Self.leastSatellites else { return }
    if let stated = fix.satellitesUsed, stated > sky.used, lacking < Self.mostLacking {
      state = .waiting(lacking: lacking + 1)
      return
    }
    var used: [OrbitReport.Satellite] = []
    let satellites = sky.satellites
    for index in satellites.indices where satellites[index].isUsed {
      used.append(
        OrbitReport.Satellite(system: satellites[index].system.rawValue, number: satellites[index].number))
    }
    state = .due(used: used)
  }

  /// The receiver starts, or is another one.
  mutating func restart() { state = .waiting(lacking: 0) }

  /// Returns the poll, if it is due.
  mutating func next(_ receiver: ReceiverDescription?, bitRate: UInt32?) -> Command? {
    guard case .due(let used) = state, let receiver else { return nil }
    let message = receiver.protocolVersion.map { $0 >= ProtocolVersion(18, 0) } ?? false ? Message.navORB : .rxmSVSI
    state = .polled(used: used, message)
    let poll = Command.poll(message == .navORB ? .navORB : .rxmSVSI)
    return poll.with(attempts: 2, timeout: poll.timeout + RequestInFlight.time(of: Self.replyBytes, bitRate))
  }

  /// Takes the outcome of the poll.
  ///
  /// - Returns: how long the orbits of the satellites in use remain usable, in seconds, the longest first; nil without a
  ///   reply.
  mutating func receive(_ outcome: Outcome) -> [Double]? {
    guard case .polled(let used, let message) = state else { return nil }
    state = .done
    guard case .answered(let payload) = outcome else { return nil }
    let report = message == .navORB ? OrbitReport(navORB: payload) : OrbitReport(rxmSVSI: payload)
    return report.usableSeconds(of: used)
  }
}
