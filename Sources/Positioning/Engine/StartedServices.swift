// SPDX-License-Identifier: Apache-2.0

/// The services that a manager has started, and the counters of their runs, which recall events that wait for delivery
/// (SU-15, TH-3).
///
/// Only the manager's calls and a loss of permission change these values. A program whose engine is in another process
/// applies its own calls to a copy, so that a stop recalls the events that were sent before the engine received it.
package struct StartedServices: Hashable, Codable, Sendable {
  /// The methods of the current delegate; nil if there is none.
  package private(set) var delegate: DelegateCapabilities?
  /// Counts the assignments of a delegate.
  package private(set) var delegates: UInt32 = 0
  /// Counts the runs of the standard service.
  package private(set) var run: UInt32 = 0
  /// Counts the runs of the significant-change service.
  package private(set) var significantRun: UInt32 = 0

  /// The services that the client has started; whether they run depends on permission.
  package private(set) var wantsStandard = false
  package private(set) var wantsSignificant = false
  package private(set) var wantsHeading = false
  package private(set) var rangedTargets: [Ranging.Target] = []

  package init() {}

  /// The permission and the hardware on which the effect of a call depends.
  package struct Conditions: Hashable, Sendable {
    package var status: AuthorizationStatus
    package var accuracy: AccuracyAuthorization
    package var hostCapabilities: HostCapabilities

    package init(status: AuthorizationStatus, accuracy: AccuracyAuthorization, hostCapabilities: HostCapabilities) {
      self.status = status
      self.accuracy = accuracy
      self.hostCapabilities = hostCapabilities
    }

    /// Whether a target is registered, and ranged as soon as that is permitted (BE-1).
    func takes(_ target: Ranging.Target) -> Bool { hostCapabilities.hasBluetooth && target.identity != nil }

    /// Whether ranging of a target is refused; while the permission is undetermined, it waits (AU-19).
    func refuses(_ target: Ranging.Target) -> Bool {
      takes(target) && status != .notDetermined && !(status.isAuthorized && accuracy == .full)
    }
  }

  /// Applies a call; other calls than starts and stops have no effect.
  package mutating func apply(_ call: ClientCall, _ conditions: Conditions) {
    let isRunning = wantsStandard && conditions.status.isAuthorized
    switch call {
    case .setDelegate(let delegate):
      self.delegate = delegate
      delegates &+= 1
    case .startUpdatingLocation:
      if !isRunning { run &+= 1 }
      wantsStandard = true
    case .stopUpdatingLocation:
      wantsStandard = false
      run &+= 1
    // A request ends without an event, even if its outcome was emitted and not delivered (RQ-10).
    case .allowDeferredUpdates: if !isRunning { run &+= 1 }
    case .startSignificantChanges: if conditions.hostCapabilities.hasSignificantChanges { wantsSignificant = true }
    case .stopSignificantChanges:
      wantsSignificant = false
      significantRun &+= 1
    case .startHeading: wantsHeading = true
    case .stopHeading: wantsHeading = false
    case .startRanging(let target): if conditions.takes(target), !isRanged(target) { rangedTargets.append(target) }
    case .stopRanging(let target): rangedTargets.removeAll { $0.isSame(as: target) }
    default: break
    }
  }

  /// Stops the ranging of the targets beyond a number. Returns them.
  mutating func limitRanging(to count: Int) -> [Ranging.Target] {
    defer { rangedTargets = Array(rangedTargets.prefix(count)) }
    return Array(rangedTargets.dropFirst(count))
  }

  /// Handles the loss of permission: waiting events of both location services are recalled (AU-16).
  mutating func permissionLost() {
    run &+= 1
    significantRun &+= 1
  }

  /// Whether an event with this ticket may be delivered now.
  package func isCurrent(_ ticket: Ticket) -> Bool {
    guard delegate != nil, ticket.delegate == nil || ticket.delegate == delegates else { return false }
    if ticket.run == nil, ticket.significantRun == nil { return true }
    return ticket.run == run || ticket.significantRun == significantRun
  }

  /// Whether the client still runs the service of an event.
  package func isWanted(_ event: DelegateEvent) -> Bool {
    switch event {
    case .didUpdateHeading: wantsHeading
    case .didRange(_, let target): isRanged(target)
    default: true
    }
  }

  func isRanged(_ target: Ranging.Target) -> Bool { rangedTargets.contains { $0.isSame(as: target) } }
}

extension Ticket {
  /// The ticket of an event that only the removal of the delegate recalls.
  package static var unrecalled: Ticket { Ticket() }

  /// The ticket of the authorization for a manager's current delegate (AU-2).
  package static func authorization(_ services: StartedServices) -> Ticket { Ticket(delegate: services.delegates) }

  /// The ticket of a request's outcome.
  package static func answer(_ services: StartedServices) -> Ticket { Ticket(run: services.run, isAnswer: true) }
}

extension ClientCall {
  /// Whether the call withdraws a request and its answer (RQ-10, RQ-11).
  package var endsRequest: Bool {
    switch self {
    case .startUpdatingLocation, .stopUpdatingLocation, .allowDeferredUpdates: true
    default: false
    }
  }
}

/// The settings of the engine with their defaults.
public struct PositioningSettings: Hashable, Sendable {
  /// Replaces the times after which a stationary client is paused (SEXTANT_PAUSE_SECONDS).
  public var pauseSeconds: Double?
  /// The number of fixes that a deferral keeps before it delivers them (DF-15).
  public var deferralCapacity = Deferral.defaultCapacity
  /// The path along which a deferral measures its distance.
  public var deferralMeasure = Deferral.Measure.path
  /// The largest radius that is monitored: 1000 km, which no receiver limits (U7).
  public var maximumRegionRadiusMetres = 1_000_000.0
  /// Whether starting a service requests permission implicitly, as on macOS (C1).
  public var startAsksForPermission = false
  /// Whether a program in the background may request permission too, because its prompt is shown somewhere other than
  /// its own terminal. Without it, prompts wait for the foreground (AU-13).
  public var asksInBackground = false
  /// The cells of locations with reduced accuracy.
  public var cells = CellGrid()

  public init() {}
}

/// The host's sources.
public struct HostCapabilities: Hashable, Codable, Sendable {
  /// A satellite receiver is configured; deferral needs it (DF-3).
  public var hasSatelliteReceiver: Bool
  /// Any source of positions; regions and significant changes need it.
  public var hasSignificantChanges: Bool
  /// A magnetometer, or a receiver with a heading.
  public var hasCompass: Bool
  /// A scan for beacons is possible.
  public var hasBluetooth: Bool

  public init(
    hasSatelliteReceiver: Bool, hasSignificantChanges: Bool, hasCompass: Bool, hasBluetooth: Bool
  ) {
    self.hasSatelliteReceiver = hasSatelliteReceiver
    self.hasSignificantChanges = hasSignificantChanges
    self.hasCompass = hasCompass
    self.hasBluetooth = hasBluetooth
  }
}
