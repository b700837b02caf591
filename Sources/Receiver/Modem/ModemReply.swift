// SPDX-License-Identifier: Apache-2.0

/// The lines of a modem's AT port: bytes in, replies and result codes out.
///
/// A line ends with CR or LF. Bytes that are not printable ASCII and lines above the limit are skipped.
struct ModemReader: Sendable {
  /// A line.
  enum Line: Sendable, Equatable {
    case ok
    /// ERROR, or +CME ERROR with a number or a text (AT+CMEE): the line.
    case error(String)
    /// Any other line: part of a reply, an echo, or unsolicited.
    case text(String)
  }

  /// More than the longest line of the commands in use; SMS in hexadecimal are longer.
  static var limit: Int { 256 }

  private var line: [UInt8] = []
  private var isTooLong = false

  /// Reads bytes, and returns the lines that are complete.
  mutating func read(_ bytes: some Sequence<UInt8>) -> [Line] {
    var lines: [Line] = []
    for byte in bytes {
      switch byte {
      case UInt8(ascii: "\r"), UInt8(ascii: "\n"):
        if !isTooLong, !line.isEmpty { lines.append(Self.line(String(decoding: line, as: UTF8.self))) }
        forget()
      case 0x20...0x7E:
        if line.count < Self.limit { line.append(byte) } else { isTooLong = true }
      default: break
      }
    }
    return lines
  }

  /// Discards the start of a line.
  mutating func forget() {
    line.removeAll(keepingCapacity: true)
    isTooLong = false
  }

  private static func line(_ text: String) -> Line {
    if text == "OK" { return .ok }
    let isError = text == "ERROR" || text.hasPrefix("+CME ERROR:") || text.hasPrefix("+CMS ERROR:")
    return isError ? .error(text) : .text(text)
  }
}
