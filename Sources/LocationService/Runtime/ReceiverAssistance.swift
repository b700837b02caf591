// SPDX-License-Identifier: Apache-2.0
import LinuxIO
import Messages
import MonotonicTime
import RTCM3
import Receiver
import ReceiverRuntime
import ReceiverStream

/// The assistance of the daemon's first receiver: its last position and orbits, and broadcast ephemerides, with their files.
final class ReceiverAssistance {
  /// The time between two stores of a changed position or of changed ephemerides.
  private static let storeInterval = Milliseconds(600_000)
  /// The time between two looks for changed files, while the receiver is in use.
  private static let fileInterval = Milliseconds(60_000)

  private let store: AssistanceStore
  private let source: AssistanceSource
  private var records: [AssistanceRecord]
  private var ephemerides: EphemerisStock
  private var refresh = EphemerisRefresh()
  private var place: AssistanceRecord.Place?
  private var placeStoredAt: Instant?
  private var storedRevision = 0
  private var ephemeridesStoredAt: Instant?
  /// The revision and the number of records that the session has.
  private var given: (revision: Int, hasClock: Bool)?
  private var reportedSeconds = 0.0
  private var reportedAt = Instant.zero
  /// The RINEX files that were read.
  private var readFiles: [String: FileLookup.Mark] = [:]
  private var filesReadAt: Instant?
  private var reports: [String] = []
  private var reportedRefusals = 0

  /// - Returns: nil without a state folder.
  init?(_ settings: ServiceSettings) {
    guard let store = AssistanceStore(settings.stateFolder) else { return nil }
    self.store = store
    source = settings.assistance
    records = store.records()
    ephemerides = source == .broadcast ? store.ephemerides() : EphemerisStock()
  }

  /// The next line for the log.
  func nextReport() -> String? { reports.isEmpty ? nil : reports.removeFirst() }

  /// The time at which `needsEphemerides` may change; nil if it is not needed.
  private(set) var deadline: Instant?

  /// The computer's time, if something keeps it within a second of UTC.
  private var time: (utc: UTCTime, errorSeconds: Double)? {
    guard let utc = System.referenceTime(), let error = SystemClock.utcErrorSeconds, error < 1 else { return nil }
    return (utc, error)
  }

  /// The assistance for a session that begins.
  func settings() -> AssistanceSettings {
    // Without the time orbits are of no use.
    let errorSeconds = time?.errorSeconds
    return AssistanceSettings(
      records: records, clockAccuracySeconds: errorSeconds, readsDatabaseAtEnd: errorSeconds != nil,
      ephemerides: ephemerides)
  }

  // MARK: Sources

  /// Keeps the position of a fix for the next start.
  func receive(_ fix: Fix) { place = AssistanceRecord.Place(fix) ?? place }

  /// Handles a correction.
  func receive(_ correction: borrowing RTCM3Frame) {
    guard source == .broadcast, let number = correction.messageNumber, EphemerisStock.messageNumbers.contains(number),
      let utc = time?.utc
    else { return }
    if ephemerides.receive(correction, at: utc) { refresh.received(at: SystemClock.monotonic) }
  }

  /// Whether the source of corrections is to be connected for its ephemerides.
  func needsEphemerides(_ connection: ReceiverConnection?, at now: Instant) -> Bool {
    deadline = nil
    // Without the time no ephemeris can be checked.
    guard source == .broadcast, connection?.description?.acceptsEphemerides == true, let utc = time?.utc else {
      return false
    }
    let isNeeded = refresh.update(usableSeconds: ephemerides.usableSeconds(at: utc), at: now)
    deadline = refresh.deadline(after: now)
    return isNeeded
  }

