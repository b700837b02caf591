/// Whether an app may know where it is; the raw values are those of CLAuthorizationStatus.
public enum AuthorizationStatus: Int, Sendable, CaseIterable {
  case notDetermined = 0
  /// The user cannot change it.
  case restricted = 1
  /// Refused, or location services are off.
  case denied = 2
  case authorizedAlways = 3
  case authorizedWhenInUse = 4

  /// Always includes WhenInUse, not the reverse (AU-7).
  public var isAuthorized: Bool { self == .authorizedAlways || self == .authorizedWhenInUse }
}

/// The raw values are those of CLAccuracyAuthorization.
public enum AccuracyAuthorization: Int, Sendable {
  case full = 0
  case reduced = 1
}

/// What the app's Info.plist says to those who ask for permission.
public struct UsageKeys: Hashable, Sendable {
  /// NSLocationWhenInUseUsageDescription.
  public var whenInUse: String?
  /// NSLocationAlwaysAndWhenInUseUsageDescription.
  public var alwaysAndWhenInUse: String?
  /// NSLocationAlwaysUsageDescription, of systems up to iOS 10.
  public var always: String?
  /// NSLocationUsageDescription, of macOS: a start asks by itself (C1).
  public var usage: String?
  /// NSLocationTemporaryUsageDescriptionDictionary: text by purpose.
  public var temporaryPurposes: [String: String] = [:]
  /// NSLocationDefaultAccuracyReduced.
  public var startsReduced = false
  /// UIBackgroundModes has `location`.
  public var hasLocationMode = false
  /// NSLocationRequireExplicitServiceSession.
  public var requiresExplicitSession = false

  public init() {}

  /// Whether there is any key that permission can be asked with.
  public var isEmpty: Bool { whenInUse == nil && alwaysAndWhenInUse == nil && always == nil && usage == nil }
}

/// May the app know where it is: the status, and who is asked when (rules AU).
///
///     notDetermined ──request, key, in use──▶ asked ──an answer──▶ authorizedWhenInUse │ authorizedAlways │ denied
///     authorizedWhenInUse ──the one request for Always──▶ asked ──an answer──▶ the same │ authorizedAlways
///     any ──settings, policy, switch──▶ any
public struct Authorization: Sendable {
  /// What is stored between runs (AU-14).
  public struct Record: Hashable, Sendable {
    public var status: AuthorizationStatus
    public var accuracy: AccuracyAuthorization
    /// Whether the one request to go from WhenInUse to Always was made (C5).
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

  /// What an app may ask for.
  public enum Request: Hashable, Sendable {
    case whenInUse, always
    /// Full accuracy for this run, by the purpose's key.
    case temporaryFullAccuracy(purpose: String)
  }

  /// What the user is to be asked.
  public struct Prompt: Hashable, Sendable {
    /// What is asked for.
    public var request: Request
    /// The app's own words (AU-11).
    public var text: String
    /// Whether only the step from WhenInUse to Always is asked for.
    public var isUpgrade: Bool
  }

  /// What the user says; `once` ends with the use.
  public enum Answer: Hashable, Sendable {
    case whenInUse, once, always, deny
    /// There was nobody to ask.
    case notShown
  }

  enum Reply: Hashable, Sendable {
    /// Nothing to do (AU-6, AU-13).
    case none
    case prompt(Prompt)
    /// No prompt without a text: the keys of which one is missing (AU-8).
    case missingKey(String)
    /// Refused without a question (AU-20).
    case refused
  }

  /// Replaces whatever is stored: a service's or a test's environment. The user's answer to a question ends it.
  private(set) var override: AuthorizationStatus?
  /// The app's own words, and what it declares of itself.
  public let keys: UsageKeys
  public private(set) var record: Record
  public private(set) var servicesAreEnabled = true
  public private(set) var isRestricted = false
  /// The system does not let this program open its receiver.
  public private(set) var receiverIsForbidden = false
  /// The question that waits for its answer.
  public private(set) var asked: Prompt?
  /// "Allow once": as long as the app is in use.
  private var isOnce = false
  private var hasTemporaryFullAccuracy = false

