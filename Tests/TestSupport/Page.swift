// SPDX-License-Identifier: Apache-2.0
import Glibc

/// A page of docs/ with sections that tests generate, between `<!-- begin NAME -->` and `<!-- end NAME -->`. With
/// SEXTANT_WRITE_PAGES in the environment the test writes the section, otherwise it compares it.
///
/// `unsafe` because files are read and written with functions of the C library, which take pointers.
public struct Page {
  /// The page and the result of the test differ.
  public struct Difference: Error, CustomStringConvertible {
    public var description: String
  }

  private let path: String

  /// - Parameter name: the path from the project's folder.
  public init(_ name: String, _ file: StaticString = #filePath) {
    let folders = "\(file)".split(separator: "/", omittingEmptySubsequences: false).dropLast(3)
    path = folders.joined(separator: "/") + "/" + name
  }

  /// A table in Markdown.
  public static func table(_ header: [String], _ rows: [[String]]) -> String {
    let rule = String(repeating: "|---", count: header.count) + "|\n"
    let lines = ([header] + rows).map { "| " + $0.joined(separator: " | ") + " |\n" }
    return lines[0] + rule + lines.dropFirst().joined()
  }

  /// Compares a section with the result of the test, or writes it.
  public func check(section: String, is text: String) throws {
    let begin = "<!-- begin \(section) -->\n"
    let end = "<!-- end \(section) -->"
    guard let page = read() else { throw Difference(description: "\(path): cannot be read") }
    guard let from = page.firstRange(of: begin), let to = page.firstRange(of: end) else {
      throw Difference(description: "\(path): has no section \(section)")
    }
    if page[from.upperBound..<to.lowerBound] == text { return }
    guard unsafe getenv("SEXTANT_WRITE_PAGES") != nil else {
      throw Difference(
        description: "\(path): section \(section) is not what was found; `docs/generate pages` renews it:\n\(text)")
    }
    try write(String(page[..<from.upperBound]) + text + String(page[to.lowerBound...]))
  }

  /// The complete text; nil if the file cannot be read.
  public func read() -> String? {
    guard let file = unsafe fopen(path, "r") else { return nil }
    defer { unsafe fclose(file) }
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 65_536)
    while true {
      let count = unsafe fread(&buffer, 1, buffer.count, file)
      if count == 0 { return String(decoding: bytes, as: UTF8.self) }
      bytes += buffer[..<count]
    }
  }

  private func write(_ text: some StringProtocol) throws {
    guard let file = unsafe fopen(path, "w") else { throw Difference(description: "\(path): cannot be written") }
    defer { unsafe fclose(file) }
    let bytes = Array(text.utf8)
    guard unsafe fwrite(bytes, 1, bytes.count, file) == bytes.count else {
      throw Difference(description: "\(path): could not be written whole")
    }
  }
}

extension String {
  /// The first position of a text.
  fileprivate func firstRange(of text: String) -> Range<String.Index>? {
    var at = startIndex
    while at < endIndex {
      if self[at...].hasPrefix(text) { return at..<index(at, offsetBy: text.count) }
      at = index(after: at)
    }
    return nil
  }
}
