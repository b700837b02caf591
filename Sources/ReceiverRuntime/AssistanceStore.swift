// SPDX-License-Identifier: Apache-2.0
import LinuxIO
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

  // MARK: Broadcast ephemerides

  private var ephemeridesPath: String { folder + "/broadcast.ephemerides" }

  /// Returns the stored ephemerides; none if the file is damaged.
  package func ephemerides() -> EphemerisStock {
    (try? PrivateFile.read(ephemeridesPath, limit: 1 << 18)).flatMap { EphemerisStock($0) } ?? EphemerisStock()
  }

  package func save(_ ephemerides: EphemerisStock, at now: UTCTime) {
    try? PrivateFile.replace(ephemeridesPath, with: ephemerides.text(at: now))
  }

  // MARK: Predicted orbits

  private var predictionsPath: String { folder + "/assistnow.predictions" }

  /// Returns the stored predictions; none if the file is damaged.
  package func predictions(at now: UTCTime) -> PredictedOrbits {
    (try? PrivateFile.read(predictionsPath)).flatMap { PredictedOrbits($0, at: now) } ?? PredictedOrbits()
  }

  package func save(_ predictions: PredictedOrbits, at now: UTCTime) {
    try? PrivateFile.replace(predictionsPath, with: predictions.text(at: now))
  }

  // MARK: Navigation files

  /// A RINEX navigation file is not larger: a day of all satellites has 4 MB.
  package static var largestNavigationFile: Int { 8 << 20 }

  /// The paths of the RINEX navigation files in the folder: `.rnx`, `.nav`, and the names of RINEX 2 such as `brdc3320.26n`.
  package func navigationFiles() -> [String] {
    PrivateFile.names(in: folder).filter(Self.isNavigationFile).prefix(Self.mostFiles).map { folder + "/" + $0 }
  }

  static func isNavigationFile(_ name: String) -> Bool {
    if name.hasSuffix(".rnx") || name.hasSuffix(".nav") { return true }
    let end = Array(name.utf8.suffix(4))
    let digits = UInt8(ascii: "0")...UInt8(ascii: "9")
    return end.count == 4 && end[0] == UInt8(ascii: ".") && digits.contains(end[1]) && digits.contains(end[2])
      && [UInt8(ascii: "n"), UInt8(ascii: "g"), UInt8(ascii: "p")].contains(end[3])
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
