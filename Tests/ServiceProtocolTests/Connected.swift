// SPDX-License-Identifier: Apache-2.0
import Messages
import MonotonicTime
import Positioning
import ReceiverStream

/// A program with its mirror, and the service of an engine, in virtual time. Messages wait until they are delivered.
struct Connected {
  var engine: PositioningEngine
  var served: ServedProgram
  var mirror: ProgramMirror
  private(set) var instant: Instant
  private(set) var isConnected = true
  /// Messages in transit.
  var toService: [ClientMessage] = []
  var toProgram: [ServiceUpdate] = []
  /// The mirror's outputs that are not for a delegate.
  var others: [ProgramMirror.Output] = []
  /// The events that wait for each manager's delegate.
  var waiting: [ClientID: [(event: DelegateEvent, ticket: Ticket)]] = [:]
  var stored: [String: [Monitor.Record]] = [:]
  private let keys: UsageKeys
  /// The number of updates that the service has sent.
  private(set) var sentUpdates = 0

  static let startUTC: Int64 = 1_780_000_000

  static var keys: UsageKeys {
    var keys = UsageKeys()
    keys.whenInUse = "to show where you are"
    keys.alwaysAndWhenInUse = "to remember where you were"
    keys.hasLocationMode = true
    return keys
  }

  static var everything: HostCapabilities {
    HostCapabilities(hasSatelliteReceiver: true, hasSignificantChanges: true, hasCompass: true, hasBluetooth: true)
  }

  static func engine(
    _ record: Authorization.Record, _ application: ApplicationState = .foreground,
    restored: PositioningEngine.Restored = .init(), keys: UsageKeys = Connected.keys,
    hostCapabilities: HostCapabilities = Connected.everything, at now: Instant
  ) -> PositioningEngine {
    var restored = restored
    restored.authorization = record
    return PositioningEngine(
      keys: keys, hostCapabilities: hostCapabilities, application: application, restored: restored, at: now)
  }

  init(
    _ status: AuthorizationStatus = .authorizedAlways, _ application: ApplicationState = .foreground,
    keys: UsageKeys = Connected.keys, hostCapabilities: HostCapabilities = Connected.everything,
    from seconds: Double = 1000, isOpened: Bool = true
  ) {
    instant = Connected.instant(seconds)
    self.keys = keys
    engine = Connected.engine(
      Authorization.Record(status: status), application, keys: keys, hostCapabilities: hostCapabilities, at: instant)
    mirror = ProgramMirror(application: application, at: instant)
    let request = mirror.openRequest(identifier: "test", keys: keys, showsPrompts: true)
    served = ServedProgram(request, engine)
    isConnected = isOpened
    guard isOpened else { return }
    _ = mirror.opened(served.reply(serviceVersion: "test"), at: instant)
    carryAll()
  }

  // MARK: Time and places

  static func instant(_ seconds: Double) -> Instant { Instant(nanoseconds: UInt64(seconds * 1e9)) }
  static func moment(_ instant: Instant) -> Moment {
    Moment(
      instant, utc: UTCTime(nanosecondsSince1970: startUTC * 1_000_000_000 + Int64(instant.nanoseconds)))
  }
  var now: Moment { Connected.moment(instant) }

  static func location(_ north: Double, accuracy: Double = 5, at now: Moment) -> Location {
    Location(
      Coordinate(latitudeDegrees: 48 + north / 111_189, longitudeDegrees: 11), horizontalAccuracyMetres: accuracy,
      timestamp: now.utc)
  }

  static func region(_ name: String, north: Double, radius: Double = 200) -> Region {
    Region(
      name,
      .circle(
        Circle(
          centre: Coordinate(latitudeDegrees: 48 + north / 111_189, longitudeDegrees: 11), radiusMetres: radius)))
  }

  mutating func wait(_ duration: Double) {
    let end = instant.moved(by: duration)
    defer { mirror.date = now.utc }
    while let deadline = Instant.earlier(engine.deadline, mirror.deadline), deadline <= end {
      instant = max(instant, deadline)
      if let due = engine.deadline, due <= instant { engine.wake(at: now) }
      mirror.wake(at: instant)
      takeOutputs()
      serve()
    }
    instant = end
  }

  // MARK: Inputs

  mutating func add() -> ClientID {
    let id = mirror.addManager()
    call(.setDelegate([.takesLocations, .takesErrors]), by: id)
    return id
  }

  mutating func call(_ call: ClientCall, by id: ClientID) {
    mirror.call(call, by: id, at: instant)
    takeOutputs()
  }

