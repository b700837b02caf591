import Foundation
import LocationService
import Positioning
import Synchronization

/// A client of location services. Its delegate is called on the run loop of the thread that made it, and never from inside
/// a call of it.
///
/// It translates between Apple's names and the service, which decides; what stands here by itself are the wishes, as they
/// were given.
open class CLLocationManager: NSObject {
  private let service: LocationService
  private let delegateQueue: DelegateQueue
  private let id: ClientID
  /// Wishes may be read while another thread changes them (TH-4).
  private let demands = Mutex(Demands())
  /// Held until the service knows of an assignment as well, so that it knows the last one (TH-4).
  private let delegateLock = NSLock()
  /// Under `delegateLock`: a weak reference must not be read while another thread writes it.
  private weak var assigned: (any CLLocationManagerDelegate)?
  /// Guards `completions` and `nextToken`.
  private let lock = NSLock()
  private var completions: [Int: ((any Error)?) -> Void] = [:]
  private var nextToken = 0
  /// What the delegate was told last, and whether it is being told; under `lock`.
  private var lastReported: CLLocation?
  private var isTelling = false
  /// The location that a delegate of the older method came from.
  private var lastOneByOne: CLLocation?
  private var complaints: Set<String> = []

  /// A manager of the thread that makes it, whose run loop its delegate is called on.
  public override init() {
    service = Service.shared
    delegateQueue = DelegateQueue(delegateLoop: DelegateRunLoop(), log: service.log)
    id = service.add(delegateQueue)
    super.init()
    delegateQueue.belongs(to: self)
  }

  /// A manager of another service than the program's.
  init(service: LocationService) {
    self.service = service
    delegateQueue = DelegateQueue(delegateLoop: DelegateRunLoop(), log: service.log)
    id = service.add(delegateQueue)
    super.init()
    delegateQueue.belongs(to: self)
  }

  /// What it started stops, but for regions and visits, which the program keeps (GE-7).
  deinit { service.remove(id) }

  private func call(_ call: ClientCall) { service.call(call, by: id) }

  /// Who is told. A delegate that is assigned is told the authorization, soon (AU-2).
  open weak var delegate: (any CLLocationManagerDelegate)? {
    get { delegateLock.withLock { assigned } }
    set {
      delegateLock.withLock {
        assigned = newValue
        delegateQueue.setIsHeard(newValue != nil)
        call(.setDelegate(newValue == nil ? nil : [.takesLocations, .takesErrors]))
      }
    }
  }

  // MARK: Wishes

  /// As they were given.
  private struct Demands {
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

  private func demand<Value: Sendable>(_ demand: WritableKeyPath<Demands, Value> & Sendable) -> Value {
    demands.withLock { $0[keyPath: demand] }
  }

  private func demand<Value: Sendable>(
    _ demand: WritableKeyPath<Demands, Value> & Sendable, _ value: Value, _ call: ClientCall
  ) {
    demands.withLock { $0[keyPath: demand] = value }
    self.call(call)
  }

