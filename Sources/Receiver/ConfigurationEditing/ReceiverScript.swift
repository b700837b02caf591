// SPDX-License-Identifier: Apache-2.0

/// A dialogue with a receiver as a value: it returns the next command, takes its outcome, and is over when `next()`
/// returns nil. The owner of the line sends the commands.
package protocol ReceiverScript: Sendable {
  /// The next command; nil when the script is over. Without an outcome in between, the result is the same.
  mutating func next() -> Command?
  /// Takes the outcome of the last command.
  mutating func receive(_ outcome: Outcome)
  /// Whether a poll without a reply counts as refused if the receiver replies to other polls.
  var treatsSilenceAsRefusal: Bool { get }
  /// The number of commands done, and of all commands as far as they are known.
  var progress: (done: Int, of: Int) { get }
}

extension ReceiverScript {
  package var treatsSilenceAsRefusal: Bool { false }
}
