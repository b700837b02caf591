// SPDX-License-Identifier: Apache-2.0

import Foundation
import Messages
import Positioning

/// The state of a monitor's condition; the numbers are Apple's.
public enum CLMonitoringState: UInt, Sendable {
  /// The condition was not evaluated yet.
  case unknown = 0
  case satisfied = 1
  case unsatisfied = 2
  /// The condition is not monitored; the event's flags give the reason.
  case unmonitored = 3
}

/// A monitor of conditions, such as being within a circle. The conditions are stored under the monitor's name, and a
/// later monitor of that name restores them (MO-1).
public actor CLMonitor {
  private let service: any LocationService
  private let name: String

  /// The changes of the conditions. A condition is not evaluated while one of its events waits (MO-4).
  public let events: Events

  /// Opens the monitor with a name that consists of ASCII alphanumerics and underscores.
  public init(_ name: String) async { self.init(name, service: Service.shared) }

  init(_ name: String, service: any LocationService) {
    if name.isEmpty || !name.allSatisfy({ $0.isASCII && ($0.isLetter || $0.isNumber) || $0 == "_" }) {
      service.log("CLMonitor(\"\(name)\"): a monitor's name consists of ASCII alphanumerics and underscores")
    }
    self.service = service
    self.name = name
    events = Events(name: name, service: service)
    service.openMonitor(name)
  }

  /// The identifiers of the conditions, in the order in which they were added.
  public var identifiers: [String] { service.conditionIdentifiers(of: name) }

  /// Adds a condition, which replaces any condition with this identifier. Its state is unknown until it is evaluated
  /// (MO-2).
  public func add(_ condition: any CLCondition, identifier: String) {
    add(condition, identifier: identifier, assuming: .unknown)
  }

  /// Adds a condition with an assumed state: an event is delivered if the actual state differs.
  public func add(_ condition: any CLCondition, identifier: String, assuming state: Event.State) {
    guard let shape = Region.Shape(condition) else {
      service.log(
        "CLMonitor cannot monitor \(type(of: condition)): "
          + "use CircularGeographicCondition or BeaconIdentityCondition")
      return
    }
    service.addCondition(
      shape, identifier: identifier, assuming: Monitor.State(rawValue: state.rawValue) ?? .unknown, to: name)
  }

  /// Removes a condition, if there is one with this identifier.
  public func remove(_ identifier: String) { service.removeCondition(identifier, from: name) }

  /// Returns a condition and its last event (MO-5); nil if there is no condition with this identifier. While an event
  /// is handled, the record has the previous event; it has the new one from the iteration's next call of `next()`, or
  /// from the end of the iteration.
  public func record(for identifier: String) -> Record? {
    service.conditionRecord(identifier, of: name).map { Record($0) }
  }

  /// A condition and its last event.
  public struct Record: Sendable {
    public let condition: any CLCondition
    public let lastEvent: Event

    init(_ content: Monitor.Record) {
      condition = content.condition.condition
      lastEvent = Event(content.lastEvent)
    }
  }

  /// A change of a condition, or the reason why it is not monitored.
  public struct Event: Sendable {
    public typealias State = CLMonitoringState

    private let content: Monitor.Event

    init(_ content: Monitor.Event) { self.content = content }

    /// The identifier of the condition.
    public var identifier: String { content.identifier }
    public var state: State { State(rawValue: content.state.rawValue) ?? .unknown }
    public var date: Date { Date(content.date) }
    /// The beacon that was detected, for a condition with an open major or minor (MO-6).
    public var refinement: (any CLCondition)? { content.refinement.map { BeaconIdentityCondition($0) } }

    public var authorizationDenied: Bool { content.diagnostic.contains(.authorizationDenied) }
    public var authorizationDeniedGlobally: Bool { content.diagnostic.contains(.authorizationDeniedGlobally) }
    public var authorizationRestricted: Bool { content.diagnostic.contains(.authorizationRestricted) }
    public var authorizationRequestInProgress: Bool { content.diagnostic.contains(.authorizationRequestInProgress) }
    /// The permission is for when in use, and the program is in the background.
    public var insufficientlyInUse: Bool { content.diagnostic.contains(.insufficientlyInUse) }
    /// Conditions need full accuracy.
    public var accuracyLimited: Bool { content.diagnostic.contains(.accuracyLimited) }
    /// No hardware here can evaluate such a condition.
    public var conditionUnsupported: Bool { content.diagnostic.contains(.conditionUnsupported) }
    /// The program has more than twenty conditions (MO-3).
    public var conditionLimitExceeded: Bool { content.diagnostic.contains(.conditionLimitExceeded) }
    /// Conditions cannot be stored between runs.
    public var persistenceUnavailable: Bool { content.diagnostic.contains(.persistenceUnavailable) }
    /// No session has asked for permission.
    public var serviceSessionRequired: Bool { content.diagnostic.contains(.serviceSessionRequired) }
  }

  /// The events of a monitor. With several iterations, each event goes to one of them. An event that a program was
  /// handling when it ended is delivered again in the next run.
  public struct Events: AsyncSequence, Sendable {
    public typealias Element = Event
    let name: String
    let service: any LocationService

    public struct Iterator: AsyncIteratorProtocol {
      private let watch: EventWatch

      fileprivate init(_ watch: EventWatch) { self.watch = watch }

      /// Returns the next event; nil after the cancellation of the task. The previous event counts as handled from now
      /// on.
      public mutating func next() async throws -> Event? { await watch.next() }
    }

    public func makeAsyncIterator() -> Iterator { Iterator(EventWatch(name, service)) }
  }
}

