// SPDX-License-Identifier: Apache-2.0

import LinuxIO
import Receiver
import WireBytes

/// The configuration files: the receivers that programs use by default, and their settings.
///
/// A line has a key and its value, with `=` between them where it is in the list; the others may have it too. A comment begins with `#`
/// after a space.
///
///     device     /dev/gnss/by-id/…    a path, i2c:…, replay:… or sim:…; several lines name several receivers
///     baud       115200               no other rate is tried; of several receivers it applies to the first
///     read-only  yes                  no byte is sent
///     supply     gpio:gpiochip0/17    the switch of the receiver's supply, see `SupplySwitchAddress`
///     geocoder   https://…            a Nominatim server for the addresses of places; none is used by default
///     gpsd = on, every 60 s, accuracy 100 m    the location service serves clients of gpsd, and limits what they require
///     corrections = ntrip://me@caster/MOUNT    a source of RTCM 3 for the location service; several lines in the order of preference
///     assistance = broadcast                   what a receiver gets at a start: own, or also broadcast ephemerides
///     assistnow = on, 7 days                   orbits of u-blox's AssistNow, with the account of a file or a credential
///     spartn-keys = /etc/sextant/spartn-keys   the keys of encrypted SPARTN corrections, see `SPARTNKeys`
///     corrections-always = on                  corrections flow whenever the receiver measures, not only for the best accuracy
///
/// `--device` and GNSS_DEVICE override the files as a whole.
package struct SextantConfiguration: Sendable, Equatable {
  /// The receivers, the preferred one first. If it is empty, the first receiver that is found is used.
  package var devices: [String] = []
  /// The fixed rate; nil to search for it.
  package var baud: UInt32?
  package var isReadOnly = false
  /// The switch of the receiver's supply; nil if there is none.
  package var supply: String?
  /// The address of a Nominatim server; nil if there is none.
  package var geocoder: String?
  /// Whether the location service serves clients of gpsd; nil if the file does not decide it.
  package var gpsd: GPSDSetting?
  /// The sources of corrections for the location service, the preferred one first.
  package var corrections: [CorrectionSource] = []
  /// Whether corrections are sent even if no program needs the best accuracy.
  package var hasCorrectionsAlways = false
  /// The file with the keys of SPARTN; nil if there is none.
  package var spartnKeys: String?
  /// The source of the assistance that the location service sends to a receiver at its start; nil for the default.
  package var assistance: AssistanceSource?
  /// The account and data of AssistNow; nil if it is not used.
  package var assistNow: AssistNow?

  /// An empty configuration.
  package init() {}

  /// Reads the files of this machine: the user's, `$XDG_CONFIG_HOME/sextant/config` (`~/.config` if it is not set), and
  /// `/etc/sextant/config`. The user's file overrides the machine's key by key.
  ///
  /// - Parameter variable: returns a variable of the environment.
  /// - Throws: ``SextantConfigurationError``.
  package static func installed(_ variable: (String) -> String?) throws(SextantConfigurationError)
    -> SextantConfiguration
  {
    var configuration = SextantConfiguration()
    var keys: Set<String> = []
    for path in paths(variable) {
      let text: String
      do {
        text = try UserFile.read(path)
      } catch {
        // HOME may still refer to another user, whose folder is not readable.
        let folder = path.dropLast("/config".count)
        let isAbsent = error.isMissing || !FileLookup.names(in: String(folder)).contains("config")
        if isAbsent, !FileLookup.leadsNowhere(path) { continue }
        let nextStep = error.isForbidden ? "give yourself the permission" : "put a regular file in its place"
        throw SextantConfigurationError(file: path, line: 0, text: "\(error.reason); \(nextStep), or remove it")
      }
      try configuration.read(text, file: path, keys: &keys)
    }
    return configuration
  }

  /// Reads one file.
  ///
  /// - Parameters:
  ///   - text: the content of the file.
  ///   - file: the name of the file, for error messages.
  /// - Throws: ``SextantConfigurationError`` for the first invalid line.
  package init(parsing text: String, file: String) throws(SextantConfigurationError) {
    var keys: Set<String> = []
    try read(text, file: file, keys: &keys)
  }

  static func paths(_ variable: (String) -> String?) -> [String] {
    var folders: [String] = []
    if let folder = variable("XDG_CONFIG_HOME"), folder.begins(with: "/") {
      folders.append(folder)
    } else if let home = variable("HOME"), home.begins(with: "/") {
      folders.append(home + "/.config")
    }
    return (folders + ["/etc"]).map { $0 + "/sextant/config" }
  }
}

