// SPDX-License-Identifier: Apache-2.0

/// The permission of the program for locations.
public enum CLAuthorizationStatus: Int32, Sendable {
  /// The user has not been asked yet.
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

/// The accuracy that the program is permitted.
public enum CLAccuracyAuthorization: Int, Sendable {
  case fullAccuracy = 0
  case reducedAccuracy = 1
}

/// The user's activity, which decides when updates may pause.
public enum CLActivityType: Int, Sendable {
  case other = 1
  case automotiveNavigation = 2
  case fitness = 3
  case otherNavigation = 4
  case airborne = 5
}

/// The orientation of the device.
public enum CLDeviceOrientation: Int32, Sendable {
  case unknown = 0
  case portrait = 1
  case portraitUpsideDown = 2
  case landscapeLeft = 3
  case landscapeRight = 4
  case faceUp = 5
  case faceDown = 6
}

/// The position of the device with respect to a region.
@frozen
public enum CLRegionState: Int, Sendable {
  case unknown = 0
  case inside = 1
  case outside = 2
}

/// The distance class of a beacon.
public enum CLProximity: Int, Sendable {
  case unknown = 0
  case immediate = 1
  case near = 2
  case far = 3
}