/// One iteration, which fetches an event whenever one may be available.
private final class EventWatch {
  private final class Reader: MonitorReader {
    let continuation: AsyncStream<Void>.Continuation
    init(_ continuation: AsyncStream<Void>.Continuation) { self.continuation = continuation }
    func hasEvents() { continuation.yield() }
  }

  private let name: String
  private let service: any LocationService
  private let id: Int
  private var event: AsyncStream<Void>.Iterator

  init(_ name: String, _ service: any LocationService) {
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
      if let event = service.takeEvent(of: name, by: id) { return CLMonitor.Event(event) }
      var event = event
      defer { self.event = event }
      if await event.next() == nil { return nil }
    }
    return nil
  }
}

/// A condition for `CLMonitor`: `CLMonitor.CircularGeographicCondition` or `CLMonitor.BeaconIdentityCondition`.
public protocol CLCondition: Codable, Sendable {}

extension CLMonitor {
  /// The device is within a circle.
  public struct CircularGeographicCondition: CLCondition {
    public let center: CLLocationCoordinate2D
    /// Metres.
    public let radius: CLLocationDistance

    public init(center: CLLocationCoordinate2D, radius: CLLocationDistance) {
      self.center = center
      self.radius = radius
    }
  }

  /// The device is near any beacon with the given parts.
  public struct BeaconIdentityCondition: CLCondition {
    public let uuid: UUID
    /// nil for any.
    public let major: CLBeaconMajorValue?
    /// nil for any.
    public let minor: CLBeaconMinorValue?

    /// Makes a condition for any major and minor.
    public init(uuid: UUID) { self.init(BeaconIdentity(uuid: BeaconUUID(uuid))) }
    /// Makes a condition for any minor.
    public init(uuid: UUID, major: CLBeaconMajorValue) {
      self.init(BeaconIdentity(uuid: BeaconUUID(uuid), major: major))
    }
    public init(uuid: UUID, major: CLBeaconMajorValue, minor: CLBeaconMinorValue) {
      self.init(BeaconIdentity(uuid: BeaconUUID(uuid), major: major, minor: minor))
    }

    init(_ identity: BeaconIdentity) {
      uuid = UUID(identity.uuid)
      major = identity.major
      minor = identity.minor
    }
  }
}

// Decoding accepts the conditions that the initializers accept: `CLMonitor` reports an impossible circle as not supported.
extension CLMonitor.CircularGeographicCondition {
  private enum CodingKeys: CodingKey { case center, radius }
  private enum CenterKeys: CodingKey { case latitude, longitude }

  public init(from decoder: any Decoder) throws {
    let values = try decoder.container(keyedBy: CodingKeys.self)
    let center = try values.nestedContainer(keyedBy: CenterKeys.self, forKey: .center)
    self.init(
      center: CLLocationCoordinate2D(
        latitude: try center.decode(CLLocationDegrees.self, forKey: .latitude),
        longitude: try center.decode(CLLocationDegrees.self, forKey: .longitude)),
      radius: try values.decode(CLLocationDistance.self, forKey: .radius))
  }

  public func encode(to encoder: any Encoder) throws {
    var values = encoder.container(keyedBy: CodingKeys.self)
    var center = values.nestedContainer(keyedBy: CenterKeys.self, forKey: .center)
    try center.encode(self.center.latitude, forKey: .latitude)
    try center.encode(self.center.longitude, forKey: .longitude)
    try values.encode(radius, forKey: .radius)
  }
}

extension CLMonitor.BeaconIdentityCondition {
  private enum CodingKeys: CodingKey { case uuid, major, minor }

  public init(from decoder: any Decoder) throws {
    let values = try decoder.container(keyedBy: CodingKeys.self)
    uuid = try values.decode(UUID.self, forKey: .uuid)
    major = try values.decodeIfPresent(CLBeaconMajorValue.self, forKey: .major)
    minor = try values.decodeIfPresent(CLBeaconMinorValue.self, forKey: .minor)
    if major == nil, minor != nil {
      throw DecodingError.dataCorruptedError(
        forKey: .minor, in: values, debugDescription: "a beacon condition has a minor and no major")
    }
  }
}

extension Region.Shape {
  /// Returns nil for a condition of another module.
  init?(_ condition: any CLCondition) {
    switch condition {
    case let circle as CLMonitor.CircularGeographicCondition:
      self = .circle(Circle(centre: circle.center.asCoordinate, radiusMetres: circle.radius))
    case let beacon as CLMonitor.BeaconIdentityCondition:
      self = .beacon(BeaconIdentity(uuid: BeaconUUID(beacon.uuid), major: beacon.major, minor: beacon.minor))
    default: return nil
    }
  }

  var condition: any CLCondition {
    switch self {
    case .circle(let circle):
      CLMonitor.CircularGeographicCondition(
        center: CLLocationCoordinate2D(circle.centre), radius: circle.radiusMetres)
    case .beacon(let identity): CLMonitor.BeaconIdentityCondition(identity)
    }
  }
}
