// SPDX-License-Identifier: Apache-2.0
import Positioning
import Power
import Receiver

/// An input of ``ServiceCore`` from the service's thread, apart from epochs, which are borrowed and not copied.
package enum ServiceInput: Sendable {
  /// The session with the first receiver, or its line.
  case receiver(ReceiverEvent)
  /// The first receiver has a batch that an earlier process of this program did not read, or did not deliver entirely.
  case leftoverBatch
  /// An earlier process of this program changed settings of the first receiver, and was killed.
  case leftoverSettings
  /// Whether the system permits this program to open its receiver.
  case receiverPermitted(Bool)
  /// A first receiver was connected to a machine that had none.
  case receiverFound
  case standbyFound
  case standbyLost(Int)
  /// A fresh location of the program that has the receiver open.
  case published(Location)
  /// The current external decisions about a program.
  case administration(ProgramID, Administration)
  case sensing(SensingInput)
  /// The computer is about to suspend.
  case suspending
  /// The computer has resumed; 0 s if it did not suspend.
  case resumed(suspendedSeconds: Double)
  /// The line of a receiver is to be lent to a program; the program no longer needs it.
  case lend(receiver: Int), takeBack(receiver: Int)
  /// The service is ending.
  case finish
}

/// An event of the first receiver.
package enum ReceiverEvent: Sendable {
  case session(SessionReport, desired: DesiredConfiguration?, receiver: ReceiverDescription?, port: ReceiverPortNumber?)
  case batch(BatchEvent)
  case lost
  /// Whether the receiver whose line is opened next is inside a modem.
  case isInModem(Bool)
  /// The modem does not switch the engine of its receiver.
  case engineRefused
  /// The service has the orbits for a start of the receiver within this number of seconds; 0: it has none.
  case assistance(usableSeconds: Double)
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
  /// The accelerometer has detected movement.
  case movement
  case accelerometerFailed
}
