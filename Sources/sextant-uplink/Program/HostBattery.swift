// SPDX-License-Identifier: Apache-2.0
import CUplink
import Glibc
import LinuxIO
import Messages
import MonotonicTime
import Positioning
import Synchronization
import SystemPackage

/// The battery of this computer.
enum HostBattery {
  private static let folder = "/sys/class/power_supply"

  /// The charge in per cent; nil without a battery. power_supply of the kernel's sysfs.
  static func charge() -> Int? {
    for name in FileLookup.names(in: folder) {
      guard AttributeFile.read("\(folder)/\(name)/type") == "Battery",
        AttributeFile.read("\(folder)/\(name)/scope") != "Device",
        let charge = AttributeFile.read("\(folder)/\(name)/capacity").flatMap({ Int($0) }), (0...100).contains(charge)
      else { continue }
      return charge
    }
    return nil
  }
}
