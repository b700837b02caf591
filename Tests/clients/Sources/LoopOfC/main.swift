// SPDX-License-Identifier: Apache-2.0

// A tool that waits with the C functions of the run loop, and measures the time.
import CoreLocation

class Locator: NSObject, CLLocationManagerDelegate {
  let locationManager = CLLocationManager()
  let loop: CFRunLoop = CFRunLoopGetMain()
  var locations: [CLLocation] = []

  override init() {
    super.init()
    locationManager.delegate = self
    locationManager.requestLocation()
  }

  func locationManager(_ manager: CLLocationManager, didUpdateLocations locations: [CLLocation]) {
    self.locations = locations
    CFRunLoopStop(CFRunLoopGetCurrent())
  }

  func locationManager(_ manager: CLLocationManager, didFailWithError error: Error) {
    CFRunLoopStop(loop)
  }
}

let began = CFAbsoluteTimeGetCurrent()
let locator = Locator()
autoreleasepool { CFRunLoopRun() }

// Stops the loop of another thread from that thread.
let thread = Thread {
  _ = Timer.scheduledTimer(withTimeInterval: 0.01, repeats: false) { _ in CFRunLoopStop(CFRunLoopGetCurrent()) }
  CFRunLoopRun()
  DispatchQueue.main.async { CFRunLoopStop(CFRunLoopGetMain()) }
}
thread.start()
CFRunLoopRun()

let seconds = CFAbsoluteTimeGetCurrent() - began
usleep(useconds_t(20 * NSEC_PER_MSEC / NSEC_PER_USEC))
print("the loop ended with \(locator.locations.count), after less than a minute: \(seconds < 60)")
