import MonotonicTime

/// Where the news about devices comes from.
public enum MonitorSource: Sendable, Hashable {
  /// udevd, after it has set up a device: links, group and permissions are there.
  case udev
  /// The kernel itself, where no udevd runs: the node is there, its permissions may follow.
  case kernel
  /// Nobody: the list of devices is read again and again.
  case polling

  /// The best that the machine has.
  ///
  /// - Parameters:
  ///   - udevIsHeard: udevd's messages reach this process.
  ///   - isInitialUserNamespace: the process is not in a container with users of its own. The kernel sends its messages
  ///     to no other (lib/kobject_uevent.c, `uevent_net_init`), and libudev believes nobody but root, whom such a
  ///     container sees as nobody.
  static func best(udevIsHeard: Bool, isInitialUserNamespace: Bool) -> MonitorSource {
    isInitialUserNamespace ? udevIsHeard ? .udev : .kernel : .polling
  }

  /// The time between two looks at the list of devices; nil where the messages can be relied on.
  var rescanInterval: Milliseconds? {
    switch self {
    case .udev: nil
    // Not each network namespace gets the messages, and there is no telling.
    case .kernel: Milliseconds(10_000)
    case .polling: Milliseconds(1000)
    }
  }

  /// What the user has to know of it; nil if all is as it should be.
  public var notice: String? {
    switch self {
    case .udev: nil
    case .kernel: "no udevd runs here: devices are noticed, but links and permissions are left to whoever makes them"
    case .polling: "no udevd can be heard here (a container?): devices are looked for once a second"
    }
  }
}
