/// The user's own list of what is a receiver and what is none. It outweighs what the project knows.
///
/// A line is one of
///
///     vid:pid [ifNN] [name]        it is a receiver (on USB interface NN alone), and is called so
///     not vid:pid [ifNN]           it is none, whatever it looks like
///
/// with ids and interface number in hexadecimal, as `lsusb` and udev print them. What follows a `#` is a remark. The
/// first line that fits a device decides.
public struct DeviceList: Sendable, Equatable {
  /// One line.
  public struct Entry: Sendable, Equatable {
    public let isReceiver: Bool
    public let vendorID: UInt16
    public let productID: UInt16
    /// The USB interface that the line is about; nil for all.
    public let interface: UInt8?
    /// What the user calls it.
    public let name: String?
  }

  /// The lines in their order.
  public private(set) var entries: [Entry] = []

  /// A list without a line.
  public init() {}

  /// Reads a list.
  ///
  /// - Parameters:
  ///   - text: the lines.
  ///   - file: what a mistake is reported of.
  /// - Throws: ``DeviceListError`` for the first line that cannot be read.
  public init(parsing text: String, file: String) throws(DeviceListError) {
    // A file from another system may end its lines with CR LF, which Swift takes for one character.
    for (index, line) in text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline).enumerated() {
      let words = line.prefix { $0 != "#" }.split { $0 == " " || $0 == "\t" }
      if words.isEmpty { continue }
      do throws(DeviceListError.Mistake) {
        entries.append(try Entry(words))
      } catch {
        throw DeviceListError(file: file, line: index + 1, mistake: error)
      }
    }
  }

  /// This list with another behind it.
  public func followed(by other: DeviceList) -> DeviceList {
    var list = self
    list.entries += other.entries
    return list
  }

  /// The line that decides on a device; nil if none does.
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
    let parts = ids.split(separator: ":", omittingEmptySubsequences: false)
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

/// Four hexadecimal digits.
private func identifier(_ digits: Substring) -> UInt16? {
  digits.count == 4 && digits.allSatisfy(\.isHexDigit) ? UInt16(digits, radix: 16) : nil
}

/// `if02`, as in udev's links.
private func interfaceNumber(_ word: Substring) -> UInt8? {
  guard word.hasPrefix("if"), word.count == 4, word.dropFirst(2).allSatisfy(\.isHexDigit) else { return nil }
  return UInt8(word.dropFirst(2), radix: 16)
}

/// Why a list of devices cannot be used: the file, and the line with what is wrong there.
public struct DeviceListError: Error, Sendable, Equatable, CustomStringConvertible {
  /// What is wrong with a line.
  public enum Mistake: Error, Sendable, Equatable {
    case missingIDs
    case unreadableIDs(String)
    case nameOfExcluded(String)
  }

  public let file: String
  /// Counted from 1; 0 where the file as a whole cannot be read.
  public let line: Int
  /// Nil where the file as a whole cannot be read.
  public let mistake: Mistake?

  /// One line that names the place and the cure.
  public var description: String {
    switch mistake {
    case nil: "\(file): cannot be read; give yourself the permission, or remove it"
    case .missingIDs: "\(file):\(line): nothing follows `not`; write the ids, as in `not 2341:0043`"
    case .unreadableIDs(let word):
      "\(file):\(line): `\(word)` is no pair of USB ids; write four hexadecimal digits each, as in `1546:01a8`"
    case .nameOfExcluded(let name):
      "\(file):\(line): `\(name)` is not understood; behind `not` stand the ids and perhaps an interface (`if02`), "
        + "a remark follows a #"
    }
  }
}
