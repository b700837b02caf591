// SPDX-License-Identifier: Apache-2.0
import Foundation
import LocationService
import Positioning
import Testing

@testable import CoreLocation

/// A delegate that records all kinds of failures.
private final class FailureRecorder: NSObject, CLLocationManagerDelegate {
  var words: [String] = []
  var onWord: (CLLocationManager) -> Void = { _ in }

  private func record(_ word: String, _ manager: CLLocationManager) {
    words.append(word)
    onWord(manager)
  }

  func locationManager(_ manager: CLLocationManager, didUpdateLocations locations: [CLLocation]) {
    record("locations \(locations.count)", manager)
  }
  func locationManager(_ manager: CLLocationManager, didFailWithError error: any Error) {
    record("error \((error as NSError).code)", manager)
  }
  func locationManager(_ manager: CLLocationManager, didFinishDeferredUpdatesWithError error: (any Error)?) {
    record("deferral \((error as NSError?)?.code ?? -1)", manager)
  }
  func locationManager(
    _ manager: CLLocationManager, monitoringDidFailFor region: CLRegion?, withError error: any Error
  ) {
    record("region \(region?.identifier ?? "-") \((error as NSError).code)", manager)
  }
  func locationManager(_ manager: CLLocationManager, didStartMonitoringFor region: CLRegion) {
    record("monitors \(region.identifier)", manager)
  }
  func locationManager(
    _ manager: CLLocationManager, rangingBeaconsDidFailFor region: CLBeaconRegion, withError error: any Error
  ) {
    record("ranging \((error as NSError).code)", manager)
  }
}

/// A delegate whose methods are all misspelt.
private final class MisspeltDelegate: NSObject, CLLocationManagerDelegate {
  func locationManager(_ manager: CLLocationManager, didUpdateLocation locations: [CLLocation]) {}
  func locationManager(_ manager: CLLocationManager, didFail error: any Error) {}
}

/// Misuse is reported and harmless: the delegate's errors, and the lines on standard error.
@Suite("Misuse")
struct MisuseTests {
  private func client(_ scene: Scene) -> (CLLocationManager, FailureRecorder) {
    let manager = CLLocationManager(service: scene.service)
    let recorder = FailureRecorder()
    manager.delegate = recorder
    return (manager, recorder)
  }

  private func circle(_ identifier: String, radius: Double = 100) -> CLCircularRegion {
    CLCircularRegion(center: CLLocationCoordinate2DMake(48, 11), radius: radius, identifier: identifier)
  }

  @Test("AU-8 a request without a text for the user is an error, and a line names the key")
  func missingKey() {
    let scene = Scene(nil)
    let (manager, recorder) = client(scene)
    manager.requestWhenInUseAuthorization()
    Scene.run { !recorder.words.isEmpty && scene.lines.contains("NSLocationWhenInUseUsageDescription") }
    #expect(recorder.words == ["error 18"])
    #expect(scene.lines.contains("NSLocationWhenInUseUsageDescription"))
    #expect(manager.authorizationStatus == .notDetermined)
  }

  @Test("AU-9 a start without a request for permission waits, and a line names the call")
  func notRequested() {
    var keys = UsageKeys()
    keys.whenInUse = "shops nearby"
    let scene = Scene(nil, keys: keys)
    let (manager, recorder) = client(scene)
    manager.startUpdatingLocation()
    manager.requestLocation()
    Scene.run { scene.lines.all.count == 2 }
    #expect(scene.lines.contains("call requestWhenInUseAuthorization()"))
    #expect(scene.lines.contains("requestLocation() was dropped"))
    #expect(recorder.words.isEmpty)
  }

  @Test("SU-18 each refused start is an error")
  func refused() {
    let (manager, recorder) = client(Scene("restricted"))
    manager.startUpdatingLocation()
    manager.startMonitoringSignificantLocationChanges()
    manager.requestLocation()
    Scene.run { recorder.words.count == 3 }
    #expect(recorder.words == ["error 1", "error 1", "error 1"])
  }

