// SPDX-License-Identifier: Apache-2.0

extension VarlinkService.Interface {
  /// The interface for programs that use a receiver themselves. `docs/reference/org.sextant.Receivers.varlink` has the same
  /// text.
  package static let receivers = VarlinkService.Interface(
    name: "org.sextant.Receivers",
    description: """
      # The receivers themselves, for programs that configure them. A client may use what its user may open: root, the owner of the
      # device, and members of its group.
      interface org.sextant.Receivers

      # Returns the line of a receiver to its only user, from now on until the connection ends. Without a device it is the
      # receiver in use; any path of a device names its receiver. The service first ends its own session, which restores the
      # receiver's settings and can take some seconds. Its programs get no locations meanwhile.
      #
      # The open device comes with the reply as a descriptor (SCM_RIGHTS in unix(7)); it is locked. `baud` is the rate at which
      # the receiver was found, if it is known. `recovery` is the crash-recovery record of an earlier program, if the receiver
      # is not restored: the settings to restore.
      #
      # When the connection ends, also because the program is killed, the service opens the line again.
      method Lease(device: ?string) -> (device: string, baud: ?int, recovery: ?string)

      # Stores the crash-recovery record of the program that has the line, or removes it. If the program is killed, the service
      # restores the receiver by its record. The record has to be sent before the change of the receiver that it is for.
      method KeepRecovery(recovery: ?string) -> ()

      # The client's user may not open the device. Members of the group may.
      error NotPermitted (device: string, group: ?string)

      # Another program has the line, or waits for it.
      error Lent (device: string, name: string, pid: int)

      # The device cannot be opened: the reason, and the exit code of sysexits.h for it.
      error Unavailable (device: string, reason: string, code: int)

      # The service was told to send nothing to its receivers.
      error ReadOnly ()

      # The service has no receiver, or not the one that was named.
      error NoReceiver (device: ?string)

      # The connection has no line.
      error NotLent ()

      """)
}
