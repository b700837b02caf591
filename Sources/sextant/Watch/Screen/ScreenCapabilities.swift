// SPDX-License-Identifier: Apache-2.0
import WireBytes

/// What the terminal can show, by the environment.
struct ScreenCapabilities: Equatable {
  /// Whether characters beyond ASCII are shown.
  var isUTF8 = true
  var hasColour = true

  /// Everything.
  static let all = ScreenCapabilities()

  init(isUTF8: Bool = true, hasColour: Bool = true) { (self.isUTF8, self.hasColour) = (isUTF8, hasColour) }

  /// The capabilities of the terminal that the environment names.
  ///
  /// - Parameter environment: returns a variable. The first of LC_ALL, LC_CTYPE and LANG that is set is the locale
  ///   (locale(7)); without one the characters are ASCII. NO_COLOR, when it is not empty, forbids colours
  ///   (no-color.org); terminals of the series VT, and those with the suffix `-m` for monochrome (terminfo(5)), have none.
  init(_ environment: (String) -> String?) {
    func value(_ name: String) -> String? { environment(name).flatMap { $0.isEmpty ? nil : $0 } }
    let locale = (value("LC_ALL") ?? value("LC_CTYPE") ?? value("LANG") ?? "").lowercased()
    isUTF8 = locale.includes("utf-8") || locale.includes("utf8")
    let kind = value("TERM") ?? ""
    hasColour = value("NO_COLOR") == nil && !kind.hasPrefix("vt") && !kind.hasSuffix("-m")
  }
}

/// The size of a terminal in character cells, at least one each.
struct ScreenSize: Equatable {
  let columns: Int
  let rows: Int

  init(columns: Int, rows: Int) { (self.columns, self.rows) = (max(1, columns), max(1, rows)) }
}
