import Foundation
import LocationService
import Positioning

/// Watches conditions, such as being within a circle, for as long as the program keeps them: they are stored by the
/// monitor's name, and are there again when a monitor of that name is made (MO-1).
public actor CLMonitor {
  private let service: LocationService
  private let name: String

  /// What happens to the conditions, for one who iterates: a condition with an event that nobody took is not looked at
  /// (MO-4).
  public let events: Events

  /// The monitor of a name, which is of letters, digits and underscores.
  public init(_ name: String) async { self.init(name, service: Service.shared) }

  init(_ name: String, service: LocationService) {
    if name.isEmpty || !name.allSatisfy({ $0.isLetter || $0.isNumber || $0 == "_" }) {
      service.log("CLMonitor(\"\(name)\"): a monitor's name is of letters and digits")
    }
    self.service = service
    self.name = name
    events = Events(name: name, service: service)
    service.openMonitor(name)
  }

  /// The names of the conditions, in the order in which they were added.
  public var identifiers: [String] { service.read { [name] in $0.monitor(name)?.identifiers ?? [] } }

  /// Watches a condition, in place of the one of this name. Its state is unknown until it was looked at (MO-2).
  public func add(_ condition: any CLCondition, identifier: String) {
    add(condition, identifier: identifier, assuming: .unknown)
  }

  /// The same, with a state that is taken for known: an event comes when it is another one.
  public func add(_ condition: any CLCondition, identifier: String, assuming state: Event.State) {
    guard let shape = Region.Shape(condition) else {
      service.log(
        "CLMonitor cannot watch \(type(of: condition)): "
          + "use CircularGeographicCondition or BeaconIdentityCondition")
      return
    }
    service.addCondition(
      shape, identifier: identifier, assuming: Monitor.State(rawValue: state.rawValue) ?? .unknown, to: name)
  }

  /// Ends the watch of a condition; nothing when there is none of this name.
  public func remove(_ identifier: String) { service.removeCondition(identifier, from: name) }

  /// A condition and the last event that was handed out of it (MO-5); nil when there is none of this name.
  public func record(for identifier: String) -> Record? {
    service.read { [name] in $0.monitor(name)?.record(identifier) }.map { Record($0) }
  }

  /// What is known of a condition.
  public struct Record: Sendable {
    public let condition: any CLCondition
    public let lastEvent: Event

    init(_ content: Monitor.Record) {
      condition = content.condition.condition
      lastEvent = Event(content.lastEvent)
    }
  }

  /// A change of a condition, or why it is not watched.
  public struct Event: Sendable {
    /// How it is with a condition.
    public enum State: UInt, Sendable {
      /// Not looked at yet.
      case unknown = 0
      case satisfied = 1
      case unsatisfied = 2
      /// It is not watched; the event says why.
      case unmonitored = 3
    }

    private let content: Monitor.Event

    init(_ content: Monitor.Event) { self.content = content }

    /// Of the condition.
    public var identifier: String { content.identifier }
    public var state: State { State(rawValue: content.state.rawValue) ?? .unknown }
    public var date: Date { Date(content.date) }
    /// The beacon that was heard, where the condition left open which (MO-6).
    public var refinement: (any CLCondition)? { content.refinement.map { BeaconIdentityCondition($0) } }

    public var authorizationDenied: Bool { content.diagnostic.contains(.authorizationDenied) }
    public var authorizationDeniedGlobally: Bool { content.diagnostic.contains(.authorizationDeniedGlobally) }
    public var authorizationRestricted: Bool { content.diagnostic.contains(.authorizationRestricted) }
    public var authorizationRequestInProgress: Bool { content.diagnostic.contains(.authorizationRequestInProgress) }
    /// Permission for when in use, and the program is in the background.
    public var insufficientlyInUse: Bool { content.diagnostic.contains(.insufficientlyInUse) }
    /// Conditions need full accuracy.
    public var accuracyLimited: Bool { content.diagnostic.contains(.accuracyLimited) }
    /// Nothing here can watch such a condition.
    public var conditionUnsupported: Bool { content.diagnostic.contains(.conditionUnsupported) }
    /// A program may have twenty (MO-3).
    public var conditionLimitExceeded: Bool { content.diagnostic.contains(.conditionLimitExceeded) }
    /// Conditions cannot be kept between runs.
    public var persistenceUnavailable: Bool { content.diagnostic.contains(.persistenceUnavailable) }
    /// Nobody has asked for permission.
    public var serviceSessionRequired: Bool { content.diagnostic.contains(.serviceSessionRequired) }
  }

  /// The events of a monitor; several may iterate, each event goes to one of them.
  public struct Events: AsyncSequence, Sendable {
    public typealias Element = Event
    let name: String
    let service: LocationService

    public struct Iterator: AsyncIteratorProtocol {
      private let watch: EventWatch

      fileprivate init(_ watch: EventWatch) { self.watch = watch }

      /// The next event; nil when the task is cancelled.
      public mutating func next() async throws -> Event? { await watch.next() }
    }

    public func makeAsyncIterator() -> Iterator { Iterator(EventWatch(name, service)) }
  }
}

/// One iteration: it is told that there may be an event, and takes it.
private final class EventWatch {
  private final class Reader: MonitorReader {
    let continuation: AsyncStream<Void>.Continuation
    init(_ continuation: AsyncStream<Void>.Continuation) { self.continuation = continuation }
    func hasEvents() { continuation.yield() }
  }

  private let name: String
  private let service: LocationService
  private let id: Int
  private var event: AsyncStream<Void>.Iterator

  init(_ name: String, _ service: LocationService) {
    let (stream, continuation) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
    self.name = name
    self.service = service
    let id = service.beginMonitorEvents(of: name, Reader(continuation))
    continuation.onTermination = { _ in service.endMonitorEvents(id) }
    self.id = id
    event = stream.makeAsyncIterator()
  }

  deinit { service.endMonitorEvents(id) }

  func next() async -> CLMonitor.Event? {
    while !Task.isCancelled {
      if let event = service.takeEvent(of: name) { return CLMonitor.Event(event) }
      var event = event
      defer { self.event = event }
      if await event.next() == nil { return nil }
    }
    return nil
  }
}
