// SPDX-License-Identifier: Apache-2.0

import LinuxIO
import MonotonicTime
import Positioning
import WireBytes

/// The fixes that wait for the server, in a ring of files of a bounded size.
///
/// A fix is pending until it is written, waits until the server has acknowledged it, and is deleted with its segment:
///
///     append ─▶ pending ──flush──▶ waiting ──acknowledge──▶ acknowledged
///                                    └──thinned, dropped (full, too old), set aside (refused)
///
/// A segment is a file of records, named after its first number. Acknowledged numbers are ranges in a file of their own. The
/// queue never rewrites a segment, except to thin it, so that a flash memory gets few and large writes.
struct FixQueue<Storage: QueueStorage> {
  struct Limits: Equatable, Sendable {
    /// The largest size of the files; `leastBytes` or more.
    var bytes = 4 << 20
    /// The age at which a fix is dropped, by the time of ``FixClock``; nil for none.
    var ageSeconds: Int64?
    /// The tolerance of thinning in a full queue.
    var toleranceMetres = 10.0

    static var leastBytes: Int { 64 << 10 }
  }

  /// The numbers of fixes that the server did not get, by cause, since the files were made.
  struct Losses: Equatable, Sendable {
    /// Left out of a full queue within the tolerance.
    var thinned = 0
    /// Deleted by a full queue, by age, or refused by the server.
    var dropped = 0
  }

  private struct Entry {
    var sequence: UInt64
    /// The record in the file.
    var position: UInt32
    var isAcknowledged = false
  }

  private struct Segment {
    var name: String
    var entries: [Entry] = []
    /// The size of the file.
    var bytes = 0
    var isThinned = false
    /// The number of entries that wait.
    var waiting = 0
    /// The time of its newest fix.
    var newestNanoseconds = Int64.min
  }

  let limits: Limits
  private(set) var storage: Storage
  /// Names this queue in the identifiers of its fixes.
  let identity: String
  private(set) var losses = Losses()
  /// The time of the fix that arrived last; nil without a fix.
  private(set) var latestNanoseconds: Int64?
  /// A file does not show when its fixes arrived: each run begins anew.
  private var clock: FixClock

  private var segments: [Segment] = []
  private var pending: [QueuedFix] = []
  private var nextSequence: UInt64 = 1
  /// Acknowledged numbers that are not in the file.
  private var unwrittenAcknowledgements: [ClosedRange<UInt64>] = []
  private var acknowledgementBytes = 0
  private var lossesAreWritten = true
  /// Whether the last write of fixes failed: then the pending fixes are sent from memory.
  private(set) var isUnwritable = false
  private var isSynced = true

  private static var segmentCount: Int { 8 }
  /// The numbers that fixes have: a file cannot name one beyond which counting overflows.
  private static var numbers: ClosedRange<UInt64> { 1...(1 << 62) }
  private static var segmentPrefix: String { "fixes-" }
  private static var acknowledgements: String { "acknowledged" }
  private static var identityName: String { "identity" }
  private static var lossesName: String { "losses" }
  private static var rangeSize: Int { 20 }
  /// The size of the file of acknowledged numbers at which it is written anew.
  private var acknowledgementLimit: Int { min(16_000, limits.bytes / Self.segmentCount) }
  /// The most fixes that wait for a disk that is full.
  private static var pendingLimit: Int { 1024 }

  private var segmentBytes: Int { limits.bytes / Self.segmentCount / FixRecord.size * FixRecord.size }

  // MARK: Start

  /// Opens the queue in its files, and makes it where there are none. Damaged records are left out.
  ///
  /// - Parameters:
  ///   - storage: the files.
  ///   - identity: names a new queue.
  init(_ storage: Storage, _ limits: Limits, identity: String) throws(FileError) {
    try self.init(storage, limits, newIdentity: identity)
  }

