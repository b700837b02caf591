// SPDX-License-Identifier: Apache-2.0
import MonotonicTime

/// The delays before reopening a port that could not be opened, or that hangs up repeatedly.
struct RetryPolicy {
  /// The first delay: udev sets the group of a new node within it.
  static let first = Milliseconds(50)
  /// The longest delay: a receiver is opened within two seconds after it is ready, with few wake-ups.
  static let longest = Milliseconds(1500)
  /// The interval of attempts for a path without udev events, such as a simulator's pseudo-terminal.
  static let unannounced = Milliseconds(500)
  /// The delay after a hang-up, which precedes udev's message: the node may still be the old one.
  static let afterHangUp = Milliseconds(100)
  /// A port that was open for a shorter time is flapping.
  static let flap = Milliseconds(1000)
  /// The longest delay for a flapping port.
  static let longestAfterFlap = Milliseconds(5000)

  /// The delay after a number of failures in a row, from 1.
  static func delay(afterFailures failures: Int) -> Milliseconds {
    min(first * (1 << UInt64(min(failures - 1, 10))), longest)
  }

  /// The delay after a hang-up, depending on the number of consecutive short connections.
  static func delay(afterFlaps flaps: Int) -> Milliseconds {
    min(afterHangUp * (1 << UInt64(min(flaps, 10))), longestAfterFlap)
  }
}
