// SPDX-License-Identifier: Apache-2.0

/// Names of settings in one line: the first ones, and the number of the others.
enum NameList {
  private static let most = 8

  static func text(_ names: [String]) -> String {
    names.count <= most
      ? names.joined(separator: ", ") : names.prefix(most).joined(separator: ", ") + " and \(names.count - most) more"
  }
}
