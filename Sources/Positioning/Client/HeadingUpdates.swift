// SPDX-License-Identifier: Apache-2.0
import MonotonicTime
import ReceiverStream

/// The heading service of one client (rules HD).
struct HeadingUpdates: Sendable {
  /// Degrees; 0 or less delivers every sample.
  var filterDegrees = 1.0
  /// The orientation that the client has set.
  private(set) var orientation = DeviceOrientation.portrait
  /// The offset in effect: orientations without an offset keep the former one (HD-10).
  private var offsetDegrees = 0.0

  private(set) var isRunning = false
  /// The last heading delivered since the creation of the client (HD-6).
  private(set) var last: Heading?
  private var wantsInitial = false
  private var hasFailed = false

  /// The state of the calibration display.
  private enum Calibration { case idle, asked, shown }
  private var calibration = Calibration.idle

  init() {}

  mutating func setOrientation(_ orientation: DeviceOrientation) {
    self.orientation = orientation
    offsetDegrees = orientation.offsetDegrees ?? offsetDegrees
  }

  /// Starts; no effect if it is running (HD-5).
  mutating func start() {
    guard !isRunning else { return }
    isRunning = true
    wantsInitial = true
    hasFailed = false
  }

  mutating func stop() {
    isRunning = false
    calibration = .idle
  }

  /// Handles a sample; returns the heading to deliver, if any.
  ///
  /// - Parameters:
  ///   - declinationDegrees: magnetic north from true north, east positive; nil if there is no location (HD-8).
  ///   - showsTrueNorth: location updates run (HD-7).
  mutating func receive(_ sample: HeadingSample, declinationDegrees: Double?, showsTrueNorth: Bool) -> Heading? {
    guard isRunning,
      let heading = self.heading(sample, declinationDegrees: declinationDegrees, showsTrueNorth: showsTrueNorth)
    else { return nil }
    hasFailed = false
    if !wantsInitial, filterDegrees > 0, let last, Self.turn(from: last, to: heading) < filterDegrees { return nil }
    wantsInitial = false
    last = heading
    return heading
  }

  /// Handles the loss of the heading. Returns whether to report it: once until there is a heading again (HD-13).
  mutating func failed() -> Bool {
    guard isRunning, !hasFailed else { return false }
    hasFailed = true
    return true
  }

  private func heading(_ sample: HeadingSample, declinationDegrees: Double?, showsTrueNorth: Bool) -> Heading? {
    let reference = { (degrees: Double) in Trigonometry.wrapped(degrees: degrees + offsetDegrees) }
    var magnetic = sample.magneticDegrees
    if magnetic == nil, let degrees = sample.trueDegrees, let declinationDegrees {
      magnetic = degrees - declinationDegrees
    }
    var north: Double?
    if showsTrueNorth, let declinationDegrees { north = sample.trueDegrees ?? magnetic.map { $0 + declinationDegrees } }
    // A source that measures only true north has no magnetic north until there is a location.
    guard magnetic != nil else { return nil }
    return Heading(
      magneticDegrees: magnetic.map(reference) ?? -1, trueDegrees: north.map(reference) ?? -1,
      accuracyDegrees: sample.accuracyDegrees, fieldMicrotesla: sample.fieldMicrotesla, timestamp: sample.timestamp)
  }

  /// Degrees between two headings, 0…180, using a value that both have (HD-3). A true heading that appears or
  /// disappears counts as a change.
  static func turn(from a: Heading, to b: Heading) -> Double {
    if (a.trueDegrees < 0) != (b.trueDegrees < 0) { return 180 }
    let degrees =
      a.magneticDegrees >= 0 && b.magneticDegrees >= 0
      ? b.magneticDegrees - a.magneticDegrees : b.trueDegrees - a.trueDegrees
    let wrapped = Trigonometry.wrapped(degrees: degrees)
    return min(wrapped, 360 - wrapped)
  }

  // MARK: Calibration (HD-14)

  enum CalibrationAction: Hashable, Sendable {
    case none, ask, show, hide
  }

  /// Handles a compass that needs calibration: the delegate is asked once until the compass is calibrated.
  mutating func calibrationWanted() -> CalibrationAction {
    guard isRunning, calibration == .idle else { return .none }
    calibration = .asked
    return .ask
  }

  /// Handles the delegate's answer; false if the delegate lacks the method.
  mutating func calibrationAnswered(_ shows: Bool) -> CalibrationAction {
    guard calibration == .asked, shows else { return .none }
    calibration = .shown
    return .show
  }

  /// Records that the compass is calibrated.
  mutating func calibrated() -> CalibrationAction {
    defer { calibration = .idle }
    return calibration == .shown ? .hide : .none
  }

  /// Handles the dismissal of the display by the client; the delegate is not asked again until the compass has been
  /// calibrated.
  mutating func dismissCalibration() -> CalibrationAction {
    guard calibration == .shown else { return .none }
    calibration = .asked
    return .hide
  }
}
