// SPDX-License-Identifier: Apache-2.0
import MonotonicTime

/// The pauses of a line, and their meaning.
extension Listener {
  /// The silence that ends an epoch: receivers write an epoch without pauses.
  static var epochSilence: Milliseconds { Milliseconds(100) }
  /// The silence that ends a frame: the receiver was unplugged, or fell asleep, in the middle of it.
  static var frameSilence: Milliseconds { Milliseconds(2000) }
  /// The time after which an incomplete frame that holds whole ones is given up. A pause of the line gives it up earlier:
  /// receivers write a frame without pauses.
  static var longestFrame: Milliseconds { Milliseconds(1000) }
  /// A pause between sentences that separates bursts, if it is longer than the others. Adapters deliver bytes in pieces with
  /// shorter ones.
  static var shortestPause: UInt64 { 15 }
  /// The time without a frame after which the user gets advice.
  public static var helpAfter: Milliseconds { Milliseconds(5000) }
}
