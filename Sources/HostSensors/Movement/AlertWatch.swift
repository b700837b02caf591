import MonotonicTime

/// Notices a movement where the accelerometer itself tells that something has changed: between two such events nobody
/// measures. After one the sensor is asked every second for ten seconds, and `MovementWatch` decides: a slammed door is no
/// movement.
public struct AlertWatch: Sendable {
  static let period = Milliseconds(1000)
  static let alert = Milliseconds(10_000)

  private var watch = MovementWatch()
  /// When a measurement is due; nil while nothing has happened.
  public private(set) var deadline: Instant?
  private var alertUntil: Instant?

  /// It lies still from now on; the first measurement tells how.
  public init(at now: Instant) { deadline = now }

  /// The sensor tells that something has changed.
  public mutating func changed(at now: Instant) {
    alertUntil = now + Self.alert
    // One that goes on telling makes no measurement later, and none more often.
    deadline = Instant.earlier(deadline, now)
  }

  /// Takes the measurement that was due, m/s²; true when the device is moved.
  public mutating func receive(_ acceleration: SIMD3<Double>, at now: Instant) -> Bool {
    let isMovement = watch.receive(acceleration)
    if let until = alertUntil, now < until {
      deadline = now + Self.period
    } else {
      (alertUntil, deadline) = (nil, nil)
    }
    return isMovement
  }
}
