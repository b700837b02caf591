/// What a service session asks for; the raw values are those of CLServiceSession.AuthorizationRequirement.
public enum ServiceGoal: Int, Sendable, Comparable {
  case none = 0
  case whenInUse = 1
  case always = 2

  public static func < (a: ServiceGoal, b: ServiceGoal) -> Bool { a.rawValue < b.rawValue }
}

/// The live service sessions of an app, and its background activities (rules SS).
struct ServiceSessions: Sendable {
  private var goals: [Int: ServiceGoal] = [:]
  /// Keys of the texts to ask for full accuracy with.
  private var purposes: [Int: String] = [:]
  private var activities: Set<Int> = []

  init() {}

  mutating func begin(_ id: Int, goal: ServiceGoal, fullAccuracyPurpose: String? = nil) {
    goals[id] = goal
    purposes[id] = fullAccuracyPurpose
  }

  mutating func end(_ id: Int) {
    goals[id] = nil
    purposes[id] = nil
  }

  /// For what a session wants full accuracy; of several the one that is the oldest.
  var fullAccuracyPurpose: String? { purposes.min { $0.key < $1.key }?.value }

  /// A background activity counts when it is begun in the foreground.
  mutating func beginActivity(_ id: Int, isInForeground: Bool) {
    if isInForeground { activities.insert(id) }
  }
  mutating func endActivity(_ id: Int) { activities.remove(id) }

  var hasActivity: Bool { !activities.isEmpty }
  var isEmpty: Bool { goals.isEmpty }

  /// What has to be asked for while the status is this one; nil when every session has what it wants, or cannot get it.
  func request(_ status: AuthorizationStatus) -> Authorization.Request? {
    switch (goals.values.max() ?? .none, status) {
    case (.always, .notDetermined), (.always, .authorizedWhenInUse): .always
    case (.whenInUse, .notDetermined): .whenInUse
    default: nil
    }
  }

  /// Whether one wants more than there is.
  func isAlwaysMissing(_ status: AuthorizationStatus) -> Bool {
    goals.values.contains(.always) && status != .authorizedAlways
  }
}

/// Why there is no location, or no event: the flags of the modern API's updates, events and sessions.
public struct Diagnostic: OptionSet, Hashable, Sendable {
  public let rawValue: UInt16

  public init(rawValue: UInt16) { self.rawValue = rawValue }

  /// The user refused, or location services are off.
  public static let authorizationDenied = Diagnostic(rawValue: 1)
  /// Location services are off.
  public static let authorizationDeniedGlobally = Diagnostic(rawValue: 1 << 1)
  /// The user cannot grant it.
  public static let authorizationRestricted = Diagnostic(rawValue: 1 << 2)
  /// The user is being asked.
  public static let authorizationRequestInProgress = Diagnostic(rawValue: 1 << 3)
  /// WhenInUse, and the app is in the background.
  public static let insufficientlyInUse = Diagnostic(rawValue: 1 << 4)
  /// Nobody has asked for permission.
  public static let serviceSessionRequired = Diagnostic(rawValue: 1 << 5)
  /// Accuracy is reduced.
  public static let accuracyLimited = Diagnostic(rawValue: 1 << 6)
  /// There is no fix.
  public static let locationUnavailable = Diagnostic(rawValue: 1 << 7)
  /// Always was asked for and not granted.
  public static let alwaysAuthorizationDenied = Diagnostic(rawValue: 1 << 8)
  /// Full accuracy was asked for and not granted.
  public static let fullAccuracyDenied = Diagnostic(rawValue: 1 << 9)
  /// One condition too many.
  public static let conditionLimitExceeded = Diagnostic(rawValue: 1 << 10)
  /// Nothing here can monitor such a condition.
  public static let conditionUnsupported = Diagnostic(rawValue: 1 << 11)
  /// There is no place to keep conditions in.
  public static let persistenceUnavailable = Diagnostic(rawValue: 1 << 12)

  /// Whether it says that a condition is never monitored, whatever is permitted.
  var isRefusal: Bool { !isDisjoint(with: [.conditionLimitExceeded, .conditionUnsupported]) }
}
