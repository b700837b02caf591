// SPDX-License-Identifier: Apache-2.0
import MonotonicTime

/// The source of events about devices.
public enum MonitorSource: Sendable, Hashable {
  /// udevd, after it has set up a device with links, group and permissions.
  case udev
  /// The kernel, if no udevd runs: the node is present, its permissions may follow.
  case kernel
  /// No messages: the list of devices is read repeatedly.
  case polling

  /// The best source of the machine.
  ///
  /// - Parameters:
  ///   - udevIsReachable: whether messages of udevd reach this process.
  ///     - isInitialUserNamespace: whether the process is outside of user namespaces. The kernel sends its messages to
  ///     the initial one only (lib/kobject_uevent.c, `uevent_net_init`), and libudev accepts messages of root only,
  ///     which has another user id in such a container.
  static func best(udevIsReachable: Bool, isInitialUserNamespace: Bool) -> MonitorSource {
    isInitialUserNamespace ? udevIsReachable ? .udev : .kernel : .polling
  }

  /// The time between two readings of the list of devices; nil if the messages are complete.
  var rescanInterval: Milliseconds? {
    switch self {
    case .udev: nil
    // Some network namespaces do not get the messages, and a process cannot detect it.
    case .kernel: Milliseconds(10_000)
    case .polling: Milliseconds(1000)
    }
  }

  /// Whether the source reports the appearance of a path: the nodes of serial ports and of the kernel's GNSS class, and their links, which
  /// udev makes. A link of an own rule may have any other name.
  package func announces(_ path: String) -> Bool {
    let names = ["ttyUSB", "ttyACM", "ttyS", "ttyAMA", "serial/", "gnss"]
    return self == .udev && names.contains { path.hasPrefix("/dev/" + $0) }
  }

  /// A message to the user about a limited source; nil for udev.
  public var notice: String? {
    switch self {
    case .udev: nil
    case .kernel: "no udevd runs here: devices are detected, but links and permissions must be made by other programs"
    case .polling: "udevd is not reachable here (a container?): the devices are read once a second"
    }
  }
}
