// SPDX-License-Identifier: Apache-2.0
import LinuxIO
import LocationService
import Messages
import MonotonicTime

/// The line of a receiver that a program has, or waits for.
struct Lease: Equatable, Sendable {
  /// The number of the receiver.
  let receiver: Int
  /// The unanswered call; nil once the program has the line.
  var call: VarlinkServerConnection.CallID?
  /// The time of the next attempt to open a device in use: the previous program may not have closed all of its
  /// descriptors.
  private(set) var retryAt: Instant?
  private var retriesUntil: Instant?

  init(receiver: Int, call: VarlinkServerConnection.CallID?) {
    self.receiver = receiver
    self.call = call
  }

  /// Handles a device in use. Returns whether to wait until `retryAt`.
  mutating func waits(at now: Instant) -> Bool {
    let limit = retriesUntil ?? now + Self.timeout
    retriesUntil = limit
    retryAt = now < limit ? now + Self.retry : nil
    return retryAt != nil
  }

  /// The time during which a device in use is retried, and the time between two attempts.
  private static var timeout: Milliseconds { Milliseconds(2000) }
  private static var retry: Milliseconds { Milliseconds(50) }

  /// A program that has a line, or waits for it.
  struct Holder: Equatable, Sendable {
    var name: String
    var process: Int32

    /// Such as `sextant (pid 412)`.
    var text: String { "\(name) (pid \(process))" }
  }

  /// The user of a program.
  struct User: Equatable, Sendable {
    var number: UInt32
    var groups: [UInt32]

    /// Whether the user could open a receiver's device.
    ///
    /// - Parameters:
    ///   - access: the permissions of its node; nil while there is no node.
    ///   - own: the user of the service, who starts a simulator that has no node yet.
    func mayOpen(_ access: NodeAccess?, own: UInt32) -> Bool {
      number == 0 || access?.permits(user: number, groups: groups) ?? (number == own)
    }
  }

  /// Returns the reason why a user may not have the line of a receiver; nil if the user may.
  ///
  /// - Parameters:
  ///   - device: the device that the call named.
  ///   - group: the name of the group whose members may open the device; nil if there is none.
  static func refusal(
    _ receiver: ReceiverStatus?, device: String?, isReadOnly: Bool, mayOpen: Bool, group: String?, holder: Holder?
  ) -> VarlinkError? {
    guard let receiver else { return .noReceiver(device) }
    if !mayOpen {
      return VarlinkError(
        "org.sextant.Receivers.NotPermitted", JSON(omittingNil: ["device": receiver.device, "group": group]))
    }
    if isReadOnly { return VarlinkError("org.sextant.Receivers.ReadOnly") }
    return holder.map { .lent(receiver.device, $0) }
  }
}

extension VarlinkError {
  /// A program already has the line of the receiver.
  static func lent(_ device: String, _ holder: Lease.Holder) -> VarlinkError {
    VarlinkError(
      "org.sextant.Receivers.Lent",
      ["device": .string(device), "name": .string(holder.name), "pid": .integer(Int64(holder.process))])
  }

  static func noReceiver(_ device: String?) -> VarlinkError {
    VarlinkError("org.sextant.Receivers.NoReceiver", JSON(omittingNil: ["device": device]))
  }
}
