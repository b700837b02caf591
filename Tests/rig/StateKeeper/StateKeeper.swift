import LocationService
import Positioning
import ReceiverStream
import Synchronization

/// A program that changes all that is kept of it as fast as it is told that the last change is kept, for `kills.py`, which
/// kills it. It prints what it found at its start (`have …`), what it begins (`try …`), and what it was told is done.
///
///     have|try|done region ID GENERATION      GENERATION is the radius; 0: not monitored
///     have|try|done visits 0|1
///     have|try|done authorization STATUS
///     have|done fix NANOSECONDS
@main
struct StateKeeper {
  static func main() {
    let app = AppDescription(identifier: "keeper", keys: UsageKeys())
    let service = LocationService(app: app)
    let keeper = Keeper(service, book: AuthorizationStore(stateFolder: Console.variable("SEXTANT_STATE_DIR") ?? ""))
    keeper.begin(from: CommandLine.arguments.dropFirst().first.flatMap { Int($0) } ?? 1)
    keeper.openMail()
  }
}

/// The client. As every client does, it opens its events on a thread of its own, and asks before each whether it may.
private final class Keeper: LocationServiceClient, @unchecked Sendable {
  private let service: LocationService
  private let book: AuthorizationStore
  private var id = ClientID(0)
  private var generation = 0
  /// What is printed when the next answer to `requestState` comes: all that was asked before it is kept by then.
  private var awaited = ""
  private let mail = Mutex<[(event: DelegateEvent, ticket: Ticket)]>([])
  private let bell = Bell()

  init(_ service: LocationService, book: AuthorizationStore) {
    self.service = service
    self.book = book
  }

  func begin(from generation: Int) {
    self.generation = generation
    tellWhatIsThere()
    id = service.add(self)
    service.call(.setDelegate([.takesLocations, .takesErrors]), by: id)
    service.call(.startUpdatingLocation, by: id)
    change()
  }

  private func tellWhatIsThere() {
    let lines = service.read { engine in
      var lines = engine.regions.records.map { record in
        guard case .circle(let circle) = record.region.shape else { return "have region \(record.region.identifier) ?" }
        return "have region \(record.region.identifier) \(Int(circle.radiusMetres))"
      }
      lines.append("have visits \(engine.visits.isRunning ? 1 : 0)")
      lines.append("have authorization \(engine.authorization.record.status.rawValue)")
      return lines
    }
    let client = service.add(self)
    if let newest = service.read({ $0.location(of: client) }) {
      Console.print("have fix \(newest.timestamp.nanosecondsSince1970)")
    }
    service.remove(client)
    for line in lines { Console.print(line) }
    Console.print("ready")
  }

  /// One change, and a question that is answered behind it.
  private func change() {
    generation += 1
    switch generation % 7 {
    case 0:
      let isOn = generation % 2 == 0
      begin("visits \(isOn ? 1 : 0)")
      service.call(isOn ? .startVisits : .stopVisits, by: id)
    case 1:
      let status: AuthorizationStatus = generation % 2 == 0 ? .denied : .authorizedWhenInUse
      begin("authorization \(status.rawValue)")
      do { try book.set(status, for: "keeper") } catch { Console.print("failed \(error)") }
    case 2, 4:
      let region = region(generation % 20)
      begin("region \(region.identifier) 0")
      service.call(.stopMonitoring(region), by: id)
    default:
      let region = region(generation % 20)
      begin("region \(region.identifier) \(generation)")
      service.call(.startMonitoring(region), by: id)
    }
    service.call(.requestState(region(0)), by: id)
  }

  private func begin(_ words: String) {
    awaited = words
    Console.print("try \(words)")
  }

  private func region(_ number: Int) -> Region {
    let middle = Coordinate(latitudeDegrees: 48, longitudeDegrees: 11)
    return Region("r \(number)", .circle(Circle(centre: middle, radiusMetres: Double(generation))))
  }

  // MARK: What is told

  func receive(_ event: DelegateEvent, _ ticket: Ticket) {
    mail.withLock { $0.append((event, ticket)) }
    bell.ring()
  }

  /// Opens what comes, without end.
  func openMail() -> Never {
    while true {
      bell.wait()
      let letters = mail.withLock { mail in
        defer { mail = [] }
        return mail
      }
      for letter in letters where service.isCurrent(letter.event, letter.ticket, for: id) { hear(letter.event) }
    }
  }

  private func hear(_ event: DelegateEvent) {
    switch event {
    case .didUpdateLocations(let locations):
      for location in locations { Console.print("done fix \(location.timestamp.nanosecondsSince1970)") }
    case .didDetermineState(_, let region) where region.identifier == "r 0" && !awaited.isEmpty:
      Console.print("done \(awaited)")
      change()
    case .monitoringDidFail(_, let error): Console.print("failed \(error)")
    default: break
    }
  }

  func temporaryAccuracyAnswered(token: Int, _ error: PositioningError?) {}
  func calibrationShows(_ shows: Bool) {}
}
