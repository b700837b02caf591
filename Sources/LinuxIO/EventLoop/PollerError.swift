// SPDX-License-Identifier: Apache-2.0
import SystemPackage

/// The failure of a poller: the system is out of descriptors or memory, or a descriptor was added twice.
public struct PollerError: Error, Sendable, Equatable, CustomStringConvertible {
  /// The error of the system call.
  public let errno: Errno

  public var description: String {
    switch errno {
    case .tooManyOpenFiles, .tooManyOpenFilesInSystem:
      "events cannot be waited for: \(errno); raise the limit of open files (ulimit -n)"
    default: "events cannot be waited for: \(errno); check the limits of the process (ulimit -a)"
    }
  }
}
