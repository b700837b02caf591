/// One manager of the app.
public struct ClientID: Hashable, Comparable, Sendable {
  public let number: Int

  public init(_ number: Int) { self.number = number }

  public static func < (a: ClientID, b: ClientID) -> Bool { a.number < b.number }
}

/// Which of the delegate's methods there are, as far as a service depends on it.
public struct DelegateCapabilities: OptionSet, Hashable, Sendable {
  public let rawValue: UInt8

  public init(rawValue: UInt8) { self.rawValue = rawValue }

  /// didUpdateLocations.
  public static let takesLocations = DelegateCapabilities(rawValue: 1)
  /// didFailWithError.
  public static let takesErrors = DelegateCapabilities(rawValue: 2)
}

/// What a client asks of its manager: a value, so that it can wait in a queue between threads.
public enum ClientCall: Hashable, Sendable {
  /// nil: there is no delegate any more.
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
  /// The token comes back with the answer.
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
  /// What the delegate said when it was asked.
  case showsCalibration(Bool)
  case dismissCalibration

  case startMonitoring(Region, marginMetres: Double? = nil)
  case stopMonitoring(Region)
  case requestState(Region)
  case startRanging(Ranging.Target)
  case stopRanging(Ranging.Target)

  /// What a manager's method is called that needs permission, for lines that name it.
  var method: String {
    switch self {
    case .requestWhenInUse: "requestWhenInUseAuthorization()"
    case .requestAlways: "requestAlwaysAuthorization()"
    case .startSignificantChanges: "startMonitoringSignificantLocationChanges()"
    case .startVisits: "startMonitoringVisits()"
    case .startHeading: "startUpdatingHeading()"
    default: "startUpdatingLocation()"
    }
  }
}
