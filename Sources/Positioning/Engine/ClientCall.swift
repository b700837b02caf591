// SPDX-License-Identifier: Apache-2.0

/// The identifier of one manager of the app.
public struct ClientID: Hashable, Comparable, Codable, Sendable {
  public let number: Int

  public init(_ number: Int) { self.number = number }

  public static func < (a: ClientID, b: ClientID) -> Bool { a.number < b.number }
}

/// The delegate's methods on which a service depends.
public struct DelegateCapabilities: OptionSet, Hashable, Codable, Sendable {
  public let rawValue: UInt8

  public init(rawValue: UInt8) { self.rawValue = rawValue }

  /// didUpdateLocations.
  public static let takesLocations = DelegateCapabilities(rawValue: 1)
  /// didFailWithError.
  public static let takesErrors = DelegateCapabilities(rawValue: 2)
}

/// A call of a manager: a value, so that it can wait in a queue between threads.
public enum ClientCall: Hashable, Codable, Sendable {
  /// Nil if the delegate was removed.
  case setDelegate(DelegateCapabilities?)

  case setDesiredAccuracy(metres: Double)
  case setDistanceFilter(metres: Double)
  case setActivity(Activity)
  case setPausesAutomatically(Bool)
  case setAllowsBackgroundUpdates(Bool)
  case setShowsBackgroundIndicator(Bool)
  case setHeadingFilter(degrees: Double)
  case setHeadingOrientation(DeviceOrientation)

  case requestWhenInUse
  case requestAlways
  /// The token is returned with the answer.
  case requestTemporaryFullAccuracy(purpose: String, token: Int)

  case startUpdatingLocation
  case stopUpdatingLocation
  case requestLocation
  case allowDeferredUpdates(metres: Double, seconds: Double)
  case disallowDeferredUpdates

  case startSignificantChanges
  case stopSignificantChanges
  case startVisits
  case stopVisits

  case startHeading
  case stopHeading
  /// The delegate's answer.
  case showsCalibration(Bool)
  case dismissCalibration

  case startMonitoring(Region, marginMetres: Double? = nil)
  case stopMonitoring(Region)
  case requestState(Region)
  case startRanging(Ranging.Target)
  case stopRanging(Ranging.Target)

  /// The name of the manager's method that needs permission, for log lines.
  var method: String {
    switch self {
    case .requestWhenInUse: "requestWhenInUseAuthorization()"
    case .requestAlways: "requestAlwaysAuthorization()"
    case .startSignificantChanges: "startMonitoringSignificantLocationChanges()"
    case .startVisits: "startMonitoringVisits()"
    case .startHeading: "startUpdatingHeading()"
    case .startMonitoring: "startMonitoring(for:)"
    case .startRanging(.region): "startRangingBeacons(in:)"
    case .startRanging(.constraint): "startRangingBeacons(satisfying:)"
    default: "startUpdatingLocation()"
    }
  }
}
