// SPDX-License-Identifier: Apache-2.0

/// The authorization that a service session requires; the raw values equal those of
/// CLServiceSession.AuthorizationRequirement.
public enum ServiceGoal: Int, Codable, Sendable, Comparable {
  case none = 0
  case whenInUse = 1
  case always = 2

  public static func < (a: ServiceGoal, b: ServiceGoal) -> Bool { a.rawValue < b.rawValue }
}

/// The active service sessions of an app, and its background activities (rules SS).
struct ServiceSessions: Sendable {
  private var goals: [Int: ServiceGoal] = [:]
  /// The purpose keys of prompts for full accuracy.
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

  /// The purpose for which a session requires full accuracy; the oldest session's if there are several.
  var fullAccuracyPurpose: String? { purposes.min { $0.key < $1.key }?.value }

  /// A background activity counts if it began in the foreground.
  mutating func beginActivity(_ id: Int, isInForeground: Bool) {
    if isInForeground { activities.insert(id) }
  }
  mutating func endActivity(_ id: Int) { activities.remove(id) }

  var hasActivity: Bool { !activities.isEmpty }
  var isEmpty: Bool { goals.isEmpty }

  /// The request to make in this status; nil if every session has its authorization, or cannot get it.
  func request(_ status: AuthorizationStatus) -> Authorization.Request? {
    switch (goals.values.max() ?? .none, status) {
    case (.always, .notDetermined), (.always, .authorizedWhenInUse): .always
    case (.whenInUse, .notDetermined): .whenInUse
    default: nil
    }
  }

  /// Whether a session requires more than the status grants.
  func isAlwaysMissing(_ status: AuthorizationStatus) -> Bool {
    goals.values.contains(.always) && status != .authorizedAlways
  }
}

/// The reason why there is no location or event: the flags of the modern API's updates, events and sessions.
public struct Diagnostic: OptionSet, Hashable, Codable, Sendable {
  public let rawValue: UInt16

  public init(rawValue: UInt16) { self.rawValue = rawValue }

  /// The user refused, or location services are off.
  public static let authorizationDenied = Diagnostic(rawValue: 1)
  /// Location services are off.
  public static let authorizationDeniedGlobally = Diagnostic(rawValue: 1 << 1)
  /// The user cannot grant authorization.
  public static let authorizationRestricted = Diagnostic(rawValue: 1 << 2)
  /// A prompt is open.
  public static let authorizationRequestInProgress = Diagnostic(rawValue: 1 << 3)
  /// WhenInUse, and the app is in the background.
  public static let insufficientlyInUse = Diagnostic(rawValue: 1 << 4)
  /// There was no permission request.
  public static let serviceSessionRequired = Diagnostic(rawValue: 1 << 5)
  /// Accuracy is reduced.
  public static let accuracyLimited = Diagnostic(rawValue: 1 << 6)
  /// There is no fix.
  public static let locationUnavailable = Diagnostic(rawValue: 1 << 7)
  /// Always was requested and not granted.
  public static let alwaysAuthorizationDenied = Diagnostic(rawValue: 1 << 8)
  /// Full accuracy was requested and not granted.
  public static let fullAccuracyDenied = Diagnostic(rawValue: 1 << 9)
  /// The limit of conditions is exceeded.
  public static let conditionLimitExceeded = Diagnostic(rawValue: 1 << 10)
  /// Conditions of this kind cannot be monitored here.
  public static let conditionUnsupported = Diagnostic(rawValue: 1 << 11)
  /// Conditions cannot be stored.
  public static let persistenceUnavailable = Diagnostic(rawValue: 1 << 12)

  /// Whether a condition can never be monitored, regardless of permission.
  package var isRefusal: Bool { !isDisjoint(with: [.conditionLimitExceeded, .conditionUnsupported]) }
}
