import Positioning

/// What is wrong with a file of the state folder.
enum StateDamage: Equatable {
  /// It is not what its name says: another program's, a later version's, or empty.
  case foreign
  /// So many of its lines cannot be read; a cut one is among them.
  case lines(Int)

  /// One line that names the file, what became of it, and the cure.
  func text(path: String) -> String {
    switch self {
    case .foreign:
      "\(path) is not what it should be, and is not used; it is now \(path)\(Self.suffix) (remove it, or put back yours)"
    case .lines(let count):
      "\(path) has \(count) line\(count == 1 ? "" : "s") that cannot be read, the others are used; the whole is kept as "
        + "\(path)\(Self.suffix)"
    }
  }

  /// What a file that is set aside is called behind its name.
  static let suffix = ".unreadable"
}

extension StateText {
  /// What is wrong with the text of a file; nil when nothing is.
  static func damage(in text: String, of file: StateFile) -> StateDamage? {
    switch file {
    case .regions: damage(text, regionsHeading) { region($0) != nil }
    case .visits: damage(text, visitsHeading) { isRunning($0) != nil || visit($0) != nil }
    case .authorization: damage(text, authorizationHeading, wanted: 1) { _ in authorization(in: text) != nil }
    case .newestLocation: damage(text, locationHeading, wanted: 1) { _ in location(in: text) != nil }
    case .monitor: damage(text, monitorHeading) { monitorRecord($0) != nil }
    // It grows with each location: an end that is missing is that of a program that was killed.
    case .deferred: nil
    case .compass:
      damage(text, compassHeading, wanted: 1) { fields in
        fields.last.map { calibration(in: text, sensor: unescape($0)) != nil } ?? false
      }
    }
  }

  /// - Parameter wanted: how many lines there have to be at least.
  private static func damage(
    _ text: String, _ heading: String, wanted: Int = 0, _ isReadable: ([Substring]) -> Bool
  ) -> StateDamage? {
    guard let lines = lines(of: text, heading: heading) else { return .foreign }
    var unreadable = lines.count { !isReadable($0) }
    if text.last != "\n" { unreadable += 1 }
    unreadable = max(unreadable, wanted - lines.count)
    return unreadable > 0 ? .lines(unreadable) : nil
  }
}
