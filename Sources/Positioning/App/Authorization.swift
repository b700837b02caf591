// SPDX-License-Identifier: Apache-2.0

/// An app's authorization for location; the raw values equal those of CLAuthorizationStatus.
public enum AuthorizationStatus: Int, Codable, Sendable, CaseIterable {
  case notDetermined = 0
  /// The user cannot change the status.
  case restricted = 1
  /// The user refused, or location services are off.
  case denied = 2
  case authorizedAlways = 3
  case authorizedWhenInUse = 4

  /// Always includes WhenInUse, not the reverse (AU-7).
  public var isAuthorized: Bool { self == .authorizedAlways || self == .authorizedWhenInUse }
}

/// The raw values equal those of CLAccuracyAuthorization.
public enum AccuracyAuthorization: Int, Codable, Sendable {
  case full = 0
  case reduced = 1
}

/// The usage descriptions of the app's Info.plist, for permission prompts.
public struct UsageKeys: Hashable, Codable, Sendable {
  /// NSLocationWhenInUseUsageDescription.
  public var whenInUse: String?
  /// NSLocationAlwaysAndWhenInUseUsageDescription.
  public var alwaysAndWhenInUse: String?
  /// NSLocationAlwaysUsageDescription, of systems up to iOS 10.
  public var always: String?
  /// NSLocationUsageDescription, of macOS: starting a service requests permission implicitly (C1).
  public var usage: String?
  /// NSLocationTemporaryUsageDescriptionDictionary: text by purpose.
  public var temporaryPurposes: [String: String] = [:]
  /// NSLocationDefaultAccuracyReduced.
  public var startsReduced = false
  /// UIBackgroundModes has `location`.
  public var hasLocationMode = false
  /// NSLocationRequireExplicitServiceSession, which Apple's documents also name CLRequireExplicitServiceSession.
  public var requiresExplicitSession = false

  public init() {}

  /// Whether there is no key for a permission prompt.
  public var isEmpty: Bool { whenInUse == nil && alwaysAndWhenInUse == nil && always == nil && usage == nil }
}

/// The authorization of an app, and its prompts (rules AU).
///
///     notDetermined ──request, key, in use──▶ asked ──an answer──▶ authorizedWhenInUse │ authorizedAlways │ denied
///     authorizedWhenInUse ──the one request for Always──▶ asked ──an answer──▶ the same │ authorizedAlways
///     any ──settings, policy, switch──▶ any
public struct Authorization: Sendable {
  /// The state that is stored between runs (AU-14).
  public struct Record: Hashable, Codable, Sendable {
    public var status: AuthorizationStatus
    public var accuracy: AccuracyAuthorization
    /// Whether the one request to change from WhenInUse to Always was made (C5).
    public var hasAskedForUpgrade: Bool

    public init(
      status: AuthorizationStatus = .notDetermined, accuracy: AccuracyAuthorization = .full,
      hasAskedForUpgrade: Bool = false
    ) {
      self.status = status
      self.accuracy = accuracy
      self.hasAskedForUpgrade = hasAskedForUpgrade
    }
  }

  /// A permission request of an app.
  public enum Request: Hashable, Codable, Sendable {
    case whenInUse, always
    /// Full accuracy for this run, with the key of its purpose.
    case temporaryFullAccuracy(purpose: String)
  }

  /// A permission prompt for the user.
  public struct Prompt: Hashable, Codable, Sendable {
    /// The permission that the app requests.
    public var request: Request
    /// The app's usage description (AU-11).
    public var text: String
    /// Whether the prompt only requests the change from WhenInUse to Always.
    public var isUpgrade: Bool

    public init(request: Request, text: String, isUpgrade: Bool) {
      self.request = request
      self.text = text
      self.isUpgrade = isUpgrade
    }
  }

  /// The user's answer; `once` ends when the app is no longer in use.
  public enum Answer: Hashable, Codable, Sendable {
    case whenInUse, once, always, deny
    /// The prompt could not be shown.
    case notShown
  }

  enum Reply: Hashable, Sendable {
    /// No prompt is necessary (AU-6).
    case none
    /// No prompt can be shown now (AU-13); reported once, because a repeated request in the same state gets the same
    /// answer.
    case cannotAsk
    case prompt(Prompt)
    /// Prompts without a usage description are not shown: the keys, one of which is missing (AU-8).
    case missingKey(String)
    /// Refused without a prompt (AU-20).
    case refused
  }

  /// Overrides the stored status, from the environment of a service or a test. The user's answer to a prompt ends the
  /// override.
  private(set) var override: AuthorizationStatus?
  /// The app's usage descriptions and declarations.
  public let keys: UsageKeys
  public private(set) var record: Record
  public private(set) var servicesAreEnabled = true
  public private(set) var isRestricted = false
  /// The system does not let this program open its receiver.
  public private(set) var receiverIsForbidden = false
  /// The prompt that waits for its answer.
  public private(set) var asked: Prompt?
  /// Whether a request of the app is pending.
  public private(set) var isRequested = false
  /// Whether that request is not shown to the user here: a command or an agent answers it.
  public private(set) var isAnsweredElsewhere = false
  /// "Allow once": as long as the app is in use.
  private var isOnce = false
  /// Whether the user has permitted full accuracy as long as the app is in use.
  public private(set) var hasTemporaryFullAccuracy = false