  /// Reads the files of a queue, and changes nothing.
  init(reading storage: Storage) throws(FileError) { try self.init(storage, Limits(), newIdentity: nil) }

  /// - Parameter newIdentity: nil if nothing may be written.
  private init(_ storage: Storage, _ limits: Limits, newIdentity: String?) throws(FileError) {
    var storage = storage
    let names = storage.names()
    let known = names.contains(Self.identityName) ? Self.text(try storage.read(Self.identityName)) : ""
    if known.isEmpty, let newIdentity { try storage.replace(Self.identityName, with: Array(newIdentity.utf8)) }
    identity = known.isEmpty ? newIdentity ?? "" : known
    self.storage = storage
    self.limits = limits
    clock = FixClock(ageSeconds: limits.ageSeconds)
    if names.contains(Self.lossesName) {
      let numbers = Self.text(try storage.read(Self.lossesName)).split(separator: " ").compactMap { Int($0) }.filter {
        (0...(1 << 62)).contains($0)
      }
      if numbers.count == 2 { losses = Losses(thinned: numbers[0], dropped: numbers[1]) }
    }
    for name in names.sorted() where name.hasPrefix(Self.segmentPrefix) { try load(name) }
    if names.contains(Self.acknowledgements) { try loadAcknowledgements(repairs: newIdentity != nil) }
    for index in segments.indices {
      segments[index].waiting = segments[index].entries.count { !$0.isAcknowledged }
    }
  }

  private static func text(_ bytes: [UInt8]) -> String {
    String(decoding: bytes, as: UTF8.self).split(whereSeparator: \.isNewline).first.map(String.init) ?? ""
  }

  private mutating func load(_ name: String) throws(FileError) {
    guard let first = UInt64(name.dropFirst(Self.segmentPrefix.count), radix: 16), Self.numbers.contains(first) else {
      return
    }
    let bytes = try storage.read(name)
    var segment = Segment(name: name)
    // A torn record at the end is not continued: the next fixes are in a file of their own.
    segment.bytes = bytes.count
    for position in 0..<bytes.count / FixRecord.size {
      let start = position * FixRecord.size
      guard let fix = FixRecord.read(bytes[start..<start + FixRecord.size]), fix.sequence >= nextSequence,
        Self.numbers.contains(fix.sequence)
      else {
        continue
      }
      segment.entries.append(Entry(sequence: fix.sequence, position: UInt32(position)))
      segment.newestNanoseconds = max(segment.newestNanoseconds, fix.utcNanoseconds)
      latestNanoseconds = fix.utcNanoseconds
      nextSequence = fix.sequence + 1
    }
    nextSequence = max(nextSequence, first)
    segments.append(segment)
  }

  /// - Parameter repairs: whether a torn range at the end is removed.
  private mutating func loadAcknowledgements(repairs: Bool) throws(FileError) {
    let bytes = try storage.read(Self.acknowledgements)
    // A torn range at the end would displace the next one.
    acknowledgementBytes = bytes.count / Self.rangeSize * Self.rangeSize
    if repairs, acknowledgementBytes < bytes.count {
      try storage.truncate(Self.acknowledgements, to: acknowledgementBytes)
    }
    for start in stride(from: 0, through: bytes.count - Self.rangeSize, by: Self.rangeSize) {
      let record = bytes[start..<start + Self.rangeSize]
      let (first, last) = (FixRecord.integer(record, 0, 8), FixRecord.integer(record, 8, 8))
      guard FixRecord.isIntact(record), first <= last else { continue }
      mark(first...last)
      if Self.numbers.contains(last) { nextSequence = max(nextSequence, last + 1) }
    }
  }

  private mutating func mark(_ range: ClosedRange<UInt64>) {
    for index in segments.indices {
      let entries = segments[index].entries
      for entry in Self.firstIndex(in: entries, atLeast: range.lowerBound)..<entries.count {
        guard range.contains(entries[entry].sequence) else { break }
        segments[index].entries[entry].isAcknowledged = true
      }
    }
  }

