// SPDX-License-Identifier: Apache-2.0
import MonotonicTime
import Positioning
import Power
import ReceiverStream

// The computer's own sensors: their measurements, and the demand for them.
extension ServiceCore {
  mutating func receive(_ input: SensingInput, at now: Moment) {
    switch input {
    case .listed(let magnetometer, let accelerometer, let adapter):
      changeSensing(at: now.instant) {
        $0.list(magnetometer: magnetometer, accelerometer: accelerometer, bluetoothAdapter: adapter)
      }
    case .compass(let reading):
      changeSensing(at: now.instant) { $0.magnetometerAnswered() }
      guard !sensing.receiverLeads(at: now.instant) else { return }
      let sample = HeadingSample(
        magneticDegrees: reading.magneticDegrees, accuracyDegrees: reading.accuracyDegrees,
        fieldMicrotesla: reading.fieldMicrotesla, timestamp: now.utc)
      changeEngines { $0.receive(sample) }
    case .compassFailed(let reason):
      if let reason {
        if sensing.magnetometer != .faulty { enqueue(.log(reason)) }
        changeSensing(at: now.instant) { $0.magnetometerFailed() }
      }
      if !sensing.receiverLeads(at: now.instant) { changeEngines { $0.headingFailed() } }
    case .compassEvent(.calibrationWanted, _): changeEngines { $0.calibrationWanted() }
    case .compassEvent(.calibrated, _): changeEngines { $0.calibrated() }
    case .compassEvent(.keep(let calibration), let sensor):
      enqueue(.store(.compass, StateText.text(of: calibration, sensor: sensor)))
    case .canReceiveBeacons(let can): changeSensing(at: now.instant) { $0.setCanReceiveBeacons(can) }
    case .beacon(let beacon, let strength):
      let sighting = BeaconSighting(
        uuid: BeaconUUID(high: beacon.uuid.high, low: beacon.uuid.low), major: beacon.major, minor: beacon.minor,
        strengthDecibelMilliwatts: strength, strengthAtOneMetreDecibelMilliwatts: Int(beacon.strengthAtOneMetre),
        received: now)
      changeEngines { $0.receive(sighting) }
    case .accelerometerFailed: changeSensing(at: now.instant) { $0.accelerometerFailed() }
    case .movement:
      // Paused clients resume, and the receiver checks the position.
      changeEngines { $0.movementNoticed(at: now.instant) }
      handle(.movementHint(.accelerometer), at: now)
    }
  }

  /// Handles the heading of a receiver's epoch.
  mutating func receiveHeading(of fix: Fix, at now: Moment) {
    if let sample = changeSensing(at: now.instant, { $0.receive(fix, at: now) }) {
      changeEngines { $0.receive(sample) }
    }
  }

  /// Changes the state of the sensors, and reports the consequences to the policy and the engine.
  mutating func changeSensing<Result>(at now: Instant, _ body: (inout HostSensing) -> Result) -> Result {
    let before = sensing.accelerometer == .working
    let result = body(&sensing)
    let hasAccelerometer = sensing.accelerometer == .working
    if hasAccelerometer != before { coordinator.handle(.accelerometer(isPresent: hasAccelerometer), at: now) }
    updateHostCapabilities(at: now)
    return result
  }

  private mutating func updateHostCapabilities(at now: Instant) {
    let before = hostCapabilities
    var after = before
    after.hasCompass = sensing.hasCompass
    after.hasBluetooth = sensing.hasBluetooth
    guard after != before else { return }
    setHostCapabilities(after)
    changeEngines { engine in
      if before.hasBluetooth, !after.hasBluetooth { engine.rangingFailed() }
      if !before.hasBluetooth, after.hasBluetooth { engine.beaconScanResumed(at: now) }
      if before.hasCompass, !after.hasCompass { engine.headingFailed() }
    }
  }

  /// The time at which a lost heading is reported.
  var sensingDeadline: Instant? {
    sensing.magnetometer == .absent && known.asksForHeading ? sensing.receiverHeadingEnds : nil
  }

  mutating func wakeSensing(at now: Instant) {
    guard let due = sensingDeadline, now >= due else { return }
    changeSensing(at: now) { $0.receiverHeadingLost() }
    changeEngines { $0.headingFailed() }
  }

  var needsReceiverForHeading: Bool {
    sensing.magnetometer == .absent && sensing.hasReceiverHeading && known.asksForHeading
  }

  /// Requests the measurements that clients and the receiver's state need now.
  mutating func updateSensors() {
    var demand = SensorDemand()
    demand.headingFilterDegrees = known.headingFilterDegrees
    demand.beacons = known.needsBeacons
    // While the receiver is idle, only the accelerometer can detect movement.
    demand.movement = sensing.accelerometer == .working && receivers.isOpen && coordinator.isSilenceWanted
    demand.suspends = receivers.isOpen
    requestSensors(demand)
  }

  mutating func requestSensors(_ demand: SensorDemand) { if let action = sensing.request(demand) { enqueue(action) } }
}
