// SPDX-License-Identifier: Apache-2.0
import Foundation
import LocationService
import Synchronization
import Testing

@testable import CoreLocation

/// The geocoder with an extract of GeoNames, or without any source. Handlers are called on the main queue, which the test
/// program serves.
@Suite("Geocoder")
struct GeocoderTests {
  private static let munich = CLLocation(latitude: 48.1642, longitude: 11.6056)

  /// A service whose extract has two places.
  private static func service(
    _ log: @escaping @Sendable (String) -> Void = { _ in }
  ) throws -> (service: GeocodingService, folder: URL) {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("geocoder-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    let tail = "DE\t\t02\t091\t\t\t1260391\t\t524\tEurope/Berlin\t2024-01-01"
    let text =
      "1\tMunich\tMunich\tMünchen\t48.13743\t11.57549\tP\tPPLA\t\(tail)\n"
      + "2\tSchwabing\tSchwabing\t\t48.16667\t11.58333\tP\tPPLX\t\(tail)\n"
    let file = folder.appendingPathComponent("cities500.txt")
    try text.write(to: file, atomically: true, encoding: .utf8)
    try "DE.02\tBavaria\tBavaria\t1\n".write(
      to: folder.appendingPathComponent("admin1CodesASCII.txt"), atomically: true, encoding: .utf8)
    return (GeocodingService(GeocodingSettings(extract: file.path), log: log), folder)
  }

  private static func outcome(_ body: (@escaping CLGeocodeCompletionHandler) -> Void) async throws -> [CLPlacemark] {
    try await withCheckedThrowingContinuation { continuation in
      body { placemarks, error in
        if let placemarks { continuation.resume(returning: placemarks) } else { continuation.resume(throwing: error!) }
      }
    }
  }

  @Test("The address of a location by both forms of the method, with the country in the preferred language")
  func reverse() async throws {
    let (service, folder) = try Self.service()
    defer { try? FileManager.default.removeItem(at: folder) }
    let geocoder = CLGeocoder(service: service)
    let german = Locale(identifier: "de_DE")
    let first = try await Self.outcome {
      geocoder.reverseGeocodeLocation(Self.munich, preferredLocale: german, completionHandler: $0)
    }
    let second = try await geocoder.reverseGeocodeLocation(Self.munich, preferredLocale: german)
    for placemarks in [first, second] {
      let placemark = try #require(placemarks.first)
      #expect(placemarks.count == 1 && placemark.name == "Schwabing" && placemark.locality == "Munich")
      #expect(placemark.subLocality == "Schwabing" && placemark.administrativeArea == "Bavaria")
      #expect(placemark.isoCountryCode == "DE" && placemark.country == "Deutschland")
      #expect(placemark.timeZone?.identifier == "Europe/Berlin")
      #expect(placemark.thoroughfare == nil && placemark.postalCode == nil && placemark.region == nil)
      #expect(placemark.location?.coordinate.latitude == 48.16667 && placemark.location?.horizontalAccuracy == 0)
    }
    #expect(!geocoder.isGeocoding)
  }

  @Test("The location of an address, also by the dictionary of old programs")
  @available(*, deprecated)
  func forward() async throws {
    let (service, folder) = try Self.service()
    defer { try? FileManager.default.removeItem(at: folder) }
    let geocoder = CLGeocoder(service: service)
    let found = try await geocoder.geocodeAddressString("München, Germany")
    #expect(found.map(\.locality) == ["Munich"])
    let old = try await Self.outcome {
      geocoder.geocodeAddressDictionary(["City": "Munich", "Country": "Germany"], completionHandler: $0)
    }
    #expect(old.first?.addressDictionary?["City"] as? String == "Munich")
    await #expect(throws: CLError(.geocodeFoundPartialResult)) {
      try await geocoder.geocodeAddressString("Marienplatz 8, Munich")
    }
    await #expect(throws: CLError(.geocodeFoundNoResult)) { try await geocoder.geocodeAddressString("Atlantis") }
    await #expect(throws: CLError(.geocodeFoundNoResult)) { try await geocoder.geocodeAddressString(" ") }
  }

