import Foundation
import LocationService
import Positioning
import Testing

@testable import CoreLocation

/// A delegate that hears all kinds of failures.
private final class Patient: NSObject, CLLocationManagerDelegate {
  var words: [String] = []
  var onWord: (CLLocationManager) -> Void = { _ in }

  private func hear(_ word: String, _ manager: CLLocationManager) {
    words.append(word)
    onWord(manager)
  }

  func locationManager(_ manager: CLLocationManager, didUpdateLocations locations: [CLLocation]) {
    hear("locations \(locations.count)", manager)
  }
  func locationManager(_ manager: CLLocationManager, didFailWithError error: any Error) {
    hear("error \((error as NSError).code)", manager)
  }
  func locationManager(_ manager: CLLocationManager, didFinishDeferredUpdatesWithError error: (any Error)?) {
    hear("deferral \((error as NSError?)?.code ?? -1)", manager)
  }
  func locationManager(
    _ manager: CLLocationManager, monitoringDidFailFor region: CLRegion?, withError error: any Error
  ) {
    hear("region \(region?.identifier ?? "-") \((error as NSError).code)", manager)
  }
  func locationManager(_ manager: CLLocationManager, didStartMonitoringFor region: CLRegion) {
    hear("monitors \(region.identifier)", manager)
  }
  func locationManager(
    _ manager: CLLocationManager, rangingBeaconsDidFailFor region: CLBeaconRegion, withError error: any Error
  ) {
    hear("ranging \((error as NSError).code)", manager)
  }
}

/// A delegate whose author mistook every name.
private final class Mistaken: NSObject, CLLocationManagerDelegate {
  func locationManager(_ manager: CLLocationManager, didUpdateLocation locations: [CLLocation]) {}
  func locationManager(_ manager: CLLocationManager, didFail error: any Error) {}
}

/// Misuse is loud and harmless: what the delegate is told, and what is said on standard error.
@Suite("Misuse")
struct MisuseTests {
  private func client(_ scene: Scene) -> (CLLocationManager, Patient) {
    let manager = CLLocationManager(service: scene.service)
    let patient = Patient()
    manager.delegate = patient
    return (manager, patient)
  }

  private func circle(_ identifier: String, radius: Double = 100) -> CLCircularRegion {
    CLCircularRegion(center: CLLocationCoordinate2DMake(48, 11), radius: radius, identifier: identifier)
  }

  @Test("AU-8 a request without a text to ask with is an error, and a line names the key")
  func missingKey() {
    let scene = Scene(nil)
    let (manager, patient) = client(scene)
    manager.requestWhenInUseAuthorization()
    Scene.run { !patient.words.isEmpty && scene.lines.contains("NSLocationWhenInUseUsageDescription") }
    #expect(patient.words == ["error 18"])
    #expect(scene.lines.contains("NSLocationWhenInUseUsageDescription"))
    #expect(manager.authorizationStatus == .notDetermined)
  }

  @Test("AU-9 a start that nobody asked permission for waits, and a line says what to call")
  func notRequested() {
    var keys = UsageKeys()
    keys.whenInUse = "shops nearby"
    let scene = Scene(nil, keys: keys)
    let (manager, patient) = client(scene)
    manager.startUpdatingLocation()
    manager.requestLocation()
    Scene.run { scene.lines.all.count == 2 }
    #expect(scene.lines.contains("call requestWhenInUseAuthorization()"))
    #expect(scene.lines.contains("requestLocation() was dropped"))
    #expect(patient.words.isEmpty)
  }

  @Test("SU-18 each start that is refused is an error")
  func refused() {
    let (manager, patient) = client(Scene("restricted"))
    manager.startUpdatingLocation()
    manager.startMonitoringSignificantLocationChanges()
    manager.requestLocation()
    Scene.run { patient.words.count == 3 }
    #expect(patient.words == ["error 1", "error 1", "error 1"])
  }

  @Test("DF-2 DF-18 a deferral without updates ends at once, and one that is not there ends without a word")
  func deferral() {
    let (manager, patient) = client(Scene())
    manager.disallowDeferredLocationUpdates()
    manager.allowDeferredLocationUpdates(untilTraveled: 100, timeout: 10)
    Scene.run { !patient.words.isEmpty }
    #expect(patient.words == ["deferral 12"])
  }

  @Test("RG-5 RG-6 a region that is too large, nowhere, or one too many is an error")
  func regions() {
    let (manager, patient) = client(Scene())
    manager.startMonitoring(for: circle("large", radius: manager.maximumRegionMonitoringDistance * 2))
    manager.startMonitoring(for: circle("empty", radius: -1))
    manager.startMonitoring(
      for: CLCircularRegion(center: kCLLocationCoordinate2DInvalid, radius: 1, identifier: "nowhere"))
    for number in 1...21 { manager.startMonitoring(for: circle("\(number)")) }
    // Replacing at twenty is allowed.
    manager.startMonitoring(for: circle("20", radius: 50))
    Scene.run { patient.words.count == 25 }
    #expect(patient.words.prefix(3) == ["region large 5", "region empty 5", "region nowhere 5"])
    #expect(patient.words.suffix(3) == ["monitors 20", "region 21 5", "monitors 20"])
    #expect(manager.monitoredRegions.count == 20)
  }

