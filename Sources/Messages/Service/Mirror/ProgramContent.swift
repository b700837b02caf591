// SPDX-License-Identifier: Apache-2.0

import MonotonicTime
import Positioning
import ReceiverStream

/// The objects that a program has created in the service, in addition to the state that the service sends.
struct ProgramContent: Sendable {
  struct Manager: Sendable {
    /// The settings that differ from a new manager's, keyed by kind.
    var settings: [Int: ClientCall] = [:]
    var deferral: Deferral?
    /// The locations that were added to the delegate's queue.
    var received = ReceivedTimes()
    /// The time since when a started service or a request has waited for an unreachable location service.
    var waitsSince: Instant?
    var requestSince: Instant?
    /// The `locationUnknown` that the delegate has received without a location since.
    var reportedOutage: ReportedOutage?
    var repeated = RepeatedEvents()

    var headingOrientation: DeviceOrientation {
      for case .setHeadingOrientation(let orientation) in settings.values { return orientation }
      return .portrait
    }

    mutating func connectionLost(waits: Bool, isRequestPending: Bool, at now: Instant) {
      if reportedOutage != nil { reportedOutage = .beforeConnection }
      received.connectionLost()
      repeated.connectionLost()
      if waits { waitsSince = now }
      if isRequestPending { requestSince = now }
    }

    /// Records the start of a service while the location service is unreachable.
    mutating func startWaiting(at now: Instant) { waitsSince = waitsSince ?? now }
  }

  /// When an outage was reported. A service that returns reports it again; the later ones of a service are others.
  enum ReportedOutage { case beforeConnection, inConnection }

  /// The times of the locations that a manager or a stream has received.
  struct ReceivedTimes: Sendable {
    private var newest: UTCTime?
    /// The newest one at the loss of the connection: until the service's state equals the earlier one, older events are
    /// repetitions.
    private var newestBeforeLoss: UTCTime?
    private var backwardStep = BackwardStep()

    mutating func connectionLost() { newestBeforeLoss = newest }

    /// Handles a location after the return of the service. Returns whether it repeats one: locations of a receiver whose time has
    /// stepped back do not.
    mutating func takeRepetition(_ time: UTCTime, at now: Instant) -> Bool {
      guard let last = newestBeforeLoss, time <= last else { return false }
      guard backwardStep.noteArrival(of: time, at: now) else { return true }
      (newest, newestBeforeLoss) = (nil, nil)
      return false
    }

    mutating func add(_ time: UTCTime, at now: Instant) {
      if let newest, time < newest, !backwardStep.noteArrival(of: time, at: now) { return }
      newest = time
    }
  }

  /// A deferral as it was requested.
  struct Deferral: Sendable {
    var metres: Double
    var seconds: Double
    var allowed: Instant

    /// The call that allows the remaining part of it.
    func rest(metres: Double?, at now: Instant) -> ClientCall {
      .allowDeferredUpdates(
        metres: metres ?? self.metres, seconds: max(0, seconds - now.seconds(since: allowed)))
    }
  }

  struct Stream: Sendable {
    var configuration: LiveUpdates.Configuration
    var received = ReceivedTimes()
    /// The reason that the last element reported; nil after a location.
    var reported: Diagnostic?
    var waitsSince: Instant?

    mutating func connectionLost(at now: Instant) {
      received.connectionLost()
      waitsSince = now
    }
  }

  struct Session: Sendable {
    var goal: ServiceGoal
    var fullAccuracyPurpose: String?
  }

  /// A region whose monitoring this run has started.
  struct StartedRegion: Sendable {
    var manager: Int
    var region: Region
    var marginMetres: Double?
    /// Whether the delegate has received `didStartMonitoring`.
    var isStarted = false
    /// Whether the delegate was informed that monitoring is not permitted; monitoring starts with the permission
    /// (RG-8).
    var isRefused = false
    /// Whether its monitoring was restarted at a return of the service: the delegate already has that event.
    var isRepeated = false

    /// Whether to restart it at the return of the service, with this state: a new process must also get a region whose
    /// monitoring has not started, which may not be on its disk.
    func isRepeated(in state: ProgramState) -> Bool { !isStarted || !state.monitors(region) }
  }

  /// A pending request for full accuracy.
  struct AccuracyRequest: Sendable {
    var manager: Int
    var token: Int
    var purpose: String
  }

  var application: ApplicationState
  var managers: [Int: Manager] = [:]
  var streams: [Int: Stream] = [:]
  var sessions: [Int: Session] = [:]
  /// Whether an activity began in the foreground.
  var activities: [Int: Bool] = [:]
  var monitors: [String] = []
  var regions: [StartedRegion] = []
  var accuracyRequests: [AccuracyRequest] = []
  /// Pending requests for the state of a region, oldest first (RG-12).
  var stateRequests: [(manager: Int, region: Region)] = []
  /// Whether another one is recorded: beyond this number the service answers at once.
  var hasRoomForStateRequest: Bool { stateRequests.count < 256 }
  /// The manager that has started visits.
  var visits: Int?

  init(application: ApplicationState) { self.application = application }