  @Test("An extract that is overwritten in place, or replaced, is read again")
  func overwritten() async throws {
    let (service, folder) = try Self.service()
    defer { try? FileManager.default.removeItem(at: folder) }
    let geocoder = CLGeocoder(service: service)
    let file = folder.appendingPathComponent("cities500.txt")
    let text = try String(contentsOf: file, encoding: .utf8)
    func name() async throws -> String? { try await geocoder.reverseGeocodeLocation(Self.munich).first?.name }
    #expect(try await name() == "Schwabing")
    let schwabing = String(text.split(separator: "\n")[1])
    // Truncated and written again, in the same file.
    try Data((schwabing.replacing("PPLX", with: "PPL").replacing("Schwabing", with: "Alt") + "\n").utf8).write(to: file)
    #expect(try await name() == "Alt")
    try text.replacing("Schwabing", with: "Neuhausen").write(to: file, atomically: true, encoding: .utf8)
    #expect(try await name() == "Neuhausen")
    try "DE.02\tBayern\tBayern\t1\n".write(
      to: folder.appendingPathComponent("admin1CodesASCII.txt"), atomically: true, encoding: .utf8)
    let placemarks = try await geocoder.reverseGeocodeLocation(Self.munich)
    #expect(placemarks.first?.administrativeArea == "Bayern")
    #expect(try await geocoder.geocodeAddressString("Neuhausen").first?.administrativeArea == "Bayern")
    // Names that cannot be read are missing.
    try FileManager.default.createDirectory(
      at: folder.appendingPathComponent("admin2Codes.txt"), withIntermediateDirectories: false)
    #expect(try await geocoder.geocodeAddressString("Neuhausen").first?.administrativeArea == "Bayern")
  }

  /// Starts a request; its outcomes are the elements of the stream.
  private static func begin(_ geocoder: CLGeocoder) -> AsyncStream<Result<[CLPlacemark], CLError>> {
    let (stream, continuation) = AsyncStream<Result<[CLPlacemark], CLError>>.makeStream()
    geocoder.reverseGeocodeLocation(munich) { placemarks, error in
      continuation.yield(placemarks.map { .success($0) } ?? .failure(error as! CLError))
    }
    return stream
  }

  private static func first<Element>(_ stream: AsyncStream<Element>) async -> Element? {
    for await element in stream { return element }
    return nil
  }

  @Test("A second request ends at once with geocodeCanceled, and the first one is answered")
  func second() async throws {
    let (service, folder) = try Self.service()
    defer { try? FileManager.default.removeItem(at: folder) }
    let geocoder = CLGeocoder(service: service)
    let gate = DispatchSemaphore(value: 0)
    service.hold { gate.wait() }
    let outcome = Self.begin(geocoder)
    #expect(geocoder.isGeocoding)
    await #expect(throws: CLError(.geocodeCanceled)) { try await geocoder.geocodeAddressString("Munich") }
    #expect(geocoder.isGeocoding)
    gate.signal()
    #expect(try await Self.first(outcome)?.get().first?.locality == "Munich")
    #expect(!geocoder.isGeocoding)
  }

  @Test("cancelGeocode ends the request with geocodeCanceled, and the next one may begin")
  func cancelled() async throws {
    let (service, folder) = try Self.service()
    defer { try? FileManager.default.removeItem(at: folder) }
    let geocoder = CLGeocoder(service: service)
    let gate = DispatchSemaphore(value: 0)
    service.hold { gate.wait() }
    geocoder.cancelGeocode()
    let outcome = Self.begin(geocoder)
    geocoder.cancelGeocode()
    #expect(!geocoder.isGeocoding)
    let next = Self.begin(geocoder)
    #expect(await Self.first(outcome).map { $0.map(\.count) } == .failure(CLError(.geocodeCanceled)))
    gate.signal()
    #expect(try await Self.first(next)?.get().first?.locality == "Munich")
  }

  @Test("Cancelled requests are not sent, and delay no other one")
  func cancelledRequests() async throws {
    let lines = Mutex<[String]>([])
    let pauses = Mutex<[TimeInterval]>([])
    // No server listens at this port.
    let service = GeocodingService(
      GeocodingSettings(server: "http://127.0.0.1:9"), log: { line in lines.withLock { $0.append(line) } },
      pause: { seconds in pauses.withLock { $0.append(seconds) } })
    let geocoder = CLGeocoder(service: service)
    let gate = DispatchSemaphore(value: 0)
    service.hold { gate.wait() }
    for _ in 0..<20 {
      let outcome = Self.begin(geocoder)
      geocoder.cancelGeocode()
      #expect(await Self.first(outcome).map { $0.map(\.count) } == .failure(CLError(.geocodeCanceled)))
    }
    let next = Self.begin(geocoder)
    gate.signal()
    guard case .failure(let error) = try #require(await Self.first(next)) else { throw CLError(.network) }
    #expect(error.code == .network)
    // The only request that is sent, without a delay.
    #expect(pauses.withLock { $0 } == [0])
    #expect(lines.withLock { $0.count } == 1)
  }

