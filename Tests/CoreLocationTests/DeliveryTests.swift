// SPDX-License-Identifier: Apache-2.0
import Foundation
import LocationService
import Positioning
import Testing

@testable import CoreLocation

@Suite("Delivery")
struct DeliveryTests {
  @Test("AU-2 GE-3 a delegate gets the status, and not inside the assignment")
  func status() {
    let manager = CLLocationManager(service: Scene("whenInUse").service)
    let recorder = Recorder()
    manager.delegate = recorder
    #expect(recorder.words.isEmpty)
    Scene.run { !recorder.words.isEmpty }
    #expect(recorder.words == ["status 4"])
    #expect(manager.authorizationStatus == .authorizedWhenInUse)
  }

  private func deliver(_ events: [DelegateEvent], to manager: CLLocationManager) {
    for event in events { manager.deliver(.event(event, .unrecalled)) }
  }

  @Test("AU-3 changes that have waited are one call of the method that reads the status, whatever their number")
  func statusOnce() {
    let manager = CLLocationManager(service: Scene("whenInUse").service)
    let recorder = Recorder()
    manager.delegate = recorder
    Scene.run { !recorder.words.isEmpty }
    // Each event is older than the current status, which the delegate has read.
    deliver(
      [
        .didChangeAuthorization(.notDetermined, .full), .didChangeAuthorization(.denied, .full),
        .didChangeAuthorization(.authorizedWhenInUse, .full),
      ], to: manager)
    #expect(recorder.words == ["status 4"])
    // Another assignment is another report (AU-2).
    manager.delegate = recorder
    Scene.run { recorder.words.count == 2 }
    #expect(recorder.words == ["status 4", "status 4"])
  }

  @Test("AU-3 AU-4 the older method gets the status of each change, and none twice")
  func statusOfEvent() {
    let manager = CLLocationManager(service: Scene("whenInUse").service)
    let recorder = OldRecorder()
    manager.delegate = recorder
    Scene.run { !recorder.statuses.isEmpty }
    deliver(
      [
        .didChangeAuthorization(.denied, .full), .didChangeAuthorization(.denied, .full),
        .didChangeAuthorization(.authorizedAlways, .full),
      ], to: manager)
    #expect(recorder.statuses == [.authorizedWhenInUse, .denied, .authorizedAlways])
  }

  @Test(
    "AU-20 a refused request for full accuracy names its reason",
    arguments: [("always", "full accuracy already"), ("denied", "no permission")])
  func accuracyRefused(status: String, reason: String) {
    let manager = CLLocationManager(service: Scene(status).service)
    var error: (any Error)?
    manager.requestTemporaryFullAccuracyAuthorization(withPurposeKey: "turn") { error = $0 }
    Scene.run { error != nil }
    #expect((error as? CLError)?.code == .promptDeclined)
    #expect(error?.localizedDescription.contains(reason) == true)
  }

  @Test("PA-7 a pause is logged once for a delegate without the method, and not for one with it")
  func pauseLogged() {
    final class PauseRecorder: NSObject, CLLocationManagerDelegate {
      var count = 0
      func locationManagerDidPauseLocationUpdates(_ manager: CLLocationManager) { count += 1 }
    }
    let scene = Scene()
    let manager = CLLocationManager(service: scene.service)
    let (silent, recorder) = (Recorder(), PauseRecorder())
    manager.delegate = silent
    deliver([.didPauseLocationUpdates, .didResumeLocationUpdates, .didPauseLocationUpdates], to: manager)
    #expect(scene.lines.all.count { $0.contains("pausesLocationUpdatesAutomatically") } == 1)
    let other = CLLocationManager(service: scene.service)
    other.delegate = recorder
    deliver([.didPauseLocationUpdates], to: other)
    #expect(recorder.count == 1)
    #expect(scene.lines.all.count { $0.contains("pausesLocationUpdatesAutomatically") } == 1)
  }

  @Test(
    "AU-13 a request of a program that cannot ask is answered by a line with the command, and requestLocation is refused"
  )
  func cannotAsk() {
    var keys = UsageKeys()
    keys.whenInUse = "shops nearby"
    let scene = Scene(nil, keys: keys, application: "background")
    let manager = CLLocationManager(service: scene.service)
    let recorder = Recorder()
    manager.delegate = recorder
    manager.requestWhenInUseAuthorization()
    manager.startUpdatingLocation()
    manager.requestLocation()
    Scene.run { recorder.words.count == 2 && !scene.lines.all.isEmpty }
    #expect(recorder.words == ["status 0", "error 1"])
    #expect(scene.lines.all.count == 1 && scene.lines.contains("sextant authorize grant tests always"))
  }

