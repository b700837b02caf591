import HostSensors
import MonotonicTime
import Positioning
import ReceiverStream
import SystemBus

/// What the computer's own sensors tell, and what they are asked for.
extension ServiceCore {
  // MARK: What goes in

  /// What sensors the kernel shows now; they come and go.
  mutating func hostHas(magnetometer: Bool, bluetoothAdapter: Bool, at now: Instant) {
    if !magnetometer { sensing.isCompassFaulty = false }
    sensing.hasMagnetometer = magnetometer
    sensing.hasAdapter = bluetoothAdapter
    if !bluetoothAdapter { sensing.canHearBeacons = nil }
    updateFacilities(at: now)
  }

  /// An epoch of the receiver, for its heading.
  mutating func receiveHeading(of fix: Fix, at now: Moment) {
    let sample = sensing.receive(fix, at: now)
    updateFacilities(at: now.instant)
    if let sample { change { $0.receive(sample) } }
  }

  mutating func receive(_ reading: CompassReading, at now: Moment) {
    sensing.isCompassFaulty = false
    updateFacilities(at: now.instant)
    guard !sensing.receiverLeads(at: now.instant) else { return }
    let sample = HeadingSample(
      magneticDegrees: reading.magneticDegrees, accuracyDegrees: reading.accuracyDegrees,
      fieldMicrotesla: reading.fieldMicrotesla, timestamp: now.utc)
    change { $0.receive(sample) }
  }

  /// The magnetometer does not answer; or shows no direction, for nil.
  mutating func compassFailed(_ complaint: String?, at now: Instant) {
    if let complaint {
      if !sensing.isCompassFaulty { extra.append(.say(complaint)) }
      sensing.isCompassFaulty = true
      updateFacilities(at: now)
    }
    if !sensing.receiverLeads(at: now) { change { $0.headingFailed() } }
  }

  mutating func receive(_ event: Compass.Event, ofSensor name: String) {
    switch event {
    case .calibrationWanted: change { $0.calibrationWanted() }
    case .calibrated: change { $0.calibrated() }
    case .keep(let calibration): extra.append(.store(.compass, StateText.text(of: calibration, sensor: name)))
    }
  }

  /// Whether beacons can be heard, as BlueZ has it; nil: nobody knows.
  mutating func canHearBeacons(_ can: Bool?, at now: Instant) {
    sensing.canHearBeacons = can
    updateFacilities(at: now)
  }

  mutating func heard(_ beacon: BeaconAdvertisement, strength: Int, at now: Moment) {
    change {
      $0.receive(
        BeaconSighting(
          uuid: BeaconUUID(high: beacon.uuid.high, low: beacon.uuid.low), major: beacon.major, minor: beacon.minor,
          strengthDecibelMilliwatts: strength, strengthAtOneMetreDecibelMilliwatts: Int(beacon.strengthAtOneMetre),
          heard: now))
    }
  }

  /// An accelerometer has noticed movement.
  mutating func movementNoticed(at now: Instant) { change { $0.movementNoticed(at: now) } }

  // MARK: What comes out

  /// When a lost heading is to be told.
  var sensingDeadline: Instant? { asksForHeading && !sensing.hasMagnetometer ? sensing.receiverEnds : nil }

  /// Whether the receiver is needed for its heading.
  var needsReceiverForHeading: Bool { asksForHeading && !sensing.hasMagnetometer && sensing.toldByReceiver != nil }

  private var asksForHeading: Bool { engine.demands.contains(where: \.heading) }

  /// Time has passed.
  mutating func wakeSensing(at now: Instant) {
    guard let due = sensingDeadline, now >= due else { return }
    sensing.receiverLost()
    updateFacilities(at: now)
    change { $0.headingFailed() }
  }

  /// What the sensors are to give from now on, when that has changed.
  mutating func decideSensors(isReceiverWanted: Bool, _ actions: inout [ServiceAction]) {
    var demand = SensorDemand()
    for client in engine.demands {
      if client.heading {
        demand.headingFilterDegrees = min(demand.headingFilterDegrees ?? .infinity, max(0, client.headingFilterDegrees))
      }
      if client.beacons { demand.beacons = true }
      if client.standard?.isPaused ?? false || client.liveIsStationary { demand.movement = true }
    }
    demand.suspends = isReceiverWanted
    if let action = asked(demand) { actions.append(action) }
  }

  /// What asks the sensors for this; nil when they were asked for it before.
  mutating func asked(_ demand: SensorDemand) -> ServiceAction? {
    guard demand != sensing.asked else { return nil }
    sensing.asked = demand
    return .sense(demand)
  }

  private mutating func updateFacilities(at now: Instant) {
    var facilities = engine.facilities
    facilities.hasCompass = sensing.hasCompass
    facilities.hasBluetooth = sensing.hasBluetooth
    let before = engine.facilities
    guard facilities != before else { return }
    change {
      $0.setFacilities(facilities)
      if before.hasBluetooth, !facilities.hasBluetooth { $0.rangingFailed() }
      if !before.hasBluetooth, facilities.hasBluetooth { $0.beaconsAreHeardAgain(at: now) }
      if before.hasCompass, !facilities.hasCompass { $0.headingFailed() }
    }
  }
}
