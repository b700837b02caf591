// SPDX-License-Identifier: Apache-2.0

/// A delegate's methods under the name that most of them share, for programs that call them as Objective-C's optional
/// methods.
///
/// Programs that act as the manager, such as mocks and proxies, write `delegate?.locationManager?(manager,
/// didUpdateLocations: locations)`. Here every method has an implementation, so the call always succeeds.
public struct CallableDelegate {
  let delegate: any CLLocationManagerDelegate

  public func callAsFunction(_ manager: CLLocationManager, didUpdateLocations locations: [CLLocation]) {
    delegate.locationManager(manager, didUpdateLocations: locations)
  }

  public func callAsFunction(
    _ manager: CLLocationManager, didUpdateTo newLocation: CLLocation, from oldLocation: CLLocation
  ) {
    delegate.locationManager(manager, didUpdateTo: newLocation, from: oldLocation)
  }

  public func callAsFunction(_ manager: CLLocationManager, didFailWithError error: any Error) {
    delegate.locationManager(manager, didFailWithError: error)
  }

  public func callAsFunction(_ manager: CLLocationManager, didChangeAuthorization status: CLAuthorizationStatus) {
    delegate.locationManager(manager, didChangeAuthorization: status)
  }

  public func callAsFunction(_ manager: CLLocationManager, didFinishDeferredUpdatesWithError error: (any Error)?) {
    delegate.locationManager(manager, didFinishDeferredUpdatesWithError: error)
  }

  public func callAsFunction(_ manager: CLLocationManager, didUpdateHeading newHeading: CLHeading) {
    delegate.locationManager(manager, didUpdateHeading: newHeading)
  }

  public func callAsFunction(_ manager: CLLocationManager, didEnterRegion region: CLRegion) {
    delegate.locationManager(manager, didEnterRegion: region)
  }

  public func callAsFunction(_ manager: CLLocationManager, didExitRegion region: CLRegion) {
    delegate.locationManager(manager, didExitRegion: region)
  }

  public func callAsFunction(
    _ manager: CLLocationManager, didDetermineState state: CLRegionState, for region: CLRegion
  ) {
    delegate.locationManager(manager, didDetermineState: state, for: region)
  }

  public func callAsFunction(
    _ manager: CLLocationManager, monitoringDidFailFor region: CLRegion?, withError error: any Error
  ) {
    delegate.locationManager(manager, monitoringDidFailFor: region, withError: error)
  }

  public func callAsFunction(_ manager: CLLocationManager, didStartMonitoringFor region: CLRegion) {
    delegate.locationManager(manager, didStartMonitoringFor: region)
  }

  public func callAsFunction(
    _ manager: CLLocationManager, didRangeBeacons beacons: [CLBeacon], in region: CLBeaconRegion
  ) {
    delegate.locationManager(manager, didRangeBeacons: beacons, in: region)
  }

  public func callAsFunction(
    _ manager: CLLocationManager, rangingBeaconsDidFailFor region: CLBeaconRegion, withError error: any Error
  ) {
    delegate.locationManager(manager, rangingBeaconsDidFailFor: region, withError: error)
  }

  public func callAsFunction(
    _ manager: CLLocationManager, didRange beacons: [CLBeacon], satisfying beaconConstraint: CLBeaconIdentityConstraint
  ) {
    delegate.locationManager(manager, didRange: beacons, satisfying: beaconConstraint)
  }

  public func callAsFunction(
    _ manager: CLLocationManager, didFailRangingFor beaconConstraint: CLBeaconIdentityConstraint, error: any Error
  ) {
    delegate.locationManager(manager, didFailRangingFor: beaconConstraint, error: error)
  }

  public func callAsFunction(_ manager: CLLocationManager, didVisit visit: CLVisit) {
    delegate.locationManager(manager, didVisit: visit)
  }
}

// Members of a class that adopts the protocol have precedence: many classes name their manager `locationManager`.
extension CLLocationManagerDelegate {
  /// The target of `delegate.locationManager?(…)`; never nil.
  @_disfavoredOverload
  public var locationManager: CallableDelegate? { CallableDelegate(delegate: self) }

  /// The target of `delegate.locationManagerDidChangeAuthorization?(…)`; never nil.
  @_disfavoredOverload
  public var locationManagerDidChangeAuthorization: ((CLLocationManager) -> Void)? {
    { self.locationManagerDidChangeAuthorization($0) }
  }

  /// The target of `delegate.locationManagerDidPauseLocationUpdates?(…)`; never nil.
  @_disfavoredOverload
  public var locationManagerDidPauseLocationUpdates: ((CLLocationManager) -> Void)? {
    { self.locationManagerDidPauseLocationUpdates($0) }
  }

  /// The target of `delegate.locationManagerDidResumeLocationUpdates?(…)`; never nil.
  @_disfavoredOverload
  public var locationManagerDidResumeLocationUpdates: ((CLLocationManager) -> Void)? {
    { self.locationManagerDidResumeLocationUpdates($0) }
  }

  /// The target of `delegate.locationManagerShouldDisplayHeadingCalibration?(…)`; never nil.
  @_disfavoredOverload
  public var locationManagerShouldDisplayHeadingCalibration: ((CLLocationManager) -> Bool)? {
    { self.locationManagerShouldDisplayHeadingCalibration($0) }
  }
}
