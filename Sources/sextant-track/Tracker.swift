// SPDX-License-Identifier: Apache-2.0
import CoreLocation
import Foundation
import LinuxIO

/// The client of Core Location: it starts the services of the command line, prints each event, and ends normally.
///
/// Sendable because it runs only on the main thread, whose queue receives signals and the end of `--seconds`.
final class Tracker: NSObject, CLLocationManagerDelegate, @unchecked Sendable {
  private let options: Track
  /// Copies of the options that each location needs: access to a command-line option is slow.
  private let isOnce, defers: Bool
  private let printer: Printer
  private let manager = CLLocationManager()
  /// The time of the location that was cached at the start, which is not fresh.
  private var cached: Date?
  private var wasDeferred = false
  private var hasAnswer = false
  private var isEnding = false
  /// Whether the receiver may not be opened.
  private var isForbidden = false
  /// Whether no receiver is connected.
  private var isAbsent = false
  /// The last manager, whose delegate is called last.
  private var last: (manager: CLLocationManager, delegate: LastDelegate)?

  init(_ options: Track) {
    self.options = options
    isOnce = options.once
    defers = options.deferDistance != nil || options.deferTimeout != nil
    printer = Printer(isJSON: options.json)
  }

  func start() {
    if let seconds = options.seconds {
      DispatchQueue.main.asyncAfter(deadline: .now() + seconds) { [self] in end() }
    }
    CLLocationManager.observeReceiverProblem { [self] problem in
      isForbidden = problem == .forbidden
      isAbsent = problem == .absent
      // The service has logged the problem. If the receiver is lost later, the service waits for it.
      guard !hasAnswer else { return }
      switch problem {
      case .held: end(.held)
      case .miswritten: end(.badData)
      case .misnamed: end(.noInput)
      case .misconfigured: end(.configuration)
      case .forbidden, .absent, nil: break
      }
    }
    cached = manager.location?.timestamp
    manager.desiredAccuracy = options.accuracy?.metres ?? kCLLocationAccuracyBest
    manager.distanceFilter = options.distanceFilter ?? kCLDistanceFilterNone
    manager.activityType = options.activity.type
    manager.pausesLocationUpdatesAutomatically = !options.noPause
    manager.delegate = self
    if manager.authorizationStatus == .notDetermined { manager.requestAlwaysAuthorization() }
    startServices()
  }

  /// Handles a signal that requests termination, on the main thread.
  func signalArrived() {
    // A second signal ends the process at once.
    if isEnding { exit(code.rawValue) }
    end()
  }

  private func startServices() {
    if options.heading {
      if !CLLocationManager.headingAvailable() { printNotice("there is no compass, so --heading has no effect") }
      manager.startUpdatingHeading()
    }
    for beacon in options.beacon { manager.startRangingBeacons(satisfying: beacon.constraint) }
    if options.visits { manager.startMonitoringVisits() }
    for region in regions {
      manager.startMonitoring(for: region)
      manager.requestState(for: region)
    }
    if options.once { manager.requestLocation() }
    if options.significant { manager.startMonitoringSignificantLocationChanges() }
    if options.startsUpdates { manager.startUpdatingLocation() }
  }

  private var regions: [CLCircularRegion] {
    options.region.map { CLCircularRegion(center: $0.centre, radius: $0.radius, identifier: $0.identifier) }
  }

  private var code: SystemExitCode { hasAnswer ? .success : isForbidden ? .noPermission : .unavailable }

  /// Stops the services, and ends the process after the resulting events; the service restores the receiver.
  private func end(_ code: SystemExitCode? = nil) {
    guard !isEnding else { return }
    isEnding = true
    manager.stopUpdatingLocation()
    manager.stopMonitoringSignificantLocationChanges()
    manager.stopUpdatingHeading()
    if options.visits { manager.stopMonitoringVisits() }
    for region in regions { manager.stopMonitoring(for: region) }
    for beacon in options.beacon { manager.stopRangingBeacons(satisfying: beacon.constraint) }
    let lastManager = CLLocationManager()
    let delegate = LastDelegate { [self] in exit((code ?? self.code).rawValue) }
    last = (lastManager, delegate)
    // Not on the main thread, which waits at the exit until the receiver is restored.
    DispatchQueue.global().asyncAfter(deadline: .now() + 1) {
      printNotice("ending: the receiver gets its former settings back (^C ends at once)")
    }
    lastManager.delegate = delegate
  }

