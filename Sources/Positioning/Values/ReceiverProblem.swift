// SPDX-License-Identifier: Apache-2.0

/// The reason why no receiver can be opened.
package enum ReceiverProblem: String, Codable, Sendable {
  /// The system does not let this program open it.
  case forbidden
  /// No receiver, or not the named one, is connected. The service waits for it.
  case absent
  /// Another program has it open.
  case held
  /// The name can never refer to a receiver: a directory, an unknown scenario.
  case misnamed
  /// The named scenario has a mistake.
  case miswritten
  /// A configuration file has a mistake.
  case misconfigured
}
