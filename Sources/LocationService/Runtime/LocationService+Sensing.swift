import HostSensors
import MonotonicTime
import Positioning
import SystemBus

/// The computer's own sensors.
extension LocationService {
  /// What there is to measure with at this moment: sensors and adapters come and go.
  public func hostCapabilities() -> HostCapabilities {
    lookAtSensors()
    return read { $0.hostCapabilities }
  }

  /// Looks which sensors the kernel shows: some names in folders, no sensor is asked.
  func lookAtSensors() {
    let tree = SensorTree(root: settings.sensorRoot)
    let magnetometer = tree.has(.magneticField)
    let adapter = tree.hasBluetoothAdapter && BusSource.mayHaveBus
    let accelerometer = tree.has(.acceleration)
    changeCore {
      $0.hostHas(magnetometer: magnetometer, accelerometer: accelerometer, bluetoothAdapter: adapter, at: $1)
    }
  }

  // MARK: From the sensors' thread

  func receive(_ reading: CompassReading, at now: Moment) { changeCore { core, _ in core.receive(reading, at: now) } }

  func compassFailed(_ complaint: String?, at now: Instant) {
    changeCore { core, _ in core.compassFailed(complaint, at: now) }
  }

  func receive(_ event: Compass.Event, ofSensor name: String) {
    changeCore { core, _ in core.receive(event, ofSensor: name) }
  }

  func movementNoticed(at now: Moment) { changeCore { core, _ in core.movementNoticed(at: now) } }

  func accelerometerFailed(at now: Instant) { changeCore { core, _ in core.accelerometerFailed(at: now) } }
}
