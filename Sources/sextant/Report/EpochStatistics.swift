// SPDX-License-Identifier: Apache-2.0

import ReceiverStream
import WireBytes

/// The time axis of a recording: the time that its epochs cover. A step back, and a step forward of more than a day,
/// count as jumps and do not add time.
package struct RecordingAxis: Sendable {
  static var longestGap: Int64 { 86_400_000_000_000 }
  /// The longest gap before an epoch without a position. After a restart such epochs count from midnight, which can be
  /// hours ahead; the next epoch with a position states how long the gap was.
  static var longestGapWithoutPosition: Int64 { 600_000_000_000 }
  /// A step back up to this length is an epoch out of order, such as HNR-PVT beside NAV-PVT.
  static var longestStepBack: Int64 { 1_000_000_000 }
  /// The date for the times of day before the first date of a recording. Dates of 1024 weeks earlier or later are not
  /// credible, so that the calendar corrects none by it, and the leap seconds are the present ones.
  package static let assumedDate = UTCTime(nanosecondsSince1970: 220 * 365 * UTCTime.nanosecondsPerDay)

  package private(set) var seconds = 0.0
  package private(set) var jumps = 0
  private var isDated = false
  private var start: UTCTime?
  private var latest: UTCTime?
  /// The last epoch with a position, and its place on the axis.
  private var position: (time: UTCTime, seconds: Double)?

  package init() {}

  /// Whether an epoch had a time of day, so that the axis has a length.
  package var hasTime: Bool { latest != nil }
  /// The time of the first epoch; nil without a date.
  package var first: UTCTime? { isDated ? start : nil }
  /// The time of the last epoch; nil without a date.
  package var last: UTCTime? { isDated ? latest : nil }

  package mutating func advance(to time: UTCTime?, hasPosition: Bool) {
    guard let time else { return }
    guard let latest else {
      (start, self.latest) = (time, time)
      isDated = abs(time.day.since1970 - Self.assumedDate.day.since1970) > 1
      if hasPosition { position = (time, seconds) }
      return
    }
    var from = (time: latest, seconds: seconds)
    if hasPosition, let position { from = position }
    // Times since 1970 in nanoseconds may be 292 years apart on each side.
    var (gap, isTooLarge) = time.nanosecondsSince1970.subtractingReportingOverflow(from.time.nanosecondsSince1970)
    let isFirstDate = !isDated && (isTooLarge || gap.magnitude > Self.longestGap.magnitude)
    if isFirstDate {
      // The times of day go on.
      gap = (time.nanosecondsOfDay - from.time.nanosecondsOfDay + Self.longestGap) % Self.longestGap
      if gap > Self.longestGap / 2 { gap -= Self.longestGap }
      (isTooLarge, isDated) = (false, true)
    }
    if isTooLarge || gap > Self.longestGap || gap < -Self.longestStepBack {
      // Without a position the clock may not be set yet: the next position shows its jump.
      if hasPosition || position == nil { jumps += 1 }
    } else if gap < 0 {
      // The later time stays, or the next gap would count the step twice.
      if !isFirstDate { return }
    } else if hasPosition || position == nil || gap <= Self.longestGapWithoutPosition {
      seconds = from.seconds + Double(gap) / 1e9
    }
    self.latest = time
    if isFirstDate {
      let before = Int64(clamping: (seconds * 1e9).rounded())
      start = UTCTime(nanosecondsSince1970: time.nanosecondsSince1970 &- before)
    }
    if hasPosition { position = (time, seconds) }
  }
}

/// The statistics of the epochs of a recording.
package struct EpochStatistics: Sendable {
  package private(set) var axis = RecordingAxis()
  package private(set) var epochs = 0
  package private(set) var positions = 0
  /// The number of positions within the receiver's limits.
  package var valid: Int { positions - kinds[SolutionKind.outsideLimits.rawValue] }
  /// The number of epochs of each `SolutionKind`.
  package private(set) var kinds = [Int](repeating: 0, count: SolutionKind.allCases.count)
  /// Seconds on the axis until the first position.
  package private(set) var firstFixSeconds: Double?
  package private(set) var outages = 0
  package private(set) var outageSeconds = 0.0
  package private(set) var longestOutageSeconds = 0.0
  package private(set) var altitude = Series()
  package private(set) var speed = Series()
  package private(set) var accuracy = Series()
  package private(set) var dilution = Series()
  package private(set) var used = Series()
  package private(set) var kind = Series()
  package private(set) var outline = TrackOutline()
  package private(set) var deviation: PositionDeviation
  /// The last report of the open epoch, which is the most complete.
  private var open: Fix?
  private var lastFixSeconds: Double?
  private var isLost = false

  package init(truth: Truth? = nil) { deviation = PositionDeviation(truth: truth) }

  /// Whether the receiver moved, so that the deviation of its positions is not its error: a mean speed above 0.5 m/s.
  package var isMoving: Bool { speed.total.count > 0 && speed.total.mean > 0.5 }

  /// Handles a report of the assembler.
  package mutating func add(_ fix: Fix, isUpdate: Bool) {
    if !isUpdate { finish() } else if open?.isUpdated(by: fix) != true { return }
    open = fix
  }

  /// Counts the open epoch.
  package mutating func finish() {
    guard let fix = open else { return }
    open = nil
    axis.advance(to: fix.time, hasPosition: fix.hasPosition)
    let now = axis.seconds
    epochs += 1
    let number = SolutionKind(fix).rawValue
    kinds[number] += 1
    kind.add(Double(number), at: now)
    used.add(fix.satellitesUsed.map { Double($0) }, at: now)
    dilution.add(fix.hdop, at: now)
    guard fix.hasPosition, let latitude = fix.latitudeDegrees, let longitude = fix.longitudeDegrees else {
      isLost = true
      return
    }
    if firstFixSeconds == nil { firstFixSeconds = now }
    endOutage(at: now)
    lastFixSeconds = now
    positions += 1
    altitude.add(fix.heightAboveSeaLevelMetres, at: now)
    speed.add(fix.speedMetresPerSecond, at: now)
    if fix.accuracySource != .assumed { accuracy.add(fix.horizontalAccuracyMetres, at: now) }
    let place = deviation.add(
      latitudeDegrees: latitude, longitudeDegrees: longitude, heightMetres: fix.heightAboveEllipsoidMetres)
    outline.add(place, at: now)
  }

  /// Ends the recording. An outage at its end is counted up to the last epoch.
  package mutating func end() {
    finish()
    endOutage(at: axis.seconds)
  }

  /// Counts an outage: the time between two positions that have epochs without a position in between. There is no
  /// outage before the first position.
  private mutating func endOutage(at now: Double) {
    defer { isLost = false }
    guard isLost, let lastFixSeconds else { return }
    let length = now - lastFixSeconds
    outages += 1
    outageSeconds += length
    longestOutageSeconds = max(longestOutageSeconds, length)
  }
}

