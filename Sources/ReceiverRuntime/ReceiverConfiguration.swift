import FileSystem

/// Which receiver programs use when nobody names one, and how: the configuration file.
///
/// A line is a key and its value; what follows a `#` behind a space is a remark.
///
///     device     /dev/gnss/by-id/…    a path, i2c:…, replay:… or sim:…; more than one line: several receivers
///     baud       115200               no other rate is tried; of several receivers it is the first one's
///     read-only  yes                  not one byte is sent
///     supply     gpio:gpiochip0/17    what switches the receiver's power, see `SupplySwitchAddress`
///
/// It is about receivers that nobody names: `--device` and GNSS_DEVICE stand above the whole of it.
public struct ReceiverConfiguration: Sendable, Equatable {
  /// The receivers, the preferred one first; none: the first that is found.
  public var devices: [String] = []
  /// Baud; nil: it is found.
  public var baud: UInt32?
  public var isReadOnly = false
  /// What switches the receiver's supply; nil: nothing does.
  public var supply: String?

  /// What a file without a line says.
  public init() {}

  /// The files of this machine: the user's, `$XDG_CONFIG_HOME/sextant/config` (`~/.config` where it is not set), and the
  /// machine's, `/etc/sextant/config`. What the user's says of a key outweighs the machine's.
  ///
  /// - Parameter variable: a variable of the environment.
  /// - Throws: ``ReceiverConfigurationError``.
  public static func installed(_ variable: (String) -> String?) throws(ReceiverConfigurationError)
    -> ReceiverConfiguration
  {
    var words = Words()
    for path in paths(variable) {
      let text: String
      do {
        text = try UserFile.read(path)
      } catch {
        // In a folder of somebody else (HOME is kept by some ways to become another user) there is no file of ours.
        let folder = path.dropLast("/config".count)
        if error.isMissing || !FileLookup.names(in: String(folder)).contains("config") { continue }
        let cure = error.isForbidden ? "give yourself the permission" : "put a regular file in its place"
        throw ReceiverConfigurationError(file: path, line: 0, text: "\(error.reason); \(cure), or remove it")
      }
      words.fill(from: try Words(parsing: text, file: path))
    }
    return words.configuration
  }

  /// Reads one file.
  ///
  /// - Parameters:
  ///   - text: what the file says.
  ///   - file: what a mistake is reported of.
  /// - Throws: ``ReceiverConfigurationError`` for the first line that cannot be read.
  public init(parsing text: String, file: String) throws(ReceiverConfigurationError) {
    self = try Words(parsing: text, file: file).configuration
  }

  static func paths(_ variable: (String) -> String?) -> [String] {
    var folders: [String] = []
    if let folder = variable("XDG_CONFIG_HOME"), folder.hasPrefix("/") {
      folders.append(folder)
    } else if let home = variable("HOME"), home.hasPrefix("/") {
      folders.append(home + "/.config")
    }
    return (folders + ["/etc"]).map { $0 + "/sextant/config" }
  }
}

extension ReceiverConfiguration {
  /// The devices that GNSS_DEVICE names, the preferred one first: several are apart by commas. A comma behind which no path
  /// and no kind of line begins is part of a name.
  public static func devices(named text: String) -> [String] {
    var devices: [String] = []
    for part in text.split(separator: ",", omittingEmptySubsequences: false) {
      let isDevice = LineAddress.beginnings.contains { part.hasPrefix($0) }
      if isDevice || devices.isEmpty {
        devices.append(String(part))
      } else {
        devices[devices.count - 1] += "," + part
      }
    }
    return devices
  }
}

/// What files say, key by key; nil: nothing.
private struct Words {
  var devices: [String]?
  var baud: UInt32?
  var isReadOnly: Bool?
  var supply: String?

  init() {}

  init(parsing text: String, file: String) throws(ReceiverConfigurationError) {
    let text = text.hasPrefix("\u{FEFF}") ? text.dropFirst() : text[...]
    for (index, line) in text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline).enumerated() {
      let words = Self.words(line)
      guard let key = words.first else { continue }
      do throws(Mistake) {
        try take(key, words.dropFirst().joined(separator: " "))
      } catch {
        throw ReceiverConfigurationError(file: file, line: index + 1, text: error.text)
      }
    }
  }

  private struct Mistake: Error {
    var text: String
  }

  /// A # begins a remark where a word would begin: names of files have some inside.
  private static func words(_ line: Substring) -> [Substring] {
    let words = line.split { $0 == " " || $0 == "\t" }
    return Array(words.prefix { !$0.hasPrefix("#") })
  }

  private mutating func take(_ key: Substring, _ value: String) throws(Mistake) {
    guard ["device", "baud", "read-only", "supply"].contains(key) else {
      throw Mistake(text: "`\(key)` is not known; there are device, baud, read-only and supply")
    }
    if value.isEmpty { throw Mistake(text: "nothing follows `\(key)`; write its value behind it") }
    switch key {
    case "device": devices = (devices ?? []) + [value]
    case "baud":
      guard let rate = UInt32(value), rate > 0 else {
        throw Mistake(
          text: "`\(value)` is no rate; write it like `baud 115200`, or leave the line out to have it found")
      }
      try once("baud", baud)
      baud = rate
    case "read-only":
      guard let choice = ["yes": true, "no": false][value] else {
        throw Mistake(text: "`\(value)` is neither yes nor no")
      }
      try once("read-only", isReadOnly)
      isReadOnly = choice
    default:
      try once("supply", supply)
      supply = value
    }
  }

  private func once<Value>(_ key: String, _ value: Value?) throws(Mistake) {
    if value != nil { throw Mistake(text: "`\(key)` stands here a second time; leave one of them") }
  }

  /// Takes what another file says of keys that this one says nothing of.
  mutating func fill(from other: Words) {
    devices = devices ?? other.devices
    baud = baud ?? other.baud
    isReadOnly = isReadOnly ?? other.isReadOnly
    supply = supply ?? other.supply
  }

  var configuration: ReceiverConfiguration {
    var configuration = ReceiverConfiguration()
    configuration.devices = devices ?? []
    configuration.baud = baud
    configuration.isReadOnly = isReadOnly ?? false
    configuration.supply = supply
    return configuration
  }
}

/// Why a configuration file cannot be used: the place, and the cure.
public struct ReceiverConfigurationError: Error, Sendable, Equatable, CustomStringConvertible {
  public let file: String
  /// Counted from 1; 0 where the file as a whole cannot be read.
  public let line: Int
  let text: String

  /// One line.
  public var description: String { line == 0 ? "\(file): \(text)" : "\(file):\(line): \(text)" }
}
