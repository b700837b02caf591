// SPDX-License-Identifier: Apache-2.0

/// The errors for delegates; the raw values equal those of CLError.Code.
public enum PositioningError: Int, Error, Codable, Sendable {
  /// No fix now; the search continues.
  case locationUnknown = 0
  /// Refused, or location services are off.
  case denied = 1
  case network = 2
  /// There is no heading.
  case headingFailure = 3
  /// There is no permission to monitor regions.
  case regionMonitoringDenied = 4
  /// The region cannot be monitored: too large, beyond the limit, or not supported.
  case regionMonitoringFailure = 5
  case regionMonitoringSetupDelayed = 6
  case regionMonitoringResponseDelayed = 7
  /// Updates cannot be deferred: no satellite receiver.
  case deferredFailed = 11
  /// Updates are not running, or are paused.
  case deferredNotUpdatingLocation = 12
  /// The desired accuracy is not one of the two best.
  case deferredAccuracyTooLow = 13
  /// There is a distance filter.
  case deferredDistanceFiltered = 14
  /// Replaced by a newer request, or cancelled.
  case deferredCanceled = 15
  /// Beacons cannot be ranged: no Bluetooth.
  case rangingUnavailable = 16
  case rangingFailure = 17
  /// The permission prompt was not shown, or was declined.
  case promptDeclined = 18
}
