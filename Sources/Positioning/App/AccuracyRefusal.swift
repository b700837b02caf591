// SPDX-License-Identifier: Apache-2.0

/// The reason why a request for temporary full accuracy is refused without an answer of the user (AU-20).
public enum AccuracyRefusal: Hashable, Codable, Sendable {
  /// The app has full accuracy.
  case isFull
  /// The app has no permission for its location.
  case notAuthorized
  /// NSLocationTemporaryUsageDescriptionDictionary has no text for this purpose.
  case missingPurpose(String)
  case isInBackground
  /// Another prompt waits for its answer.
  case isAsking
  /// A change of settings has withdrawn the prompt.
  case isWithdrawn

  package init?(
    _ purpose: String, keys: UsageKeys, status: AuthorizationStatus, accuracy: AccuracyAuthorization,
    isInForeground: Bool, isAsking: Bool
  ) {
    if !status.isAuthorized {
      self = .notAuthorized
    } else if accuracy == .full {
      self = .isFull
    } else if keys.temporaryPurposes[purpose] == nil {
      self = .missingPurpose(purpose)
    } else if !isInForeground {
      self = .isInBackground
    } else if isAsking {
      self = .isAsking
    } else {
      return nil
    }
  }

  /// The reason and the next step.
  public var text: String {
    switch self {
    case .isFull: "the program has full accuracy already; ask only while accuracyAuthorization is reducedAccuracy"
    case .notAuthorized: "the program has no permission for its location; request that first"
    case .missingPurpose(let purpose):
      "Info.plist has no text for \(purpose) in NSLocationTemporaryUsageDescriptionDictionary; add one"
    case .isInBackground:
      "the program is in the background; ask in the foreground, or run `sextant authorize grant` with --full"
    case .isAsking: "another question waits for its answer; ask again after it"
    case .isWithdrawn: "the settings were changed while the question waited for its answer; ask again"
    }
  }
}

extension Authorization {
  /// The reason to refuse a request for temporary full accuracy; nil if it is asked.
  public func refusal(ofFullAccuracy purpose: String, isInForeground: Bool) -> AccuracyRefusal? {
    AccuracyRefusal(
      purpose, keys: keys, status: status, accuracy: accuracy, isInForeground: isInForeground, isAsking: asked != nil)
  }
}
