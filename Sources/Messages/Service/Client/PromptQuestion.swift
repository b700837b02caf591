// SPDX-License-Identifier: Apache-2.0
import LinuxIO
import Positioning

/// The permission prompt as shown in a terminal, and the meaning of its answers.
package struct PromptQuestion: Sendable {
  let identifier: String
  let prompt: Authorization.Prompt

  package init(identifier: String, prompt: Authorization.Prompt) {
    self.identifier = identifier
    self.prompt = prompt
  }

  /// The text, with the app's usage description (AU-11).
  package var text: String {
    let identifier = PrintedText.escaped(identifier)
    let reason = PrintedText.escaped(prompt.text)
    return switch prompt.request {
    case .temporaryFullAccuracy:
      "\(identifier) wants to know the exact location for now: \(reason)\nAllow? [y]es, [n]o: "
    case .always where prompt.isUpgrade:
      "\(identifier) wants to know the location also in the background: \(reason)\n[a]lways, [k]eep as it is: "
    case .always:
      "\(identifier) wants to know the location: \(reason)\n"
        + "Allow? [a]lways, [w]hile in use, [o]nce, [n]o: "
    case .whenInUse:
      "\(identifier) wants to know the location: \(reason)\nAllow? [w]hile in use, [o]nce, [n]o: "
    }
  }

  /// The line for a program whose prompt is pending in the location service: the user answers it with another program.
  package var notice: String {
    let identifier = PrintedText.escaped(identifier)
    return
      "\(identifier) wants to know the location: \(PrintedText.escaped(prompt.text)); allow it in another terminal with "
      + "`sextant authorize allow \(identifier)`"
  }

  /// Returns the answer for a typed line; nil for any other text, after which the question is repeated.
  package func answer(_ line: String) -> Authorization.Answer? {
    let word = line.lowercased()
    switch prompt.request {
    case .temporaryFullAccuracy:
      return ["y", "yes"].contains(word) ? .once : ["n", "no"].contains(word) ? .deny : nil
    case .always where ["a", "always", "y", "yes"].contains(word): return .always
    case .always where prompt.isUpgrade: return ["k", "keep", "n", "no"].contains(word) ? .deny : nil
    case .whenInUse where ["y", "yes"].contains(word): return .whenInUse
    case .always, .whenInUse:
      if ["w", "while"].contains(word) { return .whenInUse }
      if ["o", "once"].contains(word) { return .once }
      return ["n", "no"].contains(word) ? .deny : nil
    }
  }
}
