// SPDX-License-Identifier: Apache-2.0

/// The progress of reading a long file, as a line on standard error that is overwritten. It is shown only on a terminal, and
/// only where no other output appears on it.
///
/// A report, and a summary, are printed after the file was read; what is printed meanwhile would be mixed with the line.
struct ReadProgress {
  /// A shorter file is read before its line could be read.
  private static let shortest: UInt64 = 64 << 20
  private static let step: UInt64 = 16 << 20
  private static let megabyte: UInt64 = 1_000_000

  private let name: String
  private let size: UInt64?
  private let isShown: Bool
  private var count: UInt64 = 0
  private var next = Self.step

  /// - Parameters:
  ///   - name: the file.
  ///   - size: bytes; nil for a stream.
  ///   - printsMeanwhile: whether the command prints to standard output while it reads.
  init(of name: String, size: UInt64?, printsMeanwhile: Bool) {
    self.name = name == "-" ? "standard input" : name
    self.size = size
    isShown = showsProgress() && !(printsMeanwhile && isTerminal()) && size ?? .max >= Self.shortest
  }

  /// Counts bytes that were read.
  mutating func advance(by bytes: Int) {
    count += UInt64(bytes)
    guard isShown, count >= next else { return }
    next = count + Self.step
    putProgress(Self.text(name, count, of: size))
  }

  /// Removes the line.
  func end() { if isShown, count >= Self.step { clearProgress() } }

  /// The text of the line.
  static func text(_ name: String, _ count: UInt64, of size: UInt64?) -> String {
    guard let size, size > 0 else { return "\(name): \(count / megabyte) MB" }
    return "\(name): \(min(100, count * 100 / size)) %, \(count / megabyte) of \(size / megabyte) MB"
  }
}
