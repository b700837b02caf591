import Receiver

/// A configuration as a readable file; docs/configuration.md describes the format.
///
///     sextant-configuration 1
///     receiver ZED-F9P
///     firmware HPG 1.32
///     holds differences
///
///     CFG-RATE-MEAS = 0.2                      # s, default 1
public struct ConfigurationFile: Sendable, Equatable {
  /// What the file lists.
  public enum Extent: String, Sendable {
    /// What differs from what the firmware has; the rest is as the firmware has it.
    case differences
    /// All that was read.
    case everything
  }

  /// What is wrong with a file, and in which line.
  public struct Problem: Error, Sendable, Equatable, CustomStringConvertible {
    public var line: Int
    public var reason: String

    public var description: String { "line \(line): \(reason)" }
  }

  public var receiver: String?
  public var firmware: String?
  public var protocolVersion: String?
  /// The chip's id in hexadecimal.
  public var uniqueID: String?
  public var extent: Extent
  /// The settings, in the file's order.
  public var words: [SettingWord] = []
  /// The line of each setting, by its name in capitals.
  private var places: [String: Int] = [:]

  private static let title = "sextant-configuration"
  private static let version = "1"

  // MARK: Writing

  /// The file of a receiver's settings.
  ///
  /// - Parameters:
  ///   - values: what was read.
  ///   - receiver: who it is.
  ///   - extent: what to list; where the receiver does not tell what its firmware has, everything.
  public static func text(_ values: [SettingValue], of receiver: ReceiverDescription, _ extent: Extent) -> String {
    let canReport = values.contains { $0.standard != nil }
    let extent = canReport ? extent : .everything
    var text = "\(title) \(version)\n"
    func add(_ name: String, _ value: String?) { if let value { text += "\(name) \(value)\n" } }
    add("receiver", receiver.model ?? receiver.generation?.rawValue)
    add("firmware", receiver.firmware)
    add("protocol", receiver.protocolVersionText)
    add("unique-id", receiver.uniqueID.map { $0.map(hexadecimal).joined() })
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

  /// Reads a file. Strict: a line that is not understood is a problem, and nothing of the file is used.
  public init(_ text: String) throws(Problem) {
    extent = .everything
    var isTitled = false
    // A byte order mark and Windows' line ends are what some editors write.
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
      ? "this version of the format is not known; \(title) \(version) is"
      : "no configuration file: it begins with \"\(title) \(version)\""
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
        throw Problem(line: number, reason: "it holds \"differences\" or \"everything\", not \"\(value)\"")
      }
      self.extent = extent
    default: throw Problem(line: number, reason: "\"\(line)\" is no setting; a setting is NAME = VALUE")
    }
  }

  private mutating func addSetting(_ line: String, _ number: Int) throws(Problem) {
    let word: SettingWord
    do throws(SettingProblem) { word = try SettingWord(line) } catch {
      throw Problem(line: number, reason: error.description)
    }
    if let other = places.updateValue(number, forKey: word.name.uppercased()) {
      throw Problem(line: number, reason: "\(word.name) stands in line \(other) too; keep one of them")
    }
    words.append(word)
  }

  /// A comment begins with a number sign outside of quotation marks.
  private static func withoutComment(_ line: Substring) -> Substring {
    var isQuoted = false
    for index in line.indices {
      if line[index] == "\"" { isQuoted.toggle() }
      if line[index] == "#", !isQuoted { return line[..<index] }
    }
    return line
  }
}
