// SPDX-License-Identifier: Apache-2.0
import UBX

extension DesiredConfiguration {
  /// The least rate of a serial line for raw measurements, in baud: an epoch of 60 signals has 2 kB, and subframes follow.
  private static let leastRateForMeasurements: UInt32 = 115_200

  /// Adds the raw measurements of a receiver and the orbits that its satellites send; nothing for a receiver without them.
  public mutating func addRawMeasurements(for receiver: ReceiverDescription) {
    guard receiver.can(.rawMeasurements) else { return }
    guard let family = receiver.family else {
      messages += [MessageRate(RxmRAWX.identity, 1), MessageRate(RxmSFRBX.identity, 1)]
      leastPortRate = Self.leastRateForMeasurements
      return
    }
    measurements = family.language?.measurements(of: receiver)
    leastPortRate = family.language?.leastRateForMeasurements
    // RTCM 3 has neither dates, which RMC has, nor the height of a rover.
    sentences = [SentenceRate("GGA", 1), SentenceRate("RMC", 1)]
  }
}
