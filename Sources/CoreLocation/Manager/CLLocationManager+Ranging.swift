// SPDX-License-Identifier: Apache-2.0
import Positioning

/// The delivery of ranged beacons, to the delegate methods for regions and for constraints.
extension CLLocationManager {
  func deliverRanged(
    _ beacons: [CLBeacon], _ target: Ranging.Target, _ delegate: any CLLocationManagerDelegate
  ) {
    switch target {
    case .constraint(let identity):
      delegate.locationManager(self, didRange: beacons, satisfying: CLBeaconIdentityConstraint(identity))
    case .region(let region):
      guard let region = CLRegion.made(of: region) as? CLBeaconRegion else { return }
      delegate.locationManager(self, didRangeBeacons: beacons, in: region)
    }
  }

  func deliverRangingFailure(
    _ target: Ranging.Target, _ error: CLError, _ delegate: any CLLocationManagerDelegate
  ) {
    switch target {
    case .constraint(let identity):
      delegate.locationManager(self, didFailRangingFor: CLBeaconIdentityConstraint(identity), error: error)
    case .region(let region):
      guard let region = CLRegion.made(of: region) as? CLBeaconRegion else { return }
      delegate.locationManager(self, rangingBeaconsDidFailFor: region, withError: error)
    }
  }
}