  // MARK: Fixes

  /// The number of fixes that the server has not acknowledged.
  var count: Int { pending.count + segments.reduce(0) { $0 + $1.waiting } }
  /// Whether fixes or acknowledgements are in memory alone, for tests.
  var hasUnwritten: Bool { !pending.isEmpty || !unwrittenAcknowledgements.isEmpty || !lossesAreWritten }
  /// The number that the next fix gets.
  var upcomingSequence: UInt64 { nextSequence }

  /// Adds a fix. It is safe from the end of the process after `flush`.
  ///
  /// - Parameter now: the instant of its arrival.
  /// - Returns: its number.
  @discardableResult
  mutating func append(_ fix: QueuedFix, at now: Instant) -> UInt64 {
    var fix = fix
    fix.sequence = nextSequence
    nextSequence += 1
    pending.append(fix)
    latestNanoseconds = fix.utcNanoseconds
    clock.receive(fix.utcNanoseconds, at: now)
    if pending.count > Self.pendingLimit {
      pending.removeFirst()
      lose(dropped: 1)
    }
    return fix.sequence
  }

  /// Writes the fixes and acknowledgements that are only in memory.
  ///
  /// - Throws: ``FileError``, such as a full disk. Unwritten data stays in memory, and the next call tries it again.
  mutating func flush() throws(FileError) {
    if !pending.isEmpty {
      var written = 0
      while written < pending.count {
        if segments.last.map({ $0.bytes % FixRecord.size != 0 || $0.bytes + FixRecord.size > segmentBytes }) ?? true {
          segments.append(Segment(name: Self.segmentPrefix + pending[written].sequence.hexadecimalDigits))
        }
        let last = segments.count - 1
        let part = pending[written...].prefix((segmentBytes - segments[last].bytes) / FixRecord.size)
        do throws(FileError) {
          try write(Array(part), to: last)
        } catch {
          pending.removeFirst(written)
          if segments[last].bytes == 0 { segments.removeLast() }
          isUnwritable = true
          // A disk that is full has room when what the server has is deleted.
          try removeAcknowledgedSegments()
          throw error
        }
        written += part.count
      }
      isUnwritable = false
      pending.removeAll(keepingCapacity: true)
      isSynced = false
      try makeRoom()
    }
    try writeAcknowledgements()
    if !lossesAreWritten {
      try storage.replace(Self.lossesName, with: Array("\(losses.thinned) \(losses.dropped)\n".utf8))
      lossesAreWritten = true
    }
  }

  private mutating func write(_ fixes: [QueuedFix], to index: Int) throws(FileError) {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(fixes.count * FixRecord.size)
    for fix in fixes { FixRecord.append(fix, to: &bytes) }
    do throws(FileError) {
      try storage.append(bytes, to: segments[index].name)
    } catch {
      // A part may be there: the next record has to begin at its place.
      try? storage.truncate(segments[index].name, to: segments[index].bytes)
      throw error
    }
    for fix in fixes {
      segments[index].entries.append(
        Entry(sequence: fix.sequence, position: UInt32(segments[index].bytes / FixRecord.size)))
      segments[index].bytes += FixRecord.size
      segments[index].waiting += 1
      segments[index].newestNanoseconds = max(segments[index].newestNanoseconds, fix.utcNanoseconds)
    }
  }

  /// Brings the newest fixes to the disk, so that a loss of power leaves them.
  mutating func sync() {
    guard !isSynced, let last = segments.last else { return }
    storage.sync(last.name)
    isSynced = true
  }

