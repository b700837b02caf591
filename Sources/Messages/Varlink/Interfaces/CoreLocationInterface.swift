// SPDX-License-Identifier: Apache-2.0

extension VarlinkService.Interface {
  /// The interface of module CoreLocation. `docs/reference/org.sextant.CoreLocation.varlink` has the same text.
  package static let coreLocation = VarlinkService.Interface(
    name: "org.sextant.CoreLocation",
    description: """
      # The connection of a program that imports module CoreLocation. It changes with that module; other programs use
      # org.sextant.Location.
      interface org.sextant.CoreLocation

      # Opens the connection of a program. The call needs `upgrade`: after the reply, both sides send messages of module
      # ServiceProtocol, which are JSON objects that end with a NUL. Client and service each name the newest version of these
      # messages that they use; the older one of both holds.
      method Open(
        # The newest version of the client.
        version: int,
        # The program's bundle identifier, or the name of its executable.
        identifier: string,
        # The keys of the program's Info.plist that concern location.
        keys: object,
        # Whether the program is in the foreground.
        applicationState: (foreground, background)
      ) -> (
        # The newest version of the service.
        version: int
      )

      # The versions have nothing in common. `update` names the side to update.
      error IncompatibleVersion (oldest: int, newest: int, update: (client, service))

      # The executable or user is not the one that the identifier was granted to.
      error IdentifierInUse (identifier: string)

      """)
}
