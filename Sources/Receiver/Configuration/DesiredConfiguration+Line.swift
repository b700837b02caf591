// SPDX-License-Identifier: Apache-2.0
import UBX

extension DesiredConfiguration {
  /// Returns the configuration for a line of this rate, in baud: a slow line gets satellites, the longest message, less often.
  package func adapted(to rate: UInt32?, isBound: Bool) -> DesiredConfiguration {
    guard let rate else { return self }
    var desired = self
    if !isBound, let least = leastPortRate, rate < least { desired.portRate = least }
    guard rate < 9600 else { return desired }
    for index in desired.messages.indices where [.navSAT, .navSVINFO].contains(desired.messages[index].message) {
      desired.messages[index].rate = max(desired.messages[index].rate, 5)
    }
    return desired
  }
}
