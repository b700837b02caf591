// SPDX-License-Identifier: Apache-2.0
import MonotonicTime
import SerialPort

/// Decides when a lost receiver is reopened: after device events, at the times of a recording, or after attempts to
/// open its path.
struct Reopening {
  /// The attempts to open the path of a line without device events.
  var retry = PathRetry()
  /// The port to reopen, using device events.
  var policy: ReconnectPolicy?
  /// The line of a recording during a disconnection in it.
  var replay: ReplayLine?
  /// A network source that is being connected.
  var network: NetworkOpening?
  /// The number of consecutive failed attempts to reach it.
  var failures = 0

  var deadline: Instant? {
    if let network { return network.deadline }
    return .earlier(replay?.deadline ?? retry.due, policy?.deadline)
  }

  /// Handles a network source that could not be reached. The pause until the next attempt grows.
  mutating func networkFailed(at now: Instant) {
    failures += 1
    retry.failed(at: now, pause: HostRetry.pause(afterFailures: failures))
  }

  /// Starts to use device events for an open port.
  ///
  /// - Parameters:
  ///   - path: the path of the open port.
  ///   - present: the present ports.
  ///   - now: the current instant.
  mutating func follow(_ path: String, _ present: [ReceiverPort], at now: Instant) {
    var policy = ReconnectPolicy(wanted: .path(path), present: present, at: now)
    // The port is already open.
    while policy.takeAction() != nil {}
    policy.opened(path, at: now)
    while policy.takeAction() != nil {}
    self.policy = policy
  }
}
