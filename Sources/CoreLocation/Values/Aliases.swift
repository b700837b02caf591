// SPDX-License-Identifier: Apache-2.0
import Foundation

/// Latitude or longitude in degrees, WGS 84; north and east are positive.
public typealias CLLocationDegrees = Double
/// Metres.
public typealias CLLocationDistance = Double
/// Metres, one standard deviation; negative if not valid.
public typealias CLLocationAccuracy = Double
/// Metres per second; negative if not valid.
public typealias CLLocationSpeed = Double
/// Metres per second; negative if not valid.
public typealias CLLocationSpeedAccuracy = Double
/// Degrees from north, 0 ≤ direction < 360; negative if not valid.
public typealias CLLocationDirection = Double
/// Degrees; negative if not valid.
public typealias CLLocationDirectionAccuracy = Double
/// The magnetic field along an axis of the device, microtesla.
public typealias CLHeadingComponentValue = Double
/// The major value of an iBeacon.
public typealias CLBeaconMajorValue = UInt16
/// The minor value of an iBeacon.
public typealias CLBeaconMinorValue = UInt16
/// Receives the places that a geocoder found, or the error.
public typealias CLGeocodeCompletionHandler = ([CLPlacemark]?, (any Error)?) -> Void