  @Test("DF-2 DF-18 a deferral without updates ends at once, and the end of no deferral is silent")
  func deferral() {
    let (manager, recorder) = client(Scene())
    manager.disallowDeferredLocationUpdates()
    manager.allowDeferredLocationUpdates(untilTraveled: 100, timeout: 10)
    Scene.run { !recorder.words.isEmpty }
    #expect(recorder.words == ["deferral 12"])
  }

  @Test("RG-5 RG-6 a region that is too large, nowhere, or one too many is an error")
  func regions() {
    let (manager, recorder) = client(Scene())
    manager.startMonitoring(for: circle("large", radius: manager.maximumRegionMonitoringDistance * 2))
    manager.startMonitoring(for: circle("empty", radius: -1))
    manager.startMonitoring(
      for: CLCircularRegion(center: kCLLocationCoordinate2DInvalid, radius: 1, identifier: "nowhere"))
    for number in 1...21 { manager.startMonitoring(for: circle("\(number)")) }
    // Replacing at twenty is allowed.
    manager.startMonitoring(for: circle("20", radius: 50))
    Scene.run { recorder.words.count == 25 }
    #expect(recorder.words.prefix(3) == ["region large 5", "region empty 5", "region nowhere 5"])
    #expect(recorder.words.suffix(3) == ["monitors 20", "region 21 5", "monitors 20"])
    #expect(manager.monitoredRegions.count == 20)
  }

  @Test("BE-4 ranging without Bluetooth is an error")
  func ranging() {
    let (manager, recorder) = client(Scene())
    manager.startRangingBeacons(in: CLBeaconRegion(uuid: UUID(), identifier: "shop"))
    Scene.run { !recorder.words.isEmpty }
    #expect(recorder.words == ["ranging 16"])
    #expect(manager.rangedRegions.isEmpty)
  }

  @Test("BG-1 background updates without the mode are logged")
  func background() {
    let scene = Scene()
    let (manager, _) = client(scene)
    manager.allowsBackgroundLocationUpdates = true
    Scene.run { !scene.lines.all.isEmpty }
    #expect(scene.lines.contains("UIBackgroundModes"))
  }

  @Test("SU-26 each missing method of a delegate is logged once")
  func misspelt() throws {
    let file = try Scene.recording()
    defer { try? FileManager.default.removeItem(at: file) }
    let scene = Scene(file: file)
    let manager = CLLocationManager(service: scene.service)
    let delegate = MisspeltDelegate()
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

  @Test("TH-3 a released or replaced delegate gets no events, and nothing breaks")
  func gone() throws {
    let file = try Scene.recording()
    defer { try? FileManager.default.removeItem(at: file) }
    let scene = Scene(file: file)
    let manager = CLLocationManager(service: scene.service)
    do {
      let gone = FailureRecorder()
      manager.delegate = gone
      manager.startUpdatingLocation()
    }
    let first = FailureRecorder()
    manager.delegate = first
    let second = FailureRecorder()
    manager.delegate = second
    Scene.run { second.words.count >= 3 }
    #expect(first.words.isEmpty && second.words.count == 3)
  }

  @Test("TH-4 the delegate may be read while another thread assigns it")
  func delegateFromThreads() {
    final class SharedManager: @unchecked Sendable {
      // Sendable: any thread may use a manager's properties.
      let manager: CLLocationManager
      init(_ manager: CLLocationManager) { self.manager = manager }
    }
    let shared = SharedManager(CLLocationManager(service: Scene("denied").service))
    DispatchQueue.concurrentPerform(iterations: 4) { number in
      for turn in 0..<5000 {
        if number == 0 {
          // Each is released in the next turn, so a reader may get it just before its release.
          shared.manager.delegate = turn % 3 == 0 ? nil : FailureRecorder()
        } else {
          _ = shared.manager.delegate
        }
      }
    }
    #expect(shared.manager.delegate == nil)
    // The last assignment wins, and only its delegate is called.
    let recorder = FailureRecorder()
    shared.manager.delegate = recorder
    shared.manager.startUpdatingLocation()
    Scene.run { !recorder.words.isEmpty }
    #expect(shared.manager.delegate === recorder && recorder.words == ["error 1"])
  }

  @Test("TH-6 every call may be made from inside a callback")
  func inside() throws {
    let file = try Scene.recording()
    defer { try? FileManager.default.removeItem(at: file) }
    let (manager, recorder) = client(Scene(file: file))
    let region = circle("home")
    recorder.onWord = { [weak recorder] manager in
      guard recorder?.words.count == 1 else { return }
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
      manager.delegate = recorder
    }
    manager.startUpdatingLocation()
    Scene.run { !recorder.words.isEmpty }
    // The manager continues with the last assigned delegate.
    manager.startMonitoring(for: region)
    Scene.run { recorder.words.contains("monitors home") }
    #expect(
      recorder.words.filter { $0 == "monitors home" }.count == 1 && !recorder.words.contains { $0.hasPrefix("error") })
  }

