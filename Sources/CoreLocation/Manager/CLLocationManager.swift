// SPDX-License-Identifier: Apache-2.0

import Foundation
import Messages
import Positioning
import Synchronization

/// A client of location services. Its delegate is called on the run loop of the thread that made it, and never from
/// within a call to the manager.
///
/// It translates between Apple's names and the service, which decides. Its only state is the settings as they were
/// assigned.
open class CLLocationManager: NSObject {
  private let service: any LocationService
  private let delegateQueue: DelegateQueue
  private let id: ClientID
  /// Settings may be read while another thread changes them (TH-4).
  private let settings = Mutex(Settings())
  /// Locked until the service has the assigned value too, so that the service ends with the last one (TH-4).
  private let delegateLock = NSLock()
  /// Under `delegateLock`, because a weak reference must not be read while another thread writes it.
  private weak var assigned: (any CLLocationManagerDelegate)?
  private var assignment = DelegateAssignment.none
  /// Guards `completions` and `nextToken`.
  private let lock = NSLock()
  private var completions: [Int: ((any Error)?) -> Void] = [:]
  /// The authorization last reported to the current delegate; under `lock`.
  private var reported: ReportedAuthorization?
  private var nextToken = 0
  /// The last location that was delivered, and whether a delivery is in progress; under `lock`.
  private var lastReported: CLLocation?
  private var isDelivering = false
  /// The old location for a delegate with the older method.
  private var lastOneByOne: CLLocation?
  /// The notices for the delegate's author that were logged.
  var loggedNotices: Set<String> = []

  /// Makes a manager of the calling thread, on whose run loop the delegate is called.
  public override init() {
    service = Service.shared
    delegateQueue = DelegateQueue(delegateLoop: DelegateRunLoop(), log: service.log)
    id = service.add(delegateQueue)
    super.init()
    delegateQueue.connect(to: self)
  }

  /// Makes a manager that uses a given service instead of the program's.
  init(service: any LocationService) {
    self.service = service
    delegateQueue = DelegateQueue(delegateLoop: DelegateRunLoop(), log: service.log)
    id = service.add(delegateQueue)
    super.init()
    delegateQueue.connect(to: self)
  }

  /// Its services stop, except regions and visits, which the program keeps (GE-7).
  deinit { service.remove(id) }

  private func call(_ call: ClientCall) { service.call(call, by: id) }

  /// The receiver of events. A newly assigned delegate soon gets the authorization (AU-2).
  open weak var delegate: (any CLLocationManagerDelegate)? {
    get { delegateLock.withLock { assigned } }
    set {
      delegateLock.withLock {
        assigned = newValue
        lock.withLock { reported = nil }
        delegateQueue.setHasDelegate(newValue != nil)
        call(.setDelegate(newValue == nil ? nil : [.takesLocations, .takesErrors]))
        if case .deallocated(let waiting) = assignment, newValue != nil {
          for (event, ticket) in waiting { delegateQueue.receive(event, ticket) }
        }
        assignment = newValue == nil ? .none : .assigned
      }
    }
  }

  /// The delegate as the service has it. Under `delegateLock`.
  private enum DelegateAssignment {
    case none
    case assigned
    /// It was deallocated and not removed. The service has sent these events before it was informed, and does not repeat
    /// them: they wait for the next delegate.
    case deallocated([(DelegateEvent, Ticket)])
  }

  /// Handles an event that found no delegate. A deallocation is reported to the service, once, as an assignment of nil.
  /// Returns whether the event waits for the next delegate.
  private func keepIfDeallocated(_ event: DelegateEvent, _ ticket: Ticket) -> Bool {
    delegateLock.withLock {
      guard assigned == nil else { return false }
      if case .assigned = assignment {
        assignment = .deallocated([])
        delegateQueue.setHasDelegate(false)
        call(.setDelegate(nil))
      }
      guard case .deallocated(let waiting) = assignment, event.isOfMonitoring else { return false }
      assignment = .deallocated((waiting + [(event, ticket)]).suffix(EventQueue.limit))
      return true
    }
  }

