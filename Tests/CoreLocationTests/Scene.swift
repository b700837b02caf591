// SPDX-License-Identifier: Apache-2.0
import Foundation
import LocationService
import Messages
import Positioning
import Testing

@testable import CoreLocation

/// A delegate that records its calls as text, and their threads.
final class Recorder: NSObject, CLLocationManagerDelegate {
  var words: [String] = []
  var threads: Set<Thread> = []
  var locations: [CLLocation] = []
  var onLocation: (CLLocationManager) -> Void = { _ in }
  var onWord: (String) -> Void = { _ in }

  private func record(_ word: String) {
    words.append(word)
    onWord(word)
    threads.insert(Thread.current)
  }

  func locationManagerDidChangeAuthorization(_ manager: CLLocationManager) {
    record("status \(manager.authorizationStatus.rawValue)")
  }
  func locationManager(_ manager: CLLocationManager, didUpdateLocations locations: [CLLocation]) {
    record("locations")
    self.locations += locations
    onLocation(manager)
  }
  func locationManager(_ manager: CLLocationManager, didFailWithError error: any Error) {
    record("error \((error as NSError).code)")
  }
}

/// A delegate with the methods before iOS 6.
final class OldRecorder: NSObject, CLLocationManagerDelegate {
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

/// Log lines, from any thread.
final class Lines: @unchecked Sendable {
  private let lock = NSLock()
  private var lines: [String] = []

  func append(_ line: String) { lock.withLock { lines.append(line) } }
  var all: [String] { lock.withLock { lines } }
  func contains(_ text: String) -> Bool { all.contains { $0.contains(text) } }
}

/// A receiver: a FIFO with the bytes of a file, which stays open.
final class FIFO {
  let path = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString).path
  private let descriptor: Int32

  init(with file: URL) throws {
    let result = unsafe mkfifo(path, 0o600)
    try #require(result == 0)
    // Opened in both directions, so that it does not wait for a reader.
    descriptor = unsafe open(path, O_RDWR | O_NONBLOCK)
    try FileHandle(fileDescriptor: descriptor).write(contentsOf: Data(contentsOf: file))
  }

  deinit {
    close(descriptor)
    unsafe unlink(path)
  }
}

/// A service that replays a file of sentences, reads a FIFO, or waits for a device that never appears, with its log
/// lines.
struct Scene {
  let service: InProcessLocationService
  let lines = Lines()

  /// - Parameter authorization: nil if the user has not been asked yet.
  init(
    _ authorization: String? = "always", file: URL? = nil, receiver: FIFO? = nil, keys: UsageKeys = .init(),
    state: URL? = nil, application: String = "foreground"
  ) {
    let device = receiver?.path ?? file.map { "replay:\($0.path)@max" } ?? "/dev/null/none"
    var variables = ["GNSS_DEVICE": device, "SEXTANT_APP_STATE": application]
    variables["SEXTANT_AUTHORIZATION"] = authorization
    variables["SEXTANT_STATE_DIR"] = state?.path
    let lines = lines
    service = InProcessLocationService(
      app: AppDescription(identifier: "tests", keys: keys),
      settings: ServiceSettings(isRoot: false) { [variables] in variables[$0] }, log: { lines.append($0) })
  }

  /// Three epochs a second apart, a hundredth of a minute of latitude from each other.
  static func recording() throws -> URL {
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

  /// Runs this thread's loop until the condition holds, with a time limit.
  static func run(until isDone: () -> Bool) {
    let limit = Date(timeIntervalSinceNow: 20)
    while !isDone(), Date() < limit {
      _ = RunLoop.current.run(mode: .default, before: Date(timeIntervalSinceNow: 0.01))
    }
  }
}
