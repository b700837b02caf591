// SPDX-License-Identifier: Apache-2.0
import LinuxIO
import Receiver

/// The crash-recovery record of a receiver, in a file or stored by another program. It is written when the set of
/// changed settings changes, and removed when the receiver is restored.
package final class CrashRecoveryFile {
  /// Replaces the stored text; nil removes it.
  package typealias Writing = (String?) throws(FileError) -> Void

  private let write: Writing
  private var stored: CrashRecoveryRecord?
  private var storedSettings: CrashRecoverySettings?

  /// - Parameters:
  ///   - stateFolder: the state folder. It is created with the first record.
  ///   - line: the name of the device.
  package convenience init(stateFolder: String, line: String) {
    let path = "\(stateFolder)/receivers/" + String(line.map { $0.isLetter || $0.isNumber ? $0 : "_" }) + ".txt"
    self.init(text: try? PrivateFile.read(path, limit: 65_536)) { text throws(FileError) in
      if let text { try PrivateFile.replace(path, with: text) } else { try PrivateFile.remove(path) }
    }
  }

  /// - Parameters:
  ///   - text: the stored text; nil if there is none. An invalid text is treated as missing.
  ///   - write: stores another record.
  package init(text: String?, write: @escaping Writing) {
    self.write = write
    guard let text else { return }
    let line = text.prefix { !$0.isNewline }
    stored = CrashRecoveryRecord(line)
    if stored != nil { storedSettings = CrashRecoverySettings(text.dropFirst(line.count)) }
  }

  /// The record of an earlier program or of this one.
  package var recovery: CrashRecoveryRecord? { stored }
  /// The changed settings of that record.
  package var settings: CrashRecoverySettings? { storedSettings }

  package func save(_ recovery: CrashRecoveryRecord, _ settings: CrashRecoverySettings? = nil) throws(FileError) {
    guard recovery != stored || settings != storedSettings else { return }
    (stored, storedSettings) = (recovery, settings)
    try write(text)
  }

  /// The stored text; nil if there is no record.
  package var text: String? {
    stored.map { ([$0.text] + [storedSettings?.text].compactMap(\.self)).joined(separator: "\n") + "\n" }
  }

  /// Stores the text of another program's record.
  ///
  /// - Returns: false if it is not a record.
  package func replace(with text: String) throws(FileError) -> Bool {
    let other = CrashRecoveryFile(text: text) { _ in }
    guard let recovery = other.recovery else { return false }
    try save(recovery, other.settings)
    return true
  }

  package func clear() {
    guard stored != nil else { return }
    (stored, storedSettings) = (nil, nil)
    try? write(nil)
  }
}
