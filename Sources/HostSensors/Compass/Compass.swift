import MonotonicTime

/// What the compass says.
public struct CompassReading: Hashable, Sendable {
  /// 0 ≤ heading < 360, of the device's top from magnetic north.
  public var magneticDegrees: Double
  /// One standard deviation; negative: the heading is not valid.
  public var accuracyDegrees: Double
  /// The field as it was measured, with the device's own, along the device's axes.
  public var fieldMicrotesla: SIMD3<Double>

  public init(magneticDegrees: Double, accuracyDegrees: Double, fieldMicrotesla: SIMD3<Double>) {
    self.magneticDegrees = magneticDegrees
    self.accuracyDegrees = accuracyDegrees
    self.fieldMicrotesla = fieldMicrotesla
  }
}

/// A compass made of a magnetometer and, where there is one, an accelerometer: takes what they measure and the time, gives
/// headings, and learns the device's own field meanwhile. It has no sensor and no clock.
public struct Compass: Sendable {
  /// What else became of it.
  public enum Event: Hashable, Sendable {
    /// The device should be turned around: its own field is not known, or is not what it was.
    case calibrationWanted
    case calibrated
    /// The calibration is to be kept for the next run.
    case keep(FieldCalibration)
  }

  /// Vectors are smoothed with this time constant: a needle's, seconds.
  static let smoothingSeconds = 0.25
  /// Without a calibration one is wished for after this time.
  static let patience = Milliseconds(3000)
  /// A calibration is kept when it differs by this much from what is kept.
  static let newsMicrotesla = 1.0
  /// … and not more often than this: a card wears by writing.
  static let keepInterval = Milliseconds(60_000)
  /// What the earth's field is like, anywhere on it (World Magnetic Model 2025).
  static let earthMicrotesla = 22.0...67
  /// A field that differs by this share from the calibrated one is somebody else's.
  static let disturbance = 0.3
  /// An acceleration that differs from gravity by more than this does not tell where up is, m/s².
  static let motion = 2.0

  /// What is known of the device's own field.
  public private(set) var calibration: FieldCalibration?
  private var search = CalibrationSearch()
  private var kept: FieldCalibration?
  private var keepAt = Instant.zero
  private var field: SIMD3<Double>?
  private var up: SIMD3<Double>?
  private var last: Instant?
  private var uncertainSince: Instant?
  private var isWanted = false
  private var events: [Event] = []

  /// - Parameter calibration: what an earlier run kept.
  public init(calibration: FieldCalibration? = nil) {
    self.calibration = calibration
    kept = calibration
  }

  /// What happened, the oldest first; nil when there is no more.
  public mutating func nextEvent() -> Event? { events.isEmpty ? nil : events.removeFirst() }

  /// Takes a measurement.
  ///
  /// - Parameters:
  ///   - measured: the magnetic field along the device's axes, microtesla.
  ///   - acceleration: at the same time, m/s²; at rest it points up. nil: there is no accelerometer, the device is level.
  /// - Returns: nil where the field stands upright and no direction can be told.
  public mutating func receive(
    field measured: SIMD3<Double>, acceleration: SIMD3<Double>?, at now: Instant
  ) -> CompassReading? {
    learn(measured, at: now)
    let weight = last.map { share(seconds: now.seconds(since: $0)) } ?? 1
    last = now
    field = mixed(field, measured, weight)
    if let acceleration, abs(acceleration.length - 9.81) < Self.motion { up = mixed(up, acceleration, weight) }
    let earth = (field ?? measured) - (calibration?.offsetMicrotesla ?? SIMD3())
    guard let direction = Attitude.direction(field: earth, up: up ?? SIMD3(0, 0, 1)) else { return nil }
    let accuracy = accuracy(earth, direction.horizontalMicrotesla)
    watch(isCertain: calibration != nil && accuracy >= 0, at: now)
    return CompassReading(
      magneticDegrees: direction.magneticDegrees, accuracyDegrees: accuracy, fieldMicrotesla: measured)
  }

  // MARK: Smoothing

  /// How much a measurement counts that comes so long after the one before.
  private func share(seconds: Double) -> Double { seconds / (seconds + Self.smoothingSeconds) }

  private func mixed(_ old: SIMD3<Double>?, _ new: SIMD3<Double>, _ weight: Double) -> SIMD3<Double> {
    guard let old else { return new }
    return old + (new - old) * weight
  }

  // MARK: How far it is to be trusted

  private func accuracy(_ earth: SIMD3<Double>, _ horizontal: Double) -> Double {
    guard let calibration else {
      // Up to half of a field of the earth's strength may be the device's.
      return Self.earthMicrotesla.contains(earth.length) ? 45 : -1
    }
    if calibration.isSpatial,
      abs(earth.length - calibration.strengthMicrotesla) > Self.disturbance * calibration.strengthMicrotesla
    {
      return -1
    }
    // 2° is what a level compass of this kind can at best; a device that only believes to be level may lean by some degrees,
    // each of which turns the heading by about two.
    let error = max(2, Attitude.degrees(error: calibration.residualMicrotesla, horizontal: horizontal))
    return up == nil ? (error * error + 10 * 10).squareRoot() : error
  }

  // MARK: Calibration

  private mutating func learn(_ measured: SIMD3<Double>, at now: Instant) {
    guard let found = search.receive(measured, prior: calibration?.offsetMicrotesla ?? SIMD3()) else { return }
    // What was learnt about one axis does not replace what was learnt about all, as long as it goes with it.
    if let calibration, calibration.isSpatial, !found.isSpatial, !isWanted { return }
    calibration = found
    uncertainSince = nil
    if isWanted {
      isWanted = false
      events.append(.calibrated)
    }
    let isNews =
      kept.map {
        ($0.offsetMicrotesla - found.offsetMicrotesla).length > Self.newsMicrotesla || !$0.isSpatial && found.isSpatial
      }
      ?? true
    if isNews, now >= keepAt {
      keepAt = now + Self.keepInterval
      kept = found
      events.append(.keep(found))
    }
  }

  private mutating func watch(isCertain: Bool, at now: Instant) {
    if isCertain {
      uncertainSince = nil
      if isWanted {
        isWanted = false
        events.append(.calibrated)
      }
    } else {
      let since = uncertainSince ?? now
      uncertainSince = since
      if !isWanted, now >= since + Self.patience {
        isWanted = true
        events.append(.calibrationWanted)
      }
    }
  }

  /// What was learnt last is kept at the end, however short ago the last time was.
  public mutating func finish() {
    guard let calibration, calibration != kept else { return }
    kept = calibration
    events.append(.keep(calibration))
  }
}
