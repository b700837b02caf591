// SPDX-License-Identifier: Apache-2.0
import LinuxIO
import MonotonicTime
import Receiver
import ReceiverRuntime

// The requests of programs and users to a receiver, except for its line.
extension ReceiverSource {
  /// Uses a device that a user has named, if no receiver is configured and none was found. Returns whether the device
  /// is used.
  func adopt(_ path: String) -> Bool {
    guard source == .firstFound, connection == nil, lending.use == .served else { return false }
    source = .device(path)
    return true
  }

  /// Applies a command of a program.
  func apply(_ command: ClientCommand, _ poller: inout Poller, at now: Instant) {
    switch command {
    case .send(let bytes): _ = connection?.submit(Command(raw: bytes), &poller, at: now)
    case .set(let settings):
      userSettings.value = settings
      if let desired = connection?.desired {
        connection?.set(settings.applied(to: desired), &poller, at: now)
        deliverEvents()
      }
    }
  }
}
