// SPDX-License-Identifier: Apache-2.0

extension VarlinkService.Interface {
  /// The interface of users' launchers. `docs/reference/org.sextant.Launch.varlink` has the same text.
  package static let launch = VarlinkService.Interface(
    name: "org.sextant.Launch",
    description: """
      # The start of programs by regions, visits and significant changes. The service starts units of the system's service manager
      # itself. Those of a user's manager are started by a launcher of that user, such as sextant-launcher.service. The user is that
      # of the kernel's credentials.
      interface org.sextant.Launch

      # Returns the units to start now, and all those to watch, now and whenever there are others. The call needs `more`.
      method Watch() -> (start: []string, units: []string)

      # The start of a unit has ended. Without a failure the unit runs.
      method StartEnded(unit: string, failure: ?string) -> ()

      # The unit was stopped on purpose. It is not started again until its program was started otherwise.
      method Stopped(unit: string) -> ()

      """)
}
