// SPDX-License-Identifier: Apache-2.0
import Foundation
import ReceiverStream

extension Date {
  /// The date of a time, to the microsecond, the resolution of a current date.
  init(_ time: UTCTime) { self.init(timeIntervalSince1970: Double(time.nanosecondsSince1970) / 1e9) }
}

extension UTCTime {
  /// The time of a date. A date beyond the range, such as `distantFuture`, becomes the end of the range.
  init(_ date: Date) {
    let nanoseconds = date.timeIntervalSince1970 * 1e9
    self.init(nanosecondsSince1970: Int64(exactly: nanoseconds.rounded()) ?? (nanoseconds < 0 ? .min : .max))
  }
}

// The keys of the module begin with the name of the class: a subclass may use the plain names for its own properties.
extension NSCoder {
  /// Returns the text of a key; nil without one, where `NSKeyedUnarchiver` would terminate the program
  /// (`decodingFailurePolicy`).
  func text(_ key: String) -> String? {
    containsValue(forKey: key) ? decodeObject(of: NSString.self, forKey: key)?.description : nil
  }
}

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