  @Test("SU-17 a start without permission is an error, after the status (AU-15)")
  func denied() {
    let manager = CLLocationManager(service: Scene("denied").service)
    let recorder = Recorder()
    manager.delegate = recorder
    manager.startUpdatingLocation()
    #expect(recorder.words.isEmpty)
    Scene.run { recorder.words.count == 2 }
    #expect(recorder.words == ["status 2", "error 1"])
    #expect(manager.location == nil)
  }

  @Test("GE-3 SU-18 a delegate that is assigned after the start gets the events as well")
  func startedFirst() {
    let manager = CLLocationManager(service: Scene("denied").service)
    let recorder = Recorder()
    manager.startUpdatingLocation()
    manager.delegate = recorder
    Scene.run { recorder.words.count >= 2 }
    #expect(recorder.words == ["error 1", "status 2"])
  }

  @Test("TH-3 events without a delegate are not delivered to a delegate of a later turn")
  func laterTurn() {
    let manager = CLLocationManager(service: Scene("denied").service)
    let recorder = Recorder()
    manager.startUpdatingLocation()
    let limit = Date(timeIntervalSinceNow: 0.5)
    Scene.run { Date() > limit }
    manager.delegate = recorder
    Scene.run { !recorder.words.isEmpty }
    #expect(recorder.words == ["status 2"])
  }

  @Test("RQ-1 a request whose answer no delegate received is over")
  func requestWithoutDelegate() {
    let manager = CLLocationManager(service: Scene("denied").service)
    let recorder = Recorder()
    manager.requestLocation()
    let limit = Date(timeIntervalSinceNow: 0.5)
    Scene.run { Date() > limit }
    manager.delegate = recorder
    manager.requestLocation()
    Scene.run { recorder.words.count >= 2 }
    #expect(recorder.words == ["status 2", "error 1"])
  }

  @Test("AU-8 the error and the log line name the missing key, the line also the call")
  func missingKey() {
    final class ErrorRecorder: NSObject, CLLocationManagerDelegate {
      var errors: [any Error] = []
      func locationManager(_ manager: CLLocationManager, didFailWithError error: any Error) { errors.append(error) }
    }
    let scene = Scene(nil)
    let manager = CLLocationManager(service: scene.service)
    let recorder = ErrorRecorder()
    manager.delegate = recorder
    manager.requestWhenInUseAuthorization()
    Scene.run { !recorder.errors.isEmpty && !scene.lines.all.isEmpty }
    let key = "NSLocationWhenInUseUsageDescription"
    #expect(recorder.errors.allSatisfy { if case CLError.promptDeclined = $0 { true } else { false } })
    #expect(recorder.errors.allSatisfy { $0.localizedDescription.contains(key) })
    #expect(recorder.errors.allSatisfy { ($0 as NSError).localizedDescription.contains(key) })
    #expect(scene.lines.contains(key) && scene.lines.contains("requestWhenInUseAuthorization()"))
  }

  @Test("LC-2 a running program sees a newer location of another program")
  func foundByAnother() throws {
    let file = try Scene.recording()
    let state = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
    defer {
      try? FileManager.default.removeItem(at: file)
      try? FileManager.default.removeItem(at: state)
    }
    let first = CLLocationManager(service: Scene(state: state).service)
    #expect(first.location == nil)
    let receiver = try FIFO(with: file)
    let other = Scene(receiver: receiver, state: state)
    let manager = CLLocationManager(service: other.service)
    let recorder = Recorder()
    manager.delegate = recorder
    manager.startUpdatingLocation()
    Scene.run { recorder.locations.count >= 3 }
    other.service.finish()
    withExtendedLifetime(receiver) {}
    #expect(first.location?.coordinate.longitude == 11)
    #expect(first.location?.timestamp == recorder.locations.last?.timestamp)
  }

