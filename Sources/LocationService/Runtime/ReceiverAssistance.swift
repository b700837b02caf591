// SPDX-License-Identifier: Apache-2.0
import LinuxIO
import Messages
import MonotonicTime
import RTCM3
import Receiver
import ReceiverRuntime
import ReceiverStream

/// The assistance of the daemon's first receiver: its last position and orbits, broadcast ephemerides and the orbits of AssistNow,
/// with their files.
final class ReceiverAssistance {
  /// The time between two stores of a changed position or of changed ephemerides.
  private static let storeInterval = Milliseconds(600_000)
  /// The time between two looks for changed files, while the receiver is in use.
  private static let fileInterval = Milliseconds(60_000)

  /// The service's own descriptors have the tokens up to 15.
  private static let token = Poller.Token(rawValue: 14)

  private let store: AssistanceStore
  private let source: AssistanceSource
  private var records: [AssistanceRecord]
  private var ephemerides: EphemerisStock
  private var refresh = EphemerisRefresh()
  private let assistNow: AssistNow?
  private var predictions: PredictedOrbits
  /// Counts the downloads of predictions.
  private var predictionsRevision = 0
  private var assistNowRefresh: AssistNowRefresh
  private var download: AssistNowDownload?
  /// The last report about AssistNow.
  private var assistNowReport: String?
  private var place: AssistanceRecord.Place?
  private var placeStoredAt: Instant?
  private var storedRevision = 0
  private var ephemeridesStoredAt: Instant?
  /// The revisions that the session has.
  private var given: (revision: Int, predictions: Int, hasClock: Bool)?
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
    assistNow = settings.assistNow.flatMap { $0.hosts.isEmpty ? nil : $0 }
    assistNowRefresh = AssistNowRefresh(
      settings.assistNow?.content ?? .predictions(days: 1), random: .random(in: 0...UInt64.max))
    // Files of a line that was removed from the configuration are not used.
    ephemerides = source == .broadcast || assistNow?.content == .ephemerides ? store.ephemerides() : EphemerisStock()
    predictions =
      assistNow.flatMap { _ in System.referenceTime() }.map { store.predictions(at: $0) } ?? PredictedOrbits()
  }

  /// The next line for the log.
  func nextReport() -> String? { reports.isEmpty ? nil : reports.removeFirst() }

  /// The time at which `needsEphemerides` may change; nil if it is not needed.
  private(set) var refreshDeadline: Instant?
  /// The time at which `work` is due for AssistNow, while a receiver is in use.
  private(set) var downloadDeadline: Instant?

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
      ephemerides: ephemerides, predictions: predictions)
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
    refreshDeadline = nil
    // Without the time no ephemeris can be checked.
    guard source == .broadcast, connection?.description?.acceptsEphemerides == true, let utc = time?.utc else {
      return false
    }
    let isNeeded = refresh.update(usableSeconds: ephemerides.usableSeconds(at: utc), at: now)
    refreshDeadline = refresh.deadline(after: now)
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

  // MARK: AssistNow

  /// Handles an event of the poller, which may concern another descriptor.
  func handle(_ event: Poller.Event, _ poller: inout Poller, at now: Instant) {
    download?.handle(event, &poller, at: now)
  }

  /// The time in seconds for which the stored orbits suffice for starts of a receiver.
  private func usableSeconds(of receiver: ReceiverDescription, at utc: UTCTime) -> Double {
    let current = receiver.acceptsEphemerides ? ephemerides.usableSeconds(at: utc) : 0
    return receiver.acceptsPredictions ? max(current, predictions.usableSeconds(at: utc)) : current
  }

  /// Starts and ends downloads.
  private func fetch(
    _ source: AssistNow, _ connection: ReceiverConnection?, isInUse: Bool, _ poller: inout Poller, at now: Instant
  ) {
    downloadDeadline = nil
    guard isInUse else {
      // A wait for the next use, not for the answer.
      download?.cancel(&poller)
      download = nil
      return assistNowRefresh.cancelled(at: now)
    }
    // Without the time no orbit can be checked.
    guard let receiver = connection?.description, let utc = time?.utc else { return }
    if let obstacle = obstacle(source, receiver) { return report(obstacle) }
    if let download {
      download.wake(&poller, at: now)
      if let result = download.result {
        self.download = nil
        finish(result, receiver, utc, at: now)
      }
    } else if assistNowRefresh.update(usableSeconds: stored(source, receiver, utc), at: now) {
      let hosts = source.hosts
      let host = hosts[assistNowRefresh.failures % hosts.count]
      download = AssistNowDownload(source, from: host, token: Self.token, &poller, at: now)
    }
    downloadDeadline = download?.deadline ?? assistNowRefresh.deadline
  }

  /// The time for which the orbits of this kind suffice.
  private func stored(_ source: AssistNow, _ receiver: ReceiverDescription, _ utc: UTCTime) -> Double {
    source.content == .ephemerides ? usableSeconds(of: receiver, at: utc) : predictions.usableSeconds(at: utc)
  }

  /// The reason why a receiver gets no orbits of this kind, with the next step; nil if it does.
  private func obstacle(_ source: AssistNow, _ receiver: ReceiverDescription) -> String? {
    if source.content == .ephemerides ? receiver.acceptsEphemerides : receiver.acceptsPredictions { return nil }
    let name = receiver.model ?? "this receiver"
    return receiver.acceptsEphemerides
      ? "AssistNow: \(name) takes no predicted orbits; write `assistnow = …, live`, or `assistance = broadcast`"
      : "AssistNow: \(name) takes no orbits of AssistNow (receivers of u-blox from M8 on do)"
  }

  private func finish(
    _ result: Result<AssistNowAnswer, AssistNowDownload.Failure>, _ receiver: ReceiverDescription, _ utc: UTCTime,
    at now: Instant
  ) {
    let outcome: AssistNowRefresh.Outcome
    switch result {
    case .success(let answer):
      outcome = .received
      let found = PredictedOrbits(answer, at: utc)
      let hasNew = ephemerides.receive(answer, at: utc)
      if found.usableSeconds(at: utc) > 0 {
        predictions = found
        predictionsRevision += 1
        store.save(found, at: utc)
        report("AssistNow: predicted orbits of \(found.count(at: utc)) satellites for \(Self.days(found, utc))")
      } else if hasNew {
        report("AssistNow: ephemerides of \(ephemerides.count(at: utc)) satellites")
      } else {
        report("AssistNow: the answer has no usable orbits; check the account and the clock of this computer")
      }
    case .failure(.unreachable(let reason)):
      outcome = .failed
      report("AssistNow: \(reason); trying again")
    case .failure(.limited):
      outcome = .limited
      report("AssistNow: the account has used its requests; the next one follows in a day")
    case .failure(.refused(let reason)):
      outcome = .refused
      report("AssistNow: \(reason); no further request until the service restarts")
    }
    assistNowRefresh.ended(outcome, usableSeconds: usableSeconds(of: receiver, at: utc), at: now)
  }

  private static func days(_ predictions: PredictedOrbits, _ utc: UTCTime) -> String {
    let count = (predictions.lastDay?.since1970 ?? utc.day.since1970) - utc.day.since1970 + 1
    return count == 1 ? "today" : "\(count) days"
  }

  /// Logs a line once.
  private func report(_ text: String) {
    guard text != assistNowReport else { return }
    assistNowReport = text
    reports.append(text)
  }

  // MARK: The receiver

  /// Ends a round. Returns the time for which a start has orbits, in seconds, if it has changed.
  ///
  /// - Parameter isInUse: whether a program needs the receiver.
  func work(_ connection: ReceiverConnection?, isInUse: Bool, _ poller: inout Poller, at now: Instant) -> Double? {
    let time = time
    if let assistNow { fetch(assistNow, connection, isInUse: isInUse, &poller, at: now) }
    if source == .broadcast, let utc = time?.utc, filesReadAt.map({ now >= $0 + Self.fileInterval }) ?? true {
      filesReadAt = now
      readNavigationFiles(utc)
    }
    let state = (revision: ephemerides.revision, predictions: predictionsRevision, hasClock: time != nil)
    if let connection {
      if given.map({ $0 != state }) ?? true {
        given = state
        connection.set(settings(), at: now)
      } else {
        connection.updateTime(at: now)
      }
    }
    guard let utc = time?.utc else { return reportedSeconds > 0 ? reported(0, at: now) : nil }
    storeIfDue(connection, utc, at: now)
    reportRefusals()
    guard source == .broadcast || assistNow != nil, let receiver = connection?.description else { return nil }
    let usable = usableSeconds(of: receiver, at: utc)
    let seconds = max(
      refresh.assuredSeconds(usableSeconds: usable),
      assistNow == nil ? 0 : assistNowRefresh.assuredSeconds(usableSeconds: usable))
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