/// The smallest, greatest and mean value in each part of a time axis of unknown length. When the axis is full, pairs of
/// parts are merged, so that memory is bounded and no extreme is lost.
package struct Series: Sendable {
  package struct Bucket: Equatable, Sendable {
    package var minimum = Double.infinity
    package var maximum = -Double.infinity
    package var sum = 0.0
    package var count = 0

    package var mean: Double { sum / Double(count) }

    mutating func add(_ other: Bucket) {
      minimum = min(minimum, other.minimum)
      maximum = max(maximum, other.maximum)
      sum += other.sum
      count += other.count
    }
  }

  package static var capacity: Int { 512 }

  /// The length of a part, seconds.
  package private(set) var width = 1.0
  package private(set) var buckets: [Bucket] = []
  /// All values together.
  package private(set) var total = Bucket()

  package init() {}

  /// Adds a finite value at a time of 0 or more, seconds. Other values are ignored.
  package mutating func add(_ value: Double?, at seconds: Double) {
    guard let value, value.isFinite, seconds >= 0, seconds < 1e12 else { return }
    while seconds / width >= Double(Self.capacity) {
      buckets = stride(from: 0, to: buckets.count, by: 2).map { index in
        var bucket = buckets[index]
        if index + 1 < buckets.count { bucket.add(buckets[index + 1]) }
        return bucket
      }
      width *= 2
    }
    let index = Int(clamping: seconds / width)
    while buckets.count <= index { buckets.append(Bucket()) }
    let one = Bucket(minimum: value, maximum: value, sum: value, count: 1)
    buckets[index].add(one)
    total.add(one)
  }
}

/// The points of a track that its picture needs: for each part of the time axis, the first point and the four extremes
/// in each direction.
package struct TrackOutline: Sendable {
  private struct Part: Sendable {
    var first: Point
    var west, east, south, north: Point

    init(_ point: Point) { (first, west, east, south, north) = (point, point, point, point, point) }

    mutating func add(_ other: Part) {
      if other.west.place.x < west.place.x { west = other.west }
      if other.east.place.x > east.place.x { east = other.east }
      if other.south.place.y < south.place.y { south = other.south }
      if other.north.place.y > north.place.y { north = other.north }
    }
  }

  private struct Point: Sendable {
    var seconds: Double
    /// East and north, metres.
    var place: SIMD2<Double>
  }

  static var capacity: Int { 512 }
  private var width = 1.0
  private var parts: [Part?] = []

  package init() {}

  /// Adds a place, metres east and north, at a time of 0 or more, seconds.
  package mutating func add(_ place: SIMD2<Double>, at seconds: Double) {
    guard seconds >= 0, seconds < 1e12 else { return }
    while seconds / width >= Double(Self.capacity) {
      parts = stride(from: 0, to: parts.count, by: 2).map { index in
        guard index + 1 < parts.count, let second = parts[index + 1] else { return parts[index] }
        guard var part = parts[index] else { return second }
        part.add(second)
        return part
      }
      width *= 2
    }
    let index = Int(clamping: seconds / width)
    while parts.count <= index { parts.append(nil) }
    let part = Part(Point(seconds: seconds, place: place))
    if parts[index] == nil { parts[index] = part } else { parts[index]?.add(part) }
  }

  /// The places in the order of their times.
  package var places: [SIMD2<Double>] {
    parts.flatMap { part -> [SIMD2<Double>] in
      guard let part else { return [] }
      return [part.first, part.west, part.east, part.south, part.north].sorted { $0.seconds < $1.seconds }.map(\.place)
    }
  }
}