  mutating func fix(_ north: Double, accuracy: Double = 5) {
    engine.receive(Connected.location(north, accuracy: accuracy, at: now), at: now)
    serve()
  }

  // MARK: Messages

  private mutating func takeOutputs() {
    if isConnected { toService += mirror.messages }
    mirror.messages = []
    for output in mirror.outputs {
      if case .deliver(let id, let event, let ticket) = output {
        waiting[id, default: []].append((event, ticket))
      } else {
        others.append(output)
      }
    }
    mirror.outputs = []
  }

  /// Makes the service's message from the engine's outputs.
  mutating func serve() {
    let outputs = engine.outputs
    engine.outputs = []
    for case .store(.monitor(let name)) in outputs { stored[name] = engine.monitor(name)?.records }
    guard let update = served.update(outputs, engine, at: now.utc), isConnected else { return }
    sentUpdates += 1
    toProgram.append(update)
  }

  /// Delivers messages to the service.
  mutating func carryToService(_ count: Int = .max) {
    for _ in 0..<min(count, toService.count) {
      let stored = stored
      served.receive(toService.removeFirst(), &engine, records: { stored[$0] ?? [] }, at: now)
    }
  }

  mutating func carryToProgram(_ count: Int = .max) {
    for _ in 0..<min(count, toProgram.count) { mirror.receive(.update(toProgram.removeFirst()), at: instant) }
    takeOutputs()
  }

  mutating func carryAll() {
    takeOutputs()
    repeat {
      carryToService()
      serve()
      carryToProgram()
    } while !toService.isEmpty || !toProgram.isEmpty
  }

  // MARK: The connection

  /// The regions and visits that the service has stored.
  struct Disk {
    var regions: [Regions.Record]
    var visits: Visits.Record
  }

  var disk: Disk { Disk(regions: engine.regions.records, visits: engine.visits.record) }

  /// Kills the service; messages in transit are lost.
  ///
  /// - Parameter disk: the state stored until then; nil for all.
  mutating func kill(with disk: Disk? = nil) {
    let disk = disk ?? self.disk
    isConnected = false
    (toService, toProgram) = ([], [])
    mirror.connectionLost(at: instant)
    takeOutputs()
    // Only the stored state of the process remains.
    var restored = PositioningEngine.Restored()
    restored.newest = engine.newest
    restored.regions = disk.regions
    restored.visits = disk.visits
    engine = Connected.engine(
      engine.authorization.record, engine.application, restored: restored, keys: keys,
      hostCapabilities: engine.hostCapabilities, at: instant)
    engine.outputs = []
  }

  mutating func restart() {
    served = ServedProgram(mirror.openRequest(identifier: "test", keys: keys, showsPrompts: true), engine)
    isConnected = true
    _ = mirror.opened(served.reply(serviceVersion: "test"), at: instant)
    takeOutputs()
  }

  // MARK: Delegates

  /// The delegates' events since the last call, as text.
  mutating func delivered(_ id: ClientID) -> [String] {
    let queue = waiting.removeValue(forKey: id) ?? []
    return queue.flatMap { event, ticket in
      mirror.beginDelivery(of: event, ticket, to: id) ? Connected.words(event) : []
    }
  }

  /// One word for each location, because locations are merged in transit (SU-16).
  static func words(_ event: DelegateEvent) -> [String] {
    switch event {
    case .didUpdateLocations(let locations):
      locations.map { location in
        "at \(Int(((location.coordinate.latitudeDegrees - 48) * 111_189).rounded()))"
          + " \((location.timestamp.nanosecondsSince1970 - startUTC * 1_000_000_000) / 1_000_000)"
      }
    case .didFail(let error): ["failed \(error)"]
    case .didFinishDeferredUpdates(let error): ["finished \(error.map { "\($0)" } ?? "")"]
    case .didStartMonitoring(let region): ["monitoring \(region.identifier)"]
    case .didEnter(let region): ["entered \(region.identifier)"]
    case .didExit(let region): ["left \(region.identifier)"]
    case .didDetermineState(let state, let region): ["\(region.identifier) is \(state)"]
    case .monitoringDidFail(let region, let error): ["monitoring \(region?.identifier ?? "all") failed \(error)"]
    case .didChangeAuthorization(let status, let accuracy): ["status \(status) \(accuracy)"]
    case .didPauseLocationUpdates: ["paused"]
    case .didResumeLocationUpdates: ["resumed"]
    case .didUpdateHeading(let heading): ["heading \(Int(heading.magneticDegrees))"]
    case .didVisit(let visit): [visit.departure == nil ? "arrived" : "departed"]
    default: ["\(event)"]
    }
  }
}