  /// Returns the first fixes that wait, as numbers in their order.
  ///
  /// - Parameters:
  ///   - first: the least number.
  ///   - limit: the first number that is not returned; nil for none.
  ///   - count: the most numbers.
  func waiting(from first: UInt64, below limit: UInt64? = nil, count: Int) -> [UInt64] {
    var found: [UInt64] = []
    for segment in segments where segment.waiting > 0 {
      guard let last = segment.entries.last, last.sequence >= first else { continue }
      for entry in segment.entries[Self.firstIndex(in: segment.entries, atLeast: first)...] where !entry.isAcknowledged
      {
        if found.count == count || limit.map({ entry.sequence >= $0 }) ?? false { return found }
        found.append(entry.sequence)
      }
    }
    for fix in unwritable where fix.sequence >= first {
      if found.count == count || limit.map({ fix.sequence >= $0 }) ?? false { break }
      found.append(fix.sequence)
    }
    return found
  }

  /// The fixes that are sent from memory.
  private var unwritable: [QueuedFix] { isUnwritable ? pending : [] }

  /// Returns the last fixes that wait below a number, the newest first.
  func waitingNewest(below limit: UInt64, count: Int) -> [UInt64] {
    var found = Array(unwritable.reversed().map(\.sequence).filter { $0 < limit }.prefix(count))
    for segment in segments.reversed() where segment.waiting > 0 {
      let end = Self.firstIndex(in: segment.entries, atLeast: limit)
      for entry in segment.entries[..<end].reversed() where !entry.isAcknowledged {
        if found.count == count { return found }
        found.append(entry.sequence)
      }
    }
    return found
  }

  /// Returns a fix that waits; nil if it was acknowledged, thinned or dropped, or cannot be read any more.
  func fix(_ sequence: UInt64) -> QueuedFix? { if case .fix(let fix) = read(sequence) { fix } else { nil } }

  /// Returns a fix that is to be sent. One whose record was damaged since the start is dropped.
  mutating func fixToSend(_ sequence: UInt64) -> QueuedFix? {
    switch read(sequence) {
    case .fix(let fix): return fix
    case .damaged: setAside(sequence)
    case .unavailable: break
    }
    return nil
  }

  /// The result of reading a fix.
  private enum Reading {
    case fix(QueuedFix)
    case damaged
    /// It does not wait any more, or its file cannot be read now.
    case unavailable
  }

  private func read(_ sequence: UInt64) -> Reading {
    guard let (segment, entry) = place(of: sequence), !segments[segment].entries[entry].isAcknowledged else {
      return unwritable.first { $0.sequence == sequence }.map { .fix($0) } ?? .unavailable
    }
    let offset = Int(segments[segment].entries[entry].position) * FixRecord.size
    guard let bytes = try? storage.read(segments[segment].name, from: offset, count: FixRecord.size) else {
      return .unavailable
    }
    return FixRecord.read(bytes[...]).map { .fix($0) } ?? .damaged
  }

  /// The oldest fix that waits and can be read; nil without one.
  var oldest: QueuedFix? { waiting(from: 0, count: 64).lazy.compactMap(fix).first ?? pending.first }

  // MARK: Acknowledgements

  /// Ends the wait of a fix that the server has.
  ///
  /// - Returns: whether it waited.
  @discardableResult
  mutating func acknowledge(_ sequence: UInt64) -> Bool {
    guard let (segment, entry) = place(of: sequence), !segments[segment].entries[entry].isAcknowledged else {
      guard isUnwritable, let index = pending.firstIndex(where: { $0.sequence == sequence }) else { return false }
      pending.remove(at: index)
      return true
    }
    segments[segment].entries[entry].isAcknowledged = true
    segments[segment].waiting -= 1
    if let last = unwrittenAcknowledgements.last, last.upperBound + 1 == sequence {
      unwrittenAcknowledgements[unwrittenAcknowledgements.count - 1] = last.lowerBound...sequence
    } else {
      unwrittenAcknowledgements.append(sequence...sequence)
    }
    return true
  }

  /// Ends the wait of a fix that the server refuses, or that is too old; it counts as dropped.
  mutating func setAside(_ sequence: UInt64) { if acknowledge(sequence) { lose(dropped: 1) } }