  // MARK: Settings

  /// The settings as they were assigned.
  private struct Settings {
    var desiredAccuracy = kCLLocationAccuracyBest
    var distanceFilter = kCLDistanceFilterNone
    var activityType = CLActivityType.other
    var pausesAutomatically = true
    var allowsBackground = false
    var showsIndicator = false
    var headingFilter: CLLocationDegrees = 1
    var headingOrientation = CLDeviceOrientation.portrait
    var purpose: String?
  }

  private func setting<Value: Sendable>(_ setting: WritableKeyPath<Settings, Value> & Sendable) -> Value {
    settings.withLock { $0[keyPath: setting] }
  }

  private func setting<Value: Sendable>(
    _ setting: WritableKeyPath<Settings, Value> & Sendable, _ value: Value, _ call: ClientCall
  ) {
    settings.withLock { $0[keyPath: setting] = value }
    self.call(call)
  }

  /// The required accuracy, metres. It selects the effort of the hardware and suppresses no location (SU-5).
  open var desiredAccuracy: CLLocationAccuracy {
    get { setting(\.desiredAccuracy) }
    set { setting(\.desiredAccuracy, newValue, .setDesiredAccuracy(metres: newValue)) }
  }
  /// The distance to the next location that is delivered, metres; `kCLDistanceFilterNone` for every location.
  open var distanceFilter: CLLocationDistance {
    get { setting(\.distanceFilter) }
    set { setting(\.distanceFilter, newValue, .setDistanceFilter(metres: newValue)) }
  }
  /// The user's activity, which decides when updates may pause.
  open var activityType: CLActivityType {
    get { setting(\.activityType) }
    set { setting(\.activityType, newValue, .setActivity(Activity(rawValue: newValue.rawValue) ?? .other)) }
  }
  /// Whether updates may pause while the device does not move (PA-1).
  open var pausesLocationUpdatesAutomatically: Bool {
    get { setting(\.pausesAutomatically) }
    set { setting(\.pausesAutomatically, newValue, .setPausesAutomatically(newValue)) }
  }
  /// Whether updates continue in the background, which needs `location` among Info.plist's UIBackgroundModes (BG-1).
  open var allowsBackgroundLocationUpdates: Bool {
    get { setting(\.allowsBackground) }
    set { setting(\.allowsBackground, newValue, .setAllowsBackgroundUpdates(newValue)) }
  }
  /// Whether an indicator shows the user that the program gets its location in the background, which counts as use
  /// (BG-3).
  open var showsBackgroundLocationIndicator: Bool {
    get { setting(\.showsIndicator) }
    set { setting(\.showsIndicator, newValue, .setShowsBackgroundIndicator(newValue)) }
  }
  /// The change after which a heading is delivered again, degrees.
  open var headingFilter: CLLocationDegrees {
    get { setting(\.headingFilter) }
    set { setting(\.headingFilter, newValue, .setHeadingFilter(degrees: newValue)) }
  }
  /// The edge of the device that defines 0° of the heading.
  open var headingOrientation: CLDeviceOrientation {
    get { setting(\.headingOrientation) }
    set {
      let orientation = DeviceOrientation(rawValue: Int(newValue.rawValue)) ?? .unknown
      setting(\.headingOrientation, newValue, .setHeadingOrientation(orientation))
    }
  }
  /// The purpose of the location, a text for the user, up to iOS 6; today it is in Info.plist.
  @available(*, deprecated, message: "write NSLocationUsageDescription into Info.plist")
  open var purpose: String? {
    get { setting(\.purpose) }
    set { settings.withLock { $0.purpose = newValue } }
  }

  // MARK: Current values

