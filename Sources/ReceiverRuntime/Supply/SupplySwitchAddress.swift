// SPDX-License-Identifier: Apache-2.0

/// The address of the switch in the supply of a receiver, as given by the user.
///
///     gpio:gpiochip0/17                     a line of a GPIO chip, by number
///     gpio:gpiochip0/GNSS_EN,active-low     a line by name; low is on
///     file:/sys/devices/platform/gnss-supply/state=enabled/disabled
///                                           a file, with the values for on and off; the default is 1/0
///     …,keeps-memory                        a backup supply preserves the receiver's time and orbits
package struct SupplySwitchAddress: Sendable, Hashable {
  /// The kind of switch.
  package enum Mechanism: Sendable, Hashable {
    /// A line of a GPIO chip's character device.
    case gpio(chip: String, line: Line, isActiveLow: Bool)
    /// A file, such as the state of a regulator or the `disable` file of a USB port.
    case file(path: String, on: String, off: String)
  }

  /// A line of a chip.
  package enum Line: Sendable, Hashable {
    case number(UInt32)
    case name(String)
  }

  package var mechanism: Mechanism
  /// Whether the receiver preserves its time and orbits while it is off.
  package var keepsMemory = false

  /// Reads the user's text.
  ///
  /// - Throws: `malformed`, with the correct form.
  package init(_ text: String) throws(SupplySwitchError) {
    var words = text.split(separator: ",", omittingEmptySubsequences: false)
    let name = words.removeFirst()
    var isActiveLow = false
    for word in words {
      switch word {
      case "active-low": isActiveLow = true
      case "keeps-memory": keepsMemory = true
      default: throw .malformed(text, "`\(word)` is unknown; valid words are active-low and keeps-memory")
      }
    }
    if name.hasPrefix("gpio:") {
      mechanism = try Self.gpio(name.dropFirst(5), isActiveLow, text)
    } else if name.hasPrefix("file:") {
      guard !isActiveLow else { throw .malformed(text, "active-low is for gpio:; name the words instead, as in =0/1") }
      mechanism = try Self.file(name.dropFirst(5), text)
    } else {
      throw .malformed(text, "name a line such as gpio:gpiochip0/17, or a file such as file:/sys/…/state=on/off")
    }
  }

  private static func gpio(
    _ name: Substring, _ isActiveLow: Bool, _ text: String
  ) throws(SupplySwitchError) -> Mechanism {
    guard let slash = name.lastIndex(of: "/"), slash != name.startIndex, name.index(after: slash) != name.endIndex
    else {
      throw .malformed(text, "name chip and line, such as gpio:gpiochip0/17 (`gpioinfo` lists them)")
    }
    let (chip, line) = (String(name[..<slash]), String(name[name.index(after: slash)...]))
    return .gpio(
      chip: chip.hasPrefix("/") ? chip : "/dev/" + chip, line: UInt32(line).map { .number($0) } ?? .name(line),
      isActiveLow: isActiveLow)
  }

  private static func file(_ name: Substring, _ text: String) throws(SupplySwitchError) -> Mechanism {
    var (path, on, off) = (String(name), "1", "0")
    if let equals = name.lastIndex(of: "=") {
      path = String(name[..<equals])
      let values = name[name.index(after: equals)...].split(separator: "/", omittingEmptySubsequences: false)
      guard values.count == 2, values.allSatisfy({ !$0.isEmpty }), values[0] != values[1] else {
        throw .malformed(text, "after = write the words for on and off, such as =enabled/disabled")
      }
      (on, off) = (String(values[0]), String(values[1]))
    }
    guard path.hasPrefix("/") else { throw .malformed(text, "the path of the file must begin with /") }
    return .file(path: path, on: on, off: off)
  }
}

/// The reason why a switch cannot be used.
package enum SupplySwitchError: Error, Equatable, Sendable, CustomStringConvertible {
  /// The text is not an address; the second value is the correct form.
  case malformed(String, String)
  /// The chip has no such line.
  case noLine(String, SupplySwitchAddress.Line)
  /// An error of the system: the path, the errno and its text.
  case system(String, code: Int32, reason: String)

  package var description: String {
    switch self {
    case .malformed(let text, let cure): return "\(text): not a supply switch: \(cure)"
    case .noLine(let path, let line):
      let name =
        switch line {
        case .number(let number): "\(number)"
        case .name(let name): name
        }
      return "\(path): has no line \(name); `gpioinfo` lists them"
    case .system(let path, let code, let reason):
      return switch cure(code) {
      case nil: "\(path): \(reason)"
      case let cure?: "\(path): \(reason); \(cure)"
      }
    }
  }
}
