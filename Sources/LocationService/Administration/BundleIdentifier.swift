import ReceiverRuntime

/// Under which name a program is known, by its executable: as Foundation's `Bundle.main` has it, and without Foundation.
public enum BundleIdentifier {
  /// What Info.plist beside the executable says, else the executable's name.
  ///
  /// - Parameter path: the executable.
  public static func identifier(ofExecutable path: String) -> String {
    identifier(ofExecutable: path) { try? WholeFile.read($0) }
  }

  static func identifier(ofExecutable path: String, read: (String) -> String?) -> String {
    var folders = path.split(separator: "/", omittingEmptySubsequences: false)
    let name = String(folders.popLast() ?? "")
    let folder = folders.joined(separator: "/")
    var places = [folder]
    // X.app/Contents/Linux/X has X.app/Contents/Info.plist.
    if folders.count >= 2, folders[folders.count - 2] == "Contents" {
      places.append(folders.dropLast().joined(separator: "/"))
    }
    for place in places {
      if let list = read((place.isEmpty ? "." : place) + "/Info.plist"), let found = value(list) { return found }
    }
    return name
  }

  /// The string behind the key CFBundleIdentifier of a property list in XML.
  static func value(_ list: String) -> String? {
    guard let key = range(of: "<key>CFBundleIdentifier</key>", in: list[...]) else { return nil }
    let rest = list[key.upperBound...].drop(while: \.isWhitespace)
    guard rest.hasPrefix("<string>"), let end = range(of: "</string>", in: rest) else { return nil }
    let text = String(rest[rest.index(rest.startIndex, offsetBy: 8)..<end.lowerBound])
    return text.isEmpty ? nil : text
  }

  private static func range(of word: String, in text: Substring) -> Range<Substring.Index>? {
    var at = text.startIndex
    while at < text.endIndex {
      if text[at...].hasPrefix(word) { return at..<text.index(at, offsetBy: word.count) }
      at = text.index(after: at)
    }
    return nil
  }
}
