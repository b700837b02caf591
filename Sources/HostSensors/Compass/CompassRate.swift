import MonotonicTime

/// How often a compass is asked: as often as its clients can use it, and not oftener than it measures.
public enum CompassRate {
  /// - Parameters:
  ///   - filterDegrees: the smallest change that a client wants to be told; 0 and below: every one.
  ///   - sensorPeriodSeconds: the sensor's own.
  public static func period(filterDegrees: Double, sensorPeriodSeconds: Double?) -> Milliseconds {
    // A hand turns a device by 5° in a tenth of a second; who wants less detail is content with fewer looks.
    let wanted = filterDegrees < 5 ? 0.1 : filterDegrees < 15 ? 0.2 : 0.5
    return Milliseconds(seconds: max(wanted, min(sensorPeriodSeconds ?? 0, 10)))
  }
}
