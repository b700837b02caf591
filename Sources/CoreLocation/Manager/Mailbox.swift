import Foundation
import LocationService
import Positioning

/// What waits for a manager: filled by the service, emptied on the manager's run loop, in order and one at a time (TH-2).
final class Mailbox: LocationServiceClient, @unchecked Sendable {
  enum Letter: Sendable {
    case event(DelegateEvent, Ticket)
    case temporaryAccuracy(token: Int, PositioningError?)
    case calibration(Bool)
    /// A question about locations of the past is answered.
    case history(token: Int)
  }

  /// A loop that leaves locations waiting for so long has its hands full: it is given them together (SU-16).
  static let togetherAfterSeconds = 0.75

  /// Locations that wait for a loop which does not run: an hour of them, one a second, then the oldest go.
  static let limit = 3600

  // Sendable: `letters`, `isVisitDue` and `watch` are touched under the lock; the weak reference is set before anybody else
  // knows the mailbox.
  private let home: HomeLoop
  private let say: @Sendable (String) -> Void
  private let lock = NSLock()
  private var letters: [Letter] = []
  /// When the oldest of them came, or became the oldest; seconds since the computer's start.
  private var oldestSince = 0.0
  /// The loop was asked to empty the box, and did not begin yet.
  private var isVisitDue = false
  private var watch = LoopWatch()
  private weak var manager: CLLocationManager?

  init(home: HomeLoop, say: @escaping @Sendable (String) -> Void) {
    self.home = home
    self.say = say
  }

  func belongs(to manager: CLLocationManager) { self.manager = manager }

  func receive(_ event: DelegateEvent, _ ticket: Ticket) { put(.event(event, ticket)) }
  func temporaryAccuracyAnswered(token: Int, _ error: PositioningError?) {
    put(.temporaryAccuracy(token: token, error))
  }
  func calibrationShows(_ shows: Bool) { put(.calibration(shows)) }

  func put(_ letter: Letter) {
    let now = ProcessInfo.processInfo.systemUptime
    let (isVisitNeeded, isOverdue) = lock.withLock {
      if letters.isEmpty { oldestSince = now }
      letters.append(letter)
      if now - oldestSince >= Self.togetherAfterSeconds { joinLocations() }
      if letters.count > Self.limit, let oldest = letters.firstIndex(where: \.isLocations) {
        letters.remove(at: oldest)
      }
      defer { isVisitDue = true }
      return (!isVisitDue, watch.received(atSeconds: now))
    }
    if isOverdue {
      say(
        "a CLLocationManager's events wait: the thread that made it does not run its loop "
          + "(RunLoop.current.run(), or make the manager on the main thread)")
    }
    // A visit asks for the next one.
    if isVisitNeeded { visit() }
  }

  /// Whether locations wait to be told.
  var holdsLocations: Bool { lock.withLock { letters.contains(where: \.isLocations) } }

  /// Puts locations that wait one behind the other together.
  private func joinLocations() {
    var joined: [Letter] = []
    for letter in letters {
      if case .event(.didUpdateLocations(let new), let ticket) = letter,
        case .event(.didUpdateLocations(let old), let waiting)? = joined.last, ticket.goes(with: waiting)
      {
        joined[joined.count - 1] = .event(.didUpdateLocations((old + new).suffix(Self.limit)), ticket)
      } else {
        joined.append(letter)
      }
    }
    letters = joined
  }

  private func visit() { home.perform { [self] in empty() } }

  /// Opens one letter; the loop is asked for another visit if more wait. So a callback that runs the loop itself is told of
  /// them in it, and a slow one leaves the loop its turns for timers and other managers.
  private func empty() {
    lock.withLock { isVisitDue = false }
    if let letter = next() { manager?.open(letter) }
  }

  private func next() -> Letter? {
    let (letter, isVisitNeeded): (Letter?, Bool) = lock.withLock {
      watch.ran()
      guard !letters.isEmpty else { return (nil, false) }
      let letter = letters.removeFirst()
      oldestSince = ProcessInfo.processInfo.systemUptime
      guard !letters.isEmpty, !isVisitDue else { return (letter, false) }
      isVisitDue = true
      return (letter, true)
    }
    if isVisitNeeded { visit() }
    return letter
  }
}

extension Mailbox.Letter {
  fileprivate var isLocations: Bool {
    if case .event(.didUpdateLocations, let ticket) = self { !ticket.isAnswer } else { false }
  }
}
