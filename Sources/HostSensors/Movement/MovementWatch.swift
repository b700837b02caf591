import MonotonicTime

/// Notices with an accelerometer that a device that lay still is moved: it takes a measurement every `period` and says when
/// it is sure. It has no sensor and no clock.
///
/// A device at rest measures gravity, always the same way. A vehicle that drives shakes it by some tenths of m/s²; who picks it
/// up turns it. Either shows as a difference from the mean of the measurements before; one alone may be a slammed door, two
/// of three are a movement.
public struct MovementWatch: Sendable {
  /// How often it wants a measurement: seldom enough for a host that has little else to do, and a movement is told within
  /// three of them.
  public static let period = Milliseconds(2000)
  /// The difference that counts, m/s²: ten times the noise of a phone's sensor, a tilt of 2°.
  static let threshold = 0.35
  /// How much of a new measurement goes into the mean: sensors drift with their temperature.
  static let drift = 0.1

  private var rest: SIMD3<Double>?
  /// Whether the last three differed, the newest first.
  private var differed = (false, false)

  public init() {}

  /// Takes a measurement, m/s² in any axes; true when the device is moved.
  public mutating func receive(_ acceleration: SIMD3<Double>) -> Bool {
    guard let rest else {
      self.rest = acceleration
      return false
    }
    let differs = (acceleration - rest).length > Self.threshold
    let isMovement = differs && (differed.0 || differed.1)
    differed = (differs, differed.0)
    self.rest = differs ? rest : rest + (acceleration - rest) * Self.drift
    if isMovement {
      // What comes is measured against how it lies then.
      self.rest = nil
      differed = (false, false)
    }
    return isMovement
  }
}
