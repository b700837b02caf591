// SPDX-License-Identifier: Apache-2.0

// A manager that belongs to a thread with its own run loop.
import CoreLocation
import Foundation

final class Worker: NSObject, CLLocationManagerDelegate, @unchecked Sendable {
  private var manager: CLLocationManager?
  private var thread: Thread?
  private var isDone = false
  let found = DispatchSemaphore(value: 0)
  private(set) var isOnOwnThread = false

  func start() {
    let thread = Thread { [self] in
      let manager = CLLocationManager()
      manager.delegate = self
      manager.desiredAccuracy = kCLLocationAccuracyBest
      manager.startUpdatingLocation()
      self.manager = manager
      while !isDone, RunLoop.current.run(mode: .default, before: .distantFuture) {}
    }
    thread.name = "location"
    self.thread = thread
    thread.start()
  }

  func locationManager(_ manager: CLLocationManager, didUpdateLocations locations: [CLLocation]) {
    isOnOwnThread = Thread.current === thread && !Thread.isMainThread
    manager.stopUpdatingLocation()
    isDone = true
    found.signal()
  }

  func locationManager(_ manager: CLLocationManager, didFailWithError error: Error) {
    print(error.localizedDescription)
  }
}

let worker = Worker()
worker.start()
if worker.found.wait(timeout: .now() + 30) == .success {
  print("told on its own thread: \(worker.isOnOwnThread)")
} else {
  print("nothing within 30 s")
}