  private mutating func writeAcknowledgements() throws(FileError) {
    guard !unwrittenAcknowledgements.isEmpty else { return }
    let bytes = Self.bytes(of: unwrittenAcknowledgements)
    if acknowledgementBytes + bytes.count > acknowledgementLimit {
      // Only the acknowledgements of the segments that are left are written. The newest segment stays, so that its
      // numbers are not used again.
      try removeAcknowledgedSegments()
      let whole = Self.bytes(of: acknowledgedRanges())
      try storage.replace(Self.acknowledgements, with: whole)
      acknowledgementBytes = whole.count
    } else {
      do throws(FileError) {
        try storage.append(bytes, to: Self.acknowledgements)
      } catch {
        try? storage.truncate(Self.acknowledgements, to: acknowledgementBytes)
        throw error
      }
      acknowledgementBytes += bytes.count
    }
    unwrittenAcknowledgements = []
  }

  private func acknowledgedRanges() -> [ClosedRange<UInt64>] {
    var ranges: [ClosedRange<UInt64>] = []
    for segment in segments {
      for entry in segment.entries where entry.isAcknowledged {
        if let last = ranges.last, last.upperBound + 1 == entry.sequence {
          ranges[ranges.count - 1] = last.lowerBound...entry.sequence
        } else {
          ranges.append(entry.sequence...entry.sequence)
        }
      }
    }
    return ranges
  }

  private static func bytes(of ranges: [ClosedRange<UInt64>]) -> [UInt8] {
    var bytes: [UInt8] = []
    for range in ranges {
      let start = bytes.count
      FixRecord.append(range.lowerBound, to: &bytes)
      FixRecord.append(range.upperBound, to: &bytes)
      FixRecord.sign(from: start, &bytes)
    }
    return bytes
  }

  // MARK: Room

  private var totalBytes: Int { segments.reduce(0) { $0 + $1.bytes } }

  /// Deletes what is acknowledged or too old, then thins, then drops, until the files fit.
  private mutating func makeRoom() throws(FileError) {
    try removeAcknowledgedSegments()
    try dropTooOld()
    while totalBytes + acknowledgementLimit > limits.bytes, segments.count > 1 {
      if let index = segments.dropLast().firstIndex(where: { !$0.isThinned }) {
        try thin(index)
      } else {
        lose(dropped: segments[0].waiting)
        try removeSegment(0)
      }
    }
  }

  private mutating func removeAcknowledgedSegments() throws(FileError) {
    for index in segments.indices.dropLast().reversed() where segments[index].waiting == 0 { try removeSegment(index) }
  }

  private mutating func dropTooOld() throws(FileError) {
    guard let age = limits.ageSeconds, let time = clock.utcNanoseconds else { return }
    let (span, isTooLong) = age.multipliedReportingOverflow(by: 1_000_000_000)
    let (limit, isTooEarly) = time.subtractingReportingOverflow(span)
    guard !isTooLong, !isTooEarly else { return }
    while segments.count > 1, segments[0].newestNanoseconds < limit {
      lose(dropped: segments[0].waiting)
      try removeSegment(0)
    }
    // Fixes are in the order of their time, except for wrong dates: the search ends at the first one that is not too old.
    while let sequence = waiting(from: 0, count: 1).first {
      switch read(sequence) {
      case .fix(let fix) where fix.utcNanoseconds < limit: setAside(sequence)
      case .damaged: setAside(sequence)
      case .fix, .unavailable: return
      }
    }
  }

  private mutating func removeSegment(_ index: Int) throws(FileError) {
    try storage.remove(segments[index].name)
    segments.remove(at: index)
  }

