// SPDX-License-Identifier: Apache-2.0
import Foundation
import Positioning

/// An error that delegates get.
public struct CLError: Error, CustomNSError, Hashable, CustomStringConvertible {
  public enum Code: Int, Sendable {
    case locationUnknown = 0
    case denied = 1
    case network = 2
    case headingFailure = 3
    case regionMonitoringDenied = 4
    case regionMonitoringFailure = 5
    case regionMonitoringSetupDelayed = 6
    case regionMonitoringResponseDelayed = 7
    case geocodeFoundNoResult = 8
    case geocodeFoundPartialResult = 9
    case geocodeCanceled = 10
    case deferredFailed = 11
    case deferredNotUpdatingLocation = 12
    case deferredAccuracyTooLow = 13
    case deferredDistanceFiltered = 14
    case deferredCanceled = 15
    case rangingUnavailable = 16
    case rangingFailure = 17
    case promptDeclined = 18
    case historicalLocationError = 19
  }

  public let code: Code
  private let details: ErrorDetails

  public init(_ code: Code, userInfo: [String: Any] = [:]) {
    self.code = code
    details = ErrorDetails(values: userInfo)
  }

  /// Makes the error of an `NSError`, whose domain is not checked. An unknown code is `locationUnknown`.
  ///
  /// Swift adds this initializer and ``_nsError`` to the error types of Apple's frameworks, and delegates that were written
  /// for them use it: `CLError(_nsError: error as NSError).code`.
  public init(_nsError error: NSError) {
    self.init(Code(rawValue: error.code) ?? .locationUnknown, userInfo: error.userInfo)
  }

  init(_ error: PositioningError) {
    // Both have Apple's numbers.
    self.init(Code(rawValue: error.rawValue) ?? .locationUnknown)
  }

  /// The error of a request for full accuracy.
  ///
  /// - Parameter refusal: the reason why it was refused; nil if the prompt could not be shown.
  init(_ error: PositioningError, refusal: AccuracyRefusal?) {
    let text = refusal?.text ?? "the question for full accuracy could not be shown; run the program on a terminal"
    self.init(
      Code(rawValue: error.rawValue) ?? .locationUnknown,
      userInfo: error == .promptDeclined ? [NSLocalizedDescriptionKey: text] : [:])
  }

  /// The error of a prompt that was not shown because Info.plist lacks the text of these keys (AU-8).
  init(missingKeys: String) {
    let text = "the question for permission was not shown: Info.plist has no text for \(missingKeys)"
    self.init(.promptDeclined, userInfo: [NSLocalizedDescriptionKey: text])
  }

  public static var errorDomain: String { kCLErrorDomain }
  public var errorCode: Int { code.rawValue }
  public var _nsError: NSError { self as NSError }
  public var userInfo: [String: Any] { details.values }
  public var errorUserInfo: [String: Any] {
    userInfo.merging([NSLocalizedDescriptionKey: code.text]) { given, _ in given }
  }
  public var localizedDescription: String { errorUserInfo[NSLocalizedDescriptionKey] as? String ?? code.text }

  /// The form in which an NSError is printed, with the cause and the next step.
  public var description: String { "Error Domain=\(Self.errorDomain) Code=\(errorCode) \"\(localizedDescription)\"" }

  /// A region that can be monitored better than the requested one.
  public var alternateRegion: CLRegion? { userInfo[kCLErrorUserInfoAlternateRegionKey] as? CLRegion }

  public static func == (a: CLError, b: CLError) -> Bool { a.code == b.code && a.details == b.details }

  public func hash(into hasher: inout Hasher) { hasher.combine(code) }
}

extension CLError {
  public static var locationUnknown: Code { .locationUnknown }
  public static var denied: Code { .denied }
  public static var network: Code { .network }
  public static var headingFailure: Code { .headingFailure }
  public static var regionMonitoringDenied: Code { .regionMonitoringDenied }
  public static var regionMonitoringFailure: Code { .regionMonitoringFailure }
  public static var regionMonitoringSetupDelayed: Code { .regionMonitoringSetupDelayed }
  public static var regionMonitoringResponseDelayed: Code { .regionMonitoringResponseDelayed }
  public static var geocodeFoundNoResult: Code { .geocodeFoundNoResult }
  public static var geocodeFoundPartialResult: Code { .geocodeFoundPartialResult }
  public static var geocodeCanceled: Code { .geocodeCanceled }
  public static var deferredFailed: Code { .deferredFailed }
  public static var deferredNotUpdatingLocation: Code { .deferredNotUpdatingLocation }
  public static var deferredAccuracyTooLow: Code { .deferredAccuracyTooLow }
  public static var deferredDistanceFiltered: Code { .deferredDistanceFiltered }
  public static var deferredCanceled: Code { .deferredCanceled }
  public static var rangingUnavailable: Code { .rangingUnavailable }
  public static var rangingFailure: Code { .rangingFailure }
  public static var promptDeclined: Code { .promptDeclined }
  public static var historicalLocationError: Code { .historicalLocationError }
}

extension CLError.Code {
  /// Makes `catch CLError.denied` and `if case CLError.denied = error` work (ER-3).
  public static func ~= (code: CLError.Code, error: any Error) -> Bool {
    if let error = error as? CLError { return error.code == code }
    let error = error as NSError
    return error.domain == kCLErrorDomain && error.code == code.rawValue
  }

  /// The cause and the next step.
  var text: String {
    switch self {
    case .locationUnknown:
      "the location is not known now; the search goes on (is a receiver connected, and is the sky free above its antenna?)"
    case .denied: "the program has no permission for the location; grant it that, and access to its receiver"
    case .network: "the network is not available"
    case .headingFailure: "the heading cannot be determined; keep magnets and motors away"
    case .regionMonitoringDenied: "the program may not monitor regions; grant it permission, with full accuracy"
    case .regionMonitoringFailure:
      "the region cannot be monitored: too large, one too many, or nothing to monitor it with"
    case .regionMonitoringSetupDelayed: "the monitoring of regions has not begun yet"
    case .regionMonitoringResponseDelayed: "events of the region will come late"
    case .geocodeFoundNoResult: "nothing was found"
    case .geocodeFoundPartialResult: "a part was found only"
    case .geocodeCanceled: "the request was cancelled"
    case .deferredFailed: "updates cannot be deferred: there is no satellite receiver"
    case .deferredNotUpdatingLocation: "updates are not running, or are paused; start them before they are deferred"
    case .deferredAccuracyTooLow:
      "updates are deferred with desiredAccuracy kCLLocationAccuracyBest or kCLLocationAccuracyBestForNavigation only"
    case .deferredDistanceFiltered: "updates are deferred with distanceFilter kCLDistanceFilterNone only"
    case .deferredCanceled: "the deferral was cancelled, or replaced by a newer one"
    case .rangingUnavailable: "beacons cannot be ranged: no Bluetooth"
    case .rangingFailure: "beacons cannot be ranged now"
    case .promptDeclined: "the question for permission was not shown"
    case .historicalLocationError: "there are no locations of the past"
    }
  }
}

/// The dictionary of an error: any values, which are never changed.
struct ErrorDetails: @unchecked Sendable, Equatable {
  let values: [String: Any]

  static func == (a: Self, b: Self) -> Bool { NSDictionary(dictionary: a.values).isEqual(to: b.values) }
}
