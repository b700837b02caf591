// SPDX-License-Identifier: Apache-2.0

/// A mistake in a command line, in the style of all messages of the programs: one line that ends with the next step.
package enum UsageMistake {
  /// Returns the line; nil if the text has no usage: it is then the result of a request such as --help.
  ///
  /// - Parameters:
  ///   - message: the mistake, as swift-argument-parser describes it.
  ///   - full: the same with the usage, which ends with `See 'COMMAND --help' for more information.`
  package static func text(_ message: String, full: String) -> String? {
    guard let usage = full.split(separator: "\n").last(where: { isHint($0.trimmed) }) else { return nil }
    let quoted = usage.split(separator: "'", omittingEmptySubsequences: false)
    guard quoted.count == 3, !message.isEmpty else { return nil }
    var line = message.split(separator: "\n").map { String($0.trimmed) }.joined(separator: " ")
    while line.last == "." { line.removeLast() }
    // A name in capital letters is unchanged.
    let second = line.dropFirst().first
    if let first = line.first, second?.isUppercase != true {
      line = first.lowercased() + line.dropFirst()
    }
    return "\(line); see `\(quoted[1])`"
  }

  /// Whether a line of the usage is the hint of a mistake. The help of a command with subcommands ends with a different
  /// line.
  private static func isHint(_ line: Substring) -> Bool {
    line.hasPrefix("See '") && line.hasSuffix("for more information.")
  }
}

extension Substring {
  fileprivate var trimmed: Substring { drop { $0 == " " } }
}
