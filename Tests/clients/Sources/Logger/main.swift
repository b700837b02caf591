// SPDX-License-Identifier: Apache-2.0

// A command-line logger: options, a time limit, signals, a file in GPX.
import CoreLocation
import Dispatch
import Foundation

class Logger: NSObject, CLLocationManagerDelegate {
  let manager = CLLocationManager()
  var points: [String] = []
  let formatter: ISO8601DateFormatter = {
    let formatter = ISO8601DateFormatter()
    formatter.formatOptions = [.withInternetDateTime, .withFractionalSeconds]
    return formatter
  }()
  var timer: Timer?

  func run() {
    manager.delegate = self
    manager.desiredAccuracy = kCLLocationAccuracyBest
    manager.distanceFilter = 1
    manager.startUpdatingLocation()
    timer = Timer.scheduledTimer(withTimeInterval: 20, repeats: false) { [unowned self] _ in self.finish() }
  }

  func finish() {
    manager.stopUpdatingLocation()
    manager.delegate = nil
    print("<gpx><trk><trkseg>")
    points.forEach { print($0) }
    print("</trkseg></trk></gpx>")
    exit(points.isEmpty ? EXIT_FAILURE : EXIT_SUCCESS)
  }

  func locationManager(_ manager: CLLocationManager, didUpdateLocations locations: [CLLocation]) {
    for location in locations {
      guard location.horizontalAccuracy >= 0, location.horizontalAccuracy < 100 else { continue }
      guard -location.timestamp.timeIntervalSinceNow < 5 else { continue }
      let coordinate = location.coordinate
      points.append(
        "<trkpt lat=\"\(coordinate.latitude)\" lon=\"\(coordinate.longitude)\"><ele>\(location.altitude)</ele>"
          + "<time>\(formatter.string(from: location.timestamp))</time></trkpt>")
    }
    if points.count >= 3 { finish() }
  }

  func locationManager(_ manager: CLLocationManager, didFailWithError error: Error) {
    switch (error as NSError).code {
    case CLError.Code.denied.rawValue: fputs("location services are off\n", stderr)
    case CLError.locationUnknown.rawValue: return
    default: fputs("\(error.localizedDescription)\n", stderr)
    }
    exit(EXIT_FAILURE)
  }
}

signal(SIGINT, SIG_IGN)
let logger = Logger()
let interrupts = DispatchSource.makeSignalSource(signal: SIGINT, queue: .main)
interrupts.setEventHandler { logger.finish() }
interrupts.resume()
logger.run()
withExtendedLifetime(interrupts) { RunLoop.main.run() }