  /// The newest location; nil if there was never one, or without permission.
  ///
  /// While locations wait for delivery, it is the last delivered one (SU-23).
  open var location: CLLocation? {
    service.refreshNewest()
    guard let newest = service.location(of: id) else { return nil }
    let waits = delegateQueue.hasLocations
    if let last = lock.withLock({ isDelivering || waits ? lastReported : nil }) { return last }
    return CLLocation(newest)
  }
  /// The newest heading; nil before headings were started.
  open var heading: CLHeading? { service.heading(of: id).map(CLHeading.init) }
  /// The largest radius of a region, metres; −1 where regions are not monitored.
  open var maximumRegionMonitoringDistance: CLLocationDistance { service.maximumRegionRadiusMetres }
  /// The regions that all managers of the program monitor.
  open var monitoredRegions: Set<CLRegion> { Set(service.monitoredRegions.map(CLRegion.made)) }

  private var rangedTargets: [Ranging.Target] { service.rangedTargets(of: id) }
  open var rangedRegions: Set<CLRegion> {
    Set(rangedTargets.compactMap { if case .region(let region) = $0 { CLRegion.made(of: region) } else { nil } })
  }
  open var rangedBeaconConstraints: Set<CLBeaconIdentityConstraint> {
    Set(
      rangedTargets.compactMap {
        if case .constraint(let identity) = $0 { CLBeaconIdentityConstraint(identity) } else { nil }
      })
  }

  // MARK: Permission

  open var authorizationStatus: CLAuthorizationStatus { Self.status(of: service) }
  open var accuracyAuthorization: CLAccuracyAuthorization {
    CLAccuracyAuthorization(rawValue: service.accuracyAuthorization.rawValue) ?? .fullAccuracy
  }
  open var isAuthorizedForWidgetUpdates: Bool { authorizationStatus == .authorizedAlways }

  private static func status(of service: any LocationService) -> CLAuthorizationStatus {
    CLAuthorizationStatus(rawValue: Int32(service.authorizationStatus.rawValue)) ?? .denied
  }

  open class func authorizationStatus() -> CLAuthorizationStatus { status(of: Service.shared) }

  open func requestWhenInUseAuthorization() { call(.requestWhenInUse) }
  open func requestAlwaysAuthorization() { call(.requestAlways) }

  // Subclasses and protocols name this method as well as the one with a completion.
  open func requestTemporaryFullAccuracyAuthorization(withPurposeKey purposeKey: String) {
    requestTemporaryFullAccuracyAuthorization(withPurposeKey: purposeKey, completion: nil)
  }

  open func requestTemporaryFullAccuracyAuthorization(
    withPurposeKey purposeKey: String, completion: (((any Error)?) -> Void)? = nil
  ) {
    let token = keep(completion)
    call(.requestTemporaryFullAccuracy(purpose: purposeKey, token: token))
  }

  /// Keeps a completion. Returns the number of its answer.
  private func keep(_ completion: (((any Error)?) -> Void)?) -> Int {
    lock.withLock {
      nextToken += 1
      completions[nextToken] = completion
      return nextToken
    }
  }