  init(keys: UsageKeys, restored: Record? = nil, override: AuthorizationStatus? = nil) {
    self.keys = keys
    self.override = override
    record = restored ?? Record(accuracy: keys.startsReduced ? .reduced : .full)
  }

  /// C3: services off read as denied, and what was granted survives; so does a receiver that may not be opened. C4: a
  /// policy reads as restricted.
  public var status: AuthorizationStatus {
    if !servicesAreEnabled || receiverIsForbidden { return .denied }
    if let override { return override }
    if isRestricted { return .restricted }
    return isOnce ? .authorizedWhenInUse : record.status
  }

  /// What is granted of accuracy, for a time or for good.
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
    // What the program lacks is said wherever it runs: it would never know in the background (C2).
    guard let text = text(for: request) else { return .missingKey(Self.missing(request)) }
    guard isInForeground else { return .none }
    if isUpgrade { record.hasAskedForUpgrade = true }
    let prompt = Prompt(request: request, text: text, isUpgrade: isUpgrade)
    asked = prompt
    return .prompt(prompt)
  }

  /// The text that goes with a request; AU-10 for Always.
  private func text(for request: Request) -> String? {
    switch request {
    case .always: (keys.whenInUse == nil ? nil : keys.alwaysAndWhenInUse) ?? keys.always ?? keys.usage
    case .whenInUse: keys.whenInUse ?? keys.usage
    case .temporaryFullAccuracy(let purpose): keys.temporaryPurposes[purpose]
    }
  }

  private static func missing(_ request: Request) -> String {
    switch request {
    case .always: "NSLocationAlwaysAndWhenInUseUsageDescription and NSLocationWhenInUseUsageDescription"
    case .whenInUse: "NSLocationWhenInUseUsageDescription"
    case .temporaryFullAccuracy: "NSLocationTemporaryUsageDescriptionDictionary"
    }
  }

  private mutating func requestFullAccuracy(_ purpose: String, isInForeground: Bool) -> Reply {
    let request = Request.temporaryFullAccuracy(purpose: purpose)
    guard let text = text(for: request), status.isAuthorized, accuracy == .reduced, isInForeground, asked == nil else {
      return .refused
    }
    let prompt = Prompt(request: request, text: text, isUpgrade: false)
    asked = prompt
    return .prompt(prompt)
  }

  /// The user has answered; the question it was the answer to, nil when none was open.
  @discardableResult
  mutating func answered(_ answer: Answer) -> Prompt? {
    guard let prompt = asked else { return nil }
    asked = nil
    if case .temporaryFullAccuracy = prompt.request {
      hasTemporaryFullAccuracy = answer != .deny && answer != .notShown
      return prompt
    }
    if answer != .notShown { override = nil }
    switch answer {
    case .notShown: if prompt.isUpgrade { record.hasAskedForUpgrade = false }
    case .once: if !prompt.isUpgrade { isOnce = true }
    case .whenInUse: record.status = .authorizedWhenInUse
    case .always: record.status = prompt.request == .always ? .authorizedAlways : .authorizedWhenInUse
    // To keep what one has is no refusal.
    case .deny: if !prompt.isUpgrade { record.status = .denied }
    }
    return prompt
  }

  /// Settings were changed: what is stored is replaced. A reset allows to ask again (AU-12).
  mutating func changed(to record: Record) {
    self.record = record
    isOnce = false
    asked = nil
  }

  mutating func setServicesEnabled(_ isEnabled: Bool) { servicesAreEnabled = isEnabled }

  mutating func setRestricted(_ isRestricted: Bool) { self.isRestricted = isRestricted }

  mutating func setReceiverForbidden(_ isForbidden: Bool) { receiverIsForbidden = isForbidden }

  /// The app is not in use any longer: what was allowed once ends (AU-14), and so does full accuracy for a time.
  mutating func useEnded() {
    isOnce = false
    hasTemporaryFullAccuracy = false
  }
}
