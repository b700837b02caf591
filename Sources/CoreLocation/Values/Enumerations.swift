/// Whether the program may know where it is.
public enum CLAuthorizationStatus: Int32, Sendable {
  /// Nobody was asked yet.
  case notDetermined = 0
  /// Not allowed, and the user cannot change it.
  case restricted = 1
  /// Refused, or location services are off.
  case denied = 2
  /// Allowed at any time.
  case authorizedAlways = 3
  /// Allowed while the program is in use.
  case authorizedWhenInUse = 4

  /// The name of `authorizedAlways` up to iOS 7.
  public static var authorized: CLAuthorizationStatus { .authorizedAlways }
}

/// How exactly the program may know where it is.
public enum CLAccuracyAuthorization: Int, Sendable {
  case fullAccuracy = 0
  case reducedAccuracy = 1
}

/// What the user is doing: it decides when updates may pause.
public enum CLActivityType: Int, Sendable {
  case other = 1
  case automotiveNavigation = 2
  case fitness = 3
  case otherNavigation = 4
  case airborne = 5
}

/// Which way the device is held.
public enum CLDeviceOrientation: Int32, Sendable {
  case unknown = 0
  case portrait = 1
  case portraitUpsideDown = 2
  case landscapeLeft = 3
  case landscapeRight = 4
  case faceUp = 5
  case faceDown = 6
}

/// Where one is with respect to a region.
@frozen
public enum CLRegionState: Int, Sendable {
  case unknown = 0
  case inside = 1
  case outside = 2
}

/// How near a beacon is.
public enum CLProximity: Int, Sendable {
  case unknown = 0
  case immediate = 1
  case near = 2
  case far = 3
}
