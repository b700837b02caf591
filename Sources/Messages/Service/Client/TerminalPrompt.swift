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
  ///   - answered: receives the answer, once, in any thread; `notShown` if there is no terminal.
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

/// The end of this process.
package enum ProcessEnd {
  /// Registers a function that is called when the program ends with `exit` or returns from `main`.
  package static func observe(_ body: @convention(c) () -> Void) { System.atEnd(body) }
}
