// SPDX-License-Identifier: Apache-2.0
import ReceiverStream

extension FixObservation {
  /// The policy's view of a fix; nil without a position, or outside the receiver's own limits.
  public init?(_ fix: Fix) {
    guard fix.hasPosition, fix.isWithinLimits, let latitude = fix.latitudeDegrees, let longitude = fix.longitudeDegrees
    else { return nil }
    self.init(
      latitudeDegrees: latitude, longitudeDegrees: longitude,
      // Without an accuracy, a poor one is assumed.
      errorMetres: fix.horizontalAccuracyMetres ?? 30, speedMetresPerSecond: fix.speedMetresPerSecond,
      speedErrorMetresPerSecond: fix.speedAccuracyMetresPerSecond)
  }
}

extension SignalObservation {
  /// The reception of an epoch's satellites.
  public init(_ sky: borrowing Sky) {
    var (received, strong) = (0, 0)
    for index in 0..<sky.count {
      let signal = sky.satellites[index].signalDecibelHertz
      if signal > 0 { received += 1 }
      if signal >= 25 { strong += 1 }
    }
    self.init(satellites: received, strongSatellites: strong)
  }
}
