// SPDX-License-Identifier: Apache-2.0
import Foundation
import Positioning

/// The best accuracy, for navigation.
public let kCLLocationAccuracyBestForNavigation: CLLocationAccuracy = -2
/// The best accuracy.
public let kCLLocationAccuracyBest: CLLocationAccuracy = -1
/// Within ten metres.
public let kCLLocationAccuracyNearestTenMeters: CLLocationAccuracy = 10
/// Within a hundred metres.
public let kCLLocationAccuracyHundredMeters: CLLocationAccuracy = 100
/// Within a kilometre.
public let kCLLocationAccuracyKilometer: CLLocationAccuracy = 1000
/// Within three kilometres.
public let kCLLocationAccuracyThreeKilometers: CLLocationAccuracy = 3000
/// The accuracy of reduced locations, a little more than three kilometres. Compare with the constant: its value is not
/// documented.
public let kCLLocationAccuracyReduced: CLLocationAccuracy = 3000.5

/// Every location is delivered.
public let kCLDistanceFilterNone: CLLocationDistance = -1
/// Every heading is delivered.
public let kCLHeadingFilterNone: CLLocationDegrees = -1
/// No limit of distance.
public let CLLocationDistanceMax: CLLocationDistance = .greatestFiniteMagnitude
/// No limit of time.
public let CLTimeIntervalMax: TimeInterval = .greatestFiniteMagnitude

/// An invalid coordinate.
public let kCLLocationCoordinate2DInvalid = CLLocationCoordinate2D(latitude: -180, longitude: -180)

/// The domain of the module's errors.
public let kCLErrorDomain = "kCLErrorDomain"
/// The key of a region that can be monitored better, in an error's `userInfo`.
public let kCLErrorUserInfoAlternateRegionKey = "kCLErrorUserInfoAlternateRegionKey"
