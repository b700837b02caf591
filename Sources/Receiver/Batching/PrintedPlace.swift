/// Where the output of fixes ended when the last of them was noted as delivered: a reader that is killed between printing
/// one and noting it has printed more than that.
public struct PrintedPlace: Sendable, Equatable {
  /// The file: its file system and its number there.
  public var device: UInt64
  public var inode: UInt64
  /// Its size, bytes.
  public var size: UInt64

  public init(device: UInt64, inode: UInt64, size: UInt64) {
    (self.device, self.inode, self.size) = (device, inode, size)
  }

  /// `at DEVICE INODE SIZE end`
  public var text: String { "at \(device) \(inode) \(size) end" }

  /// Reads `text`; nil for what is not whole or not this.
  public init?(_ text: some StringProtocol) {
    let words = text.split(whereSeparator: { $0 == " " || $0 == "\n" })
    guard words.count == 5, words[0] == "at", words[4] == "end", let device = UInt64(words[1]),
      let inode = UInt64(words[2]), let size = UInt64(words[3])
    else { return nil }
    self.init(device: device, inode: inode, size: size)
  }

  /// How many bytes were printed to this place's file since, which now has the place `now`; nil where that is another
  /// file, or a shorter one.
  public func bytesPrinted(until now: PrintedPlace?) -> Int? {
    guard let now, now.device == device, now.inode == inode, now.size >= size else { return nil }
    return Int(exactly: now.size - size)
  }

  /// What is still to print of a line, of which `printed` is in the file already; all of it, if that is something else.
  public static func rest(of line: [UInt8], printed: [UInt8]) -> [UInt8] {
    line.starts(with: printed) ? Array(line[printed.count...]) : line
  }
}