  @Test("TH-1 a delegate is called on the thread that made its manager, whose loop sleeps")
  func thread() throws {
    let file = try Scene.recording()
    defer { try? FileManager.default.removeItem(at: file) }
    let receiver = try FIFO(with: file)
    let manager = CLLocationManager(service: Scene(receiver: receiver).service)
    let recorder = Recorder()
    manager.delegate = recorder
    manager.startUpdatingLocation()
    Scene.run { recorder.locations.count >= 3 }
    withExtendedLifetime(receiver) {}
    #expect(recorder.threads == [Thread.current])
    #expect(recorder.words.first == "status 3")
    #expect(recorder.locations.map(\.coordinate.longitude) == [11, 11, 11])
    #expect(zip(recorder.locations, recorder.locations.dropFirst()).allSatisfy { $0.timestamp < $1.timestamp })
    #expect(manager.location?.timestamp == recorder.locations.last?.timestamp)
    #expect(recorder.locations.last?.sourceInformation?.isProducedByAccessory == true)
  }

  /// In a program with an asynchronous main the main thread ends at the first wait, and other threads serve its queue.
  @Test(
    "TH-1 the delegate of a manager that the main actor makes is called on the main queue, whatever thread serves it",
    .timeLimit(.minutes(1)))
  @MainActor
  func mainActor() async throws {
    let file = try Scene.recording()
    defer { try? FileManager.default.removeItem(at: file) }
    let manager = CLLocationManager(service: Scene(file: file).service)
    let recorder = Recorder()
    await withCheckedContinuation { continuation in
      var waiting: CheckedContinuation<Void, Never>? = continuation
      recorder.onLocation = { _ in
        MainActor.assertIsolated()
        waiting?.resume()
        waiting = nil
      }
      manager.delegate = recorder
      manager.startUpdatingLocation()
    }
    #expect(recorder.words.prefix(2) == ["status 3", "locations"])
  }

  @Test("TH-1 a loop that is run once returns after the call of its delegate")
  func once() {
    let manager = CLLocationManager(service: Scene("denied").service)
    let recorder = Recorder()
    manager.delegate = recorder
    manager.startUpdatingLocation()
    let limit = Date(timeIntervalSinceNow: 20)
    while recorder.words.count < 2, RunLoop.current.run(mode: .default, before: limit), Date() < limit {}
    #expect(recorder.words == ["status 2", "error 1"] && Date() < limit)
  }

  @Test("TH-1 TH-6 a callback that runs its loop gets the next event inside")
  func turned() throws {
    let file = try Scene.recording()
    defer { try? FileManager.default.removeItem(at: file) }
    let manager = CLLocationManager(service: Scene(file: file).service)
    let recorder = Recorder()
    var depths: [Int] = []
    var depth = 0
    recorder.onLocation = { _ in
      depth += 1
      depths.append(depth)
      let count = recorder.locations.count
      if count < 3 { Scene.run { recorder.locations.count > count } }
      depth -= 1
    }
    manager.delegate = recorder
    manager.startUpdatingLocation()
    Scene.run { recorder.locations.count >= 3 }
    #expect(depths == [1, 2, 3])
  }

  @Test("TH-1 TH-2 between two callbacks the loop serves timers and other managers")
  func turns() throws {
    let file = try Scene.recording()
    defer { try? FileManager.default.removeItem(at: file) }
    let manager = CLLocationManager(service: Scene(file: file).service)
    let recorder = Recorder()
    let sequence = Lines()
    recorder.onLocation = { [unowned recorder] _ in
      sequence.append("location")
      guard recorder.locations.count == 1 else { return }
      RunLoop.current.add(Timer(timeInterval: 0, repeats: false) { _ in sequence.append("timer") }, forMode: .common)
    }
    manager.delegate = recorder
    manager.startUpdatingLocation()
    Scene.run { recorder.locations.count >= 3 && sequence.contains("timer") }
    #expect(sequence.all.last == "location", "\(sequence.all)")
  }

