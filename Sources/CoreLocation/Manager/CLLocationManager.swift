import Foundation
import LocationService
import Positioning

/// A client of location services. Its delegate is called on the run loop of the thread that made it, and never from inside
/// a call of it.
///
/// It translates between Apple's names and the service, which decides; what stands here by itself are the wishes, as they
/// were given.
open class CLLocationManager: NSObject {
  private let service: LocationService
  private let mailbox: Mailbox
  private let id: ClientID
  private var completions: [Int: ((any Error)?) -> Void] = [:]
  private var nextToken = 0
  private var lastTold: CLLocation?
  private var complaints: Set<String> = []

  public override convenience init() { self.init(service: Service.shared) }

  init(service: LocationService) {
    self.service = service
    mailbox = Mailbox(home: HomeLoop())
    id = service.add(mailbox)
    super.init()
    mailbox.belongs(to: self)
  }

  /// What it started stops, but for regions and visits, which the program keeps (GE-7).
  deinit { service.remove(id) }

  private func call(_ call: ClientCall) { service.call(call, by: id) }

  /// Who is told. A delegate that is assigned is told the authorization, soon (AU-2).
  open weak var delegate: (any CLLocationManagerDelegate)? {
    didSet { call(.setDelegate(delegate == nil ? nil : [.takesLocations, .takesErrors])) }
  }

  // MARK: Wishes

  open var desiredAccuracy: CLLocationAccuracy = kCLLocationAccuracyBest {
    didSet { call(.setDesiredAccuracy(metres: desiredAccuracy)) }
  }
  open var distanceFilter: CLLocationDistance = kCLDistanceFilterNone {
    didSet { call(.setDistanceFilter(metres: distanceFilter)) }
  }
  open var activityType = CLActivityType.other {
    didSet { call(.setActivity(Activity(rawValue: activityType.rawValue) ?? .other)) }
  }
  open var pausesLocationUpdatesAutomatically = true {
    didSet { call(.setPausesAutomatically(pausesLocationUpdatesAutomatically)) }
  }
  open var allowsBackgroundLocationUpdates = false {
    didSet { call(.setAllowsBackgroundUpdates(allowsBackgroundLocationUpdates)) }
  }
  open var showsBackgroundLocationIndicator = false {
    didSet { call(.setShowsBackgroundIndicator(showsBackgroundLocationIndicator)) }
  }
  open var headingFilter: CLLocationDegrees = 1 {
    didSet { call(.setHeadingFilter(degrees: headingFilter)) }
  }
  open var headingOrientation = CLDeviceOrientation.portrait {
    didSet {
      call(.setHeadingOrientation(DeviceOrientation(rawValue: Int(headingOrientation.rawValue)) ?? .unknown))
    }
  }
  @available(*, deprecated, message: "write NSLocationUsageDescription into Info.plist")
  open var purpose: String? {
    get { purposeText }
    set { purposeText = newValue }
  }
  private var purposeText: String?

  // MARK: What is known

