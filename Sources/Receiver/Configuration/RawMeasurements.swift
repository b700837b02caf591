// SPDX-License-Identifier: Apache-2.0
import UBX

extension DesiredConfiguration {
  /// The least rate of a serial line for raw measurements, in baud: an epoch of 60 signals has 2 kB, and subframes follow.
  private static let leastRateForMeasurements: UInt32 = 115_200

  /// Adds the raw measurements of a receiver and the orbits that its satellites send; nothing for a receiver without them.
  public mutating func addRawMeasurements(for receiver: ReceiverDescription) {
    guard receiver.family == nil, receiver.can(.rawMeasurements) else { return }
    messages += [MessageRate(RxmRAWX.identity, 1), MessageRate(RxmSFRBX.identity, 1)]
    leastPortRate = Self.leastRateForMeasurements
  }
}
