// SPDX-License-Identifier: Apache-2.0
import FileSystem
import Receiver

/// The crash-recovery record of a receiver as a file. It is written when the set of changed settings
/// changes, and removed when the receiver is restored.
package final class CrashRecoveryFile {
  private let path: String
  private var stored: CrashRecoveryRecord?
  private var storedSettings: CrashRecoverySettings?

  /// - Parameters:
  ///   - stateFolder: the state folder. It is created with the first record.
  ///   - line: the name of the device.
  package init(stateFolder: String, line: String) {
    path = "\(stateFolder)/receivers/" + String(line.map { $0.isLetter || $0.isNumber ? $0 : "_" }) + ".txt"
    // An invalid file is treated as missing.
    guard let text = try? PrivateFile.read(path, limit: 65_536) else { return }
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
    let text = ([recovery.text] + [settings?.text].compactMap(\.self)).joined(separator: "\n")
    try PrivateFile.replace(path, with: text + "\n")
  }

  package func clear() {
    guard stored != nil else { return }
    (stored, storedSettings) = (nil, nil)
    try? PrivateFile.remove(path)
  }
}