extension SextantConfiguration {
  /// The devices of GNSS_DEVICE, separated by commas, the preferred one first. A comma that is not followed by a path
  /// or a kind of line is part of a name.
  package static func devices(named text: String) -> [String] {
    var devices: [String] = []
    for part in text.parts(at: ",", omittingEmpty: false) {
      let isDevice = LineAddress.beginnings.contains { part.begins(with: $0) }
      if isDevice || devices.isEmpty {
        devices.append(String(part))
      } else {
        devices[devices.count - 1] += "," + part
      }
    }
    return devices
  }
}

extension SextantConfiguration {
  /// Adopts the values of a file.
  ///
  /// - Parameter keys: the keys of the files with precedence, whose values stay; the file's keys are added.
  private mutating func read(
    _ text: String, file: String, keys: inout Set<String>
  ) throws(SextantConfigurationError) {
    let text = text.after("\u{FEFF}") ?? text[...]
    var seen: Set<String> = []
    for (index, line) in text.lines.enumerated() {
      let words = Self.words(line)
      guard let key = words.first.map({ String($0) }) else { continue }
      var changed = self
      do throws(Mistake) {
        try changed.take(key, words.dropFirst().joined(separator: " "))
        guard seen.insert(key).inserted || ["device", "corrections"].contains(key) else {
          throw Mistake(text: "`\(key)` is in the file a second time; remove one of them")
        }
      } catch {
        throw SextantConfigurationError(file: file, line: index + 1, text: error.text)
      }
      if !keys.contains(key) { self = changed }
    }
    keys.formUnion(seen)
  }

  private struct Mistake: Error {
    var text: String
  }

  /// Splits a line into words. A `#` begins a comment only at the start of a word: file names may contain it.
  private static func words(_ line: Substring) -> [Substring] {
    let words = line.words
    return Array(words.prefix { !$0.begins(with: "#") })
  }

  private mutating func take(_ key: String, _ value: String) throws(Mistake) {
    guard
      [
        "device", "baud", "read-only", "supply", "geocoder", "gpsd", "corrections", "corrections-always", "assistance",
        "assistnow", "epo", "spartn-keys",
      ].contains(key)
    else {
      throw Mistake(
        text:
          "`\(key)` is unknown; valid keys are corrections, corrections-always, spartn-keys, assistance, assistnow, gpsd, device, "
          + "baud, read-only, supply and geocoder")
    }
    // Keys whose value is not marked with = may have it.
    let given = value.after("= ").map(String.init)
    let plain = value == "=" ? "" : given ?? value
    if plain.isEmpty { throw Mistake(text: "`\(key)` has no value; write it after the key") }
    switch key {
    case "device": devices.append(plain)
    case "baud":
      guard let rate = UInt32(plain), rate > 0 else {
        throw Mistake(
          text: "`\(plain)` is not a baud rate; write it like `baud 115200`, or remove the line to search for the rate")
      }
      baud = rate
    case "read-only":
      guard let choice = ["yes": true, "no": false][plain] else {
        throw Mistake(text: "`\(plain)` is neither yes nor no")
      }
      isReadOnly = choice
    case "gpsd":
      guard let given, let setting = GPSDSetting(given) else {
        throw Mistake(
          text:
            "`gpsd \(value)` is not understood; write `gpsd = on`, `gpsd = off` or `gpsd = on, every 60 s, accuracy 100 m`"
        )
      }
      gpsd = setting
    case "corrections":
      guard let given, let source = CorrectionSource(given) else {
        // The value may contain a password.
        throw Mistake(
          text: "the value of `corrections` is not understood; write `corrections = ` and \(CorrectionSource.forms)")
      }
      corrections.append(source)
    case "corrections-always":
      guard let choice = ["= on": true, "= off": false][value] else {
        throw Mistake(
          text: "`\(key) \(value)` is not understood; write `corrections-always = on` or `corrections-always = off`")
      }
      hasCorrectionsAlways = choice
    case "spartn-keys":
      guard let given, given.begins(with: "/") else {
        throw Mistake(text: "`\(key) \(value)` is not understood; write `spartn-keys = ` and the path of the file")
      }
      spartnKeys = given
    case "assistance":
      guard let given, let source = AssistanceSource(rawValue: given) else {
        throw Mistake(text: "`\(key) \(value)` is not understood; write \(AssistanceSource.forms)")
      }
      assistance = source
    case "assistnow":
      guard let given, let source = AssistNow(given) else {
        // The value may contain an account.
        throw Mistake(text: "the value of `assistnow` is not understood; write \(AssistNow.forms)")
      }
      assistNow = source
    case "epo": throw Mistake(text: Self.noEPO)
    case "geocoder": geocoder = plain
    default: supply = plain
    }
  }

