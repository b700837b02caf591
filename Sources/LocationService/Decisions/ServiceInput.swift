// SPDX-License-Identifier: Apache-2.0
import HostSensors
import Positioning
import PowerControl
import Receiver
import ReceiverPower
import SystemBus

/// An input of ``ServiceCore`` from the service's thread, beside epochs, which are lent and not copied.
package enum ServiceInput: Sendable {
  /// The session with the first receiver, or its line.
  case receiver(ReceiverEvent)
  /// The first receiver has a batch that an earlier process of this program did not read, or did not deliver entirely.
  case leftoverBatch
  /// Whether the system lets this program open its receiver.
  case receiverPermitted(Bool)
  /// A first receiver has come to a machine that had none.
  case receiverFound
  case standbyFound
  case standbyLost(Int)
  /// A fresh location of the program that has the receiver open.
  case published(Location)
  /// The decisions outside a program as they are now.
  case administration(ProgramID, Administration)
  case sensing(SensingInput)
  /// The computer is about to suspend.
  case suspending
  /// The computer is back; 0 s if it did not suspend at all.
  case resumed(suspendedSeconds: Double)
  /// The line of a receiver is to be lent to a program; the program needs it no longer.
  case lend(receiver: Int), takeBack(receiver: Int)
  /// The service ends.
  case finish
}

/// An event of the first receiver.
package enum ReceiverEvent: Sendable {
  case session(SessionReport, desired: DesiredConfiguration?, receiver: ReceiverDescription?, port: ReceiverPortNumber?)
  case batch(BatchEvent)
  case lost
}

/// An input from the computer's own sensors.
package enum SensingInput: Sendable {
  /// The sensors that the kernel lists now.
  case listed(magnetometer: Bool, accelerometer: Bool, bluetoothAdapter: Bool)
  case compass(CompassReading)
  /// The magnetometer does not answer, for this reason; or, without one, shows no direction.
  case compassFailed(String?)
  case compassEvent(Compass.Event, sensor: String)
  /// Whether BlueZ can receive beacons; nil once BlueZ cannot be asked.
  case canReceiveBeacons(Bool?)
  case beacon(BeaconAdvertisement, strengthDecibelMilliwatts: Int?)
  /// The accelerometer has noticed movement.
  case movement
  case accelerometerFailed
}