  open nonisolated(nonsending) func requestTemporaryFullAccuracyAuthorization(
    withPurposeKey purposeKey: String
  ) async throws {
    try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
      requestTemporaryFullAccuracyAuthorization(withPurposeKey: purposeKey) { error in
        if let error { continuation.resume(throwing: error) } else { continuation.resume() }
      }
    }
  }

  // MARK: Availability

  private static func hostCapability(_ hostCapability: @Sendable (HostCapabilities) -> Bool) -> Bool {
    hostCapability(Service.shared.hostCapabilities())
  }

  open class func locationServicesEnabled() -> Bool { Service.shared.servicesAreEnabled }
  open class func headingAvailable() -> Bool { hostCapability { $0.hasCompass } }
  open class func significantLocationChangeMonitoringAvailable() -> Bool { hostCapability { $0.hasSignificantChanges } }
  open class func isMonitoringAvailable(for regionClass: AnyClass) -> Bool {
    if regionClass is CLBeaconRegion.Type { return hostCapability { $0.hasBluetooth } }
    return regionClass is CLRegion.Type && hostCapability { $0.hasSignificantChanges }
  }
  open class func regionMonitoringAvailable() -> Bool { isMonitoringAvailable(for: CLCircularRegion.self) }
  @available(*, deprecated, message: "use isMonitoringAvailable(for:) and authorizationStatus")
  open class func regionMonitoringEnabled() -> Bool {
    isMonitoringAvailable(for: CLCircularRegion.self) && locationServicesEnabled()
  }
  open class func isRangingAvailable() -> Bool { hostCapability { $0.hasBluetooth } }
  open class func deferredLocationUpdatesAvailable() -> Bool { hostCapability { $0.hasSatelliteReceiver } }
  @available(*, deprecated, message: "use the method of the class")
  open var locationServicesEnabled: Bool { Self.locationServicesEnabled() }
  open var headingAvailable: Bool { Self.headingAvailable() }

  // MARK: Services

  open func startUpdatingLocation() { call(.startUpdatingLocation) }
  open func stopUpdatingLocation() { call(.stopUpdatingLocation) }
  open func requestLocation() { call(.requestLocation) }
  open func startMonitoringSignificantLocationChanges() { call(.startSignificantChanges) }
  open func stopMonitoringSignificantLocationChanges() { call(.stopSignificantChanges) }
  open func startUpdatingHeading() { call(.startHeading) }
  open func stopUpdatingHeading() { call(.stopHeading) }
  open func dismissHeadingCalibrationDisplay() { call(.dismissCalibration) }
  open func startMonitoringVisits() { call(.startVisits) }
  open func stopMonitoringVisits() { call(.stopVisits) }

  open func startMonitoring(for region: CLRegion) { call(.startMonitoring(region.content)) }
  /// - Parameter accuracy: the distance beyond the border from which a crossing is delivered, metres.
  @available(*, deprecated, renamed: "startMonitoring(for:)")
  open func startMonitoring(for region: CLRegion, desiredAccuracy accuracy: CLLocationAccuracy) {
    call(.startMonitoring(region.content, marginMetres: accuracy))
  }
  open func stopMonitoring(for region: CLRegion) { call(.stopMonitoring(region.content)) }
  open func requestState(for region: CLRegion) {
    // Regions of an unknown class have no state (RG-12).
    guard region.isOfKnownKind else { return }
    call(.requestState(region.content))
  }

  open func startRangingBeacons(satisfying constraint: CLBeaconIdentityConstraint) {
    call(.startRanging(.constraint(constraint.identity)))
  }
  open func stopRangingBeacons(satisfying constraint: CLBeaconIdentityConstraint) {
    call(.stopRanging(.constraint(constraint.identity)))
  }
  open func startRangingBeacons(in region: CLBeaconRegion) { call(.startRanging(.region(region.content))) }
  open func stopRangingBeacons(in region: CLBeaconRegion) { call(.stopRanging(.region(region.content))) }

  open func allowDeferredLocationUpdates(untilTraveled distance: CLLocationDistance, timeout: TimeInterval) {
    call(.allowDeferredUpdates(metres: distance, seconds: timeout))
  }
  open func disallowDeferredLocationUpdates() { call(.disallowDeferredUpdates) }

  /// Locations of the past, which no receiver here stores; the handler soon gets an error.
  open func requestHistoricalLocations(
    purposeKey: String, sampleCount: Int, completionHandler: @escaping ([CLLocation], (any Error)?) -> Void
  ) {
    answerUnsupported { completionHandler([], CLError(.historicalLocationError)) }
  }

  open nonisolated(nonsending) func historicalLocations(
    purposeKey: String, sampleCount: Int
  ) async throws -> [CLLocation] {
    throw CLError(.historicalLocationError)
  }

  /// Pushes are sent to a device by Apple's servers; the handler soon gets an error.
  open func startMonitoringLocationPushes(completion: ((Data?, (any Error)?) -> Void)? = nil) {
    answerUnsupported { completion?(nil, CLLocationPushServiceError(.unsupportedPlatform)) }
  }
  open nonisolated(nonsending) func startMonitoringLocationPushes() async throws -> Data {
    throw CLLocationPushServiceError(.unsupportedPlatform)
  }
  open func stopMonitoringLocationPushes() {}

  /// Calls a handler on the manager's run loop, for a request that the system does not serve.
  private func answerUnsupported(_ handler: @escaping () -> Void) {
    delegateQueue.put(.unsupported(token: keep { _ in handler() }))
  }

  // MARK: Delivery

  /// Delivers an event of the queue, on the run loop of the manager's thread.
  func deliver(_ event: DelegateQueue.QueuedEvent) {
    switch event {
    case .event(let event, let ticket):
      // The service may have stopped since the event was put into the queue (SU-15). The service is asked even without
      // a delegate, because delivery also ends a request.
      let delegate = delegate
      if delegate == nil, keepIfDeallocated(event, ticket) { return }
      guard service.beginDelivery(of: event, ticket, to: id), let delegate else { return }
      deliver(event, delegate)
    case .temporaryAccuracy(let token, let error, let refusal):
      let completion = lock.withLock { completions.removeValue(forKey: token) }
      completion?(error.map { CLError($0, refusal: refusal) })
    case .unsupported(let token):
      let completion = lock.withLock { completions.removeValue(forKey: token) }
      completion?(nil)
    case .calibration(true): log("the compass has to be calibrated: turn the device about all its axes")
    case .calibration(false): break
    }
  }

  private func deliver(_ event: DelegateEvent, _ delegate: any CLLocationManagerDelegate) {
    switch event {
    case .didUpdateLocations(let contents):
      let locations = contents.map { CLLocation($0) }
      // A delegate that runs its loop may receive the next locations inside this call.
      let wasDelivering = lock.withLock {
        defer { (lastReported, isDelivering) = (locations.last, true) }
        return isDelivering
      }
      delegate.locationManager(self, didUpdateLocations: locations)
      lock.withLock { isDelivering = wasDelivering }
      lastOneByOne = locations.last
    case .didFail(let error): delegate.locationManager(self, didFailWithError: CLError(error))
    case .didFailToAsk(let keys): delegate.locationManager(self, didFailWithError: CLError(missingKeys: keys))
    case .didPauseLocationUpdates: delegate.locationManagerDidPauseLocationUpdates(self)
    case .didResumeLocationUpdates: delegate.locationManagerDidResumeLocationUpdates(self)
    case .didFinishDeferredUpdates(let error):
      delegate.locationManager(self, didFinishDeferredUpdatesWithError: error.map { CLError($0) })
    case .didUpdateHeading(let heading): delegate.locationManager(self, didUpdateHeading: CLHeading(heading))
    case .shouldDisplayHeadingCalibration:
      call(.showsCalibration(delegate.locationManagerShouldDisplayHeadingCalibration(self)))
    case .didStartMonitoring(let region):
      delegate.locationManager(self, didStartMonitoringFor: CLRegion.made(of: region))
    case .didEnter(let region): delegate.locationManager(self, didEnterRegion: CLRegion.made(of: region))
    case .didExit(let region): delegate.locationManager(self, didExitRegion: CLRegion.made(of: region))
    case .didDetermineState(let state, let region):
      delegate.locationManager(
        self, didDetermineState: CLRegionState(rawValue: state.rawValue) ?? .unknown, for: CLRegion.made(of: region))
    case .monitoringDidFail(let region, let error):
      delegate.locationManager(
        self, monitoringDidFailFor: region.map(CLRegion.made), withError: CLError(error))
    case .didRange(let beacons, let target): deliverRanged(beacons.map { CLBeacon($0) }, target, delegate)
    case .rangingDidFail(let target, let error): deliverRangingFailure(target, CLError(error), delegate)
    case .didVisit(let visit): delegate.locationManager(self, didVisit: CLVisit(visit))
    case .didChangeAuthorization(let status, let accuracy):
      // The last location may be more than the new permission allows (AU-19).
      lock.withLock { if !isDelivering { lastReported = nil } }
      report(ReportedAuthorization.Value(status: status, accuracy: accuracy), delegate)
    }
  }

  /// Reports the authorization of an event, unless the delegate has it already (AU-3). A delegate reads the current
  /// authorization, which may be newer than the event; the older method receives the one in the event.
  private func report(_ event: ReportedAuthorization.Value, _ delegate: any CLLocationManagerDelegate) {
    let present = ReportedAuthorization.Value(
      status: service.authorizationStatus, accuracy: service.accuracyAuthorization)
    let isNew = lock.withLock {
      if let reported, reported.value == (reported.isOfEvent ? event : present) { return false }
      reported = ReportedAuthorization(value: present, event: event)
      return true
    }
    if isNew { delegate.locationManagerDidChangeAuthorization(self) }
  }

  /// The status for the older method: from the event being delivered, otherwise the current one.
  func takeStatusOfEvent() -> CLAuthorizationStatus {
    let event = lock.withLock { () -> ReportedAuthorization.Value? in
      guard let event = reported?.event else { return nil }
      reported?.value = event
      reported?.isOfEvent = true
      return event
    }
    return event.flatMap { CLAuthorizationStatus(rawValue: Int32($0.status.rawValue)) } ?? authorizationStatus
  }

  /// Delivers to a delegate with the older method. For the first location, the old location is the location itself
  /// (SU-22).
  func deliverOneByOne(_ locations: [CLLocation], _ delegate: some CLLocationManagerDelegate) {
    for location in locations {
      delegate.locationManager(self, didUpdateTo: location, from: lastOneByOne ?? location)
      lastOneByOne = location
    }
  }

  func log(_ text: String) { service.log(text) }
}

