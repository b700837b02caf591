import FileSystem
import Receiver
import ReceiverStream

/// What is kept of a batch from one run to the next, so that a reader may be killed at any instant: what the line brought
/// (`BatchLog`), written before it is looked at, and what of it was delivered (`BatchJournal`), rewritten after each fix.
///
///     open ─▶ found log ─▶ begin(receiver) ─▶ journal, earlier entries ─▶ retrieve
///     bytes ─▶ receive ─▶ fix ─▶ delivered ─▶ keep ─▶ … ─▶ all delivered: finish
public struct BatchStore: ~Copyable {
  /// What a reader that was killed left of this line; empty otherwise.
  public private(set) var found: BatchLog
  /// Where the delivered fixes' output ended, as the last run noted it.
  public private(set) var place: PrintedPlace?
  /// What was delivered.
  public private(set) var journal = BatchJournal()

  private let folder: String
  private let log: AppendOnlyFile
  private var logged: Int
  private var isCollecting: Bool
  private var journalFile: RecordFile?

  /// Opens the log of a line; what comes over it is kept from now on, if there is something in the log.
  ///
  /// - Parameters:
  ///   - folder: where batches are kept; it is made.
  ///   - line: the name of the device.
  public init(folder: String, line: String) throws(FileError) {
    // What can fail comes first: a value that owns descriptors cannot be left half made.
    let path = "\(folder)/\(Self.fileName(line)).log"
    let bytes = try PrivateFile.readBytes(path, limit: 2 * BatchLog.mostBytes) ?? []
    let log = try AppendOnlyFile(private: path)
    self.init(folder: folder, log, holding: bytes)
  }

  private init(folder: String, _ log: consuming AppendOnlyFile, holding bytes: [UInt8]) {
    self.folder = folder
    self.log = log
    found = BatchLog(bytes)
    logged = bytes.count
    isCollecting = !bytes.isEmpty
  }

  /// What a session on this line has to know: see `SessionSettings.unfinishedFrame`.
  public var unfinishedFrame: [UInt8]? { isCollecting ? found.unfinishedFrame : nil }

  /// The receiver is known: what was delivered of it is read, and what comes over the line is kept.
  ///
  /// - Parameters:
  ///   - description: the receiver; one without an id of its chip is known by the line.
  ///   - line: the name of the device.
  /// - Returns: entries that were received before and perhaps not delivered, oldest first.
  public mutating func begin(_ description: ReceiverDescription, line: String) throws(FileError) -> [[UInt8]] {
    let id = description.uniqueID.map { $0.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined() }
    let name = id ?? Self.fileName(line)
    (journal, place) = Self.kept(journalPath(name))
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

  /// Bytes that the beginning of a batch is sure to fit in: two pages, the log's and the journal's.
  private static var bytesToBegin: Int { 8192 }

  /// Makes sure that there is room for what a batch begins with, by writing as much and taking it back.
  public mutating func checkRoom() throws(FileError) {
    guard logged == 0 else { return }
    let room = [UInt8](repeating: 0, count: Self.bytesToBegin)
    do throws(FileError) { try unsafe log.append(room.span.bytes) } catch {
      try? log.empty()
      throw error
    }
    try log.empty()
  }

  /// Fixes that were received and not delivered.
  public var undelivered: Int {
    guard let name = found.receiver else { return 0 }
    let (journal, _) = Self.kept(journalPath(name))
    return BatchRetrieval(journal, earlier: found.payloads).journal.delivered - journal.delivered
  }

  private func journalPath(_ name: String) -> String { "\(folder)/\(name).txt" }

  /// Reads a journal's file; what is not whole is none.
  private static func kept(_ path: String) -> (BatchJournal, PrintedPlace?) {
    guard let text = try? PrivateFile.read(path, limit: 4096) else { return (BatchJournal(), nil) }
    guard let end = text.firstRange(of: " at ") else { return (BatchJournal(text) ?? BatchJournal(), nil) }
    return (BatchJournal(text[..<end.lowerBound]) ?? BatchJournal(), PrintedPlace(text[end.lowerBound...]))
  }

  /// Bytes came over the line; they are kept before they are looked at.
  public mutating func receive(_ bytes: RawSpan) throws(FileError) {
    guard isCollecting, logged < BatchLog.mostBytes else { return }
    try log.append(bytes)
    logged += bytes.byteCount
  }

  /// A fix was delivered, or something else is to be remembered.
  ///
  /// - Parameters:
  ///   - journal: as `BatchEvent` has it.
  ///   - place: where the output ends, if that is a file.
  public mutating func keep(_ journal: BatchJournal, at place: PrintedPlace? = nil) throws(FileError) {
    self.journal = journal
    self.place = place
    try journalFile?.replace(with: journal.text + (place.map { " " + $0.text } ?? ""))
  }

  /// All that was received is delivered.
  public mutating func finish() throws(FileError) {
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
