// SPDX-License-Identifier: Apache-2.0

/// The app's visibility: foreground and background as in the contract, and further states that a host may report.
public enum ApplicationState: Int, Codable, Sendable {
  case foreground, background, suspended
}

/// How a service's events are handled now.
enum Delivery: Hashable, Sendable {
  case deliver
  /// Kept until the app runs again (C7).
  case hold
  case none
}

/// An app's permissions, derived from its authorization and its state: the table of section 2.12 as code.
struct DeliveryRules: Hashable, Sendable {
  enum Service: Hashable, Sendable {
    case standard
    /// Significant change, regions and visits: they wake an app.
    case waking
    /// Heading and ranging: they do not wake an app.
    case running
  }

  var status: AuthorizationStatus
  var accuracy: AccuracyAuthorization
  var application: ApplicationState
  /// Whether a CLBackgroundActivitySession that began in the foreground is active (SS-2).
  var hasBackgroundActivity: Bool
  /// UIBackgroundModes has `location`.
  var hasLocationMode: Bool

  /// In use, in the sense of WhenInUse.
  var isInUse: Bool { application == .foreground || hasBackgroundActivity }

  /// - Parameter allowsBackground: the manager's own setting; if it was never set, only the mode counts (BG-2).
  func delivery(_ service: Service, allowsBackground: Bool?, showsIndicator: Bool = false) -> Delivery {
    guard status.isAuthorized else { return .none }
    if application == .foreground { return .deliver }
    let hasMode = hasLocationMode && allowsBackground ?? true
    let isVisible = hasBackgroundActivity || service == .standard && hasMode && showsIndicator
    guard status == .authorizedAlways || isVisible else { return .none }
    if application == .background { return .deliver }
    switch service {
    case .standard: return hasMode ? .deliver : .hold
    case .waking: return .deliver
    case .running: return .none
    }
  }
}
