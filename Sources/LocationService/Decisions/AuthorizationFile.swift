// SPDX-License-Identifier: Apache-2.0
import Positioning

/// The text of the program's permission as it was read or stored last. The program and `sextant authorize` write the file.
struct AuthorizationFile: Sendable {
  /// The permission if there is no file.
  let undecided: Authorization.Record
  private(set) var text: String?

  /// Handles the current text of the file, nil if there is none. Returns the permission that was decided outside the
  /// program; nil for a text that the program itself has stored, which must not undo a later answer, and for an
  /// unreadable text.
  mutating func receive(_ text: String?) -> Authorization.Record? {
    guard text != self.text else { return nil }
    self.text = text
    guard let text else { return undecided }
    return StateText.authorization(in: text)
  }

  /// Returns the text to store for a permission; nil if the file already has it. A removed file is not written again
  /// without a decision.
  mutating func store(_ record: Authorization.Record) -> String? {
    let text = StateText.text(of: record)
    guard text != self.text, self.text != nil || record != undecided else { return nil }
    self.text = text
    return text
  }
}
