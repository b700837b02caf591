// SPDX-License-Identifier: Apache-2.0
import WireBytes

/// A configuration as a readable file; docs/guides/configuration.md describes the format.
///
///     sextant-configuration 1
///     receiver ZED-F9P
///     firmware HPG 1.32
///     holds differences
///
///     CFG-RATE-MEAS = 0.2                      # s, default 1
package struct ConfigurationFile: Sendable, Equatable {
  /// The settings that the file lists.
  package enum Extent: String, Sendable {
    /// Settings that differ from the defaults of the firmware; all others have their defaults.
    case differences
    /// All settings that were read.
    case everything
  }

  /// An invalid line of a file.
  package struct Problem: Error, Sendable, Equatable, CustomStringConvertible {
    /// The number of the line, from 1.
    package var line: Int
    package var reason: String
    package var description: String { "line \(line): \(reason)" }
  }

  package var receiver: String?
  package var firmware: String?
  package var protocolVersion: String?
  /// The id of the chip in hexadecimal.
  package var uniqueID: String?
  package var extent: Extent
  /// The settings, in the order of the file.
  package var words: [SettingWord] = []
  /// The line number of each setting, by its name in capitals.
  private var lineNumbers: [String: Int] = [:]

  private static let title = "sextant-configuration"
  private static let version = "1"

  // MARK: Writing

  /// Returns the text of a file with the settings of a receiver.
  ///
  /// - Parameters:
  ///   - values: the settings that were read.
  ///   - receiver: the receiver that they were read from.
  ///   - extent: the settings to list; everything if the receiver does not report its defaults.
  package static func text(_ values: [SettingValue], of receiver: ReceiverDescription, _ extent: Extent) -> String {
    let canReport = values.contains { $0.standard != nil }
    let extent = canReport ? extent : .everything
    var text = "\(title) \(version)\n"
    func add(_ name: String, _ value: String?) { if let value { text += "\(name) \(value)\n" } }
    add("receiver", receiver.model ?? receiver.generation?.rawValue)
    add("firmware", receiver.firmware)
    add("protocol", receiver.protocolVersionText)
    add("unique-id", receiver.uniqueID?.hexadecimalDigits)
    add("holds", extent.rawValue)
    text += "\n"
    for value in values where extent == .everything || value.isStandard != true { text += line(of: value) }
    return text
  }

  private static func line(of value: SettingValue) -> String {
    let setting = "\(value.name) = \(value.text)"
    var remarks: [String] = []
    if !value.unit.isEmpty { remarks.append(value.unit) }
    if let standard = value.standard, standard != value.text { remarks.append("default \(standard)") }
    if remarks.isEmpty { return setting + "\n" }
    let gap = String(repeating: " ", count: max(2, 44 - setting.utf8.count))
    return setting + gap + "# " + remarks.joined(separator: ", ") + "\n"
  }

  // MARK: Reading

  /// Reads a file. An invalid line is an error, and nothing of the file is used.
  ///
  /// - Throws: ``Problem`` for the first invalid line.
  package init(_ text: String) throws(Problem) {
    extent = .everything
    var isTitled = false
    // Some editors write a byte order mark and CR LF line ends.
    let text = text.hasPrefix("\u{FEFF}") ? text.dropFirst() : text[...]
    for (index, raw) in text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline).enumerated() {
      let line = SettingWord.trimmed(Self.withoutComment(raw))
      let number = index + 1
      if line.isEmpty { continue }
      guard isTitled else {
        guard line == "\(Self.title) \(Self.version)" else {
          throw Problem(line: number, reason: Self.titleProblem(line))
        }
        isTitled = true
        continue
      }
      if line.contains("=") { try addSetting(line, number) } else { try addHeader(line, number) }
    }
    guard isTitled else {
      throw Problem(line: 1, reason: "the file is empty; sextant configure backup FILE writes one")
    }
  }

  private static func titleProblem(_ line: String) -> String {
    line.hasPrefix(title + " ")
      ? "this version of the format is not supported; the supported one is \(title) \(version)"
      : "not a configuration file; the first line must be \"\(title) \(version)\""
  }

  private mutating func addHeader(_ line: String, _ number: Int) throws(Problem) {
    let parts = line.split(separator: " ", maxSplits: 1)
    let value = parts.count == 2 ? SettingWord.trimmed(parts[1]) : ""
    switch parts[0] {
    case "receiver": receiver = value
    case "firmware": firmware = value
    case "protocol": protocolVersion = value
    case "unique-id": uniqueID = value
    case "holds":
      guard let extent = Extent(rawValue: value) else {
        throw Problem(line: number, reason: "\"holds\" must be \"differences\" or \"everything\", not \"\(value)\"")
      }
      self.extent = extent
    default: throw Problem(line: number, reason: "\"\(line)\" is not a setting; a setting is NAME = VALUE")
    }
  }

  private mutating func addSetting(_ line: String, _ number: Int) throws(Problem) {
    let word: SettingWord
    do throws(SettingProblem) { word = try SettingWord(line) } catch {
      throw Problem(line: number, reason: error.description)
    }
    if let other = lineNumbers.updateValue(number, forKey: word.name.uppercased()) {
      throw Problem(line: number, reason: "\(word.name) is also in line \(other); remove one of them")
    }
    words.append(word)
  }

  /// Returns the line up to its comment, which begins with a number sign outside quotation marks.
  private static func withoutComment(_ line: Substring) -> Substring {
    var isQuoted = false
    for index in line.indices {
      if line[index] == "\"" { isQuoted.toggle() }
      if line[index] == "#", !isQuoted { return line[..<index] }
    }
    return line
  }
}
