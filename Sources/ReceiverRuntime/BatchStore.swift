// SPDX-License-Identifier: Apache-2.0
import LinuxIO
import Receiver
import ReceiverStream
import WireBytes

/// The stored state of a batch, so that a retrieval may be killed at any instant: the bytes of the line (`BatchLog`),
/// written before they are parsed, and the delivered fixes (`BatchJournal`), rewritten after each fix.
///
///     open ─▶ stored log ─▶ begin(receiver) ─▶ journal, earlier entries ─▶ retrieve
///     bytes ─▶ receive ─▶ fix ─▶ delivered ─▶ save ─▶ … ─▶ all delivered: finish
package struct BatchStore: ~Copyable {
  /// The log that a killed retrieval left for this line; may be empty.
  package private(set) var found: BatchLog
  /// The end of the output after the last delivered fix, as the last run stored it.
  package private(set) var place: OutputPosition?
  /// The delivered fixes.
  package private(set) var journal = BatchJournal()

  private let folder: String
  private let logPath: String
  private let log: AppendOnlyFile
  private var logged: Int
  private var isCollecting: Bool
  private var journalFile: RecordFile?

  /// Opens the log of a line. Received bytes are appended from now on if the log is not empty.
  ///
  /// - Parameters:
  ///   - folder: the folder of batches. It is created.
  ///   - line: the name of the device.
  package init(folder: String, line: String) throws(FileError) {
    // Operations that can fail come first: a value that owns descriptors must not be left half initialised.
    let path = "\(folder)/\(Self.fileName(line)).log"
    let bytes = try PrivateFile.readBytes(path, limit: 2 * BatchLog.mostBytes) ?? []
    let log = try AppendOnlyFile(private: path)
    self.init(folder: folder, logPath: path, log, holding: bytes)
  }

  private init(folder: String, logPath: String, _ log: consuming AppendOnlyFile, holding bytes: [UInt8]) {
    self.folder = folder
    self.logPath = logPath
    self.log = log
    found = BatchLog(bytes)
    logged = bytes.count
    isCollecting = !bytes.isEmpty
  }

  deinit {
    // Each run of a simulated receiver has a different name.
    if logged == 0 { try? PrivateFile.remove(logPath) }
  }

  /// The unfinished frame for a session on this line; see `SessionSettings.unfinishedFrame`.
  package var unfinishedFrame: [UInt8]? { isCollecting ? found.unfinishedFrame : nil }

  /// Starts for an identified receiver: reads its journal and appends received bytes from now on.
  ///
  /// - Parameters:
  ///   - description: the receiver. A receiver without a chip id is identified by its line.
  ///   - line: the name of the device.
  /// - Returns: entries that were received earlier and may be undelivered, oldest first.
  package mutating func begin(_ description: ReceiverDescription, line: String) throws(FileError) -> [[UInt8]] {
    let name = description.uniqueID?.hexadecimalDigits ?? Self.fileName(line)
    (journal, place) = Self.stored(journalPath(name))
    journalFile = try RecordFile(journalPath(name))
    let entries = found.receiver == name ? found.payloads : []
    if found.receiver != name { try empty() }
    if logged == 0 {
      let header = BatchLog.header(name)
      try unsafe log.append(header.span.bytes)
      logged = header.count
    }
    isCollecting = true
    return entries
  }

  /// The maximum size of the beginning of a batch, bytes: a page of the log and one of the journal.
  private static var bytesToBegin: Int { 8192 }

  /// Checks that there is space for the beginning of a batch, by writing and removing that number of bytes.
  package mutating func checkRoom() throws(FileError) {
    guard logged == 0 else { return }
    let room = [UInt8](repeating: 0, count: Self.bytesToBegin)
    do throws(FileError) { try unsafe log.append(room.span.bytes) } catch {
      try? log.empty()
      throw error
    }
    try log.empty()
  }

  /// The number of fixes that were received and not delivered.
  package var undelivered: Int {
    guard let name = found.receiver else { return 0 }
    let (journal, _) = Self.stored(journalPath(name))
    return BatchRetrieval(journal, earlier: found.payloads).journal.delivered - journal.delivered
  }

  private func journalPath(_ name: String) -> String { "\(folder)/\(name).txt" }

  /// Reads the file of a journal. An invalid file is treated as empty.
  private static func stored(_ path: String) -> (BatchJournal, OutputPosition?) {
    guard let text = try? PrivateFile.read(path, limit: 4096) else { return (BatchJournal(), nil) }
    guard let end = text.utf8.occurrence(of: " at ".utf8) else { return (BatchJournal(text) ?? BatchJournal(), nil) }
    return (BatchJournal(text[..<end.lowerBound]) ?? BatchJournal(), OutputPosition(text[end.lowerBound...]))
  }

  /// Appends received bytes. Call it before they are parsed.
  package mutating func receive(_ bytes: RawSpan) throws(FileError) {
    guard isCollecting, logged < BatchLog.mostBytes else { return }
    try log.append(bytes)
    logged += bytes.byteCount
  }

  /// Stores the journal after a fix was delivered, or after another change.
  ///
  /// - Parameters:
  ///   - journal: the journal of the `BatchEvent`.
  ///   - place: the end of the output, if it is a file.
  package mutating func save(_ journal: BatchJournal, at place: OutputPosition? = nil) throws(FileError) {
    self.journal = journal
    self.place = place
    try journalFile?.replace(with: journal.text + (place.map { " " + $0.text } ?? ""))
  }

  /// Ends the batch after all fixes were delivered.
  package mutating func finish() throws(FileError) {
    journalFile?.sync()
    try empty()
    isCollecting = false
  }

  private mutating func empty() throws(FileError) {
    try log.empty()
    logged = 0
    found = BatchLog([])
  }

  private static func fileName(_ line: String) -> String {
    String(line.map { $0.isLetter || $0.isNumber ? $0 : "_" })
  }
}
