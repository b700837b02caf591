// SPDX-License-Identifier: Apache-2.0
import Foundation

// On Apple's systems each NSObject is an argument of `NSLog("%@", …)` and `String(format:)`. On Linux the standard
// library has `_CVarArgObject` for objects whose encoded form is another object, with which Foundation makes `String`
// an argument; it leaves out its own classes except `NSString`.
extension _CVarArgObject where Self: NSObject {
  /// The text for `%@`. Foundation's formatter accepts no other object.
  public var _cVarArgObject: any CVarArg { NSString(string: description) }
  /// Not read: the encoding of `_cVarArgObject` is.
  public var _cVarArgEncoding: [Int] { _encodeBitsAsWords(self) }
}

extension CLLocationManager: _CVarArgObject {}
extension CLGeocoder: _CVarArgObject {}
extension CLPlacemark: _CVarArgObject {}
extension CLLocation: _CVarArgObject {}
extension CLFloor: _CVarArgObject {}
extension CLLocationSourceInformation: _CVarArgObject {}
extension CLHeading: _CVarArgObject {}
extension CLVisit: _CVarArgObject {}
extension CLRegion: _CVarArgObject {}
extension CLBeacon: _CVarArgObject {}
extension CLBeaconIdentityConstraint: _CVarArgObject {}