  /// Reads new and changed files of the folder.
  private func readNavigationFiles(_ utc: UTCTime) {
    for path in store.navigationFiles() {
      let mark = FileLookup.mark(path)
      guard let mark, readFiles[path] != mark else { continue }
      readFiles[path] = mark
      do throws(FileError) {
        guard let bytes = try PrivateFile.readBytes(path, limit: AssistanceStore.largestNavigationFile) else {
          continue
        }
        if unsafe ephemerides.read(rinex: bytes.span.bytes, at: utc) == nil {
          reports.append("\(path) is not a RINEX navigation file, and is not used")
        }
      } catch {
        reports.append("\(path): \(error.reason)")
      }
    }
  }

  // MARK: The receiver

  /// Ends a round. Returns the time for which a start has orbits, in seconds, if it has changed.
  func work(_ connection: ReceiverConnection?, at now: Instant) -> Double? {
    let time = time
    if source == .broadcast, let utc = time?.utc, filesReadAt.map({ now >= $0 + Self.fileInterval }) ?? true {
      filesReadAt = now
      readNavigationFiles(utc)
    }
    let state = (revision: ephemerides.revision, hasClock: time != nil)
    if let connection {
      if given?.revision != state.revision || given?.hasClock != state.hasClock {
        given = state
        connection.set(settings(), at: now)
      } else {
        connection.updateTime(at: now)
      }
    }
    guard let utc = time?.utc else { return reportedSeconds > 0 ? reported(0, at: now) : nil }
    storeIfDue(connection, utc, at: now)
    reportRefusals()
    guard source == .broadcast, let receiver = connection?.description else { return nil }
    let seconds =
      receiver.acceptsEphemerides ? refresh.assuredSeconds(usableSeconds: ephemerides.usableSeconds(at: utc)) : 0
    // The policy counts the time down by itself.
    guard seconds > reportedSeconds || seconds == 0 && reportedSeconds > 0 || isReportOld(at: now) else { return nil }
    return reported(seconds, at: now)
  }

  private func reported(_ seconds: Double, at now: Instant) -> Double {
    (reportedSeconds, reportedAt) = (seconds, now)
    return seconds
  }

  private func isReportOld(at now: Instant) -> Bool { reportedSeconds > 0 && now >= reportedAt + Self.storeInterval }

  private func reportRefusals() {
    let refused = ephemerides.refused
    guard refused.total >= 2 * max(reportedRefusals, 4) else { return }
    reportedRefusals = refused.total
    reports.append(
      "broadcast ephemerides that are not used: \(refused.expired) of another time, \(refused.implausible) malformed, "
        + "\(refused.unhealthy) of unhealthy satellites; check the clock of the computer and the source of corrections")
  }

  private func storeIfDue(_ connection: ReceiverConnection?, _ utc: UTCTime, at now: Instant) {
    if ephemerides.revision != storedRevision, isDue(ephemeridesStoredAt, at: now) {
      (storedRevision, ephemeridesStoredAt) = (ephemerides.revision, now)
      store.save(ephemerides, at: utc)
    }
    if place != nil, isDue(placeStoredAt, at: now) {
      placeStoredAt = now
      save(connection, at: utc)
    }
  }

  private func isDue(_ last: Instant?, at now: Instant) -> Bool { last.map { now >= $0 + Self.storeInterval } ?? true }

  /// Stores the place, and the orbits that the receiver returned at the end of its session. Call it before the line is closed.
  func end(_ connection: ReceiverConnection?) {
    guard let utc = System.referenceTime() else { return }
    save(connection, at: utc)
    if ephemerides.revision != storedRevision {
      storedRevision = ephemerides.revision
      store.save(ephemerides, at: utc)
    }
    given = nil
  }

  private func save(_ connection: ReceiverConnection?, at utc: UTCTime) {
    guard let description = connection?.description, description.family == nil else { return }
    var record = AssistanceRecord(key: AssistanceRecord.Key(description))
    record.place = place
    record.database = connection?.navigationDatabase ?? []
    guard record.place != nil || !record.database.isEmpty else { return }
    store.save(record, at: utc)
    records = store.records()
    place = nil
    given = nil
  }
}
