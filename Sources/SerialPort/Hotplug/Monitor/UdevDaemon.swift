// SPDX-License-Identifier: Apache-2.0
import LinuxIO

/// The reachability of udevd.
enum UdevDaemon {
  /// Whether a process listens at the control socket of udevd in the network namespace of this process, which is the
  /// only one that udevd's messages reach. The socket's file is not sufficient: it remains after udevd ends, and
  /// containers mount it.
  static var isReachable: Bool {
    guard let sockets = try? UserFile.read("/proc/net/unix", limit: 1 << 24) else { return false }
    return isListening(in: sockets)
  }

  /// Reads /proc/net/unix, proc(5): `Num: RefCount Protocol Flags Type St Inode Path`.
  static func isListening(in sockets: String) -> Bool {
    // SO_ACCEPTCON of include/linux/net.h: the socket accepts connections.
    let accepts: UInt32 = 0x10000
    return sockets.split(separator: "\n").contains { line in
      let fields = line.split(separator: " ")
      guard fields.count == 8, fields[7] == "/run/udev/control", let flags = UInt32(fields[3], radix: 16) else {
        return false
      }
      return flags & accepts != 0
    }
  }
}