  /// How exact locations have to be, metres: it selects the effort of the hardware, and suppresses no location (SU-5).
  open var desiredAccuracy: CLLocationAccuracy {
    get { demand(\.desiredAccuracy) }
    set { demand(\.desiredAccuracy, newValue, .setDesiredAccuracy(metres: newValue)) }
  }
  /// Metres that have to be moved before the next location is told; `kCLDistanceFilterNone`: every one is.
  open var distanceFilter: CLLocationDistance {
    get { demand(\.distanceFilter) }
    set { demand(\.distanceFilter, newValue, .setDistanceFilter(metres: newValue)) }
  }
  /// What the user is doing: it decides when updates may pause.
  open var activityType: CLActivityType {
    get { demand(\.activityType) }
    set { demand(\.activityType, newValue, .setActivity(Activity(rawValue: newValue.rawValue) ?? .other)) }
  }
  /// Whether updates may pause while nothing moves (PA-1).
  open var pausesLocationUpdatesAutomatically: Bool {
    get { demand(\.pausesAutomatically) }
    set { demand(\.pausesAutomatically, newValue, .setPausesAutomatically(newValue)) }
  }
  /// Whether updates go on in the background; needs `location` among Info.plist's UIBackgroundModes (BG-1).
  open var allowsBackgroundLocationUpdates: Bool {
    get { demand(\.allowsBackground) }
    set { demand(\.allowsBackground, newValue, .setAllowsBackgroundUpdates(newValue)) }
  }
  /// Whether the user is shown that the program is told its location in the background, which counts as use (BG-3).
  open var showsBackgroundLocationIndicator: Bool {
    get { demand(\.showsIndicator) }
    set { demand(\.showsIndicator, newValue, .setShowsBackgroundIndicator(newValue)) }
  }
  /// Degrees that the heading has to change by before it is told again.
  open var headingFilter: CLLocationDegrees {
    get { demand(\.headingFilter) }
    set { demand(\.headingFilter, newValue, .setHeadingFilter(degrees: newValue)) }
  }
  /// Which edge of the device is 0° of the heading.
  open var headingOrientation: CLDeviceOrientation {
    get { demand(\.headingOrientation) }
    set {
      let orientation = DeviceOrientation(rawValue: Int(newValue.rawValue)) ?? .unknown
      demand(\.headingOrientation, newValue, .setHeadingOrientation(orientation))
    }
  }
  /// What the location is for, in words to the user, up to iOS 6; Info.plist says it today.
  @available(*, deprecated, message: "write NSLocationUsageDescription into Info.plist")
  open var purpose: String? {
    get { demand(\.purpose) }
    set { demands.withLock { $0.purpose = newValue } }
  }

  // MARK: What is known

  /// The newest location; nil if none was ever retrieved, or without permission.
  ///
  /// While locations wait to be told it is the one that was told last (SU-23).
  open var location: CLLocation? {
    let id = id
    service.lookAtNewest()
    guard let newest = service.read({ engine in engine.location(of: id) }) else { return nil }
    let waits = delegateQueue.holdsLocations
    if let told = lock.withLock({ isTelling || waits ? lastReported : nil }) { return told }
    return CLLocation(newest)
  }
  /// The newest heading; nil before headings were started.
  open var heading: CLHeading? {
    let id = id
    return service.read { $0.heading(of: id) }.map(CLHeading.init)
  }
  /// The largest radius of a region, metres; −1 where regions are not monitored.
  open var maximumRegionMonitoringDistance: CLLocationDistance { service.read { $0.maximumRegionRadiusMetres } }
  /// What all managers of the program monitor.
  open var monitoredRegions: Set<CLRegion> { Set(service.read { $0.regions.monitored }.map(CLRegion.made)) }

  private var rangedTargets: [Ranging.Target] {
    let id = id
    return service.read { $0.rangedTargets(of: id) }
  }
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
    CLAccuracyAuthorization(rawValue: service.read { $0.authorization.accuracy }.rawValue) ?? .fullAccuracy
  }
  open var isAuthorizedForWidgetUpdates: Bool { authorizationStatus == .authorizedAlways }

  private static func status(of service: LocationService) -> CLAuthorizationStatus {
    CLAuthorizationStatus(rawValue: Int32(service.read { $0.authorization.status }.rawValue)) ?? .denied
  }

  open class func authorizationStatus() -> CLAuthorizationStatus { status(of: Service.shared) }

  open func requestWhenInUseAuthorization() { call(.requestWhenInUse) }
  open func requestAlwaysAuthorization() { call(.requestAlways) }

  // A method of its own beside the one with a completion, as subclasses and protocols name it.
  open func requestTemporaryFullAccuracyAuthorization(withPurposeKey purposeKey: String) {
    requestTemporaryFullAccuracyAuthorization(withPurposeKey: purposeKey, completion: nil)
  }

  open func requestTemporaryFullAccuracyAuthorization(
    withPurposeKey purposeKey: String, completion: (((any Error)?) -> Void)? = nil
  ) {
    let token = keep(completion)
    call(.requestTemporaryFullAccuracy(purpose: purposeKey, token: token))
  }