  private mutating func thin(_ index: Int) throws(FileError) {
    let segment = segments[index]
    let bytes = try storage.read(segment.name)
    let fixes = segment.entries.filter { !$0.isAcknowledged }.compactMap { entry -> QueuedFix? in
      let start = Int(entry.position) * FixRecord.size
      guard start + FixRecord.size <= bytes.count else { return nil }
      return FixRecord.read(bytes[start..<start + FixRecord.size])
    }
    let kept = TrackSimplification.kept(fixes, toleranceMetres: limits.toleranceMetres).map { fixes[$0] }
    var content: [UInt8] = []
    for fix in kept { FixRecord.append(fix, to: &content) }
    try storage.replace(segment.name, with: content)
    var thinned = Segment(name: segment.name, bytes: content.count, isThinned: true)
    thinned.entries = kept.enumerated().map { Entry(sequence: $1.sequence, position: UInt32($0)) }
    thinned.waiting = kept.count
    thinned.newestNanoseconds = segment.newestNanoseconds
    segments[index] = thinned
    lose(thinned: fixes.count - kept.count, dropped: segment.waiting - fixes.count)
  }

  private mutating func lose(thinned: Int = 0, dropped: Int = 0) {
    guard thinned > 0 || dropped > 0 else { return }
    losses.thinned += thinned
    losses.dropped += dropped
    lossesAreWritten = false
  }

  // MARK: Look-up

  private func place(of sequence: UInt64) -> (segment: Int, entry: Int)? {
    for index in segments.indices.reversed() {
      guard let first = segments[index].entries.first, first.sequence <= sequence else { continue }
      let entry = Self.firstIndex(in: segments[index].entries, atLeast: sequence)
      guard entry < segments[index].entries.count, segments[index].entries[entry].sequence == sequence else {
        return nil
      }
      return (index, entry)
    }
    return nil
  }

  /// Returns the index of the first entry with at least a number, or the number of entries.
  private static func firstIndex(in entries: [Entry], atLeast sequence: UInt64) -> Int {
    var (low, high) = (0, entries.count)
    while low < high {
      let middle = (low + high) / 2
      if entries[middle].sequence < sequence { low = middle + 1 } else { high = middle }
    }
    return low
  }
}

/// The time by the dates of fixes. The age of a fix is measured with it, so that a wrong date deletes no other fix.
///
/// Dates advance with the instants of arrival: the difference of both is constant, except for the delay of a fix and for wrong dates.
/// The least difference of the last two periods gives the time. Dates that are too late count only after they alone have
/// arrived for a whole period; a date that is too early delays the time for two periods at most, in which fixes stay longer.
struct FixClock: Sendable {
  /// The time at the last arrival, nanoseconds since 1970, UTC; nil before the second period.
  private(set) var utcNanoseconds: Int64?

  private let period: Milliseconds
  /// The least difference of the previous period; nil in the first one.
  private var previous: Int64?
  /// The least difference of this period, and its start; nil before the first fix.
  private var current: (least: Int64, since: Instant)?

  /// A receiver that starts without a date may show a wrong one until its almanac is complete, after 12.5 minutes.
  private static let longestPeriod: Int64 = 900

  /// - Parameter ageSeconds: the age at which fixes are dropped: the period is not longer.
  init(ageSeconds: Int64?) {
    period = Milliseconds(seconds: Double(min(Self.longestPeriod, ageSeconds ?? .max)))
  }

  /// Handles the date of a fix, nanoseconds since 1970.
  mutating func receive(_ date: Int64, at now: Instant) {
    let arrival = Int64(clamping: now.nanoseconds)
    let (difference, isTooEarly) = date.subtractingReportingOverflow(arrival)
    var least = isTooEarly ? .min : difference
    if let (before, since) = current, now < since + period {
      least = min(before, least)
      current = (least, since)
    } else {
      previous = current?.least
      current = (least, now)
    }
    utcNanoseconds = previous.map { min($0, least) }.flatMap { difference in
      let (time, isTooLate) = difference.addingReportingOverflow(arrival)
      return isTooLate ? nil : time
    }
  }
}