  /// Records a manager's call.
  mutating func note(_ call: ClientCall, by id: Int, isOpen: Bool, at now: Instant) {
    if let kind = call.settingKind { managers[id]?.settings[kind] = call }
    switch call {
    case .startUpdatingLocation, .startSignificantChanges:
      if !isOpen { managers[id]?.startWaiting(at: now) }
    case .requestLocation: if !isOpen { managers[id]?.requestSince = now }
    case .stopUpdatingLocation, .disallowDeferredUpdates: managers[id]?.deferral = nil
    case .allowDeferredUpdates(let metres, let seconds):
      managers[id]?.deferral = Deferral(metres: metres, seconds: seconds, allowed: now)
    case .startMonitoring(let region, let margin):
      forget(region)
      regions.append(StartedRegion(manager: id, region: region, marginMetres: margin))
    case .stopMonitoring(let region): forget(region)
    case .requestState(let region): if hasRoomForStateRequest { stateRequests.append((id, region)) }
    case .startVisits:
      if visits == nil { forgetVisits() }
      visits = id
    case .stopVisits:
      forgetVisits()
      visits = nil
    case .requestTemporaryFullAccuracy(let purpose, let token):
      accuracyRequests.append(AccuracyRequest(manager: id, token: token, purpose: purpose))
    default: break
    }
  }

  /// Records the answer to a manager's oldest request for the state of a region. Returns whether there was a request.
  mutating func stateAnswered(_ region: Region, to id: Int) -> Bool {
    let index = stateRequests.firstIndex { $0.manager == id && $0.region.isSame(as: region) }
    guard let index else { return false }
    stateRequests.remove(at: index)
    return true
  }

  private mutating func forget(_ region: Region) {
    regions.removeAll { $0.region.isSame(as: region) }
    for id in managers.keys { managers[id]?.repeated.forget(region) }
  }

  private mutating func forgetVisits() {
    for id in managers.keys { managers[id]?.repeated.forgetVisits() }
  }
}

extension ClientCall {
  /// The setting that it assigns; nil if it does not assign a setting.
  var settingKind: Int? {
    switch self {
    case .setDesiredAccuracy: 0
    case .setDistanceFilter: 1
    case .setActivity: 2
    case .setPausesAutomatically: 3
    case .setAllowsBackgroundUpdates: 4
    case .setShowsBackgroundIndicator: 5
    case .setHeadingFilter: 6
    case .setHeadingOrientation: 7
    default: nil
    }
  }
}

/// The last crossing and state of each region, and the last visit, that a manager has received.
///
/// The service stores a crossing or a visit after it has sent it, so that a service that is killed in between loses no
/// event. The next process of the service sends that event again.
struct RepeatedEvents: Sendable {
  private var last: [DelegateEvent] = []
  /// The events before the loss of the connection that no other event has followed.
  private var beforeLoss: [DelegateEvent] = []

  mutating func connectionLost() { beforeLoss = last }

  /// Handles an event. Returns whether it repeats an event from before the disconnect.
  ///
  /// - Parameter hasWaited: whether it has a number, with which the mirror recognises a repetition.
  mutating func note(_ event: DelegateEvent, hasWaited: Bool) -> Bool {
    // Any other event has no subject.
    guard event.hasSubject(of: event) else { return false }
    let isRepetition = beforeLoss.contains { $0.hasContent(of: event) }
    beforeLoss.removeAll { $0.hasSubject(of: event) || $0.excludes(event) }
    last.removeAll { $0.hasSubject(of: event) || $0.excludes(event) }
    if isRepetition || !hasWaited { last.append(event) }
    return isRepetition
  }

  /// Records that the monitoring of a region restarts or ends.
  mutating func forget(_ region: Region) {
    let crossing = DelegateEvent.didEnter(region)
    let state = DelegateEvent.didDetermineState(.unknown, region)
    for event in [crossing, state] {
      last.removeAll { $0.hasSubject(of: event) }
      beforeLoss.removeAll { $0.hasSubject(of: event) }
    }
  }

  mutating func forgetVisits() {
    last.removeAll { $0.isVisit }
    beforeLoss.removeAll { $0.isVisit }
  }
}

extension DelegateEvent {
  fileprivate var isVisit: Bool { if case .didVisit = self { true } else { false } }

  /// Whether both events report the same region, or visits.
  fileprivate func hasSubject(of other: DelegateEvent) -> Bool {
    switch (self, other) {
    case (.didEnter(let region), .didEnter(let second)), (.didEnter(let region), .didExit(let second)),
      (.didExit(let region), .didEnter(let second)), (.didExit(let region), .didExit(let second)),
      (.didDetermineState(_, let region), .didDetermineState(_, let second)):
      region.isSame(as: second)
    case (.didVisit, .didVisit): true
    default: false
    }
  }

  /// Whether one is a crossing, and the other the opposite state of its region: the crossing between them was not reported (RG-11).
  fileprivate func excludes(_ other: DelegateEvent) -> Bool {
    switch (self, other) {
    case (.didEnter(let region), .didDetermineState(.outside, let second)),
      (.didExit(let region), .didDetermineState(.inside, let second)),
      (.didDetermineState(.outside, let second), .didEnter(let region)),
      (.didDetermineState(.inside, let second), .didExit(let region)):
      region.isSame(as: second)
    default: false
    }
  }

  /// Whether both events report the same content. The times of a visit are measured again.
  fileprivate func hasContent(of other: DelegateEvent) -> Bool {
    switch (self, other) {
    case (.didEnter(let region), .didEnter(let second)), (.didExit(let region), .didExit(let second)):
      region.isSame(as: second)
    case (.didDetermineState(let state, let region), .didDetermineState(let secondState, let second)):
      state == secondState && region.isSame(as: second)
    case (.didVisit(let visit), .didVisit(let second)): (visit.departure == nil) == (second.departure == nil)
    default: false
    }
  }
}