  @Test("TH-2 the events of two managers of a thread come in the order in which they occurred")
  func twoManagers() {
    let service = Scene("denied").service
    let (first, second) = (CLLocationManager(service: service), CLLocationManager(service: service))
    let sequence = Lines()
    let recorders = [Recorder(), Recorder()]
    for (name, recorder) in zip(["first", "second"], recorders) {
      recorder.onWord = { sequence.append("\(name) \($0)") }
    }
    first.delegate = recorders[0]
    first.startUpdatingLocation()
    first.startMonitoringSignificantLocationChanges()
    second.delegate = recorders[1]
    // A manager's delegate is weak.
    withExtendedLifetime((first, second, recorders)) { Scene.run { sequence.contains("second status 2") } }
    #expect(sequence.all == ["first status 2", "first error 1", "first error 1", "second status 2"])
  }

  @Test("SU-23 `location` is the last delivered one, also while others wait")
  func lastDelivered() throws {
    let file = try Scene.recording()
    defer { try? FileManager.default.removeItem(at: file) }
    let manager = CLLocationManager(service: Scene(file: file).service)
    let recorder = Recorder()
    var inside: [Date?] = []
    recorder.onLocation = { inside.append($0.location?.timestamp) }
    manager.delegate = recorder
    manager.startUpdatingLocation()
    Scene.run { recorder.locations.count >= 3 }
    #expect(inside == recorder.locations.map(\.timestamp))
  }

  @Test("RQ-1 RQ-8 two requests in one turn have one answer, also from the cache")
  func requestedTwice() throws {
    let file = try Scene.recording()
    defer { try? FileManager.default.removeItem(at: file) }
    let manager = CLLocationManager(service: Scene(file: file).service)
    let recorder = Recorder()
    manager.delegate = recorder
    manager.desiredAccuracy = 5000
    manager.startUpdatingLocation()
    Scene.run { recorder.locations.count >= 3 }
    manager.stopUpdatingLocation()
    recorder.locations = []
    manager.requestLocation()
    manager.requestLocation()
    Scene.run { !recorder.locations.isEmpty }
    // Waiting events would be delivered in the next turns.
    var turns = 0
    Scene.run {
      turns += 1
      return turns > 3
    }
    #expect(recorder.locations.count == 1)
  }

  @Test("RG-12 a region of an unknown class has no state")
  func unknownClass() {
    let manager = CLLocationManager(service: Scene().service)
    let states = StateRecorder()
    manager.delegate = states
    manager.requestState(for: CLRegion())
    manager.requestState(
      for: CLCircularRegion(center: CLLocationCoordinate2DMake(48, 11), radius: 100, identifier: "home"))
    Scene.run { !states.names.isEmpty }
    #expect(states.names == ["home"])
  }

  private final class StateRecorder: NSObject, CLLocationManagerDelegate {
    var names: [String] = []
    func locationManager(_: CLLocationManager, didDetermineState: CLRegionState, for region: CLRegion) {
      names.append(region.identifier)
    }
  }

  @Test("RG-12 a region made by the initializer of iOS 4 has a state")
  func oldRegion() {
    let manager = CLLocationManager(service: Scene().service)
    let states = StateRecorder()
    manager.delegate = states
    manager.requestState(
      for: CLRegion(
        circularRegionWithCenter: CLLocationCoordinate2DMake(48, 11), radius: 100, identifier: "home"))
    Scene.run { !states.names.isEmpty }
    #expect(states.names == ["home"])
  }

  @Test("RG-4 a monitored region has all its flags")
  func monitoredFlags() throws {
    let beacons = CLBeaconRegion(uuid: UUID(), identifier: "b")
    beacons.notifyEntryStateOnDisplay = true
    let made = try #require(CLRegion.made(of: beacons.content) as? CLBeaconRegion)
    #expect(made.notifyEntryStateOnDisplay)
  }

  @Test("TH-1 a loop has no source when its last manager is gone")
  func released() {
    let scene = Scene()
    let done = DispatchSemaphore(value: 0)
    let lines = Lines()
    // A separate thread, because managers of other tests keep the loops of the pool.
    Thread.detachNewThread {
      var manager: CLLocationManager? = CLLocationManager(service: scene.service)
      let recorder = Recorder()
      manager?.delegate = recorder
      Scene.run { !recorder.words.isEmpty }
      lines.append(recorder.words.joined())
      manager = nil
      let limit = Date(timeIntervalSinceNow: 20)
      while RunLoop.current.run(mode: .default, before: limit), Date() < limit {}
      lines.append(Date() < limit ? "over" : "goes on")
      done.signal()
    }
    done.wait()
    #expect(lines.all == ["status 3", "over"])
  }

