import Foundation
import Positioning

/// The best there is, for navigation.
public let kCLLocationAccuracyBestForNavigation: CLLocationAccuracy = -2
/// The best there is.
public let kCLLocationAccuracyBest: CLLocationAccuracy = -1
/// Within ten metres.
public let kCLLocationAccuracyNearestTenMeters: CLLocationAccuracy = 10
/// Within a hundred metres.
public let kCLLocationAccuracyHundredMeters: CLLocationAccuracy = 100
/// Within a kilometre.
public let kCLLocationAccuracyKilometer: CLLocationAccuracy = 1000
/// Within three kilometres.
public let kCLLocationAccuracyThreeKilometers: CLLocationAccuracy = 3000
/// What reduced accuracy gives, a little more than three kilometres: compare with the constant, no document says its number.
public let kCLLocationAccuracyReduced: CLLocationAccuracy = 3000.5

/// Every movement is told.
public let kCLDistanceFilterNone: CLLocationDistance = -1
/// Every change of the heading is told.
public let kCLHeadingFilterNone: CLLocationDegrees = -1
/// No limit of distance.
public let CLLocationDistanceMax: CLLocationDistance = .greatestFiniteMagnitude
/// No limit of time.
public let CLTimeIntervalMax: TimeInterval = .greatestFiniteMagnitude

/// A coordinate that is none.
public let kCLLocationCoordinate2DInvalid = CLLocationCoordinate2D(latitude: -180, longitude: -180)

/// The domain of the module's errors.
public let kCLErrorDomain = "kCLErrorDomain"
/// The key of a region that can be monitored better, in an error's `userInfo`.
public let kCLErrorUserInfoAlternateRegionKey = "kCLErrorUserInfoAlternateRegionKey"