  @Test("BE-4 ranging without Bluetooth is an error")
  func ranging() {
    let (manager, patient) = client(Scene())
    manager.startRangingBeacons(in: CLBeaconRegion(uuid: UUID(), identifier: "shop"))
    Scene.run { !patient.words.isEmpty }
    #expect(patient.words == ["ranging 16"])
    #expect(manager.rangedRegions.isEmpty)
  }

  @Test("BG-1 background updates without the mode are said")
  func background() {
    let scene = Scene()
    let (manager, _) = client(scene)
    manager.allowsBackgroundLocationUpdates = true
    Scene.run { !scene.lines.all.isEmpty }
    #expect(scene.lines.contains("UIBackgroundModes"))
  }

  @Test("SU-26 a delegate without the methods is told which it lacks, once each")
  func mistaken() throws {
    let file = try Scene.recording()
    defer { try? FileManager.default.removeItem(at: file) }
    let scene = Scene(file: file)
    let manager = CLLocationManager(service: scene.service)
    let delegate = Mistaken()
    manager.delegate = delegate
    manager.startUpdatingLocation()
    let (other, witness) = client(scene)
    other.startUpdatingLocation()
    Scene.run { witness.words.count >= 3 }
    let refused = Scene("denied")
    let second = CLLocationManager(service: refused.service)
    second.delegate = delegate
    second.startUpdatingLocation()
    second.startUpdatingLocation()
    Scene.run { !refused.lines.all.isEmpty }
    #expect(scene.lines.all.filter { $0.contains("locationManager(_:didUpdateLocations:)") }.count == 1)
    #expect(refused.lines.all.filter { $0.contains("locationManager(_:didFailWithError:)") }.count == 1)
  }

  @Test("TH-3 a delegate that is gone or replaced hears nothing, and nothing breaks")
  func gone() throws {
    let file = try Scene.recording()
    defer { try? FileManager.default.removeItem(at: file) }
    let scene = Scene(file: file)
    let manager = CLLocationManager(service: scene.service)
    do {
      let gone = Patient()
      manager.delegate = gone
      manager.startUpdatingLocation()
    }
    let first = Patient()
    manager.delegate = first
    let second = Patient()
    manager.delegate = second
    Scene.run { second.words.count >= 3 }
    #expect(first.words.isEmpty && second.words.count == 3)
  }

  @Test("TH-4 the delegate may be read while another thread assigns it")
  func delegateFromThreads() {
    final class Box: @unchecked Sendable {
      // Sendable: what is shared is a manager, whose properties any thread may use.
      let manager: CLLocationManager
      init(_ manager: CLLocationManager) { self.manager = manager }
    }
    let box = Box(CLLocationManager(service: Scene("denied").service))
    DispatchQueue.concurrentPerform(iterations: 4) { number in
      for turn in 0..<5000 {
        if number == 0 {
          // Each is gone with the next turn, so that a reader may come to it at its end.
          box.manager.delegate = turn % 3 == 0 ? nil : Patient()
        } else {
          _ = box.manager.delegate
        }
      }
    }
    #expect(box.manager.delegate == nil)
    // The last assignment counts, and its delegate alone is called.
    let patient = Patient()
    box.manager.delegate = patient
    box.manager.startUpdatingLocation()
    Scene.run { !patient.words.isEmpty }
    #expect(box.manager.delegate === patient && patient.words == ["error 1"])
  }

