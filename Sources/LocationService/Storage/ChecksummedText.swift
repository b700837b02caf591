// SPDX-License-Identifier: Apache-2.0
import LinuxIO
import WireBytes

/// The lines of a stored file, each with a checksum, and a last line with their number and the checksum of all lines. A
/// damaged line does not affect the others, and a truncated or misplaced file is detected.
///
///     sextant regions 1 <tab> #0123456789abcdef
///     circle … <tab> #0123456789abcdef
///     #end <tab> 1 <tab> 0123456789abcdef
struct ChecksummedText: Equatable {
  /// The lines without checksums; in a damaged file only the intact lines. Empty if the first line, which names the
  /// kind of the file, is damaged.
  let content: String
  /// The number of lines that are damaged or missing.
  let damage: Int
  /// Whether the file was written by an older version, without checksums.
  let lacksChecksum: Bool

  private static let mark = "\t#"
  private static let end = "#end"

  /// Reads the text of a file.
  ///
  /// - Parameter place: the path of the file in the state folder.
  init(_ text: String, place: String) {
    guard text.includes(Self.mark) || text.includes(Self.end) else {
      (content, damage, lacksChecksum) = (text, 0, true)
      return
    }
    lacksChecksum = false
    var lines = text.parts(at: "\n", omittingEmpty: false)
    // After the last line feed there is nothing, or a truncated line.
    let rest = lines.removeLast()
    var whole: [Substring] = []
    var damaged = rest.isEmpty ? 0 : 1
    var isEnded = false
    for (index, line) in lines.enumerated() {
      if index == lines.count - 1, line.utf8.elementsEqual(Self.lastLine(lines.dropLast(), place).utf8) {
        isEnded = true
      } else if let content = Self.content(of: line, place), index == 0 || !whole.isEmpty {
        whole.append(content)
      } else {
        damaged += 1
      }
    }
    content = whole.map { $0 + "\n" }.joined()
    damage = isEnded ? damaged : max(damaged, 1)
  }

  /// Returns the text of a file for lines.
  static func text(_ content: String, place: String) -> String {
    let lines = content.parts(at: "\n").map { line in "\(line)\(mark)\(checksum([place, String(line)]))"[...] }
    return lines.map { $0 + "\n" }.joined() + lastLine(lines[...], place) + "\n"
  }

  private static func lastLine(_ lines: ArraySlice<Substring>, _ place: String) -> String {
    "\(end)\t\(lines.count)\t\(checksum([place] + lines.map(String.init)))"
  }

  private static func content(of line: Substring, _ place: String) -> Substring? {
    let parts = line.utf8.count - 18
    guard parts >= 0 else { return nil }
    let cut = line.utf8.index(line.startIndex, offsetBy: parts)
    guard String(line[..<cut]).utf8.count == parts,
      line[cut...].utf8.elementsEqual((mark + checksum([place, String(line[..<cut])])).utf8)
    else {
      return nil
    }
    return line[..<cut]
  }

  /// The 64-bit FNV-1a hash of the parts, with a line feed after each, as sixteen digits.
  private static func checksum(_ parts: [String]) -> String {
    var hash: UInt64 = 0xcbf2_9ce4_8422_2325
    for part in parts {
      for byte in part.utf8 { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
      hash = (hash ^ 0x0A) &* 0x100_0000_01b3
    }
    return hash.hexadecimalDigits
  }
}
