// SPDX-License-Identifier: Apache-2.0

import WireBytes

/// Splits the bytes of a control socket into commands, independent of the sizes of the received pieces. A command ends
/// with LF or CR-LF (gpsd(8), section "GPS DEVICE MANAGEMENT").
struct ControlReader: Sendable {
  /// The longest command, bytes: 2048 bytes for a receiver in hexadecimal digits, and a path.
  static let longestLine = 8192

  private enum State: Sendable {
    case line([UInt8])
    /// Whether the rest of a line that is too long is being skipped.
    case ignored
  }

  private var state = State.line([])

  /// Handles the next bytes. Returns the commands that they complete.
  mutating func receive(_ bytes: Span<UInt8>) -> [ControlCommand] {
    var commands: [ControlCommand] = []
    for index in bytes.indices { take(bytes[index], &commands) }
    return commands
  }

  private mutating func take(_ byte: UInt8, _ commands: inout [ControlCommand]) {
    let isEnd = byte == UInt8(ascii: "\n") || byte == UInt8(ascii: "\r")
    switch state {
    case .ignored: if isEnd { state = .line([]) }
    case .line(let line) where isEnd:
      if !line.isEmpty { commands.append(ControlCommand(line: line)) }
      state = .line([])
    case .line(let line) where line.count == Self.longestLine:
      commands.append(.invalid("a command is longer than \(Self.longestLine) bytes"))
      state = .ignored
    case .line(var line):
      // Released before the change, to avoid a copy of the line.
      state = .ignored
      line.append(byte)
      state = .line(line)
    }
  }
}

/// A command of the control socket; gpsd(8), section "GPS DEVICE MANAGEMENT".
package enum ControlCommand: Equatable, Sendable {
  /// `+PATH`: use a device.
  case add(String)
  /// `-PATH`: release a device.
  case remove(String)
  /// `!PATH=TEXT`: a sentence for a device.
  case sendText(String, path: String)
  /// `&PATH=HEX`: bytes for a device.
  case sendBytes([UInt8], path: String)
  /// `?devices`: the paths of the devices.
  case devices
  /// A line that is not a command, with the reason.
  case invalid(String)

  /// Reads a line without its end. Spaces at its end are ignored.
  init(line: [UInt8]) {
    guard let text = String(validating: line, as: UTF8.self), text.unicodeScalars.allSatisfy({ $0.value >= 0x20 })
    else {
      self = .invalid("a command is a line of text")
      return
    }
    let rest = text.dropFirst().reversed().drop { $0 == " " }.reversed()
    let content = String(rest)
    switch text.first {
    case "+": self = Self.ofDevice(content) { .add($0) }
    case "-": self = Self.ofDevice(content) { .remove($0) }
    case "!":
      self = Self.withValue(content) { path, value in
        value.isEmpty ? .invalid("the control string is empty") : .sendText(value, path: path)
      }
    case "&":
      self = Self.withValue(content) { path, value in
        guard let bytes = [UInt8](hexadecimalDigits: value), !bytes.isEmpty else {
          return .invalid("the control string is not made of pairs of hexadecimal digits")
        }
        return .sendBytes(bytes, path: path)
      }
    case "?" where content == "devices": self = .devices
    default: self = .invalid("unknown command")
    }
  }

  private static func ofDevice(_ path: String, _ make: (String) -> ControlCommand) -> ControlCommand {
    // Compared by bytes: a space followed by a combining mark is a different character.
    path.isEmpty || path.utf8.contains(UInt8(ascii: " "))
      ? .invalid("a path without spaces follows the sign") : make(path)
  }

  private static func withValue(_ text: String, _ make: (String, String) -> ControlCommand) -> ControlCommand {
    guard let sign = text.firstIndex(of: "=") else { return .invalid("PATH=STRING follows the sign") }
    let value = String(text[text.index(after: sign)...])
    return ofDevice(String(text[..<sign])) { make($0, value) }
  }
}
