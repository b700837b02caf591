// SPDX-License-Identifier: Apache-2.0
import Receiver

extension DesiredConfiguration {
  /// The rate to which a serial line is raised, in baud: all u-blox receivers support it.
  public static let savingPortRate: UInt32 = 115_200

  /// The configuration for fixes, on a line that is fast enough for short position checks.
  ///
  /// An epoch of some 400 bytes takes 0.42 s at 9600 baud and 0.035 s at 115200, and so do the polls for settings that
  /// a sleep may have cleared; a position check takes another 1.6 s. If the rate cannot be raised, or does not outlive
  /// a sleep, the session does not change it.
  public static func saving(for receiver: ReceiverDescription) -> DesiredConfiguration {
    var desired = DesiredConfiguration.navigation(for: receiver)
    // A receiver of another maker keeps its rate.
    if receiver.family == nil { desired.leastPortRate = savingPortRate }
    return desired
  }
}
