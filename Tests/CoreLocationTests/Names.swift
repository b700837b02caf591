// SPDX-License-Identifier: Apache-2.0
import CoreLocation
import Foundation
import Testing

// Every name with its type. The test is that it compiles; only the raw values run.

/// Mocks as in programs' own tests: each class can be subclassed, a property can be overridden.
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

/// A delegate without any method.
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
  let others: (CLLocationAccuracy, CLLocationAccuracy, Date, Int?, Bool?, Bool?) = (
    location.horizontalAccuracy, location.verticalAccuracy, location.timestamp, location.floor?.level,
    location.sourceInformation?.isSimulatedBySoftware, location.sourceInformation?.isProducedByAccessory
  )
  let headings: [Double] = [
    heading.magneticHeading, heading.trueHeading, heading.headingAccuracy, heading.x, heading.y, heading.z,
  ]
  let stay: (Date, Date, CLLocationCoordinate2D, CLLocationAccuracy) = (
    visit.arrivalDate, visit.departureDate, visit.coordinate, visit.horizontalAccuracy
  )
  let detected: (UUID, NSNumber, NSNumber, CLProximity, CLLocationAccuracy, Int, Date) = (
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
  _ = (metres, motion, others, headings, detected, regions)
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

private func monitors(_ uuid: UUID) async throws {
  let monitor: CLMonitor = await CLMonitor("Places")
  let circle = CLMonitor.CircularGeographicCondition(center: CLLocationCoordinate2D(), radius: 100)
  let beacons: [CLMonitor.BeaconIdentityCondition] = [
    CLMonitor.BeaconIdentityCondition(uuid: uuid), CLMonitor.BeaconIdentityCondition(uuid: uuid, major: 1),
    CLMonitor.BeaconIdentityCondition(uuid: uuid, major: 1, minor: 2),
  ]
  let parts: (CLLocationCoordinate2D, CLLocationDistance, UUID, UInt16?, UInt16?) = (
    circle.center, circle.radius, beacons[0].uuid, beacons[0].major, beacons[0].minor
  )
  await monitor.add(circle, identifier: "home")
  await monitor.add(beacons[0], identifier: "shop", assuming: .unsatisfied)
  await monitor.remove("shop")
  let record: CLMonitor.Record? = await monitor.record(for: "home")
  let known: ((any CLCondition)?, CLMonitor.Event?) = (record?.condition, record?.lastEvent)
  let identifiers: [String] = await monitor.identifiers
  let events: CLMonitor.Events = await monitor.events
  for try await event in events {
    let content: (String, CLMonitor.Event.State, Date, (any CLCondition)?) = (
      event.identifier, event.state, event.date, event.refinement
    )
    let flags: [Bool] = [
      event.authorizationDenied, event.authorizationDeniedGlobally, event.authorizationRestricted,
      event.insufficientlyInUse, event.accuracyLimited, event.conditionUnsupported, event.conditionLimitExceeded,
      event.persistenceUnavailable, event.serviceSessionRequired, event.authorizationRequestInProgress,
    ]
    _ = (content, flags)
  }
  _ = (parts, known, identifiers)
}

private func sessions() async throws {
  let requirements: [CLServiceSession.AuthorizationRequirement] = [.none, .whenInUse, .always]
  let session = CLServiceSession(authorization: requirements[1])
  let exact = CLServiceSession(authorization: .whenInUse, fullAccuracyPurposeKey: "key")
  let diagnostics: CLServiceSession.Diagnostics = exact.diagnostics
  for try await diagnostic in diagnostics {
    let flags: [Bool] = [
      diagnostic.authorizationDenied, diagnostic.authorizationDeniedGlobally, diagnostic.authorizationRestricted,
      diagnostic.insufficientlyInUse, diagnostic.serviceSessionRequired, diagnostic.fullAccuracyDenied,
      diagnostic.alwaysAuthorizationDenied, diagnostic.authorizationRequestInProgress,
    ]
    _ = flags
  }
  session.invalidate()
  let activity = CLBackgroundActivitySession()
  for try await diagnostic in activity.diagnostics {
    let flags: [Bool] = [
      diagnostic.authorizationDenied, diagnostic.authorizationDeniedGlobally, diagnostic.authorizationRestricted,
      diagnostic.insufficientlyInUse, diagnostic.serviceSessionRequired, diagnostic.authorizationRequestInProgress,
    ]
    _ = flags
  }
  activity.invalidate()
}

/// The names before iOS 13.
private func old(_ manager: CLLocationManager, _ region: CLBeaconRegion, _ beacon: CLBeacon) {
  let area = CLRegion(circularRegionWithCenter: CLLocationCoordinate2D(), radius: 1, identifier: "a")
  let regions = [
    CLBeaconRegion(proximityUUID: region.proximityUUID, identifier: "b"),
    CLBeaconRegion(proximityUUID: beacon.proximityUUID, major: 1, identifier: "c"),
    CLBeaconRegion(proximityUUID: region.uuid, major: 1, minor: 2, identifier: "d"),
  ]
  let parts: (CLLocationCoordinate2D, CLLocationDistance, Bool, NSNumber?, NSNumber?) = (
    area.center, area.radius, area.contains(CLLocationCoordinate2D(latitude: 1, longitude: 2)), region.major,
    region.minor
  )
  let payload: NSMutableDictionary = region.peripheralData(withMeasuredPower: nil)
  region.notifyEntryStateOnDisplay = true
  region.notifyOnEntry = false
  region.notifyOnExit = false
  manager.startRangingBeacons(in: region)
  manager.stopRangingBeacons(in: region)
  let ranged: Set<CLRegion> = manager.rangedRegions
  let known: (CLAuthorizationStatus, Bool, Bool) = (
    CLLocationManager.authorizationStatus(), CLLocationManager.regionMonitoringAvailable(), manager.headingAvailable
  )
  let constraint: CLBeaconIdentityConstraint = region.beaconIdentityConstraint
  let identity: (UUID, UInt16?, UInt16?) = (constraint.uuid, constraint.major, constraint.minor)
  _ = (regions, parts, payload, ranged, known, identity)
}

private func asked(_ manager: CLLocationManager) async throws {
  try await manager.requestTemporaryFullAccuracyAuthorization(withPurposeKey: "key")
  let locations: [CLLocation] = try await manager.historicalLocations(purposeKey: "key", sampleCount: 1)
  _ = locations
}

private func history(_ manager: CLLocationManager) {
  manager.requestHistoricalLocations(purposeKey: "key", sampleCount: 1) { (_: [CLLocation], _: (any Error)?) in }
}

/// Each class may be coded and copied.
private func coded(_ coder: NSCoder) {
  let objects: [(any NSSecureCoding & NSCopying)?] = [
    CLLocation(coder: coder), CLFloor(coder: coder), CLLocationSourceInformation(coder: coder), CLHeading(coder: coder),
    CLVisit(coder: coder), CLRegion(coder: coder), CLCircularRegion(coder: coder), CLBeaconRegion(coder: coder),
    CLBeacon(coder: coder), CLBeaconIdentityConstraint(coder: coder),
  ]
  for case let object? in objects { object.encode(with: coder) }
  _ = objects.map { $0?.copy(with: nil) }
}

@Suite("Names")
struct NameTests {
  @Test("Enumerations have Apple's numbers")
  func numbers() {
    let statuses: [CLAuthorizationStatus] = [
      .notDetermined, .restricted, .denied, .authorizedAlways, .authorizedWhenInUse,
    ]
    #expect(statuses.map(\.rawValue) == [0, 1, 2, 3, 4] && CLAuthorizationStatus.authorized == .authorizedAlways)
    let activities: [CLActivityType] = [.other, .automotiveNavigation, .fitness, .otherNavigation, .airborne]
    #expect(activities.map(\.rawValue) == [1, 2, 3, 4, 5])
    let orientations: [CLDeviceOrientation] = [
      .unknown, .portrait, .portraitUpsideDown, .landscapeLeft, .landscapeRight, .faceUp, .faceDown,
    ]
    #expect(orientations.map(\.rawValue) == [0, 1, 2, 3, 4, 5, 6])
    #expect([CLRegionState.unknown, .inside, .outside].map(\.rawValue) == [0, 1, 2])
    #expect([CLProximity.unknown, .immediate, .near, .far].map(\.rawValue) == [0, 1, 2, 3])
    #expect([CLAccuracyAuthorization.fullAccuracy, .reducedAccuracy].map(\.rawValue) == [0, 1])
    let configurations: [CLLocationUpdate.LiveConfiguration] = [
      .default, .automotiveNavigation, .otherNavigation, .fitness, .airborne,
    ]
    #expect(configurations.map(\.rawValue) == [0, 1, 2, 3, 4])
    let states: [CLMonitor.Event.State] = [.unknown, .satisfied, .unsatisfied, .unmonitored]
    #expect(states.map(\.rawValue) == [0, 1, 2, 3])
    #expect([CLServiceSession.AuthorizationRequirement.none, .whenInUse, .always].map(\.rawValue) == [0, 1, 2])
    let codes: [CLError.Code] = [
      CLError.locationUnknown, CLError.denied, CLError.network, CLError.headingFailure, CLError.regionMonitoringDenied,
      CLError.regionMonitoringFailure, CLError.regionMonitoringSetupDelayed, CLError.regionMonitoringResponseDelayed,
      CLError.geocodeFoundNoResult, CLError.geocodeFoundPartialResult, CLError.geocodeCanceled, CLError.deferredFailed,
      CLError.deferredNotUpdatingLocation, CLError.deferredAccuracyTooLow, CLError.deferredDistanceFiltered,
      CLError.deferredCanceled, CLError.rangingUnavailable, CLError.rangingFailure, CLError.promptDeclined,
      CLError.historicalLocationError,
    ]
    #expect(codes.map(\.rawValue) == Array(0...19))
  }

  @Test("Constants have Apple's values")
  func values() {
    #expect(kCLLocationAccuracyBestForNavigation == -2 && kCLLocationAccuracyBest == -1)
    #expect(kCLLocationAccuracyNearestTenMeters == 10 && kCLLocationAccuracyHundredMeters == 100)
    #expect(kCLLocationAccuracyKilometer == 1000 && kCLLocationAccuracyThreeKilometers == 3000)
    #expect(kCLDistanceFilterNone == -1 && kCLHeadingFilterNone == -1)
    #expect(CLLocationDistanceMax == .greatestFiniteMagnitude && CLTimeIntervalMax == .greatestFiniteMagnitude)
    #expect(kCLLocationCoordinate2DInvalid.latitude == -180 && kCLLocationCoordinate2DInvalid.longitude == -180)
    #expect(kCLErrorDomain == "kCLErrorDomain" && CLError.errorDomain == kCLErrorDomain)
  }
}