  @Test("TH-2 a callback that runs the loop itself gets later events in their order")
  func nested() {
    let (manager, recorder) = client(Scene("denied"))
    recorder.onWord = { _ in
      if recorder.words.count == 1 { Scene.run { recorder.words.count == 3 } }
    }
    manager.startUpdatingLocation()
    manager.startMonitoring(for: circle("a"))
    manager.startMonitoring(for: circle("b"))
    Scene.run { recorder.words.count == 3 }
    #expect(recorder.words == ["error 1", "region a 4", "region b 4"])
  }

  @Test("TH-2 a callback that runs the loop itself gets waiting events inside")
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

  @Test("SU-29 two managers with contradicting settings get their own locations")
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
      let (manager, recorder) = client(scene)
      manager.startUpdatingLocation()
      kept.keep(manager, recorder)
      done.signal()
    }
    done.wait()
    let (manager, recorder) = client(scene)
    manager.startUpdatingLocation()
    Scene.run { !recorder.words.isEmpty }
    #expect(recorder.words == ["error 1"])
    #expect(kept.recorder?.words == [] && kept.manager?.authorizationStatus == .denied)
  }

  /// Keeps objects of a thread alive after it.
  private final class Kept: @unchecked Sendable {
    private(set) var manager: CLLocationManager?
    private(set) var recorder: FailureRecorder?
    func keep(_ manager: CLLocationManager, _ recorder: FailureRecorder) {
      (self.manager, self.recorder) = (manager, recorder)
    }
  }

  @Test("TH-1 the delegate of a second thread that runs its loop is called there")
  func secondThread() {
    let scene = Scene("denied")
    let done = DispatchSemaphore(value: 0)
    let lines = Lines()
    Thread.detachNewThread {
      let (manager, recorder) = client(scene)
      recorder.onWord = { _ in lines.append(Thread.isMainThread ? "main" : "second") }
      manager.startUpdatingLocation()
      Scene.run { !recorder.words.isEmpty }
      done.signal()
    }
    done.wait()
    #expect(lines.all == ["second"])
  }

  @Test("TH-1 a stalled loop is logged also if one batch of events waits and no more come")
  func oneBatch() {
    var watch = RunLoopStallDetector()
    var reports = [watch.received(atSeconds: 100)]
    #expect(watch.nextCheck(atSeconds: 100) == 10)
    #expect(watch.nextCheck(atSeconds: 101) == nil)
    reports += [watch.checked(atSeconds: 110), watch.received(atSeconds: 130)]
    #expect(reports == [false, true, false])
    #expect(watch.nextCheck(atSeconds: 130) == nil)
    // A loop that ran meanwhile, with newer events waiting, is checked again.
    watch = RunLoopStallDetector()
    reports = [watch.received(atSeconds: 100)]
    #expect(watch.nextCheck(atSeconds: 100) == 10)
    watch.ran()
    reports += [watch.received(atSeconds: 106), watch.checked(atSeconds: 110)]
    #expect(watch.nextCheck(atSeconds: 110) == 6)
    reports.append(watch.checked(atSeconds: 116))
    #expect(reports == [false, false, false, true])
  }

  @Test("A stalled loop is logged once, and only after a long wait of events")
  func loop() {
    var watch = RunLoopStallDetector()
    var reports = [0.0, 9].map { watch.received(atSeconds: $0) }
    watch.ran()
    reports += [10.0, 19, 21, 40].map { watch.received(atSeconds: $0) }
    #expect(reports == [false, false, false, false, true, false])
  }
}
