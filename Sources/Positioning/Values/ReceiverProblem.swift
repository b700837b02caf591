// SPDX-License-Identifier: Apache-2.0

/// The reason why no receiver can be opened.
package enum ReceiverProblem: String, Codable, Sendable {
  /// The system does not let this program open it.
  case forbidden
  /// No receiver is connected, or not the named one. The service waits for it.
  case absent
  /// Another program has it open.
  case held
  /// The name is not that of a receiver and never will be: a directory, an unknown scenario.
  case misnamed
  /// The named scenario has a mistake.
  case miswritten
  /// A configuration file has a mistake.
  case misconfigured
}