  /// The newest location; nil if none was ever retrieved, or without permission.
  open var location: CLLocation? {
    let id = id
    return service.read { $0.location(of: id) }.map(CLLocation.init)
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
  @available(*, deprecated, renamed: "rangedBeaconConstraints")
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

  @available(*, deprecated, message: "use the property of a manager")
  open class func authorizationStatus() -> CLAuthorizationStatus { status(of: Service.shared) }

  open func requestWhenInUseAuthorization() { call(.requestWhenInUse) }
  open func requestAlwaysAuthorization() { call(.requestAlways) }

  open func requestTemporaryFullAccuracyAuthorization(
    withPurposeKey purposeKey: String, completion: (((any Error)?) -> Void)? = nil
  ) {
    let token = nextToken
    nextToken += 1
    completions[token] = completion
    call(.requestTemporaryFullAccuracy(purpose: purposeKey, token: token))
  }

  // MARK: Availability

  private static func facility(_ facility: @Sendable (Facilities) -> Bool) -> Bool {
    facility(Service.shared.facilities())
  }

  open class func locationServicesEnabled() -> Bool { Service.shared.read { $0.authorization.servicesAreEnabled } }
  open class func headingAvailable() -> Bool { facility { $0.hasCompass } }
  open class func significantLocationChangeMonitoringAvailable() -> Bool { facility { $0.hasSignificantChanges } }
  open class func isMonitoringAvailable(for regionClass: AnyClass) -> Bool {
    if regionClass is CLBeaconRegion.Type { return facility { $0.hasBluetooth } }
    return regionClass is CLRegion.Type && facility { $0.hasSignificantChanges }
  }
  @available(*, deprecated, renamed: "isMonitoringAvailable(for:)")
  open class func regionMonitoringAvailable() -> Bool { isMonitoringAvailable(for: CLCircularRegion.self) }
  @available(*, deprecated, message: "use isMonitoringAvailable(for:) and authorizationStatus")
  open class func regionMonitoringEnabled() -> Bool {
    isMonitoringAvailable(for: CLCircularRegion.self) && locationServicesEnabled()
  }
  open class func isRangingAvailable() -> Bool { facility { $0.hasBluetooth } }
  open class func deferredLocationUpdatesAvailable() -> Bool { facility { $0.hasSatelliteReceiver } }
  @available(*, deprecated, message: "use the method of the class")
  open var locationServicesEnabled: Bool { Self.locationServicesEnabled() }
  @available(*, deprecated, message: "use the method of the class")
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
  open func requestState(for region: CLRegion) { call(.requestState(region.content)) }

  open func startRangingBeacons(satisfying constraint: CLBeaconIdentityConstraint) {
    call(.startRanging(.constraint(constraint.identity)))
  }
  open func stopRangingBeacons(satisfying constraint: CLBeaconIdentityConstraint) {
    call(.stopRanging(.constraint(constraint.identity)))
  }
  @available(*, deprecated, renamed: "startRangingBeacons(satisfying:)")
  open func startRangingBeacons(in region: CLBeaconRegion) { call(.startRanging(.region(region.content))) }
  @available(*, deprecated, renamed: "stopRangingBeacons(satisfying:)")
  open func stopRangingBeacons(in region: CLBeaconRegion) { call(.stopRanging(.region(region.content))) }

  open func allowDeferredLocationUpdates(untilTraveled distance: CLLocationDistance, timeout: TimeInterval) {
    call(.allowDeferredUpdates(metres: distance, seconds: timeout))
  }
  open func disallowDeferredLocationUpdates() { call(.disallowDeferredUpdates) }

  // MARK: What is told

  /// One letter of the mailbox; on the run loop of the manager's thread.
  func open(_ letter: Mailbox.Letter) {
    switch letter {
    case .event(let event, let ticket):
      // The service may have been stopped, or the delegate replaced, since it was sent (SU-15, TH-3).
      guard let delegate, service.isCurrent(ticket, for: id) else { return }
      tell(event, delegate)
    case .temporaryAccuracy(let token, let error):
      completions.removeValue(forKey: token)?(error.map { CLError($0) })
    case .calibration(true): complain(text: "the compass has to be calibrated: turn the device about all its axes")
    case .calibration(false): break
    }
  }

  private func tell(_ event: DelegateEvent, _ delegate: any CLLocationManagerDelegate) {
    switch event {
    case .didUpdateLocations(let contents):
      let locations = contents.map { CLLocation($0) }
      delegate.locationManager(self, didUpdateLocations: locations)
      lastTold = locations.last
    case .didFail(let error): delegate.locationManager(self, didFailWithError: CLError(error))
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
    case .didChangeAuthorization: delegate.locationManagerDidChangeAuthorization(self)
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
      delegate.locationManager(self, didUpdateTo: location, from: lastTold ?? location)
      lastTold = location
    }
  }

  /// The delegate has no such method, and misses what it would be told: said once (SU-26).
  func complain(_ method: String) {
    guard complaints.insert(method).inserted else { return }
    complain(text: "the delegate does not implement \(method), and misses what it would be told (is it spelt so?)")
  }

  private func complain(text: String) { FileHandle.standardError.write(Data("CoreLocation: \(text)\n".utf8)) }
}
