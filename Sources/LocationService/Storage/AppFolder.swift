// SPDX-License-Identifier: Apache-2.0
import LinuxIO
import Messages
import WireBytes

extension AppDescription {
  /// The path of a folder for the identifier, see ``place(of:isFolder:)``.
  var folderName: String { Self.place(of: identifier) }

  /// Returns the path of a folder or a file for a name of any bytes: ASCII alphanumerics and `_-` are kept, for a folder also dots; other
  /// bytes become %XX. A name that is longer than the system permits is a path, `BEGINNING+/+MIDDLE+/+END`.
  static func place(of name: String, isFolder: Bool = true) -> String {
    let escaped = StateText.escape(name) { byte in
      switch byte {
      case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x5F: true
      // A name of only dots would refer to another folder.
      case 0x2E: isFolder && !name.begins(with: ".")
      default: false
      }
    }
    if escaped.isEmpty { return "%" }
    // NAME_MAX of limits.h, less the suffix of a temporary file, which is the number of a process.
    if escaped.utf8.count <= (isFolder ? 255 : 247) { return escaped }
    var parts: [Substring] = []
    var rest = escaped[...]
    while !rest.isEmpty {
      parts.append(rest.prefix(partLength))
      rest = rest.dropFirst(partLength)
    }
    return parts.joined(separator: "+/+")
  }

  /// The length of the parts of a longer name, bytes. A part with its marks has room for the suffixes of other files.
  private static let partLength = 200

  /// Returns the paths in a folder that are places of names, sorted.
  static func places(in folder: String) -> [String] {
    PrivateFile.names(in: folder).flatMap { part in
      part.ends(with: "+") ? places(in: "\(folder)/\(part)").map { "\(part)/\($0)" } : [part]
    }
  }

  /// Returns the name of a place.
  static func name(ofPlace place: String) -> String {
    // The name has neither of the marks unescaped.
    let escaped = place.utf8.filter { $0 != UInt8(ascii: "+") && $0 != UInt8(ascii: "/") }
    return StateText.unescape(String(decoding: escaped, as: UTF8.self)[...])
  }
}
