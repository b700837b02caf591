// SPDX-License-Identifier: Apache-2.0
import LocationService
import Messages
import Positioning
import ReceiverStream
import Synchronization

/// A program that changes its stored state without a pause: each change follows the acknowledgement of the last one.
/// `kills.py` kills it. It prints the values that it finds at its start, each change that it starts, and each change
/// that is acknowledged as stored.
///
///     found|begin|stored region ID GENERATION      GENERATION is the radius; 0: not monitored
///     found|begin|stored visits 0|1
///     found|begin|stored authorization STATUS
///     found|delivered fix NANOSECONDS
@main
struct StateStoreWriter {
  static func main() {
    let app = AppDescription(identifier: "writer", keys: UsageKeys())
    let service = InProcessLocationService(app: app)
    let client = Client(service, book: AuthorizationStore(stateFolder: Console.variable("SEXTANT_STATE_DIR") ?? ""))
    client.begin(from: CommandLine.arguments.dropFirst().first.flatMap { Int($0) } ?? 1)
    client.deliverEvents()
  }
}

/// The client. It handles its events on a separate thread, and checks before each one whether it is still current.
private final class Client: LocationServiceClient, @unchecked Sendable {
  private let service: InProcessLocationService
  private let book: AuthorizationStore
  private var id = ClientID(0)
  private var generation = 0
  /// The change that the next answer about `acknowledgement` acknowledges: all requests before it are stored by then.
  private var pendingChange = ""
  private let queue = Mutex<[(event: DelegateEvent, ticket: Ticket)]>([])
  private let wakeup = Wakeup()

  init(_ service: InProcessLocationService, book: AuthorizationStore) {
    self.service = service
    self.book = book
  }

  func begin(from generation: Int) {
    self.generation = generation
    printStoredState()
    id = service.add(self)
    service.call(.setDelegate([.takesLocations, .takesErrors]), by: id)
    service.call(.startUpdatingLocation, by: id)
    change()
  }

  private func printStoredState() {
    let lines = service.read { engine in
      var lines = engine.regions.records.map { record in
        guard case .circle(let circle) = record.region.shape else {
          return "found region \(record.region.identifier) ?"
        }
        return "found region \(record.region.identifier) \(Int(circle.radiusMetres))"
      }
      lines.append("found visits \(engine.visits.isRunning ? 1 : 0)")
      lines.append("found authorization \(engine.authorization.record.status.rawValue)")
      return lines
    }
    let client = service.add(self)
    if let newest = service.read({ $0.location(of: client) }) {
      Console.print("found fix \(newest.timestamp.nanosecondsSince1970)")
    }
    service.remove(client)
    for line in lines { Console.print(line) }
    Console.print("ready")
  }

  /// One change, and a request whose answer acknowledges it.
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
      do { try book.set(status, for: "writer") } catch { Console.print("failed \(error)") }
    case 2, 4:
      let region = region(generation % 20)
      begin("region \(region.identifier) 0")
      service.call(.stopMonitoring(region), by: id)
    default:
      let region = region(generation % 20)
      begin("region \(region.identifier) \(generation)")
      service.call(.startMonitoring(region), by: id)
    }
    service.call(.requestState(acknowledgement), by: id)
  }

  /// A region that is never monitored: a request for its state is answered at once (RG-12).
  private let acknowledgement = Region(
    "acknowledgement",
    .circle(Circle(centre: Coordinate(latitudeDegrees: 48, longitudeDegrees: 11), radiusMetres: 1)))

  private func begin(_ words: String) {
    pendingChange = words
    Console.print("begin \(words)")
  }

  private func region(_ number: Int) -> Region {
    let middle = Coordinate(latitudeDegrees: 48, longitudeDegrees: 11)
    return Region("r \(number)", .circle(Circle(centre: middle, radiusMetres: Double(generation))))
  }

  // MARK: Events

  func receive(_ event: DelegateEvent, _ ticket: Ticket) {
    queue.withLock { $0.append((event, ticket)) }
    wakeup.signal()
  }

  /// Handles the events forever.
  func deliverEvents() -> Never {
    while true {
      wakeup.wait()
      let entries = queue.withLock { queue in
        defer { queue = [] }
        return queue
      }
      for entry in entries where service.beginDelivery(of: entry.event, entry.ticket, to: id) { handle(entry.event) }
    }
  }

  private func handle(_ event: DelegateEvent) {
    switch event {
    case .didUpdateLocations(let locations):
      for location in locations { Console.print("delivered fix \(location.timestamp.nanosecondsSince1970)") }
    case .didDetermineState(_, let region) where region.isSame(as: acknowledgement) && !pendingChange.isEmpty:
      Console.print("stored \(pendingChange)")
      change()
    case .monitoringDidFail(_, let error): Console.print("failed \(error)")
    default: break
    }
  }

  func temporaryAccuracyAnswered(token: Int, _ error: PositioningError?, _ refusal: AccuracyRefusal?) {}
  func calibrationShows(_ shows: Bool) {}
}
