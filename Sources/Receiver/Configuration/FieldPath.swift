// SPDX-License-Identifier: Apache-2.0

/// A field of a record by its name, such as `dynModel`, `groups[2].flags` or `rate[1]`, and one of its values.
public struct FieldPath: Sendable, Hashable {
  package var path: String
  package var element: Int?

  /// Reads a path: `[n]` at the end names one of several values.
  package init?(_ text: some StringProtocol) {
    guard !text.isEmpty else { return nil }
    guard text.last == "]", let open = text.lastIndex(of: "[") else {
      path = String(text)
      return
    }
    guard let element = Int(text[text.index(after: open)...].dropLast()), element >= 0 else { return nil }
    path = String(text[..<open])
    self.element = element
  }

  package var text: String { element.map { "\(path)[\($0)]" } ?? path }
}
