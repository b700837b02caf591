// SPDX-License-Identifier: Apache-2.0

import LinuxIO
import Positioning

/// The controlling terminal of this process.
package enum Terminal {
  /// The state of the program: in the foreground of its terminal, or not.
  package static var applicationState: ApplicationState { System.isInForeground() ? .foreground : .background }
  /// The values of SEXTANT_APP_STATE, which replaces the state.
  package static let stateNames: [(String, ApplicationState)] = [
    ("foreground", .foreground), ("background", .background),
  ]
  /// Returns the state that SEXTANT_APP_STATE names; nil if it names none.
  package static func namedState(_ variable: (String) -> String?) -> ApplicationState? {
    variable("SEXTANT_APP_STATE").flatMap { name in stateNames.first { $0.0 == name }?.1 }
  }
}

/// A permission prompt on the program's own terminal.
package enum TerminalPrompt {
  /// Asks the user in a separate thread, because the answer can take any time.
  ///
  /// - Parameters:
  ///   - identifier: the name of the program.
  ///   - answered: receives the answer, once, in any thread; `notShown` without a terminal.
  package static func show(
    _ prompt: Authorization.Prompt, of identifier: String,
    _ answered: @escaping @Sendable (Authorization.Answer) -> Void
  ) {
    let question = PromptQuestion(identifier: identifier, prompt: prompt)
    let isStarted = BackgroundWork.start {
      while let line = System.ask(question.text) {
        if let answer = question.answer(line) { return answered(answer) }
      }
      answered(.notShown)
    }
    if !isStarted { answered(.notShown) }
  }
}

extension Authorization.Prompt {
  /// The requested thing, as the object of "asks for" and "wants to know".
  package var subject: String {
    switch request {
    case .whenInUse: "the location"
    case .always: "the location also in the background"
    case .temporaryFullAccuracy: "the exact location for now"
    }
  }

  /// Whether a refusal keeps the program's permission: the prompt is about more than that.
  package var keepsPermission: Bool {
    if case .temporaryFullAccuracy = request { true } else { isUpgrade }
  }
}

extension Authorization.Request {
  /// The word in org.sextant.Authorization.
  package var word: String {
    switch self {
    case .whenInUse: "whenInUse"
    case .always: "always"
    case .temporaryFullAccuracy: "temporaryFullAccuracy"
    }
  }
}

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
      "\(identifier) wants to know \(prompt.subject): \(reason)\nAllow? [y]es, [n]o: "
    case .always where prompt.isUpgrade:
      "\(identifier) wants to know \(prompt.subject): \(reason)\n[a]lways, [k]eep as it is: "
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
      "\(identifier) wants to know \(prompt.subject): \(PrintedText.escaped(prompt.text)); allow it in another terminal with "
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
