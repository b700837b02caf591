import Foundation
import LocationService
import Testing

@testable import CoreLocation

/// What a delegate heard, as words, and on which threads.
private final class Ear: NSObject, CLLocationManagerDelegate {
  var words: [String] = []
  var threads: Set<Thread> = []
  var locations: [CLLocation] = []
  var onLocation: (CLLocationManager) -> Void = { _ in }

  private func hear(_ word: String) {
    words.append(word)
    threads.insert(Thread.current)
  }

  func locationManagerDidChangeAuthorization(_ manager: CLLocationManager) {
    hear("status \(manager.authorizationStatus.rawValue)")
  }
  func locationManager(_ manager: CLLocationManager, didUpdateLocations locations: [CLLocation]) {
    hear("locations")
    self.locations += locations
    onLocation(manager)
  }
  func locationManager(_ manager: CLLocationManager, didFailWithError error: any Error) {
    hear("error \((error as NSError).code)")
  }
}

/// A delegate of the time before iOS 6.
private final class OldEar: NSObject, CLLocationManagerDelegate {
  var steps: [(from: CLLocation, to: CLLocation)] = []
  var statuses: [CLAuthorizationStatus] = []

  func locationManager(
    _ manager: CLLocationManager, didUpdateTo newLocation: CLLocation, from oldLocation: CLLocation
  ) {
    steps.append((oldLocation, newLocation))
  }
  func locationManager(_ manager: CLLocationManager, didChangeAuthorization status: CLAuthorizationStatus) {
    statuses.append(status)
  }
}

@Suite("Delivery")
struct DeliveryTests {
  /// A service that plays a file of sentences, or waits for a device that never comes.
  private func service(_ authorization: String = "always", file: URL? = nil) -> LocationService {
    let variables = [
      "GNSS_DEVICE": file?.path ?? "/dev/null/none", "SEXTANT_APP_STATE": "foreground",
      "SEXTANT_AUTHORIZATION": authorization,
    ]
    return LocationService(
      app: AppDescription(identifier: "tests", keys: .init()),
      settings: ServiceSettings(isRoot: false) { variables[$0] })
  }

  /// Three epochs a second apart, a hundredth of a minute of latitude from each other.
  private func recording() throws -> URL {
    var text = ""
    for second in 0..<3 {
      let body = "GPGGA,12000\(second).00,4800.\(second)0000,N,01100.00000,E,1,08,1.0,500.0,M,46.0,M,,"
      let motion = "GPRMC,12000\(second).00,A,4800.\(second)0000,N,01100.00000,E,1.0,0.0,010626,,,A"
      for sentence in [motion, body] {
        let sum = String(sentence.utf8.reduce(0, ^), radix: 16, uppercase: true)
        text += "$\(sentence)*\(sum.count == 1 ? "0" : "")\(sum)\r\n"
      }
    }
    let file = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID().uuidString).nmea")
    try text.write(to: file, atomically: true, encoding: .utf8)
    return file
  }

  /// Runs this thread's loop until it is so. A loop does not return after a timer, by which letters come: hence the turns.
  /// The limit is for what never comes.
  private func run(until isDone: () -> Bool) {
    let limit = Date(timeIntervalSinceNow: 20)
    while !isDone(), Date() < limit {
      _ = RunLoop.current.run(mode: .default, before: Date(timeIntervalSinceNow: 0.01))
    }
  }

  @Test("AU-2, GE-3 a delegate hears the status, and not from inside the assignment")
  func status() {
    let manager = CLLocationManager(service: service("whenInUse"))
    let ear = Ear()
    manager.delegate = ear
    #expect(ear.words.isEmpty)
    run { !ear.words.isEmpty }
    #expect(ear.words == ["status 4"])
    #expect(manager.authorizationStatus == .authorizedWhenInUse)
  }

  @Test("SU-17 a start without permission is an error, after the status (AU-15)")
  func denied() {
    let manager = CLLocationManager(service: service("denied"))
    let ear = Ear()
    manager.delegate = ear
    manager.startUpdatingLocation()
    #expect(ear.words.isEmpty)
    run { ear.words.count == 2 }
    #expect(ear.words == ["status 2", "error 1"])
    #expect(manager.location == nil)
  }

  @Test("TH-1 a delegate hears on the thread that made its manager, whose loop sleeps")
  func thread() throws {
    let file = try recording()
    defer { try? FileManager.default.removeItem(at: file) }
    let manager = CLLocationManager(service: service(file: file))
    let ear = Ear()
    manager.delegate = ear
    manager.startUpdatingLocation()
    run { ear.locations.count >= 3 }
    #expect(ear.threads == [Thread.current])
    #expect(ear.words.first == "status 3")
    #expect(ear.locations.map(\.coordinate.longitude) == [11, 11, 11])
    #expect(zip(ear.locations, ear.locations.dropFirst()).allSatisfy { $0.timestamp < $1.timestamp })
    #expect(manager.location?.timestamp == ear.locations.last?.timestamp)
    #expect(ear.locations.last?.sourceInformation?.isProducedByAccessory == true)
  }

  @Test("SU-15, TH-6 who stops in a callback hears no more of what was sent already")
  func stopped() throws {
    let file = try recording()
    defer { try? FileManager.default.removeItem(at: file) }
    let service = service(file: file)
    let manager = CLLocationManager(service: service)
    let other = CLLocationManager(service: service)
    let (ear, witness) = (Ear(), Ear())
    ear.onLocation = { $0.stopUpdatingLocation() }
    manager.delegate = ear
    other.delegate = witness
    manager.startUpdatingLocation()
    other.startUpdatingLocation()
    run { witness.locations.count >= 3 }
    #expect(ear.locations.count == 1)
    #expect(witness.locations.count == 3)
  }

  @Test("SU-20, SU-22, AU-4 a delegate of the older methods is told by them")
  func older() throws {
    let file = try recording()
    defer { try? FileManager.default.removeItem(at: file) }
    let manager = CLLocationManager(service: service(file: file))
    let ear = OldEar()
    manager.delegate = ear
    manager.startUpdatingLocation()
    run { ear.steps.count >= 3 }
    #expect(ear.statuses == [.authorizedAlways])
    #expect(ear.steps.first.map { $0.from === $0.to } == true)
    #expect(zip(ear.steps, ear.steps.dropFirst()).allSatisfy { $0.to === $1.from })
  }

  @Test("RG-3 regions are the program's, and a delegate that is gone is no harm")
  func regions() {
    let service = service()
    let manager = CLLocationManager(service: service)
    let other = CLLocationManager(service: service)
    do {
      let gone = Ear()
      manager.delegate = gone
    }
    let region = CLCircularRegion(center: CLLocationCoordinate2DMake(48, 11), radius: 100, identifier: "home")
    manager.startMonitoring(for: region)
    #expect(other.monitoredRegions == [region])
    other.stopMonitoring(for: region)
    #expect(manager.monitoredRegions.isEmpty)
  }
}
