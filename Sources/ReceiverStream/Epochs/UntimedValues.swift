// SPDX-License-Identifier: Apache-2.0

/// The values of a burst's sentences without a time: GSA, VTG, headings, and manufacturers' sentences.
///
/// They complete the fix of the burst's epoch, and do not override sentences with a time. A later VTG replaces the
/// motion of RMC only if messages with the epoch's time enclose it, so that no other burst can have sent it.
// Not copyable, because the compiler copies a value for each call that only reads it.
struct UntimedValues: ~Copyable, Sendable {
  /// The position of VTG among the messages with a time.
  enum Place: UInt8 { case none, last, enclosed }

  var motion = Place.none
  var speedMetresPerSecond: Double?
  var courseDegrees: Double?
  /// North, east, down.
  var velocityMetresPerSecond: SIMD3<Double>?
  var pdop: Double?
  var hdop: Double?
  var vdop: Double?
  var horizontalAccuracyMetres: Double?
  var verticalAccuracyMetres: Double?
  var heading = Heading()
  /// GSA's fix mode 1, 2 or 3: the best of the burst.
  var fixMode: Int?
  /// The used satellites of GSA.
  var used = SatelliteSet()
  /// The used satellites whose system is unknown.
  var unmatched = UnmatchedSatellites()
  /// The total number of both.
  var usedCount = 0

  // Inlined, because the compiler copies the result of a call.
  @inline(__always)
  init() {}

  /// Completes a fix.
  func complete(_ fix: inout Fix) {
    if fix.source < .ubx {
      if fix.speedMetresPerSecond == nil || motion == .enclosed && speedMetresPerSecond != nil {
        fix.speedMetresPerSecond = speedMetresPerSecond
      }
      if fix.courseDegrees == nil || motion == .enclosed && courseDegrees != nil { fix.courseDegrees = courseDegrees }
      if fix.velocityMetresPerSecond == nil, let velocityMetresPerSecond {
        fix.velocityMetresPerSecond = velocityMetresPerSecond
        fix.climbMetresPerSecond = -velocityMetresPerSecond.z
      }
      if fix.accuracySource == .none, let horizontalAccuracyMetres {
        fix.horizontalAccuracyMetres = horizontalAccuracyMetres
        fix.verticalAccuracyMetres = verticalAccuracyMetres
        fix.accuracySource = .receiver
      }
      if fix.pdop == nil { fix.pdop = pdop }
      if fix.hdop == nil { fix.hdop = hdop }
    }
    if fix.vdop == nil { fix.vdop = vdop }
    heading.complete(&fix)
  }

  /// Adds the values of later sentences of the same burst.
  mutating func add(_ later: borrowing UntimedValues) {
    speedMetresPerSecond = later.speedMetresPerSecond ?? speedMetresPerSecond
    courseDegrees = later.courseDegrees ?? courseDegrees
    velocityMetresPerSecond = later.velocityMetresPerSecond ?? velocityMetresPerSecond
    pdop = later.pdop ?? pdop
    hdop = later.hdop ?? hdop
    vdop = later.vdop ?? vdop
    if later.horizontalAccuracyMetres != nil {
      horizontalAccuracyMetres = later.horizontalAccuracyMetres
      verticalAccuracyMetres = later.verticalAccuracyMetres
    }
    heading.add(later.heading)
    if let mode = later.fixMode { fixMode = max(fixMode ?? 0, mode) }
    used.add(later.used)
    unmatched.append(later.unmatched)
    usedCount += later.usedCount
  }
}

/// The heading of a burst, from compasses, gyroscopes and pairs of antennas.
struct Heading: Sendable {
  /// Degrees from true north.
  var trueDegrees: Double?
  /// One standard deviation, degrees.
  var accuracyDegrees: Double?
  /// Degrees from magnetic north.
  var magneticDegrees: Double?
  var source = Fix.HeadingSource.none

  /// Sets a heading from true north, unless a better source has set one.
  mutating func set(true degrees: Double, accuracyDegrees accuracy: Double? = nil, _ source: Fix.HeadingSource) {
    guard source >= self.source else { return }
    self.source = source
    trueDegrees = degrees
    accuracyDegrees = accuracy
  }

  /// Sets a heading from magnetic north.
  mutating func set(magnetic degrees: Double) {
    magneticDegrees = degrees
    source = max(source, .compass)
  }

  /// Adds a later heading, unless its source is worse.
  mutating func add(_ later: Heading) {
    if let degrees = later.trueDegrees { set(true: degrees, accuracyDegrees: later.accuracyDegrees, later.source) }
    if let degrees = later.magneticDegrees { set(magnetic: degrees) }
  }

  /// Assigns the heading to a fix, unless a UBX message has set one.
  func complete(_ fix: inout Fix) {
    guard fix.headingSource != .ubx, source > .none else { return }
    fix.headingDegrees = trueDegrees
    fix.headingAccuracyDegrees = accuracyDegrees
    fix.magneticHeadingDegrees = magneticDegrees
    fix.headingSource = source
  }
}
