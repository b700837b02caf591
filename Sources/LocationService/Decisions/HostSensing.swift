// SPDX-License-Identifier: Apache-2.0
import MonotonicTime
import Positioning
import ReceiverStream

/// The computer's own sensors, the receiver's heading, and the choice between the two sources of a heading.
///
///     absent ──listed──▶ working ──no answer──▶ faulty ──an answer──▶ working
///        ▲──────────────not listed────────────────┘
///
/// A receiver's heading is preferred to a magnetometer's, because iron does not disturb two antennas or a gyroscope. It
/// is used for `headingTimeout` after each epoch that has one.
struct HostSensing: Sendable {
  /// The age at which a receiver's heading expires.
  static let headingTimeout = Milliseconds(3000)
  /// The time after which a receiver whose epochs have no heading counts as one without a heading.
  static let headingMemory = Milliseconds(60_000)
  /// The accuracy of a heading whose sentence has none, degrees: of a gyroscope or two antennas; of a compass.
  static let sentenceAccuracyDegrees = 2.0
  static let compassAccuracyDegrees = 5.0

  enum Sensor: Sendable {
    case absent, working, faulty

    /// The state of the sensor after a read of the kernel's list. A faulty sensor remains faulty until it answers or is
    /// removed.
    fileprivate func listed(_ isListed: Bool) -> Sensor { isListed ? self == .faulty ? .faulty : .working : .absent }
  }

  private(set) var magnetometer = Sensor.absent
  private(set) var accelerometer = Sensor.absent
  /// Whether the kernel lists a Bluetooth adapter.
  private var hasBluetoothAdapter = false
  /// Whether BlueZ can receive beacons; nil until BlueZ has been queried.
  private var canReceiveBeacons: Bool?
  private var receiverHeading: (received: Instant, sample: HeadingSample)?
  private var demand = SensorDemand()

  var hasReceiverHeading: Bool { receiverHeading != nil }
  var hasCompass: Bool { magnetometer == .working || hasReceiverHeading }
  var hasBluetooth: Bool { canReceiveBeacons ?? hasBluetoothAdapter }

  /// The time at which the receiver's heading expires.
  var receiverHeadingEnds: Instant? { receiverHeading.map { $0.received + Self.headingTimeout } }

  /// Whether the receiver's heading is the one in use.
  func receiverLeads(at now: Instant) -> Bool { receiverHeadingEnds.map { now < $0 } ?? false }

  mutating func list(magnetometer: Bool, accelerometer: Bool, bluetoothAdapter: Bool) {
    self.magnetometer = self.magnetometer.listed(magnetometer)
    self.accelerometer = self.accelerometer.listed(accelerometer)
    hasBluetoothAdapter = bluetoothAdapter
    if !bluetoothAdapter { canReceiveBeacons = nil }
  }

  mutating func setCanReceiveBeacons(_ can: Bool?) { canReceiveBeacons = can }

  mutating func magnetometerAnswered() { if magnetometer == .faulty { magnetometer = .working } }
  mutating func magnetometerFailed() { magnetometer = .faulty }
  mutating func accelerometerFailed() { accelerometer = .faulty }
  mutating func receiverHeadingLost() { receiverHeading = nil }

  /// Handles a receiver's epoch. Returns its heading; nil if it has none, or if the heading has already been returned.
  mutating func receive(_ fix: Fix, at now: Moment) -> HeadingSample? {
    guard fix.headingDegrees != nil || fix.magneticHeadingDegrees != nil else {
      if let last = receiverHeading?.received, now.instant >= last + Self.headingMemory { receiverHeading = nil }
      return nil
    }
    let accuracy =
      fix.headingAccuracyDegrees
      ?? (fix.headingSource == .compass ? Self.compassAccuracyDegrees : Self.sentenceAccuracyDegrees)
    let sample = HeadingSample(
      magneticDegrees: fix.magneticHeadingDegrees, trueDegrees: fix.headingDegrees, accuracyDegrees: accuracy,
      timestamp: fix.time ?? now.utc)
    defer { receiverHeading = (now.instant, sample) }
    // An epoch is reported again when a later message has added to it.
    return sample == receiverHeading?.sample ? nil : sample
  }

  /// Sets what the sensors measure from now on. Returns the action for it; nil if nothing changes.
  mutating func request(_ demand: SensorDemand) -> ServiceAction? {
    guard demand != self.demand else { return nil }
    self.demand = demand
    return .sense(demand)
  }
}

extension ClientCall {
  /// Whether the demand depends on removable sensors.
  var needsSensors: Bool {
    switch self {
    case .startHeading, .startRanging: true
    case .startMonitoring(let region, _): region.shape.isBeacon
    default: false
    }
  }
}

/// The measurements that clients need of the computer's own sensors. A sensor without a demand is not read.
package struct SensorDemand: Hashable, Sendable {
  /// The smallest turn that is reported, degrees, 0 for every one; nil if no heading is needed.
  var headingFilterDegrees: Double?
  /// Whether the accelerometer must detect movement.
  package var movement = false
  /// Whether beacons are received.
  var beacons = false
  /// Whether suspends of the computer are observed, because a receiver is open.
  var suspends = false
}
