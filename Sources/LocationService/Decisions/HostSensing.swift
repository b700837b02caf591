import MonotonicTime
import Positioning
import ReceiverStream

/// What is known of the computer's own sensors and of the receiver's heading, and which of both sources of a heading counts.
///
/// A receiver that tells its heading is believed before a magnetometer: two antennas and gyroscopes are not turned by iron. It
/// counts for as long as it goes on telling.
struct HostSensing: Sendable {
  /// A receiver that has told no heading for so long tells none now.
  static let patience = Milliseconds(3000)
  /// … and for so long, though it gave epochs, has none to tell any more.
  static let memory = Milliseconds(60_000)
  /// What is taken for the accuracy where the sentence tells none, degrees: a gyroscope or two antennas; a compass.
  static let sentenceAccuracyDegrees = 2.0
  static let compassAccuracyDegrees = 5.0

  /// There is a magnetometer.
  var hasMagnetometer = false
  /// There is a Bluetooth adapter, as far as the kernel tells.
  var hasAdapter = false
  /// Whether beacons can be heard, as BlueZ tells; nil: it was not asked.
  var canHearBeacons: Bool?
  /// The magnetometer does not answer.
  var isCompassFaulty = false
  /// There is an accelerometer, and it answers.
  var hasAccelerometer = false
  /// It is shown, and does not answer.
  var isAccelerometerFaulty = false
  /// When the receiver told its heading last.
  private(set) var reportedByReceiver: Instant?
  private var lastSample: HeadingSample?
  /// What the sensors were asked for.
  var asked = SensorDemand()

  /// Whether the receiver's heading is the one that counts.
  func receiverLeads(at now: Instant) -> Bool { reportedByReceiver.map { now < $0 + Self.patience } ?? false }

  /// When the receiver's heading stops counting.
  var receiverEnds: Instant? { reportedByReceiver.map { $0 + Self.patience } }

  var hasCompass: Bool { hasMagnetometer && !isCompassFaulty || reportedByReceiver != nil }
  var hasBluetooth: Bool { canHearBeacons ?? hasAdapter }

  /// Takes a receiver's epoch. Returns its heading, if it has one that was not told already.
  mutating func receive(_ fix: Fix, at now: Moment) -> HeadingSample? {
    guard fix.headingDegrees != nil || fix.magneticHeadingDegrees != nil else {
      if let told = reportedByReceiver, now.instant >= told + Self.memory { reportedByReceiver = nil }
      return nil
    }
    let accuracy =
      fix.headingAccuracyDegrees
      ?? (fix.headingSource == .compass ? Self.compassAccuracyDegrees : Self.sentenceAccuracyDegrees)
    let sample = HeadingSample(
      magneticDegrees: fix.magneticHeadingDegrees, trueDegrees: fix.headingDegrees, accuracyDegrees: accuracy,
      timestamp: fix.time ?? now.utc)
    reportedByReceiver = now.instant
    // An epoch is told again when something was added to it.
    guard sample != lastSample else { return nil }
    lastSample = sample
    return sample
  }

  /// The receiver has gone.
  mutating func receiverLost() { reportedByReceiver = nil }
}

extension ClientCall {
  /// Whether it depends on sensors that come and go.
  var needsSensors: Bool {
    switch self {
    case .startHeading, .startRanging: true
    case .startMonitoring(let region, _): region.shape.isBeacon
    default: false
    }
  }
}
