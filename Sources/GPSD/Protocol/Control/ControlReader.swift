// SPDX-License-Identifier: Apache-2.0

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
