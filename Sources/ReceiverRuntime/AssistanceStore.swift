// SPDX-License-Identifier: Apache-2.0
import FileSystem
import Receiver
import ReceiverStream

/// Records about receivers from earlier runs, as files in the folder `assistance` of the state folder, one for each
/// receiver. They only speed up the start, so that unreadable or unwritable files are skipped.
package struct AssistanceStore: Sendable {
  private let folder: String

  /// The maximum number of files that are read: with more receivers the records are hardly useful.
  private static var mostFiles: Int { 32 }
  private static var suffix: String { ".txt" }

  /// - Parameter stateFolder: nil if there is no place for state.
  package init?(_ stateFolder: String?) {
    guard let stateFolder else { return nil }
    folder = stateFolder + "/assistance"
  }

  /// Returns all valid records.
  package func records() -> [AssistanceRecord] {
    PrivateFile.names(in: folder).filter { $0.hasSuffix(Self.suffix) }.prefix(Self.mostFiles).compactMap { name in
      (try? PrivateFile.read(folder + "/" + name, limit: 1 << 18)).flatMap { AssistanceRecord($0) }
    }
  }

  /// Stores a record. Parts that it lacks are kept from the stored one.
  ///
  /// - Parameters:
  ///   - record: the new record of a receiver.
  ///   - now: the current time.
  package func save(_ record: AssistanceRecord, at now: UTCTime) {
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

  /// Removes the orbits of a receiver that was restarted without them.
  ///
  /// - Parameters:
  ///   - key: the receiver.
  ///   - keepsPlace: whether its position is kept.
  /// - Returns: whether something was removed.
  package func remove(_ key: AssistanceRecord.Key, keepsPlace: Bool) -> Bool {
    let path = folder + "/" + key.fileName + Self.suffix
    guard let text = try? PrivateFile.read(path, limit: 1 << 18) else { return false }
    guard keepsPlace, var record = AssistanceRecord(text), record.place != nil else {
      return (try? PrivateFile.remove(path)) != nil
    }
    if record.database.isEmpty { return false }
    record.database = []
    record.databaseTime = nil
    return (try? PrivateFile.replace(path, with: record.text)) != nil
  }
}
