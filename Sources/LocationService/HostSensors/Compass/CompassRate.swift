// SPDX-License-Identifier: Apache-2.0
import MonotonicTime

/// The rate at which a compass is read: as high as its clients can use, and no higher than the sensor's.
package enum CompassRate {
  /// - Parameters:
  ///   - filterDegrees: the smallest change that a client needs; 0 or less for every change.
  ///   - sensorPeriodSeconds: the sensor's own period.
  package static func period(filterDegrees: Double, sensorPeriodSeconds: Double?) -> Milliseconds {
    // A hand turns a device by 5° in a tenth of a second; less detail needs fewer reads.
    let wanted = filterDegrees < 5 ? 0.1 : filterDegrees < 15 ? 0.2 : 0.5
    return Milliseconds(seconds: max(wanted, min(sensorPeriodSeconds ?? 0, 10)))
  }
}
