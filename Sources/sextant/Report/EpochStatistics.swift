// SPDX-License-Identifier: Apache-2.0
import ReceiverStream

/// The time axis of a recording: the time that its epochs cover. A step back, and a step forward of more than a day,
/// count as jumps and do not add time.
package struct RecordingAxis: Sendable {
  static var longestGap: Int64 { 86_400_000_000_000 }

  package private(set) var seconds = 0.0
  package private(set) var jumps = 0
  package private(set) var first: UTCTime?
  package private(set) var last: UTCTime?

  package init() {}

  package mutating func advance(to time: UTCTime?) {
    guard let time else { return }
    defer { last = time }
    first = first ?? time
    guard let last else { return }
    // Times since 1970 in nanoseconds may be 292 years apart on each side.
    let (gap, isTooLarge) = time.nanosecondsSince1970.subtractingReportingOverflow(last.nanosecondsSince1970)
    if isTooLarge || gap > Self.longestGap || gap < -1_000_000_000 {
      jumps += 1
    } else if gap > 0 {
      seconds += Double(gap) / 1e9
    }
  }
}

/// The statistics of the epochs of a recording.
package struct EpochStatistics: Sendable {
  package private(set) var axis = RecordingAxis()
  package private(set) var epochs = 0
  package private(set) var positions = 0
  /// The number of epochs for each kind of fix: none, time, 2D, 3D, corrected, RTK float, RTK fixed.
  package private(set) var kinds = [Int](repeating: 0, count: 7)
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
  package private(set) var deviation: Deviation
  /// The last report of the open epoch, which is the most complete.
  private var open: Fix?
  private var lastFixSeconds: Double?
  private var isLost = false

  package init(truth: Truth? = nil) { deviation = Deviation(truth: truth) }

  /// Whether the receiver moved, so that the deviation of its positions is not its error: a mean speed above 0.5 m/s.
  package var isMoving: Bool { speed.total.count > 0 && speed.total.mean > 0.5 }

  /// Handles a report of the assembler.
  package mutating func add(_ fix: Fix, isUpdate: Bool) {
    if isUpdate, open == nil || fix.time != open?.time { return }
    if !isUpdate { finish() }
    open = fix
  }

  /// Counts the open epoch.
  package mutating func finish() {
    guard let fix = open else { return }
    open = nil
    axis.advance(to: fix.time)
    let now = axis.seconds
    epochs += 1
    kinds[fix.kindNumber] += 1
    kind.add(Double(fix.kindNumber), at: now)
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

extension Fix {
  /// The kind of fix as a number for a chart.
  fileprivate var kindNumber: Int {
    guard hasPosition else { return kind == .timeOnly ? 1 : 0 }
    switch quality {
    case .rtkFixed: return 6
    case .rtkFloat: return 5
    case .differential, .preciseService: return 4
    default: return kind == .twoD ? 2 : 3
    }
  }
}