  /// Keeps what is to be called with the answer; the number finds it again.
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

  open class func locationServicesEnabled() -> Bool { Service.shared.read { $0.authorization.servicesAreEnabled } }
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
  /// - Parameter accuracy: how far beyond the border one has to be before it is told, metres.
  @available(*, deprecated, renamed: "startMonitoring(for:)")
  open func startMonitoring(for region: CLRegion, desiredAccuracy accuracy: CLLocationAccuracy) {
    call(.startMonitoring(region.content, marginMetres: accuracy))
  }
  open func stopMonitoring(for region: CLRegion) { call(.stopMonitoring(region.content)) }
  open func requestState(for region: CLRegion) {
    // A class that nobody knows is nothing (RG-12).
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

  /// Locations of the past, which no receiver here keeps for others: the handler is told so, soon.
  open func requestHistoricalLocations(
    purposeKey: String, sampleCount: Int, completionHandler: @escaping ([CLLocation], (any Error)?) -> Void
  ) {
    let token = keep { error in completionHandler([], error) }
    delegateQueue.put(.history(token: token))
  }

  open nonisolated(nonsending) func historicalLocations(
    purposeKey: String, sampleCount: Int
  ) async throws -> [CLLocation] {
    throw CLError(.historicalLocationError)
  }

  // MARK: What is told

  /// One letter of the mailbox; on the run loop of the manager's thread.
  func open(_ event: DelegateQueue.QueuedEvent) {
    switch event {
    case .event(let event, let ticket):
      // The service may have been stopped since it was sent (SU-15). It is asked also where nobody is told: a request whose
      // answer comes to nobody is over.
      guard service.isCurrent(event, ticket, for: id), let delegate else { return }
      tell(event, delegate)
    case .temporaryAccuracy(let token, let error):
      let completion = lock.withLock { completions.removeValue(forKey: token) }
      completion?(error.map { CLError($0) })
    case .history(let token):
      let completion = lock.withLock { completions.removeValue(forKey: token) }
      completion?(CLError(.historicalLocationError))
    case .calibration(true): complain(text: "the compass has to be calibrated: turn the device about all its axes")
    case .calibration(false): break
    }
  }

  private func tell(_ event: DelegateEvent, _ delegate: any CLLocationManagerDelegate) {
    switch event {
    case .didUpdateLocations(let contents):
      let locations = contents.map { CLLocation($0) }
      // A delegate that runs its loop may be told the next in the midst of this one.
      let wasTelling = lock.withLock {
        defer { (lastReported, isTelling) = (locations.last, true) }
        return isTelling
      }
      delegate.locationManager(self, didUpdateLocations: locations)
      lock.withLock { isTelling = wasTelling }
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
    case .didRange(let beacons, let target): tellRanged(beacons.map { CLBeacon($0) }, target, delegate)
    case .rangingDidFail(let target, let error): tellRangingFailed(target, CLError(error), delegate)
    case .didVisit(let visit): delegate.locationManager(self, didVisit: CLVisit(visit))
    case .didChangeAuthorization:
      // What was told before may be more than may be known now (AU-19).
      lock.withLock { if !isTelling { lastReported = nil } }
      delegate.locationManagerDidChangeAuthorization(self)
    }
  }

  private func tellRanged(
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

  private func tellRangingFailed(
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

  /// For a delegate of the older method; the first location comes from itself (SU-22).
  func tellOneByOne(_ locations: [CLLocation], _ delegate: some CLLocationManagerDelegate) {
    for location in locations {
      delegate.locationManager(self, didUpdateTo: location, from: lastOneByOne ?? location)
      lastOneByOne = location
    }
  }

  /// The delegate has no such method, and misses what it would be told: said once (SU-26).
  func complain(_ method: String) {
    guard complaints.insert(method).inserted else { return }
    complain(text: "the delegate does not implement \(method), and misses what it would be told (is it spelt so?)")
  }

  private func complain(text: String) { service.log(text) }
}
