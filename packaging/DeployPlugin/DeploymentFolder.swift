// SPDX-License-Identifier: Apache-2.0
import Foundation

/// The folder that the files of a program are written to. A folder with other files is not changed: it may be a home
/// folder.
struct DeploymentFolder {
  let root: URL
  /// The program's files, relative to the folder.
  private let own: Set<String>

  init(_ path: String, name: String) {
    root = URL(fileURLWithPath: path).resolvingSymlinksInPath()
    own = [
      "usr/bin/\(name)", "usr/share/\(name)/Info.plist", "lib/systemd/system/\(name).service", "DEBIAN/control",
      "DEBIAN/postinst", "DEBIAN/prerm",
    ]
  }

  /// Removes the files of an earlier deployment of the program. Throws, and removes nothing, if the folder has another file.
  func clear() throws {
    let files = FileManager.default
    guard let type = try? files.attributesOfItem(atPath: root.path)[.type] as? FileAttributeType else { return }
    guard type == .typeDirectory, let found = files.enumerator(atPath: root.path) else {
      throw DeploymentProblem("\(root.path): is not a folder")
    }
    let folders = Set(own.flatMap(Self.folders))
    for case let path as String in found {
      let type = found.fileAttributes?[.type] as? FileAttributeType
      guard type == .typeDirectory ? folders.contains(path) : type == .typeRegular && own.contains(path) else {
        throw DeploymentProblem(
          "\(root.path): has a file that is not of this program (\(path)); name an empty folder with --output")
      }
    }
    for path in own where files.fileExists(atPath: root.appending(path: path).path) {
      try files.removeItem(at: root.appending(path: path))
    }
  }

  /// The folders of a file: usr and usr/bin of usr/bin/hike.
  private static func folders(of path: String) -> [String] {
    let names = path.split(separator: "/")
    return (1..<names.count).map { names.prefix($0).joined(separator: "/") }
  }
}

/// Words of the command line that are part of a unit, a control file and the names of files. A line feed would add a line to them.
enum DeploymentWord {
  /// Returns the reason why a text is not the name of a program; nil if it is one.
  static func problem(name: String) -> String? {
    isWord(name, others: "._+-") && name.utf8.count <= 64
      ? nil : "the name of a program has at most 64 letters, digits and . _ + -, and begins with a letter or a digit"
  }

  /// Returns the reason why a text is not a version (deb-version(7)); nil if it is one.
  static func problem(version: String) -> String? {
    isWord(version, others: ".+~-") && version.first?.isNumber == true && version.utf8.count <= 64
      ? nil : "a version has at most 64 letters, digits and . + ~ -, and begins with a digit"
  }

  /// Returns the reason why a text is not Debian's name of an architecture; nil if it is one.
  static func problem(architecture: String) -> String? {
    isWord(architecture, others: "-") && architecture.utf8.count <= 32
      ? nil : "the name of an architecture has at most 32 letters, digits and -"
  }

  /// Whether a text consists of ASCII letters, digits and the given other characters, which must not come first.
  private static func isWord(_ text: String, others: String) -> Bool {
    let bytes = Array(text.utf8)
    func isPlain(_ byte: UInt8) -> Bool {
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"):
        true
      default: false
      }
    }
    return bytes.first.map(isPlain) ?? false && bytes.allSatisfy { isPlain($0) || others.utf8.contains($0) }
  }
}

/// The reason why nothing is deployed.
struct DeploymentProblem: Error, CustomStringConvertible {
  let description: String
  init(_ description: String) { self.description = description }
}
