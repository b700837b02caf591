import FileSystem
import Receiver

/// Where a program notes how it has a receiver while it rests (`CrashRecoveryRecord`). It is written when that changes, which is once
/// or twice in a program's life, and removed when the receiver is as it was found.
public final class CrashRecoveryFile {
  private let path: String
  private var kept: CrashRecoveryRecord?
  private var keptSettings: CrashRecoverySettings?

  /// - Parameters:
  ///   - stateFolder: where state is kept from one run to the next; it is made when there is something to keep.
  ///   - line: the name of the device.
  public init(stateFolder: String, line: String) {
    path = "\(stateFolder)/receivers/" + String(line.map { $0.isLetter || $0.isNumber ? $0 : "_" }) + ".txt"
    // What is not whole is none.
    guard let text = try? PrivateFile.read(path, limit: 65_536) else { return }
    let line = text.prefix { !$0.isNewline }
    kept = CrashRecoveryRecord(line)
    if kept != nil { keptSettings = CrashRecoverySettings(text.dropFirst(line.count)) }
  }

  /// What an earlier program has left, or this one has kept.
  public var recovery: CrashRecoveryRecord? { kept }
  /// What it had changed.
  public var settings: CrashRecoverySettings? { keptSettings }

  public func keep(_ recovery: CrashRecoveryRecord, _ settings: CrashRecoverySettings? = nil) throws(FileError) {
    guard recovery != kept || settings != keptSettings else { return }
    (kept, keptSettings) = (recovery, settings)
    let text = ([recovery.text] + [settings?.text].compactMap(\.self)).joined(separator: "\n")
    try PrivateFile.replace(path, with: text + "\n")
  }

  public func forget() {
    guard kept != nil else { return }
    (kept, keptSettings) = (nil, nil)
    try? PrivateFile.remove(path)
  }
}
