/// Names of settings in a line for people: the first of them, and how many more there are.
enum NameList {
  private static let most = 8

  static func text(_ names: [String]) -> String {
    names.count <= most
      ? names.joined(separator: ", ") : names.prefix(most).joined(separator: ", ") + " and \(names.count - most) more"
  }
}
