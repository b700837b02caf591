// SPDX-License-Identifier: Apache-2.0
import Positioning

/// The damage of a file of the state folder.
enum StateDamage: Equatable {
  /// The file belongs to another program or a later version, or is empty.
  case foreign
  /// This many of its lines cannot be read, including an incomplete last line.
  case lines(Int)

  /// Returns a line with the file, its new name, and the next step.
  func text(path: String) -> String {
    switch self {
    case .foreign:
      "\(path) is not a file of this kind and is not used; it is now \(path)\(Self.suffix) (remove it, or put back yours)"
    case .lines(let count):
      "\(path) has \(count) line\(count == 1 ? "" : "s") that cannot be read; the others are used, and a copy of the file is "
        + "\(path)\(Self.suffix)"
    }
  }

  /// The suffix of the name of a file that is set aside.
  static let suffix = ".unreadable"
}

extension StateText {
  /// Returns the damage of a file's text; nil if there is none.
  ///
  /// - Parameter lost: the number of lines that its checksums have dropped. No part of a damaged permission is used.
  static func damage(in text: String, of file: StateFile, lost: Int) -> StateDamage? {
    let damage = damage(in: text, of: file)
    switch damage {
    case .foreign: return .foreign
    case .lines(let count): return .lines(count + lost)
    case nil: return lost == 0 ? nil : file == .authorization ? .foreign : .lines(lost)
    }
  }

  /// Returns the damage of a text without checksums; nil if there is none.
  static func damage(in text: String, of file: StateFile) -> StateDamage? {
    switch file {
    case .regions: damage(text, regionsHeading) { region($0) != nil }
    case .visits: damage(text, visitsHeading) { isRunning($0) != nil || visit($0) != nil }
    case .authorization: damage(text, authorizationHeading, wanted: 1) { _ in authorization(in: text) != nil }
    case .newestLocation: damage(text, locationHeading, wanted: 1) { _ in location(in: text) != nil }
    case .monitor: damage(text, monitorHeading) { monitorRecord($0) != nil }
    // The file grows with each location, so an incomplete end means that the program was killed.
    case .deferred: nil
    case .compass:
      damage(text, compassHeading, wanted: 1) { fields in
        fields.last.map { calibration(in: text, sensor: unescape($0)) != nil } ?? false
      }
    }
  }

  /// - Parameter wanted: the smallest number of lines.
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
