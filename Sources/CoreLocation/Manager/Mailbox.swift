import Foundation
import LocationService
import Positioning

/// What waits for a manager: filled by the service, emptied on the manager's run loop, in order and one at a time (TH-2).
final class Mailbox: LocationServiceClient, @unchecked Sendable {
  enum Letter: Sendable {
    case event(DelegateEvent, Ticket)
    case temporaryAccuracy(token: Int, PositioningError?)
    case calibration(Bool)
  }

  // Sendable: `letters` is touched under the lock; the weak reference is set before anybody else knows the mailbox.
  private let home: HomeLoop
  private let lock = NSLock()
  private var letters: [Letter] = []
  private weak var manager: CLLocationManager?

  init(home: HomeLoop) { self.home = home }

  func belongs(to manager: CLLocationManager) { self.manager = manager }

  func receive(_ event: DelegateEvent, _ ticket: Ticket) { put(.event(event, ticket)) }
  func temporaryAccuracyAnswered(token: Int, _ error: PositioningError?) {
    put(.temporaryAccuracy(token: token, error))
  }
  func calibrationShows(_ shows: Bool) { put(.calibration(shows)) }

  private func put(_ letter: Letter) {
    let isFirst = lock.withLock {
      letters.append(letter)
      return letters.count == 1
    }
    // One visit empties the box, however many letters came meanwhile.
    if isFirst { home.perform { [self] in empty() } }
  }

  private func empty() {
    let waiting = lock.withLock {
      defer { letters = [] }
      return letters
    }
    for letter in waiting { manager?.open(letter) }
  }
}
