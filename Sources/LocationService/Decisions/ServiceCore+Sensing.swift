import HostSensors
import MonotonicTime
import Positioning
import PowerControl
import ReceiverStream
import SystemBus

/// What the computer's own sensors tell, and what they are asked for.
extension ServiceCore {
  // MARK: What goes in

  /// What sensors the kernel shows now; they come and go.
  mutating func hostHas(magnetometer: Bool, accelerometer: Bool, bluetoothAdapter: Bool, at now: Instant) {
    if !accelerometer { sensing.isAccelerometerFaulty = false }
    setAccelerometer(accelerometer && !sensing.isAccelerometerFaulty, at: now)
    if !magnetometer { sensing.isCompassFaulty = false }
    sensing.hasMagnetometer = magnetometer
    sensing.hasAdapter = bluetoothAdapter
    if !bluetoothAdapter { sensing.canHearBeacons = nil }
    updateHostCapabilities(at: now)
  }

  /// An epoch of the receiver, for its heading.
  mutating func receiveHeading(of fix: Fix, at now: Moment) {
    let sample = sensing.receive(fix, at: now)
    updateHostCapabilities(at: now.instant)
    if let sample { change { $0.receive(sample) } }
  }

  mutating func receive(_ reading: CompassReading, at now: Moment) {
    sensing.isCompassFaulty = false
    updateHostCapabilities(at: now.instant)
    guard !sensing.receiverLeads(at: now.instant) else { return }
    let sample = HeadingSample(
      magneticDegrees: reading.magneticDegrees, accuracyDegrees: reading.accuracyDegrees,
      fieldMicrotesla: reading.fieldMicrotesla, timestamp: now.utc)
    change { $0.receive(sample) }
  }

  /// The magnetometer does not answer; or shows no direction, for nil.
  mutating func compassFailed(_ complaint: String?, at now: Instant) {
    if let complaint {
      if !sensing.isCompassFaulty { extra.append(.log(complaint)) }
      sensing.isCompassFaulty = true
      updateHostCapabilities(at: now)
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
    updateHostCapabilities(at: now)
  }

  mutating func heard(_ beacon: BeaconAdvertisement, strength: Int?, at now: Moment) {
    change {
      $0.receive(
        BeaconSighting(
          uuid: BeaconUUID(high: beacon.uuid.high, low: beacon.uuid.low), major: beacon.major, minor: beacon.minor,
          strengthDecibelMilliwatts: strength, strengthAtOneMetreDecibelMilliwatts: Int(beacon.strengthAtOneMetre),
          received: now))
    }
  }

  /// An accelerometer has noticed movement: paused clients go on, and the receiver looks where they are.
  mutating func movementNoticed(at now: Moment) {
    engine.movementNoticed(at: now.instant)
    coordinator.handle(.movementHint(.accelerometer), at: now.instant)
    drain(at: now)
  }

  /// The accelerometer does not answer any more: the receiver looks for movement itself.
  mutating func accelerometerFailed(at now: Instant) {
    sensing.isAccelerometerFaulty = true
    setAccelerometer(false, at: now)
  }

  private mutating func setAccelerometer(_ isPresent: Bool, at now: Instant) {
    guard sensing.hasAccelerometer != isPresent else { return }
    sensing.hasAccelerometer = isPresent
    coordinator.handle(.accelerometer(isPresent: isPresent), at: now)
  }

  /// The receiver has gone, and its heading with it.
  mutating func receiverHeadingLost(at now: Instant) {
    sensing.receiverLost()
    updateHostCapabilities(at: now)
  }

  /// The computer is back, or did not suspend at all.
  mutating func hostResumed(after seconds: Double, at now: Moment) {
    isSuspendWaiting = false
    coordinator.handle(.hostResumed(suspendedSeconds: seconds), at: now.instant)
    drain(at: now)
  }

  // MARK: What comes out

  /// When a lost heading is to be told.
  var sensingDeadline: Instant? { engine.asksForHeading && !sensing.hasMagnetometer ? sensing.receiverEnds : nil }

  /// Whether the receiver is needed for its heading.
  var needsReceiverForHeading: Bool {
    !sensing.hasMagnetometer && sensing.reportedByReceiver != nil && engine.asksForHeading
  }

  /// What the managers need of the receiver: who needs its heading needs it awake all the time.
  var demandsOfManagers: [(id: Positioning.ClientID, demand: Positioning.Demand)] {
    guard needsReceiverForHeading else { return engine.demandsOfManagers }
    return engine.demandsOfManagers.map { id, demand in
      guard demand.heading else { return (id, demand) }
      var demand = demand
      demand.standard = nil
      demand.live = true
      return (id, demand)
    }
  }

  /// The suspend may begin as soon as the receiver rests.
  mutating func tellSuspend() {
    guard isSuspendWaiting, coordinator.isSilenceReached else { return }
    isSuspendWaiting = false
    extra.append(.readyForSuspend)
  }

  /// Time has passed.
  mutating func wakeSensing(at now: Instant) {
    guard let due = sensingDeadline, now >= due else { return }
    sensing.receiverLost()
    updateHostCapabilities(at: now)
    change { $0.headingFailed() }
  }

  /// What the sensors are to give from now on, when that has changed.
  mutating func decideSensors(isReceiverWanted: Bool) {
    var demand = SensorDemand()
    for client in engine.demands {
      if client.heading {
        demand.headingFilterDegrees = min(demand.headingFilterDegrees ?? .infinity, max(0, client.headingFilterDegrees))
      }
      if client.beacons { demand.beacons = true }
    }
    // While the receiver rests nobody else would notice.
    demand.movement = sensing.hasAccelerometer && isReceiverWanted && coordinator.isSilenceWanted
    demand.suspends = isReceiverWanted
    if let action = asked(demand) { extra.append(action) }
  }

  /// What asks the sensors for this; nil when they were asked for it before.
  mutating func asked(_ demand: SensorDemand) -> ServiceAction? {
    guard demand != sensing.asked else { return nil }
    sensing.asked = demand
    return .sense(demand)
  }

  private mutating func updateHostCapabilities(at now: Instant) {
    var hostCapabilities = engine.hostCapabilities
    hostCapabilities.hasCompass = sensing.hasCompass
    hostCapabilities.hasBluetooth = sensing.hasBluetooth
    let before = engine.hostCapabilities
    guard hostCapabilities != before else { return }
    change {
      $0.setHostCapabilities(hostCapabilities)
      if before.hasBluetooth, !hostCapabilities.hasBluetooth { $0.rangingFailed() }
      if !before.hasBluetooth, hostCapabilities.hasBluetooth { $0.beaconScanResumed(at: now) }
      if before.hasCompass, !hostCapabilities.hasCompass { $0.headingFailed() }
    }
  }
}