  @Test("The cancellation of a task ends its request with geocodeCanceled")
  func cancelledTask() async throws {
    let (service, folder) = try Self.service()
    defer { try? FileManager.default.removeItem(at: folder) }
    let gate = DispatchSemaphore(value: 0)
    defer { gate.signal() }
    service.hold { gate.wait() }
    let task = Task { try await CLGeocoder(service: service).geocodeAddressString("Munich").count }
    task.cancel()
    let outcome = await task.result
    #expect(throws: CLError(.geocodeCanceled)) { try outcome.get() }
  }

  @Test("Without a source the error is network, and one line tells what to configure")
  func noSource() async throws {
    let lines = Mutex<[String]>([])
    let service = GeocodingService(GeocodingSettings()) { line in lines.withLock { $0.append(line) } }
    for _ in 0..<2 {
      let geocoder = CLGeocoder(service: service)
      do {
        _ = try await geocoder.reverseGeocodeLocation(Self.munich)
        Issue.record("there is an address")
      } catch CLError.network {}
    }
    let logged = lines.withLock { $0 }
    #expect(logged.count == 1 && logged[0].contains("geocoder URL") && logged[0].contains("cities500.txt"))
  }

  /// As in programs' own tests.
  private final class MockPlacemark: CLPlacemark, @unchecked Sendable {
    private let town: String
    init(town: String) {
      self.town = town
      super.init()
    }
    required init?(coder: NSCoder) { nil }
    override var locality: String? { town }
  }

  private final class MockGeocoder: CLGeocoder {
    override func reverseGeocodeLocation(
      _ location: CLLocation, completionHandler: @escaping CLGeocodeCompletionHandler
    ) {
      completionHandler([MockPlacemark(town: "Home")], nil)
    }
    override func geocodeAddressString(_ text: String, completionHandler: @escaping CLGeocodeCompletionHandler) {
      completionHandler(nil, CLError(.geocodeFoundNoResult))
    }
  }

  @Test("A subclass of a placemark can be made without a geocoder")
  func mockPlacemark() {
    let placemark = MockPlacemark(town: "Home")
    #expect(placemark.locality == "Home" && placemark.country == nil && placemark.areasOfInterest == nil)
  }

  /// On Apple's systems both are one method of Objective-C.
  @Test("A method with a handler that a subclass overrides answers the async call too")
  func mockGeocoder() async throws {
    #expect(try await MockGeocoder().reverseGeocodeLocation(Self.munich).first?.locality == "Home")
    await #expect(throws: CLError(.geocodeFoundNoResult)) { try await MockGeocoder().geocodeAddressString("Home") }
  }

  @Test("A placemark is the same after coding and copying")
  func coding() async throws {
    let (service, folder) = try Self.service()
    defer { try? FileManager.default.removeItem(at: folder) }
    let placemark = try #require(await CLGeocoder(service: service).reverseGeocodeLocation(Self.munich).first)
    let data = try NSKeyedArchiver.archivedData(withRootObject: placemark, requiringSecureCoding: true)
    let decoded = try #require(try NSKeyedUnarchiver.unarchivedObject(ofClass: CLPlacemark.self, from: data))
    for other in [decoded, CLPlacemark(placemark: placemark), placemark.copy() as! CLPlacemark] {
      #expect(other.name == placemark.name && other.locality == "Munich" && other.country == placemark.country)
      #expect(other.timeZone == placemark.timeZone && other.areasOfInterest == nil)
      #expect(other.location?.coordinate.latitude == placemark.location?.coordinate.latitude)
      #expect(other.description.hasPrefix("Schwabing, Munich, Bavaria, "))
    }
  }

  @Test("Location pushes answer with the error for this platform")
  func pushes() async throws {
    let manager = CLLocationManager(service: Scene().service)
    await #expect(throws: CLLocationPushServiceError(.unsupportedPlatform)) {
      try await manager.startMonitoringLocationPushes()
    }
    manager.stopMonitoringLocationPushes()
  }
}