  /// The delegate of a new manager, which receives its authorization after all events that were sent earlier.
  private final class LastDelegate: NSObject, CLLocationManagerDelegate {
    private let body: () -> Void
    init(_ body: @escaping () -> Void) { self.body = body }
    func locationManagerDidChangeAuthorization(_ manager: CLLocationManager) { body() }
  }

  // MARK: The delegate

  func locationManager(_ manager: CLLocationManager, didUpdateLocations locations: [CLLocation]) {
    printer.print(locations)
    if isOnce {
      hasAnswer = true
      return end(.success)
    }
    guard locations.contains(where: { $0.timestamp != cached }) else { return }
    hasAnswer = true
    deferUpdates(isFirst: true)
  }

  private func deferUpdates(isFirst: Bool) {
    guard defers, isFirst != wasDeferred, !isEnding else { return }
    wasDeferred = true
    manager.allowDeferredLocationUpdates(
      untilTraveled: options.deferDistance ?? CLLocationDistanceMax, timeout: options.deferTimeout ?? CLTimeIntervalMax)
  }

  func locationManager(_ manager: CLLocationManager, didFailWithError error: any Error) {
    printer.print("didFailWithError", isAbsent ? withoutReceiver(error) : error)
    if isOnce, let code = Self.codeOfOnce(after: error, isForbidden: isForbidden) { end(code) }
  }

  /// The exit code of `--once` after an error; nil after one of the compass, beside which the location still comes. What other
  /// services have delivered is not the location.
  static func codeOfOnce(after error: any Error, isForbidden: Bool) -> SystemExitCode? {
    if case CLError.headingFailure = error { return nil }
    return isForbidden ? .noPermission : .unavailable
  }

  /// The error of an unknown location, with the reason that no receiver is connected.
  private func withoutReceiver(_ error: any Error) -> any Error {
    guard case CLError.locationUnknown = error else { return error }
    let text = "the location is not known, because no receiver is connected; plug it in, or name it with --device"
    return CLError(.locationUnknown, userInfo: [NSLocalizedDescriptionKey: text])
  }

  func locationManagerDidPauseLocationUpdates(_ manager: CLLocationManager) {
    printer.print("didPauseLocationUpdates")
  }

  func locationManagerDidResumeLocationUpdates(_ manager: CLLocationManager) {
    printer.print("didResumeLocationUpdates")
  }

  func locationManager(_ manager: CLLocationManager, didFinishDeferredUpdatesWithError error: (any Error)?) {
    printer.print("didFinishDeferredUpdates", error)
    if options.deferRepeat { deferUpdates(isFirst: false) }
  }

  func locationManager(_ manager: CLLocationManager, didUpdateHeading newHeading: CLHeading) {
    hasAnswer = true
    printer.print(newHeading)
  }

  func locationManager(_ manager: CLLocationManager, didStartMonitoringFor region: CLRegion) {
    printer.print("didStartMonitoring", region)
  }

  func locationManager(_ manager: CLLocationManager, didEnterRegion region: CLRegion) {
    hasAnswer = true
    printer.print("didEnterRegion", region)
  }

  func locationManager(_ manager: CLLocationManager, didExitRegion region: CLRegion) {
    hasAnswer = true
    printer.print("didExitRegion", region)
  }

  func locationManager(
    _ manager: CLLocationManager, didDetermineState state: CLRegionState, for region: CLRegion
  ) {
    if state != .unknown { hasAnswer = true }
    printer.print("didDetermineState", region, state: "\(state)")
  }

  func locationManager(
    _ manager: CLLocationManager, monitoringDidFailFor region: CLRegion?, withError error: any Error
  ) {
    printer.print("monitoringDidFail", error, region: region)
  }

  func locationManager(
    _ manager: CLLocationManager, didRange beacons: [CLBeacon], satisfying constraint: CLBeaconIdentityConstraint
  ) {
    if !beacons.isEmpty { hasAnswer = true }
    printer.print(beacons)
  }

  func locationManager(
    _ manager: CLLocationManager, didFailRangingFor constraint: CLBeaconIdentityConstraint, error: any Error
  ) {
    printer.print("didFailRanging", error)
  }

  func locationManager(_ manager: CLLocationManager, didVisit visit: CLVisit) { printer.print(visit) }

  func locationManagerDidChangeAuthorization(_ manager: CLLocationManager) {
    let status = "\(manager.authorizationStatus)"
    printer.print("didChangeAuthorization", status) { $0.field("status", text: status) }
  }
}