/// The delivery of ranged beacons, to the delegate methods for regions and for constraints.
extension CLLocationManager {
  func deliverRanged(
    _ beacons: [CLBeacon], _ target: Ranging.Target, _ delegate: any CLLocationManagerDelegate
  ) {
    switch target {
    case .constraint(let identity):
      delegate.locationManager(self, didRange: beacons, satisfying: CLBeaconIdentityConstraint(identity))
    case .region(let region):
      guard let region = CLRegion.made(of: region) as? CLBeaconRegion else { return }
      delegate.locationManager(self, didRangeBeacons: beacons, in: region)
    }
  }

  func deliverRangingFailure(
    _ target: Ranging.Target, _ error: CLError, _ delegate: any CLLocationManagerDelegate
  ) {
    switch target {
    case .constraint(let identity):
      delegate.locationManager(self, didFailRangingFor: CLBeaconIdentityConstraint(identity), error: error)
    case .region(let region):
      guard let region = CLRegion.made(of: region) as? CLBeaconRegion else { return }
      delegate.locationManager(self, rangingBeaconsDidFailFor: region, withError: error)
    }
  }
}

/// The authorization that was last reported to a delegate. Several changes may wait for a run loop, and a delegate that
/// reads the manager's status sees the newest one at the first change.
struct ReportedAuthorization {
  struct Value: Equatable {
    var status: AuthorizationStatus
    var accuracy: AccuracyAuthorization
  }

  /// The value that the delegate has: the current one at that time, or the event's for the older method.
  var value: Value
  var isOfEvent = false
  /// The event being delivered, or the last delivered one.
  let event: Value

  init(value: Value, event: Value) {
    self.value = value
    self.event = event
  }
}

extension DelegateEvent {
  /// Whether it is a crossing, the state of a region or a visit.
  fileprivate var isOfMonitoring: Bool {
    switch self {
    case .didEnter, .didExit, .didDetermineState, .didVisit: true
    default: false
    }
  }
}