  init(keys: UsageKeys, restored: Record? = nil, override: AuthorizationStatus? = nil) {
    self.keys = keys
    self.override = override
    record = restored ?? Record(accuracy: keys.startsReduced ? .reduced : .full)
  }

  /// C3: location services that are off and a receiver that may not be opened count as denied; the granted status is
  /// kept. C4: a policy counts as restricted.
  public var status: AuthorizationStatus {
    if !servicesAreEnabled || receiverIsForbidden { return .denied }
    if let override { return override }
    if isRestricted { return .restricted }
    return isOnce ? .authorizedWhenInUse : record.status
  }

  /// The granted accuracy, temporary or permanent.
  public var accuracy: AccuracyAuthorization {
    hasTemporaryFullAccuracy ? .full : record.accuracy
  }

  mutating func request(_ request: Request, isInForeground: Bool) -> Reply {
    if case .temporaryFullAccuracy(let purpose) = request {
      return requestFullAccuracy(purpose, isInForeground: isInForeground)
    }
    let isUpgrade = request == .always && status == .authorizedWhenInUse && !isOnce && override == nil
    guard status == .notDetermined || isUpgrade && !record.hasAskedForUpgrade else { return .none }
    guard asked == nil else { return .none }
    // Missing keys are reported in the background too: otherwise the app would get no error (C2).
    guard let text = text(for: request) else { return .missingKey(Self.missing(request)) }
    isRequested = true
    guard isInForeground else { return noteNotShown() ? .cannotAsk : .none }
    if isUpgrade { record.hasAskedForUpgrade = true }
    let prompt = Prompt(request: request, text: text, isUpgrade: isUpgrade)
    asked = prompt
    return .prompt(prompt)
  }

  /// Records that requests are not shown to the user. Returns whether this is new.
  mutating func noteNotShown() -> Bool {
    defer { isAnsweredElsewhere = true }
    return !isAnsweredElsewhere
  }

  /// Records that requests can be shown from now on.
  mutating func mayBeShown() { isAnsweredElsewhere = false }

  /// The usage description for a request; AU-10 for Always.
  private func text(for request: Request) -> String? {
    switch request {
    case .always: (keys.whenInUse == nil ? nil : keys.alwaysAndWhenInUse) ?? keys.always ?? keys.usage
    case .whenInUse: keys.whenInUse ?? keys.usage
    case .temporaryFullAccuracy(let purpose): keys.temporaryPurposes[purpose]
    }
  }

  static func missing(_ request: Request) -> String {
    switch request {
    case .always: "NSLocationAlwaysAndWhenInUseUsageDescription and NSLocationWhenInUseUsageDescription"
    case .whenInUse: "NSLocationWhenInUseUsageDescription"
    case .temporaryFullAccuracy: "NSLocationTemporaryUsageDescriptionDictionary"
    }
  }

  private mutating func requestFullAccuracy(_ purpose: String, isInForeground: Bool) -> Reply {
    let request = Request.temporaryFullAccuracy(purpose: purpose)
    guard refusal(ofFullAccuracy: purpose, isInForeground: isInForeground) == nil, let text = text(for: request) else {
      return .refused
    }
    let prompt = Prompt(request: request, text: text, isUpgrade: false)
    asked = prompt
    return .prompt(prompt)
  }

  /// Handles the user's answer. Returns the answered prompt; nil if none was open.
  @discardableResult
  mutating func answered(_ answer: Answer) -> Prompt? {
    guard let prompt = asked else { return nil }
    asked = nil
    if case .temporaryFullAccuracy = prompt.request {
      hasTemporaryFullAccuracy = answer != .deny && answer != .notShown
      return prompt
    }
    if answer != .notShown { override = nil }
    isRequested = answer == .notShown
    if answer != .notShown { isAnsweredElsewhere = false }
    switch answer {
    case .notShown: if prompt.isUpgrade { record.hasAskedForUpgrade = false }
    case .once: if !prompt.isUpgrade { isOnce = true }
    case .whenInUse: record.status = .authorizedWhenInUse
    case .always: record.status = prompt.request == .always ? .authorizedAlways : .authorizedWhenInUse
    // Keeping the current status is not a refusal.
    case .deny: if !prompt.isUpgrade { record.status = .denied }
    }
    return prompt
  }

  /// Returns the record that results from an answer to the open prompt; nil if the answer changes nothing that is
  /// stored.
  package func record(after answer: Answer, to prompt: Prompt) -> Record? {
    guard asked == prompt else { return nil }
    var answered = self
    answered.answered(answer)
    return answered.record == record ? nil : answered.record
  }

  /// Replaces the record after a decision of the user, which also ends temporary permissions. A reset permits prompts
  /// again (AU-12).
  mutating func changed(to record: Record) {
    self.record = record
    useEnded()
    asked = nil
    isRequested = false
    isAnsweredElsewhere = false
  }

  mutating func setServicesEnabled(_ isEnabled: Bool) { servicesAreEnabled = isEnabled }

  mutating func setRestricted(_ isRestricted: Bool) { self.isRestricted = isRestricted }

  mutating func setReceiverForbidden(_ isForbidden: Bool) { receiverIsForbidden = isForbidden }

  /// Ends "allow once" (AU-14) and temporary full accuracy when the app is no longer in use.
  mutating func useEnded() {
    isOnce = false
    hasTemporaryFullAccuracy = false
  }
}
