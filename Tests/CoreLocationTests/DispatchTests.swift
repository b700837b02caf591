// SPDX-License-Identifier: Apache-2.0
import Foundation
import LocationService
import Testing

@testable import CoreLocation

/// A delegate with the old and the new methods.
private final class Both: NSObject, CLLocationManagerDelegate {
  var words: [String] = []

  func locationManager(_ manager: CLLocationManager, didUpdateLocations locations: [CLLocation]) { words.append("new") }
  func locationManager(
    _ manager: CLLocationManager, didUpdateTo newLocation: CLLocation, from oldLocation: CLLocation
  ) {
    words.append("old")
  }
  func locationManagerDidChangeAuthorization(_ manager: CLLocationManager) { words.append("new status") }
  func locationManager(_ manager: CLLocationManager, didChangeAuthorization status: CLAuthorizationStatus) {
    words.append("old status")
  }
  func locationManager(_ manager: CLLocationManager, didFailWithError error: any Error) {
    words.append(error is CLError ? "CLError" : "another error")
  }
}

/// The choice of a delegate's method, and the errors.
@Suite("Dispatch")
struct DispatchTests {
  @Test("AU-4 SU-21 of a delegate with the old and the new methods, only the new ones are called")
  func both() throws {
    let file = try Scene.recording()
    defer { try? FileManager.default.removeItem(at: file) }
    let manager = CLLocationManager(service: Scene(file: file).service)
    let both = Both()
    manager.delegate = both
    manager.startUpdatingLocation()
    Scene.run { both.words.count >= 4 }
    #expect(both.words == ["new status", "new", "new", "new"])
  }

  @Test("ER-1 a delegate gets a CLError")
  func typed() {
    let manager = CLLocationManager(service: Scene("denied").service)
    let both = Both()
    manager.delegate = both
    manager.startUpdatingLocation()
    Scene.run { both.words.count >= 2 }
    #expect(both.words == ["new status", "CLError"])
  }

  @Test("ER-2 a printed error has its domain, its code and its reason")
  func printed() {
    let text = "\(CLError(.denied))"
    #expect(text == "Error Domain=kCLErrorDomain Code=1 \"\(CLError(.denied).localizedDescription)\"")
    #expect(text.contains("permission"))
  }

  @Test("ER-2 an error is an NSError of the domain, with its code and its userInfo")
  func bridged() {
    for number in 0...19 {
      guard let code = CLError.Code(rawValue: number) else {
        Issue.record("no code \(number)")
        continue
      }
      let error: any Error = CLError(code, userInfo: ["key": "value"])
      let bridged = error as NSError
      #expect(bridged.domain == kCLErrorDomain && bridged.code == number && error._code == number)
      #expect(bridged.userInfo["key"] as? String == "value" && !bridged.localizedDescription.isEmpty)
    }
  }

  @Test("ER-2 the error of an NSError has its code and userInfo, and is that NSError again")
  func ofNSError() {
    let original = NSError(domain: kCLErrorDomain, code: 1, userInfo: ["key": "value"])
    let error = CLError(_nsError: original)
    #expect(error.code == .denied && error.userInfo["key"] as? String == "value")
    #expect(error._nsError.domain == kCLErrorDomain && error._nsError.code == 1)
    // Delegates forward any error that they get.
    let handedOut: any Error = CLError(.network)
    #expect(CLError(_nsError: handedOut as NSError).code == .network)
    #expect(CLError(_nsError: NSError(domain: "another", code: 4711)).code == .locationUnknown)
    let push = CLLocationPushServiceError(_nsError: NSError(domain: CLLocationPushServiceErrorDomain, code: 3))
    #expect(push.code == .missingEntitlement && push._nsError.code == 3)
  }

  /// Both exist for programs that check for them. They are never reported, because regions need neither preparation nor
  /// a network here.
  @Test("RG-22 the errors of a delay have codes of their own, and the one of late events carries a better region")
  func delayed() {
    #expect(CLError.regionMonitoringSetupDelayed.rawValue == 6 && CLError.regionMonitoringResponseDelayed.rawValue == 7)
    let region = CLCircularRegion(center: CLLocationCoordinate2D(), radius: 1, identifier: "smaller")
    let delayed = CLError(.regionMonitoringResponseDelayed, userInfo: [kCLErrorUserInfoAlternateRegionKey: region])
    #expect(delayed.alternateRegion === region && delayed == delayed && CLError(.denied).alternateRegion == nil)
  }

  @Test("ER-3 an NSError of the domain is caught by its code")
  func caught() {
    let error: any Error = NSError(domain: kCLErrorDomain, code: 11)
    if case CLError.deferredFailed = error {} else { Issue.record("not matched") }
    if case CLError.denied = error { Issue.record("another code") }
    if case CLError.deferredFailed = NSError(domain: "another", code: 11) as any Error {
      Issue.record("another domain")
    }
  }

  @Test("TH-4 properties may be read while another thread changes them")
  func threads() {
    let scene = Scene()
    let shared = Shared(CLLocationManager(service: scene.service))
    DispatchQueue.concurrentPerform(iterations: 8) { index in
      for step in 0..<200 {
        if index == 0 {
          shared.manager.distanceFilter = Double(step)
          shared.manager.desiredAccuracy = Double(step)
          shared.manager.activityType = .fitness
        } else {
          _ = (shared.manager.distanceFilter, shared.manager.desiredAccuracy, shared.manager.activityType)
          _ = (shared.manager.location, shared.manager.monitoredRegions, shared.manager.authorizationStatus)
        }
      }
    }
    #expect(shared.manager.distanceFilter == 199 && shared.manager.desiredAccuracy == 199)
  }

  private final class Shared: @unchecked Sendable {
    let manager: CLLocationManager
    init(_ manager: CLLocationManager) { self.manager = manager }
  }

  @Test("TH-5 the answer to a request for full accuracy comes on the run loop, and later")
  func completion() {
    let manager = CLLocationManager(service: Scene("whenInUse").service)
    var answers: [(Int, Thread)] = []
    manager.requestTemporaryFullAccuracyAuthorization(withPurposeKey: "unknown") { error in
      answers.append(((error as NSError?)?.code ?? -1, Thread.current))
    }
    manager.requestHistoricalLocations(purposeKey: "run", sampleCount: 3) { locations, error in
      #expect(locations.isEmpty)
      answers.append(((error as NSError?)?.code ?? -1, Thread.current))
    }
    #expect(answers.isEmpty)
    Scene.run { answers.count == 2 }
    #expect(Set(answers.map(\.0)) == [18, 19] && answers.allSatisfy { $0.1 == Thread.current })
  }

  @Test("A manager begins with Apple's defaults")
  func defaults() {
    let manager = CLLocationManager(service: Scene().service)
    #expect(manager.delegate == nil && manager.desiredAccuracy == kCLLocationAccuracyBest)
    #expect(manager.distanceFilter == kCLDistanceFilterNone && manager.activityType == .other)
    #expect(manager.pausesLocationUpdatesAutomatically && !manager.allowsBackgroundLocationUpdates)
    #expect(!manager.showsBackgroundLocationIndicator && manager.heading == nil)
    #expect(manager.headingFilter == 1 && manager.headingOrientation == .portrait)
    #expect(manager.rangedBeaconConstraints.isEmpty && manager.accuracyAuthorization == .fullAccuracy)
  }
}
