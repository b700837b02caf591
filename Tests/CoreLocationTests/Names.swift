import CoreLocation
import Foundation
import Testing

// Every name with its type: what is asked here is whether it compiles. Nothing of it runs, but the raw values.

/// A double, as programs' tests make them: each class can be subclassed, a property that is read can be overridden.
private final class LocationDouble: CLLocation, @unchecked Sendable {
  override var coordinate: CLLocationCoordinate2D { CLLocationCoordinate2D() }
  override var timestamp: Date { .distantPast }
}
private final class HeadingDouble: CLHeading, @unchecked Sendable {
  override var trueHeading: CLLocationDirection { 1 }
}
private final class VisitDouble: CLVisit, @unchecked Sendable {
  override var arrivalDate: Date { .distantPast }
}
private final class ManagerDouble: CLLocationManager {
  override var location: CLLocation? { nil }
  override func startUpdatingLocation() {}
}

/// All of a delegate's methods.
private final class Everything: NSObject, CLLocationManagerDelegate {
  func locationManager(_ manager: CLLocationManager, didUpdateLocations locations: [CLLocation]) {}
  func locationManager(
    _ manager: CLLocationManager, didUpdateTo newLocation: CLLocation, from oldLocation: CLLocation
  ) {}
  func locationManager(_ manager: CLLocationManager, didFailWithError error: Error) {}
  func locationManager(_ manager: CLLocationManager, didChangeAuthorization status: CLAuthorizationStatus) {
    switch status {
    case .notDetermined, .restricted, .denied: break
    case .authorizedAlways, .authorizedWhenInUse: break
    }
  }
  func locationManagerDidChangeAuthorization(_ manager: CLLocationManager) {}
  func locationManagerDidPauseLocationUpdates(_ manager: CLLocationManager) {}
  func locationManagerDidResumeLocationUpdates(_ manager: CLLocationManager) {}
  func locationManager(_ manager: CLLocationManager, didFinishDeferredUpdatesWithError error: Error?) {}
  func locationManager(_ manager: CLLocationManager, didUpdateHeading newHeading: CLHeading) {}
  func locationManagerShouldDisplayHeadingCalibration(_ manager: CLLocationManager) -> Bool { true }
  func locationManager(_ manager: CLLocationManager, didEnterRegion region: CLRegion) {}
  func locationManager(_ manager: CLLocationManager, didExitRegion region: CLRegion) {}
  func locationManager(
    _ manager: CLLocationManager, didDetermineState state: CLRegionState, for region: CLRegion
  ) {}
  func locationManager(
    _ manager: CLLocationManager, monitoringDidFailFor region: CLRegion?, withError error: Error
  ) {}
  func locationManager(_ manager: CLLocationManager, didStartMonitoringFor region: CLRegion) {}
  func locationManager(_ manager: CLLocationManager, didRangeBeacons beacons: [CLBeacon], in region: CLBeaconRegion) {}
  func locationManager(
    _ manager: CLLocationManager, rangingBeaconsDidFailFor region: CLBeaconRegion, withError error: Error
  ) {}
  func locationManager(
    _ manager: CLLocationManager, didRange beacons: [CLBeacon], satisfying beaconConstraint: CLBeaconIdentityConstraint
  ) {}
  func locationManager(
    _ manager: CLLocationManager, didFailRangingFor beaconConstraint: CLBeaconIdentityConstraint, error: Error
  ) {}
  func locationManager(_ manager: CLLocationManager, didVisit visit: CLVisit) {}
}

/// None of them is needed.
private final class Nothing: NSObject, CLLocationManagerDelegate {}

private func constants() {
  let accuracies: [CLLocationAccuracy] = [
    kCLLocationAccuracyBestForNavigation, kCLLocationAccuracyBest, kCLLocationAccuracyNearestTenMeters,
    kCLLocationAccuracyHundredMeters, kCLLocationAccuracyKilometer, kCLLocationAccuracyThreeKilometers,
    kCLLocationAccuracyReduced,
  ]
  let distances: [CLLocationDistance] = [kCLDistanceFilterNone, CLLocationDistanceMax]
  let heading: CLLocationDegrees = kCLHeadingFilterNone
  let time: TimeInterval = CLTimeIntervalMax
  let texts: [String] = [kCLErrorDomain, kCLErrorUserInfoAlternateRegionKey, CLError.errorDomain]
  let numbers: (CLLocationSpeed, CLLocationSpeedAccuracy, CLLocationDirectionAccuracy, CLHeadingComponentValue) = (
    0, 0, 0, 0
  )
  let beacon: (CLBeaconMajorValue, CLBeaconMinorValue) = (1, 2)
  _ = (accuracies, distances, heading, time, texts, numbers, beacon, kCLLocationCoordinate2DInvalid)
}