  @Test("TH-6 every call may be made from inside a callback")
  func inside() throws {
    let file = try Scene.recording()
    defer { try? FileManager.default.removeItem(at: file) }
    let (manager, patient) = client(Scene(file: file))
    let region = circle("home")
    patient.onWord = { [weak patient] manager in
      guard patient?.words.count == 1 else { return }
      manager.stopUpdatingLocation()
      manager.startUpdatingLocation()
      manager.startMonitoringSignificantLocationChanges()
      manager.stopMonitoringSignificantLocationChanges()
      manager.allowDeferredLocationUpdates(untilTraveled: 10, timeout: 10)
      manager.disallowDeferredLocationUpdates()
      manager.startMonitoring(for: region)
      manager.requestState(for: region)
      manager.stopMonitoring(for: region)
      manager.startUpdatingHeading()
      manager.stopUpdatingHeading()
      manager.requestLocation()
      manager.requestAlwaysAuthorization()
      manager.desiredAccuracy = kCLLocationAccuracyKilometer
      _ = (manager.location, manager.monitoredRegions, manager.authorizationStatus)
      manager.delegate = nil
      manager.delegate = patient
    }
    manager.startUpdatingLocation()
    Scene.run { !patient.words.isEmpty }
    // The manager goes on, with the delegate that it was given last.
    manager.startMonitoring(for: region)
    Scene.run { patient.words.contains("monitors home") }
    #expect(
      patient.words.filter { $0 == "monitors home" }.count == 1 && !patient.words.contains { $0.hasPrefix("error") })
  }

  @Test("TH-2 a callback that runs the loop itself hears what follows in its order")
  func nested() {
    let (manager, patient) = client(Scene("denied"))
    patient.onWord = { _ in
      if patient.words.count == 1 { Scene.run { patient.words.count == 3 } }
    }
    manager.startUpdatingLocation()
    manager.startMonitoring(for: circle("a"))
    manager.startMonitoring(for: circle("b"))
    Scene.run { patient.words.count == 3 }
    #expect(patient.words == ["error 1", "region a 4", "region b 4"])
  }

  @Test("TH-2 a callback that runs the loop itself is told inside it what waited before")
  func nestedWaiting() {
    let manager = CLLocationManager(service: Scene("denied").service)
    var words: [String] = []
    manager.requestHistoricalLocations(purposeKey: "", sampleCount: 1) { _, _ in
      words.append("first begins")
      Scene.run { words.contains("second") }
      words.append("first ends")
    }
    manager.requestHistoricalLocations(purposeKey: "", sampleCount: 1) { _, _ in words.append("second") }
    Scene.run { words.count == 3 }
    #expect(words == ["first begins", "second", "first ends"])
  }

  @Test("SU-29 two managers with contradicting wishes get what each wants")
  func contradicting() throws {
    let file = try Scene.recording()
    defer { try? FileManager.default.removeItem(at: file) }
    let scene = Scene(file: file)
    let (every, first) = client(scene)
    let (far, second) = client(scene)
    far.distanceFilter = 1_000_000
    far.desiredAccuracy = kCLLocationAccuracyThreeKilometers
    far.startUpdatingLocation()
    every.startUpdatingLocation()
    every.stopMonitoringSignificantLocationChanges()
    Scene.run { first.words.count >= 3 && !second.words.isEmpty }
    #expect(first.words.count == 3 && second.words == ["locations 1"])
    #expect(far.distanceFilter == 1_000_000 && every.distanceFilter == kCLDistanceFilterNone)
  }

  @Test("A manager of a thread that has ended delivers no events; other managers do")
  func endedThread() {
    let scene = Scene("denied")
    let done = DispatchSemaphore(value: 0)
    let kept = Kept()
    Thread.detachNewThread {
      let (manager, patient) = client(scene)
      manager.startUpdatingLocation()
      kept.keep(manager, patient)
      done.signal()
    }
    done.wait()
    let (manager, patient) = client(scene)
    manager.startUpdatingLocation()
    Scene.run { !patient.words.isEmpty }
    #expect(patient.words == ["error 1"])
    #expect(kept.patient?.words == [] && kept.manager?.authorizationStatus == .denied)
  }

  /// Keeps objects of a thread alive after it.
  private final class Kept: @unchecked Sendable {
    private(set) var manager: CLLocationManager?
    private(set) var patient: Patient?
    func keep(_ manager: CLLocationManager, _ patient: Patient) { (self.manager, self.patient) = (manager, patient) }
  }

  @Test("TH-1 a second thread that runs its loop hears there")
  func secondThread() {
    let scene = Scene("denied")
    let done = DispatchSemaphore(value: 0)
    let lines = Lines()
    Thread.detachNewThread {
      let (manager, patient) = client(scene)
      patient.onWord = { _ in lines.append(Thread.isMainThread ? "main" : "second") }
      manager.startUpdatingLocation()
      Scene.run { !patient.words.isEmpty }
      done.signal()
    }
    done.wait()
    #expect(lines.all == ["second"])
  }

  @Test("TH-1 a loop that does not run is said also where one batch of events waits and no more come")
  func oneBatch() {
    var watch = RunLoopStallDetector()
    var said = [watch.received(atSeconds: 100)]
    #expect(watch.nextCheck(atSeconds: 100) == 10)
    #expect(watch.nextCheck(atSeconds: 101) == nil)
    said += [watch.checked(atSeconds: 110), watch.received(atSeconds: 130)]
    #expect(said == [false, true, false])
    #expect(watch.nextCheck(atSeconds: 130) == nil)
    // One that ran meanwhile, and has newer ones wait, is looked at again.
    watch = RunLoopStallDetector()
    said = [watch.received(atSeconds: 100)]
    #expect(watch.nextCheck(atSeconds: 100) == 10)
    watch.ran()
    said += [watch.received(atSeconds: 106), watch.checked(atSeconds: 110)]
    #expect(watch.nextCheck(atSeconds: 110) == 6)
    said.append(watch.checked(atSeconds: 116))
    #expect(said == [false, false, false, true])
  }

  @Test("A loop that does not run is said once, and only when events waited long")
  func loop() {
    var watch = RunLoopStallDetector()
    var said = [0.0, 9].map { watch.received(atSeconds: $0) }
    watch.ran()
    said += [10.0, 19, 21, 40].map { watch.received(atSeconds: $0) }
    #expect(said == [false, false, false, false, true, false])
  }
}
