import Receiver
import UBX

/// Since when a receiver runs: NAV-STATUS, msss at 12 (interface descriptions, "Milliseconds since Startup / Reset"). One that woke
/// from backup has started anew.
enum Uptime {
  static let question = Command.poll(MessageIdentity(0x01, 0x03))

  /// Seconds; nil when it was not told.
  static func seconds(_ outcome: Outcome) -> Double? {
    guard case .answered(let payload) = outcome, payload.count >= 16 else { return nil }
    return Double((0..<4).reduce(UInt32(0)) { $0 | UInt32(payload[12 + $1]) << UInt32(8 * $1) }) / 1000
  }

  /// The line of its state.
  ///
  /// - Parameters:
  ///   - uptime: since when it runs, seconds.
  ///   - asked: since when it is asked, seconds.
  static func state(_ uptime: Double?, asked: Double) -> String {
    // What is told is as old as the last epoch.
    guard let uptime, uptime + 1 < asked else { return "state             awake\n" }
    return
      "state             awake since it was asked: it had slept, or been off; `sextant power sleep 0` puts it back\n"
  }
}