private func manager(_ manager: CLLocationManager, _ region: CLRegion, _ constraint: CLBeaconIdentityConstraint) {
  let delegate = Nothing()
  manager.delegate = delegate
  manager.desiredAccuracy = kCLLocationAccuracyKilometer
  manager.distanceFilter = 500
  manager.activityType = .fitness
  manager.pausesLocationUpdatesAutomatically = false
  manager.allowsBackgroundLocationUpdates = true
  manager.showsBackgroundLocationIndicator = true
  manager.headingFilter = 5
  manager.headingOrientation = .landscapeLeft
  let read:
    (
      CLLocation?, CLHeading?, CLLocationDistance, Set<CLRegion>, Set<CLBeaconIdentityConstraint>,
      CLAuthorizationStatus, CLAccuracyAuthorization, Bool
    ) = (
      manager.location, manager.heading, manager.maximumRegionMonitoringDistance, manager.monitoredRegions,
      manager.rangedBeaconConstraints, manager.authorizationStatus, manager.accuracyAuthorization,
      manager.isAuthorizedForWidgetUpdates
    )
  let available: [Bool] = [
    CLLocationManager.locationServicesEnabled(), CLLocationManager.headingAvailable(),
    CLLocationManager.significantLocationChangeMonitoringAvailable(),
    CLLocationManager.isMonitoringAvailable(for: CLCircularRegion.self), CLLocationManager.isRangingAvailable(),
    CLLocationManager.deferredLocationUpdatesAvailable(),
  ]
  _ = (read, available)
  manager.requestWhenInUseAuthorization()
  manager.requestAlwaysAuthorization()
  manager.requestTemporaryFullAccuracyAuthorization(withPurposeKey: "key")
  manager.requestTemporaryFullAccuracyAuthorization(withPurposeKey: "key") { (_: Error?) in }
  manager.startUpdatingLocation()
  manager.stopUpdatingLocation()
  manager.requestLocation()
  manager.startMonitoringSignificantLocationChanges()
  manager.stopMonitoringSignificantLocationChanges()
  manager.startUpdatingHeading()
  manager.stopUpdatingHeading()
  manager.dismissHeadingCalibrationDisplay()
  manager.startMonitoring(for: region)
  manager.stopMonitoring(for: region)
  manager.requestState(for: region)
  manager.startRangingBeacons(satisfying: constraint)
  manager.stopRangingBeacons(satisfying: constraint)
  manager.allowDeferredLocationUpdates(untilTraveled: CLLocationDistanceMax, timeout: CLTimeIntervalMax)
  manager.disallowDeferredLocationUpdates()
  manager.startMonitoringVisits()
  manager.stopMonitoringVisits()
}

private func values(_ location: CLLocation, _ heading: CLHeading, _ visit: CLVisit, _ beacon: CLBeacon, _ uuid: UUID) {
  let metres: [CLLocationDistance] = [
    location.altitude, location.ellipsoidalAltitude, location.distance(from: location),
  ]
  let motion: (CLLocationDirection, CLLocationDirectionAccuracy, CLLocationSpeed, CLLocationSpeedAccuracy) = (
    location.course, location.courseAccuracy, location.speed, location.speedAccuracy
  )
  let rest: (CLLocationAccuracy, CLLocationAccuracy, Date, Int?, Bool?, Bool?) = (
    location.horizontalAccuracy, location.verticalAccuracy, location.timestamp, location.floor?.level,
    location.sourceInformation?.isSimulatedBySoftware, location.sourceInformation?.isProducedByAccessory
  )
  let headings: [Double] = [
    heading.magneticHeading, heading.trueHeading, heading.headingAccuracy, heading.x, heading.y, heading.z,
  ]
  let stay: (Date, Date, CLLocationCoordinate2D, CLLocationAccuracy) = (
    visit.arrivalDate, visit.departureDate, visit.coordinate, visit.horizontalAccuracy
  )
  let heard: (UUID, NSNumber, NSNumber, CLProximity, CLLocationAccuracy, Int, Date) = (
    beacon.uuid, beacon.major, beacon.minor, beacon.proximity, beacon.accuracy, beacon.rssi, beacon.timestamp
  )
  let constraints = [
    CLBeaconIdentityConstraint(uuid: uuid), CLBeaconIdentityConstraint(uuid: uuid, major: 1),
    CLBeaconIdentityConstraint(uuid: uuid, major: 1, minor: 2),
  ]
  let regions: [CLRegion] = [
    CLCircularRegion(center: stay.2, radius: 1, identifier: "a"), CLBeaconRegion(uuid: uuid, identifier: "b"),
    CLBeaconRegion(uuid: uuid, major: 1, identifier: "c"),
    CLBeaconRegion(uuid: uuid, major: 1, minor: 2, identifier: "d"),
    CLBeaconRegion(beaconIdentityConstraint: constraints[0], identifier: "e"),
  ]
  _ = (metres, motion, rest, headings, heard, regions)
}

private func updates() async throws {
  for try await update in CLLocationUpdate.liveUpdates(.fitness) {
    let location: CLLocation? = update.location
    let flags: [Bool] = [
      update.stationary, update.authorizationDenied, update.authorizationDeniedGlobally, update.authorizationRestricted,
      update.authorizationRequestInProgress, update.insufficientlyInUse, update.locationUnavailable,
      update.accuracyLimited, update.serviceSessionRequired,
    ]
    _ = (location, flags)
  }
}

@Suite("Names")
struct NameTests {
  @Test("Enumerations have Apple's numbers")
  func numbers() {
    #expect(CLAuthorizationStatus.authorized.rawValue == 3 && CLAuthorizationStatus.authorizedWhenInUse.rawValue == 4)
    #expect(CLActivityType.other.rawValue == 1 && CLActivityType.airborne.rawValue == 5)
    #expect(CLDeviceOrientation.faceDown.rawValue == 6 && CLRegionState.outside.rawValue == 2)
    #expect(CLProximity.far.rawValue == 3 && CLAccuracyAuthorization.reducedAccuracy.rawValue == 1)
    #expect(CLError.Code.deferredCanceled.rawValue == 15 && CLError.Code.promptDeclined.rawValue == 18)
    #expect(CLLocationUpdate.LiveConfiguration.airborne.rawValue == 4)
  }
}
