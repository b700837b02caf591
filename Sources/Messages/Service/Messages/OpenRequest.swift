// SPDX-License-Identifier: Apache-2.0
import Positioning

/// The parameters of the call `org.sextant.CoreLocation.Open`: the program's description of itself. The service derives
/// the permission from the kernel's credentials and not from this.
package struct OpenRequest: Hashable, Codable, Sendable {
  package var version = ServiceVersion.current
  /// The bundle identifier, or the executable's name.
  package var identifier: String
  package var keys: UsageKeys
  package var application: ApplicationState
  /// Whether the program has a terminal on which it can show a prompt.
  package var showsPrompts: Bool

  package init(identifier: String, keys: UsageKeys, application: ApplicationState, showsPrompts: Bool) {
    self.identifier = identifier
    self.keys = keys
    self.application = application
    self.showsPrompts = showsPrompts
  }
}

/// The reply of `org.sextant.CoreLocation.Open`. After it both sides send messages.
package struct OpenReply: Equatable, Codable, Sendable {
  package var version = ServiceVersion.current
  /// The version of the program sextantd, as human-readable text.
  package var serviceVersion: String
  /// The state of the program before it has managers.
  package var state: ProgramState
  /// The reason why the service has started the program, for its environment; nil if it did not.
  package var launchedBy: String?

  package init(serviceVersion: String, state: ProgramState, launchedBy: String? = nil) {
    self.serviceVersion = serviceVersion
    self.state = state
    self.launchedBy = launchedBy
  }
}
