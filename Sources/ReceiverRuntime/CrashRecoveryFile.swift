// SPDX-License-Identifier: Apache-2.0
import LinuxIO
import Receiver
import SerialPort

/// The crash-recovery record of the receiver at a line, in a file or stored by another program. It is written when the
/// set of changed settings changes, and removed when the receiver is restored.
///
/// A state folder has a file for each line, `LINE.txt`. The record of a receiver that another one has replaced at the
/// line is kept in `LINE-RECEIVER.txt`. Records with the id of a chip are found at every line, and others under each name
/// of their line: a program that opens a device before udev has its identity names the record after the node. The number of
/// a pseudo-terminal is temporary: its record contains the link by which it was opened, in a line of its own.
package final class CrashRecoveryFile {
  /// Replaces the stored text; nil removes it.
  package typealias Writing = (String?) throws(FileError) -> Void

  private let write: Writing
  private typealias Place = (folder: String, line: String, otherNames: [String], link: String?)

  /// The folder of records, and the names of the line in it; nil if another program stores the record.
  private let place: Place?
  /// The lock of the record while this program may change the receiver.
  private var lock: PrivateFileLock?
  private var stored: CrashRecoveryRecord?
  private var storedSettings: CrashRecoverySettings?

  /// - Parameters:
  ///   - stateFolder: the state folder. It is created with the first record.
  ///   - line: the name of the device.
  ///   - announced: returns the device that udev knows by a name.
  package convenience init(
    stateFolder: String, line: String, announced: (String) -> Announced? = CrashRecoveryFile.announced(as:)
  ) {
    let names = Self.names(of: line, announced)
    let isTemporary = names[0].hasPrefix("/dev/pts/") && line.hasPrefix("/") && !line.contains(where: \.isNewline)
    let link = isTemporary && line != names[0] ? line : nil
    let place: Place = (
      folder: stateFolder + "/receivers", line: Self.fileName(names[0]),
      otherNames: names.dropFirst().map(Self.fileName), link: link
    )
    let path = "\(place.folder)/\(place.line).txt"
    self.init(text: try? PrivateFile.read(path, limit: Self.limit), place) { text throws(FileError) in
      if let text {
        try PrivateFile.replace(path, with: text + (link.map { Self.linkMark + $0 + "\n" } ?? ""))
      } else {
        try PrivateFile.remove(path)
      }
    }
  }

  /// - Parameters:
  ///   - text: the stored text; nil if there is none. An invalid text is treated as missing.
  ///   - write: stores another record.
  package convenience init(text: String?, write: @escaping Writing) { self.init(text: text, nil, write) }

  private init(text: String?, _ place: Place?, _ write: @escaping Writing) {
    self.write = write
    self.place = place
    guard let text else { return }
    (stored, storedSettings, _) = Self.parts(text)
  }

  /// The largest size of a file, in bytes.
  private static let limit = 65_536

  private static let linkMark = "link "

  private static func parts(_ text: String) -> (CrashRecoveryRecord?, CrashRecoverySettings?, link: String?) {
    let line = text.prefix { !$0.isNewline }
    guard let recovery = CrashRecoveryRecord(line) else { return (nil, nil, nil) }
    let lines = text.dropFirst(line.count).split(whereSeparator: \.isNewline)
    let link = lines.last.flatMap { $0.hasPrefix(linkMark) ? String($0.dropFirst(linkMark.count)) : nil }
    let settings = CrashRecoverySettings(lines.dropLast(link == nil ? 0 : 1).joined(separator: "\n"))
    return (recovery, settings, link)
  }

  /// Returns the names of a device. The first one is the same for all spellings: its USB identity if it has one, else its node.
  private static func names(of line: String, _ announced: (String) -> Announced?) -> [String] {
    guard case .port(let path)? = try? LineAddress(line) else { return [line] }
    var known = announced(path)
    // A link that udev did not make.
    let node = known?.node ?? FileLookup.resolved(path) ?? path
    known = known ?? announced(node)
    return [known?.identity ?? node, node, path].reduce(into: []) { if !$0.contains($1) { $0.append($1) } }
  }

  /// A device that udev knows: its USB identity, else its node, and the node.
  package typealias Announced = (identity: String, node: String)

  /// Returns the device that udev knows by this name.
  package static func announced(as name: String) -> Announced? {
    guard ReceiverConnection.isAnnounced(name),
      let port = ReceiverPorts.enumerate().first(where: { $0.attributes.isNamed(name) })
    else { return nil }
    return switch port.identity {
    case .serialNumber, .usbPath: (port.identity.description, port.node)
    case .persistentLink, .node: (port.node, port.node)
    }
  }

  private static func fileName(_ text: String) -> String {
    String(text.map { $0.isLetter || $0.isNumber ? $0 : "_" })
  }

  /// The record of an earlier program or of this one.
  package var recovery: CrashRecoveryRecord? { stored }
  /// The changed settings of that record.
  package var settings: CrashRecoverySettings? { storedSettings }

  /// The records of other receivers, without those of running programs.
  package var others: [OtherCrashRecoveryRecord] { otherFiles.map(\.record) }

  private var otherFiles: [(path: String, record: OtherCrashRecoveryRecord)] {
    guard let place else { return [] }
    return PrivateFile.names(in: place.folder).compactMap { name in
      let path = "\(place.folder)/\(name)"
      guard name.hasSuffix(".txt"), name != place.line + ".txt",
        let text = try? PrivateFile.read(path, limit: Self.limit),
        case (let recovery?, let settings?, let link) = Self.parts(text)
      else { return nil }
      let wasAtThisLine =
        link != nil && link == place.link || name.hasPrefix(place.line + "-")
        || place.otherNames.contains { name == $0 + ".txt" || name.hasPrefix($0 + "-") }
      guard wasAtThisLine || settings.hasUniqueID, PrivateFileLock(path) != nil else { return nil }
      return (path, OtherCrashRecoveryRecord(recovery, settings, wasAtThisLine: wasAtThisLine))
    }
  }

  /// Stores a record. The record of another receiver stays in a file of its own.
  ///
  /// - Parameter names: the names of the receiver; empty before it is identified.
  package func save(
    _ recovery: CrashRecoveryRecord, _ settings: CrashRecoverySettings? = nil, of names: [String] = []
  ) throws(FileError) {
    keepOther(than: names)
    guard recovery != stored || settings != storedSettings else { return }
    // A record that could not be written is written again with the next call.
    try write(Self.text(recovery, settings))
    (stored, storedSettings) = (recovery, settings)
    guard let place else { return }
    lock = PrivateFileLock("\(place.folder)/\(place.line).txt")
    // It contains the record of the same receiver that an earlier program left elsewhere.
    for (path, record) in otherFiles where names.contains(record.settings.receiver) { try PrivateFile.remove(path) }
  }

  /// Moves the record of a receiver that another one has replaced at the line to a file of its own.
  ///
  /// - Returns: whether there was one.
  @discardableResult
  package func keepOther(than names: [String]) -> Bool {
    guard !names.isEmpty, let place, let storedSettings, !storedSettings.isUnidentified,
      !names.contains(storedSettings.receiver),
      let text
    else { return false }
    let path = "\(place.folder)/\(place.line)-\(Self.fileName(storedSettings.receiver)).txt"
    // The record stays where it is if it cannot be copied.
    do { try PrivateFile.replace(path, with: text) } catch { return false }
    clear()
    return true
  }

  /// The stored text; nil if there is no record.
  package var text: String? { stored.map { Self.text($0, storedSettings) } }

  private static func text(_ recovery: CrashRecoveryRecord, _ settings: CrashRecoverySettings?) -> String {
    ([recovery.text] + [settings?.text].compactMap(\.self)).joined(separator: "\n") + "\n"
  }

  /// Stores the text of another program's record.
  ///
  /// - Returns: false if it is not a record.
  package func replace(with text: String) throws(FileError) -> Bool {
    let (recovery, settings, _) = Self.parts(text)
    guard let recovery else { return false }
    try save(recovery, settings, of: settings.flatMap { $0.isUnidentified ? nil : [$0.receiver] } ?? [])
    return true
  }

  package func clear() {
    guard stored != nil else { return }
    (stored, storedSettings) = (nil, nil)
    lock = nil
    try? write(nil)
  }
}
