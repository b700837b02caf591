// SPDX-License-Identifier: Apache-2.0
import LinuxIO
import WireBytes

/// The identity of a program for one user, as the kernel reports it: the key of its stored state. A name that the
/// program declares is only a label (``ProgramLabel``).
enum ProgramIdentity: Hashable, Sendable {
  /// The path of its executable.
  case executable(ExactText)
  /// A system unit with a grant, whose executable is unknown, for example because it has its own namespace.
  case unit(ExactText)

  /// The name in the authorization store: NAME@EXECUTABLE, where NAME is the executable's file name, or UNIT@unit.
  var name: ExactText {
    switch self {
    case .executable(let path): "\(Self.fileName(path.text))@\(path)"
    case .unit(let name): "\(name)@unit"
    }
  }

  /// The executable; nil if it is unknown.
  var executable: ExactText? { if case .executable(let path) = self { path } else { nil } }

  /// Returns the identity of a stored name; nil for any other text. The name of a file has no slash, so the first `@/` of a name ends
  /// it.
  init?(name: ExactText) {
    guard let path = Self.executable(inName: name.text) else { return nil }
    self = .executable(path)
    if self.name != name { return nil }
  }

  /// Whether a name in the authorization store names an executable or a unit.
  static func isStoredName(_ name: ExactText) -> Bool {
    ProgramIdentity(name: name) != nil || name.text.ends(with: "@unit") && !name.text.includes("/")
  }

  /// Returns the part of a name from its first `@/` on, without the `@`; nil if there is none.
  private static func executable(inName name: String) -> ExactText? {
    guard let at = name.utf8.occurrence(of: "@/".utf8) else { return nil }
    return ExactText(name[name.utf8.index(after: at.lowerBound)...])
  }

  static func fileName(_ path: String) -> Substring { path.parts(at: "/").last ?? "" }
}

/// A name that a program declares, as a label: it is not an identity, and is printed and logged only in this form.
enum ProgramLabel {
  /// The largest number of bytes.
  static let limit = 64

  /// Returns the label for a declared name: control characters, and characters with a meaning in the store (`@`, `/`,
  /// `%`), are written as %XX; a longer text is truncated.
  static func text(_ stated: String) -> String {
    var label = ""
    for scalar in stated.unicodeScalars.prefix(limit) {
      let isPlain = !"@/%".unicodeScalars.contains(scalar) && PrintedText.escaped(String(scalar)) == String(scalar)
      let written =
        isPlain
        ? String(scalar)
        : String(scalar).utf8.map { ($0 < 16 ? "%0" : "%") + String($0, radix: 16, uppercase: true) }.joined()
      guard label.utf8.count + written.utf8.count <= limit else { break }
      label += written
    }
    return label
  }

  /// The largest number of characters of a reason in a prompt.
  private static let reasonLimit = 256

  /// Returns a program's own text for a prompt in one line, without control characters; a longer text is truncated.
  static func reason(_ stated: String) -> String {
    let printed = PrintedText.escaped(String(stated.prefix(reasonLimit)))
    return printed.count > reasonLimit ? printed.prefix(reasonLimit) + "…" : printed
  }
}
