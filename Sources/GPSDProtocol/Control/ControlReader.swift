// SPDX-License-Identifier: Apache-2.0

/// Cuts the bytes of a control socket into commands, whatever the sizes of the pieces in which they come. A command ends with LF
/// or CR-LF (gpsd(8), section "GPS DEVICE MANAGEMENT").
struct ControlReader: Sendable {
  /// The longest command, bytes: 2048 bytes for a receiver in hexadecimal digits, and a path.
  static let longestLine = 8192

  private enum State: Sendable {
    case line([UInt8])
    /// The rest of a line that is too long.
    case ignored
  }

  private var state = State.line([])

  /// Takes the next bytes. Returns the commands that end with them.
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
      // Released before the change, so that the line is not copied.
      state = .ignored
      line.append(byte)
      state = .line(line)
    }
  }
}
