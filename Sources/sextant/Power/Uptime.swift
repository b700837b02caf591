// SPDX-License-Identifier: Apache-2.0
import Receiver
import UBX

/// The time since the start of a receiver: NAV-STATUS, msss at 12 (interface descriptions, "Milliseconds since Startup
/// / Reset"). A receiver that wakes from backup restarts it.
enum Uptime {
  static let poll = Command.poll(MessageIdentity(0x01, 0x03))

  /// Returns seconds; nil without a reply.
  static func seconds(_ outcome: Outcome) -> Double? {
    guard case .answered(let payload) = outcome, payload.count >= 16 else { return nil }
    return Double((0..<4).reduce(UInt32(0)) { $0 | UInt32(payload[12 + $1]) << UInt32(8 * $1) }) / 1000
  }

  /// Returns the line with the state.
  ///
  /// - Parameters:
  ///   - uptime: the time since the start of the receiver, seconds.
  ///   - elapsed: the time since the start of the command, seconds.
  static func state(_ uptime: Double?, elapsed: Double) -> String {
    // The reported time is as old as the last epoch.
    guard let uptime, uptime + 1 < elapsed else { return "state             awake\n" }
    return
      "state             awake since this command: it was asleep or off; `sextant power sleep 0` restores the sleep\n"
  }
}
