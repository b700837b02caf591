import FileSystem
import Receiver
import ReceiverStream

/// What is kept of receivers from one run to the next, as files in the folder `assistance` of the state folder, one a
/// receiver. It is a help and no more: what cannot be read or written is left.
public struct AssistanceStore: Sendable {
  private let folder: String

  /// Files that are read, at the most: who has had more receivers than this uses others by now.
  private static var mostFiles: Int { 32 }
  private static var suffix: String { ".txt" }

  /// - Parameter stateFolder: nil for no place to keep anything.
  public init?(_ stateFolder: String?) {
    guard let stateFolder else { return nil }
    folder = stateFolder + "/assistance"
  }

  /// All records that are whole.
  public func records() -> [AssistanceRecord] {
    PrivateFile.names(in: folder).filter { $0.hasSuffix(Self.suffix) }.prefix(Self.mostFiles).compactMap { name in
      (try? PrivateFile.read(folder + "/" + name, limit: 1 << 18)).flatMap { AssistanceRecord($0) }
    }
  }

  /// Keeps what was learned of a receiver: what is not told anew stays from before.
  ///
  /// - Parameters:
  ///   - record: what is known of the receiver.
  ///   - now: the time.
  public func keep(_ record: AssistanceRecord, at now: UTCTime) {
    let path = folder + "/" + record.key.fileName + Self.suffix
    let before = (try? PrivateFile.read(path, limit: 1 << 18)).flatMap { AssistanceRecord($0) }
    var record = record
    if record.database.isEmpty {
      if let before, before.key == record.key {
        record.database = before.database
        record.databaseTime = before.databaseTime
      }
    } else {
      record.databaseTime = now
    }
    if record.place == nil, let before, before.key == record.key { record.place = before.place }
    try? PrivateFile.replace(path, with: record.text)
  }
}
