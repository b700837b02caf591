import PowerControl
import ReceiverStream

extension FixObservation {
  /// What the policy has to know of a fix; nil for one without a position, or outside its receiver's own limits.
  public init?(_ fix: Fix) {
    guard fix.hasPosition, fix.isWithinLimits, let latitude = fix.latitudeDegrees, let longitude = fix.longitudeDegrees
    else { return nil }
    self.init(
      latitudeDegrees: latitude, longitudeDegrees: longitude,
      // A receiver that tells no accuracy is taken for a poor one.
      errorMetres: fix.horizontalAccuracyMetres ?? 30, speedMetresPerSecond: fix.speedMetresPerSecond,
      speedErrorMetresPerSecond: fix.speedAccuracyMetresPerSecond)
  }
}

extension SignalObservation {
  /// What is received of the satellites of an epoch.
  public init(_ sky: borrowing Sky) {
    var (heard, strong) = (0, 0)
    for index in 0..<sky.count {
      let signal = sky.satellites[index].signalDecibelHertz
      if signal > 0 { heard += 1 }
      if signal >= 25 { strong += 1 }
    }
    self.init(satellites: heard, strongSatellites: strong)
  }
}
