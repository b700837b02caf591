// SPDX-License-Identifier: Apache-2.0

/// The end of the output when its last fix was recorded as delivered: a reader that is killed between the output of a fix
/// and the record has written more.
public struct OutputPosition: Sendable, Equatable {
  /// The file: its file system and its inode.
  public var device: UInt64
  public var inode: UInt64
  /// Its size, in bytes.
  public var size: UInt64

  public init(device: UInt64, inode: UInt64, size: UInt64) {
    (self.device, self.inode, self.size) = (device, inode, size)
  }

  /// `at DEVICE INODE SIZE end`
  public var text: String { "at \(device) \(inode) \(size) end" }

  /// Reads `text`; nil if it is incomplete or malformed.
  public init?(_ text: some StringProtocol) {
    let words = text.split(whereSeparator: { $0 == " " || $0 == "\n" })
    guard words.count == 5, words[0] == "at", words[4] == "end", let device = UInt64(words[1]),
      let inode = UInt64(words[2]), let size = UInt64(words[3])
    else { return nil }
    self.init(device: device, inode: inode, size: size)
  }

  /// Returns the number of bytes written to the file since; nil if `now` is another file, or a shorter one.
  public func bytesPrinted(until now: OutputPosition?) -> Int? {
    guard let now, now.device == device, now.inode == inode, now.size >= size else { return nil }
    return Int(exactly: now.size - size)
  }

  /// Returns the rest of a line after `printed`, which is in the file already; the whole line if that is something else.
  public static func rest(of line: [UInt8], printed: [UInt8]) -> [UInt8] {
    line.starts(with: printed) ? Array(line[printed.count...]) : line
  }
}