  private static let noEPO =
    "`epo` is not supported: the service sends no EPO files, and MediaTek and Airoha receivers predict orbits by themselves "
    + "(EASY); remove the line"
}

/// The reason why a configuration file is invalid: the place and the next step.
package struct SextantConfigurationError: Error, Sendable, Equatable, CustomStringConvertible {
  package let file: String
  /// The line number, from 1; 0 if the file cannot be read.
  package let line: Int
  let text: String

  /// One line for the user.
  package var description: String { line == 0 ? "\(file): \(text)" : "\(file):\(line): \(text)" }
}

/// The line `assistance` of the configuration file: what the location service gives a receiver at its start.
package enum AssistanceSource: String, Sendable, CaseIterable {
  /// The time, the last position, and the orbits that the same receiver had.
  case own
  /// Also ephemerides of a correction stream, and of RINEX navigation files.
  case broadcast

  /// The forms, for error messages.
  package static let forms = "`assistance = own` or `assistance = broadcast`"
}

/// Whether clients of gpsd are served, and the limits of their demands on the receiver: `on`, `off`, or `on, every 60
/// s, accuracy 100 m`.
package struct GPSDSetting: Equatable, Sendable {
  package var isOn: Bool
  /// The shortest time between two locations, 1 second to a day; nil if there is no limit.
  package var everySeconds: Double?
  /// The best accuracy, 1 m to 1000 km; nil if there is no limit.
  package var accuracyMetres: Double?

  /// Reads the setting; nil for another text.
  package init?(_ text: String) {
    let parts = text.parts(at: ",", omittingEmpty: false).map { $0.parts(at: " ") }
    switch parts[0] {
    case ["on"]: isOn = true
    case ["off"] where parts.count == 1: isOn = false
    default: return nil
    }
    for part in parts.dropFirst() {
      let value = part.dropFirst().joined()
      switch part.first {
      case "every" where everySeconds == nil:
        everySeconds =
          Self.number(value, unit: "s", in: 1...86_400) ?? Self.number(value, unit: "min", in: 1...1440).map { $0 * 60 }
        if everySeconds == nil { return nil }
      case "accuracy" where accuracyMetres == nil:
        accuracyMetres = Self.number(value, unit: "m", in: 1...1_000_000)
        if accuracyMetres == nil { return nil }
      default: return nil
      }
    }
  }

  /// Whether it limits the demands of clients.
  package var hasLimit: Bool { everySeconds != nil || accuracyMetres != nil }

  private static func number(_ text: String, unit: String, in range: ClosedRange<Double>) -> Double? {
    guard text.ends(with: unit), let number = Double(Substring(text.utf8.dropLast(unit.utf8.count))),
      range.contains(number)
    else {
      return nil
    }
    return number
  }
}
