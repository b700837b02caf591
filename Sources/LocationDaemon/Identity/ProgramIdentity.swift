// SPDX-License-Identifier: Apache-2.0
import EventLoop
import WireBytes

/// The identity of a program beside its user, by the kernel: the key of its stored state. Whatever a program states about itself is a
/// label below it (``ProgramLabel``).
enum ProgramIdentity: Hashable, Sendable {
  /// The path of its executable.
  case executable(String)
  /// A unit of the system with a grant, whose executable is unknown, as in a namespace of its own.
  case unit(String)

  /// The name in the authorization store: NAME@EXECUTABLE with the name of the executable's file, or UNIT@unit.
  var name: String {
    switch self {
    case .executable(let path): "\(Self.fileName(path))@\(path)"
    case .unit(let name): "\(name)@unit"
    }
  }

  /// The executable; nil without a known one.
  var executable: String? { if case .executable(let path) = self { path } else { nil } }

  /// Returns the identity of a stored name; nil for any other text. The name of a file has no slash, so the first `@/` of a name ends
  /// it.
  init?(name: String) {
    guard let path = Self.executable(inName: name), ProgramIdentity.executable(path).name == name else { return nil }
    self = .executable(path)
  }

  /// Whether a name in the authorization store names an executable or a unit.
  static func isStoredName(_ name: String) -> Bool {
    ProgramIdentity(name: name) != nil || name.hasSuffix("@unit") && !name.contains("/")
  }

  /// Returns the part of a name from its first `@/` on, without the `@`; nil without one.
  private static func executable(inName name: String) -> String? {
    guard let at = name.utf8.occurrence(of: "@/".utf8) else { return nil }
    return String(name[name.index(after: at.lowerBound)...])
  }

  static func fileName(_ path: String) -> Substring { path.split(separator: "/").last ?? "" }
}

/// A name that a program states, as a label: it identifies nothing, and is printed and logged in this form only.
enum ProgramLabel {
  /// The largest number of bytes.
  static let limit = 64

  /// Returns the label for a stated name: control characters, and those with a meaning in a name of the store (`@`, `/`, `%`), are
  /// written as %XX; a longer text is cut.
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

  /// The largest number of characters of a reason in a question.
  private static let reasonLimit = 256

  /// Returns a program's own words for a question in one line, without control characters; a longer text is cut.
  static func reason(_ stated: String) -> String {
    let printed = PrintedText.escaped(String(stated.prefix(reasonLimit)))
    return printed.count > reasonLimit ? printed.prefix(reasonLimit) + "…" : printed
  }
}