  @Test("SU-15 TH-6 a stop inside a callback drops the events that were sent already")
  func stopped() throws {
    let file = try Scene.recording()
    defer { try? FileManager.default.removeItem(at: file) }
    let service = Scene(file: file).service
    let manager = CLLocationManager(service: service)
    let other = CLLocationManager(service: service)
    let (recorder, witness) = (Recorder(), Recorder())
    recorder.onLocation = { $0.stopUpdatingLocation() }
    manager.delegate = recorder
    other.delegate = witness
    manager.startUpdatingLocation()
    other.startUpdatingLocation()
    Scene.run { witness.locations.count >= 3 }
    #expect(recorder.locations.count == 1)
    #expect(witness.locations.count == 3)
  }

  @Test("SU-20 SU-22 AU-4 the older methods of a delegate are called")
  func older() throws {
    let file = try Scene.recording()
    defer { try? FileManager.default.removeItem(at: file) }
    let manager = CLLocationManager(service: Scene(file: file).service)
    let recorder = OldRecorder()
    manager.delegate = recorder
    manager.startUpdatingLocation()
    Scene.run { recorder.steps.count >= 3 }
    #expect(recorder.statuses == [.authorizedAlways])
    #expect(recorder.steps.first.map { $0.from === $0.to } == true)
    #expect(zip(recorder.steps, recorder.steps.dropFirst()).allSatisfy { $0.to === $1.from })
  }

  @Test("TH-3 GE-7 events of regions and visits that find a deallocated delegate wait for the next one")
  func deallocated() {
    let service = Scene().service
    let manager = CLLocationManager(service: service)
    let region = CLCircularRegion(center: CLLocationCoordinate2DMake(48, 11), radius: 100, identifier: "home")
    /// Whether the service has a delegate for events.
    var hasDelegate: Bool { service.beginDelivery(of: .didFail(.network), .unrecalled, to: ClientID(0)) }
    func cross() {
      let events: [DelegateEvent] = [
        .didFail(.network), .didEnter(region.content), .didDetermineState(.inside, region.content),
        .didExit(region.content),
      ]
      for event in events { manager.deliver(.event(event, .unrecalled)) }
    }
    do {
      let gone = CrossingRecorder()
      manager.delegate = gone
      manager.startMonitoring(for: region)
      cross()
      #expect(gone.words == ["error", "enters home", "home 1", "exits home"] && hasDelegate)
    }
    cross()
    #expect(!hasDelegate)
    let next = CrossingRecorder()
    manager.delegate = next
    Scene.run { next.words.count == 3 }
    #expect(next.words == ["enters home", "home 1", "exits home"] && hasDelegate)
    // An assignment of nil discards such events.
    manager.delegate = nil
    cross()
    let last = CrossingRecorder()
    manager.delegate = last
    manager.deliver(.event(.didExit(region.content), .unrecalled))
    Scene.run { last.words.count == 1 }
    #expect(last.words == ["exits home"])
  }

  @Test("RG-3 regions belong to the program, and a released delegate does no harm")
  func regions() {
    let service = Scene().service
    let manager = CLLocationManager(service: service)
    let other = CLLocationManager(service: service)
    do {
      let gone = Recorder()
      manager.delegate = gone
    }
    let region = CLCircularRegion(center: CLLocationCoordinate2DMake(48, 11), radius: 100, identifier: "home")
    manager.startMonitoring(for: region)
    #expect(other.monitoredRegions == [region])
    other.stopMonitoring(for: region)
    #expect(manager.monitoredRegions.isEmpty)
  }
}

/// A delegate that records crossings, states and errors.
private final class CrossingRecorder: NSObject, CLLocationManagerDelegate {
  var words: [String] = []

  func locationManager(_ manager: CLLocationManager, didEnterRegion region: CLRegion) {
    words.append("enters \(region.identifier)")
  }
  func locationManager(_ manager: CLLocationManager, didExitRegion region: CLRegion) {
    words.append("exits \(region.identifier)")
  }
  func locationManager(_ manager: CLLocationManager, didDetermineState state: CLRegionState, for region: CLRegion) {
    words.append("\(region.identifier) \(state.rawValue)")
  }
  func locationManager(_ manager: CLLocationManager, didFailWithError error: any Error) { words.append("error") }
}
