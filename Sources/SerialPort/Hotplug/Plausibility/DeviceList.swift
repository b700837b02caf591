// SPDX-License-Identifier: Apache-2.0

import LinuxIO
import WireBytes

/// The user's list of devices that are receivers and of devices that are not. It overrides the built-in table.
///
/// A line is one of
///
///     vid:pid [ifNN] [name]        a receiver (on USB interface NN only), and its name
///     not vid:pid [ifNN]           not a receiver
///
/// with ids and interface number in hexadecimal, as `lsusb` and udev print them. A comment begins with `#`. The first
/// line that matches a device decides.
public struct DeviceList: Sendable, Equatable {
  /// One line of the list.
  public struct Entry: Sendable, Equatable {
    public let isReceiver: Bool
    public let vendorID: UInt16
    public let productID: UInt16
    /// The USB interface of the line; nil for all interfaces.
    public let interface: UInt8?
    /// The user's name of the device.
    public let name: String?
  }

  /// The lines in their order.
  public private(set) var entries: [Entry] = []

  /// An empty list.
  public init() {}

  /// Reads a list.
  ///
  /// - Parameters:
  ///   - text: the lines.
  ///   - file: the name of the file, for error messages.
  /// - Throws: ``DeviceListError`` for the first invalid line.
  public init(parsing text: String, file: String) throws(DeviceListError) {
    for (index, line) in text.lines.enumerated() {
      let words = line.before("#").words
      if words.isEmpty { continue }
      do throws(DeviceListError.Mistake) {
        entries.append(try Entry(words))
      } catch {
        throw DeviceListError(file: file, line: index + 1, mistake: error)
      }
    }
  }

  /// Returns this list followed by another.
  public func followed(by other: DeviceList) -> DeviceList {
    var list = self
    list.entries += other.entries
    return list
  }

  /// The line that decides on a device; nil if no line matches.
  func entry(for attributes: DeviceAttributes) -> Entry? {
    entries.first { entry in
      entry.vendorID == attributes.vendorID && entry.productID == attributes.productID
        && (entry.interface == nil || entry.interface == attributes.interface)
    }
  }
}

extension DeviceList.Entry {
  fileprivate init(_ words: [Substring]) throws(DeviceListError.Mistake) {
    var rest = words[...]
    isReceiver = rest.first != "not"
    if !isReceiver { rest.removeFirst() }
    guard let ids = rest.popFirst() else { throw .missingIDs }
    let parts = ids.parts(at: ":", omittingEmpty: false)
    guard parts.count == 2, let vendorID = identifier(parts[0]), let productID = identifier(parts[1]) else {
      throw .unreadableIDs(String(ids))
    }
    self.vendorID = vendorID
    self.productID = productID
    interface = rest.first.flatMap(interfaceNumber)
    if interface != nil { rest.removeFirst() }
    name = rest.isEmpty ? nil : rest.joined(separator: " ")
    if !isReceiver, let name { throw .nameOfExcluded(name) }
  }
}

/// Reads four hexadecimal digits.
private func identifier(_ digits: Substring) -> UInt16? {
  digits.count == 4 && digits.allSatisfy(\.isHexDigit) ? UInt16(digits, radix: 16) : nil
}

/// Reads `if02`, as in udev's links.
private func interfaceNumber(_ word: Substring) -> UInt8? {
  guard word.begins(with: "if"), word.count == 4, word.dropFirst(2).allSatisfy(\.isHexDigit) else { return nil }
  return UInt8(word.dropFirst(2), radix: 16)
}

/// The reason why a list of devices is invalid: the file, and the line with its mistake.
public struct DeviceListError: Error, Sendable, Equatable, CustomStringConvertible {
  /// The mistake in a line.
  public enum Mistake: Error, Sendable, Equatable {
    case missingIDs
    case unreadableIDs(String)
    case nameOfExcluded(String)
  }

  public let file: String
  /// The line number, from 1; 0 if the file cannot be read.
  public let line: Int
  /// Nil if the file cannot be read.
  public let mistake: Mistake?

  /// One line with the place and the next step.
  public var description: String {
    switch mistake {
    case nil: "\(file): cannot be read; grant yourself the permission, or remove the file"
    case .missingIDs: "\(file):\(line): `not` needs USB ids, as in `not 2341:0043`"
    case .unreadableIDs(let word):
      "\(file):\(line): `\(word)` is not a pair of USB ids; write four hexadecimal digits each, as in `1546:01a8`"
    case .nameOfExcluded(let name):
      "\(file):\(line): `\(name)` is not allowed; after `not` only ids and an interface (`if02`) are allowed, "
        + "and a comment begins with #"
    }
  }
}

// The files of the user's list of devices.
extension DeviceList {
  /// Reads the list of this machine: the user's file, `$XDG_CONFIG_HOME/sextant/devices` (XDG Base Directory
  /// Specification: `~/.config` if it is not set), followed by `/etc/sextant/devices`. A missing file is empty.
  ///
  /// - Throws: ``DeviceListError`` for a file that cannot be read, and for an invalid line.
  public static func installed() throws(DeviceListError) -> DeviceList {
    var list = DeviceList()
    let folder = Environment.variable("XDG_CONFIG_HOME")
    for path in paths(configurationFolder: folder, home: Environment.variable("HOME")) {
      list = list.followed(by: try read(path))
    }
    return list
  }

  /// The paths of the files, in their order.
  static func paths(configurationFolder: String?, home: String?) -> [String] {
    var folders: [String] = []
    if let configurationFolder, configurationFolder.begins(with: "/") {
      folders.append(configurationFolder)
    } else if let home, home.begins(with: "/") {
      folders.append(home + "/.config")
    }
    return (folders + ["/etc"]).map { $0 + "/sextant/devices" }
  }

  /// Reads one file. A missing file is an empty list.
  static func read(_ path: String) throws(DeviceListError) -> DeviceList {
    let text: String
    do {
      text = try UserFile.read(path)
    } catch {
      // HOME may still refer to another user, whose folder is not readable.
      if !FileLookup.exists(path), !FileLookup.leadsNowhere(path) { return DeviceList() }
      throw DeviceListError(file: path, line: 0, mistake: nil)
    }
    return try DeviceList(parsing: text, file: path)
  }
}
