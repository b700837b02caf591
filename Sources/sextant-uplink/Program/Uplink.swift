// SPDX-License-Identifier: Apache-2.0
import LinuxIO
import Messages
import MonotonicTime
import Positioning
import ReceiverStream

/// The decisions of the uplink: locations, crossings, the server's events and the time lead to calls of the location
/// service and commands of the connection. It has no socket, thread or clock.
struct Uplink<Storage: QueueStorage> {
  /// An input of a decision.
  enum Event {
    case locations([Location])
    /// A request for a single location ended without one: the receiver has no position, or the service permits none.
    case requestFailed(isPermitted: Bool)
    /// The service permits positions from now on.
    case permitted
    case crossed(region: String, isEntry: Bool)
    case determined(region: String, isInside: Bool)
    case transport(TransportEvent)
    /// The kernel has other routes.
    case routesChanged
    /// The time has come.
    case wake
    /// The end of the program: everything is written.
    case end
  }

  /// A reaction to an event; the actions are performed in this order.
  enum Action {
    case call(ClientCall)
    case transport(TransportCommand)
    /// Stores what the server has set.
    case storeSettings(JSON)
    case log(String)
  }

  /// A part of the way of a fix. Each has its own problem in the log, and its own end of it.
  private enum Stage { case permission, queue, server, commands }

  private struct Crossing {
    var region: String
    var isEntry: Bool
  }

  private let configuration: UplinkConfiguration
  private let writer: PayloadWriter
  private(set) var queue: FixQueue<Storage>
  private(set) var delivery: Delivery
  private var schedule: FixSchedule
  private var regions: RegionTable
  private var newest: (location: Location, received: Instant)?
  /// Crossings that wait for the location of this moment.
  private var crossings: [Crossing] = []
  private var crossingsDue: Instant?
  /// Crossings of the last run that had no location at its end.
  private let storedCrossings: [JSON]
  /// The settings of the schedule that the server has changed.
  private var override: (intervalSeconds: Double?, distanceMetres: Double?)
  private var isUpdating = false
  private(set) var bytesToday: UInt64 = 0
  private var day: Int64 = 0

  /// The latest time at which new fixes are written.
  private var flushDue: Instant?
  private var lastFlush = Instant.zero
  /// When acknowledgements are written that no new fix takes along, and the files are brought to the disk.
  private var settleDue: Instant?
  /// The problems that were logged and last.
  private var problems: [Stage: String] = [:]
  /// The number of fixes that waited at the last line about the backlog, when the next line is due, and whether there was one; nil
  /// without a backlog.
  private var progress: (waiting: Int, due: Instant, isShown: Bool)?
  /// The computer's time of the last acknowledgement, nanoseconds since 1970; nil before the first.
  private var lastSuccess: Int64?
  private var loggedLosses: FixQueue<Storage>.Losses
  /// When the next line about losses may follow.
  private var lossesDue = Instant.zero
  private var loggedRefusals = 0
  private var refusalsLogged = Instant.zero
  /// The charge of the battery in per cent; nil without one.
  var battery: Int?

  /// The longest time that a fix is in memory alone: a fix is safe 1.5 s after its delivery.
  private static var flushTime: Milliseconds { Milliseconds(500) }
  /// The longest time of acknowledgements and of unsynced files.
  private static var settleTime: Milliseconds { Milliseconds(60_000) }
  /// The time until a failed write is tried again.
  private static var writeRetry: Milliseconds { Milliseconds(10_000) }
  /// The greatest age of a location that still shows where a border was crossed.
  private static var crossingAge: Milliseconds { Milliseconds(5000) }
  /// The longest time that a crossing waits for a location.
  private static var crossingTime: Milliseconds { Milliseconds(60_000) }
  /// The time between two lines about a backlog, and the least number of fixes that is one.
  private static var progressTime: Milliseconds { Milliseconds(60_000) }
  private static var leastBacklog: Int { 100 }
  /// The least time between two lines about losses: an outage that is longer than the queue loses a fix with each new one.
  private static var lossesTime: Milliseconds { Milliseconds(600_000) }
  /// Refused commands that are logged at once, and the time of one more: a server cannot fill the log.
  private static var refusalBurst: Int { 10 }
  private static var refusalPause: Milliseconds { Milliseconds(10_000) }
  private static var refusal: String {
    "the location service does not permit positions; run `sextant authorize grant sextant-uplink always` as this user, "
      + "or add `grant sextant-uplink.service always` to /etc/sextant/policy"
  }

  /// - Parameters:
  ///   - queue: the fixes of earlier runs wait in it.
  ///   - stored: what the server has set in earlier runs, of `storeSettings`.
  init(_ configuration: UplinkConfiguration, _ writer: PayloadWriter, _ queue: FixQueue<Storage>, stored: JSON?) {
    self.configuration = configuration
    self.writer = writer
    self.queue = queue
    loggedLosses = queue.losses
    delivery = Delivery(
      Delivery.Settings(
        keepsConnection: configuration.keepsConnection, window: configuration.server.isMQTT ? 16 : 1,
        backlogPerSecond: configuration.backlogPerSecond, backlogIsNewestFirst: configuration.backlogIsNewestFirst,
        limitsAnswers: configuration.server.isMQTT), firstNew: queue.upcomingSequence)
    regions = RegionTable(stored?["regions"] ?? .null)
    storedCrossings = if case .array(let elements)? = stored?["crossings"] { Array(elements.prefix(100)) } else { [] }
    override = (
      stored?["intervalSeconds"]?.number.flatMap { $0 >= 0 ? $0 : nil },
      stored?["distanceMetres"]?.number.flatMap { $0 >= 0 ? $0 : nil }
    )
    schedule = FixSchedule(configuration.schedule)
    schedule = FixSchedule(settings)
  }

  private var settings: FixSchedule.Settings {
    var settings = configuration.schedule
    settings.intervalSeconds = override.intervalSeconds ?? settings.intervalSeconds
    settings.distanceMetres = override.distanceMetres ?? settings.distanceMetres
    return settings
  }

  /// Returns the calls that begin the uplink.
  mutating func start(at now: Instant) -> [Action] {
    var actions: [Action] = [
      .call(.setDelegate([.takesLocations, .takesErrors])),
      .call(.setActivity(settings.activity)),
      .call(.setAllowsBackgroundUpdates(true)),
      .call(.requestAlways),
    ]
    for element in storedCrossings {
      if let region = element["region"]?.string, let isEntry = element["entry"]?.bool {
        crossings.append(Crossing(region: region, isEntry: isEntry))
      }
    }
    if !crossings.isEmpty {
      crossingsDue = now + Self.crossingTime
      actions.append(.call(.requestLocation))
    }
    // The location service stores the regions of earlier runs; a state shows where the board is now.
    for region in regions.waypoints.map(region(of:)) {
      actions.append(.call(.startMonitoring(region)))
      actions.append(.call(.requestState(region)))
    }
    actions += applySchedule()
    return actions + step(at: now)
  }

  private mutating func applySchedule() -> [Action] {
    var actions: [Action] = [.call(.setDesiredAccuracy(metres: settings.accuracyMetres))]
    // The filter of the service is by distance alone: with `stationary`, the program filters.
    let filter = settings.stationarySeconds == nil && settings.intervalSeconds == nil ? settings.distanceMetres : nil
    actions.append(.call(.setDistanceFilter(metres: filter ?? -1)))
    // Without a distance, locations are due at rest too.
    actions.append(.call(.setPausesAutomatically((settings.distanceMetres ?? 0) > 0)))
    return actions + applyDemand()
  }

  /// Starts or stops updates, if the schedule's demand has changed.
  private mutating func applyDemand() -> [Action] {
    let updates = schedule.demand == .updates
    guard updates != isUpdating else { return [] }
    isUpdating = updates
    return [.call(updates ? .startUpdatingLocation : .stopUpdatingLocation)]
  }

  /// When `receive(.wake)` is due; nil for never.
  var deadline: Instant? {
    [schedule.deadline, delivery.deadline(queue), flushDue, settleDue, crossingsDue].reduce(nil) {
      Instant.earlier($0, $1)
    }
  }

  mutating func receive(_ event: Event, utcNanoseconds: Int64, at now: Instant) -> [Action] {
    let today = utcNanoseconds / 86_400_000_000_000
    if today != day {
      day = today
      bytesToday = 0
    }
    var actions: [Action] = []
    switch event {
    case .locations(let locations):
      actions += logged(nil, .permission)
      for location in locations { actions += take(location, at: now) }
    case .requestFailed(let isPermitted):
      actions += logged(isPermitted ? nil : Self.refusal, .permission)
      schedule.requestFailed(isSearch: isPermitted, at: now)
      actions += applyDemand()
    case .permitted:
      if problems[.permission] != nil { schedule.permit(at: now) }
      actions += logged(nil, .permission)
    case .crossed(let region, let isEntry): actions += cross(region, isEntry, at: now)
    case .determined(let region, let isInside): actions += determine(region, isInside, at: now)
    case .transport(let event):
      if case .acknowledged = event { lastSuccess = utcNanoseconds }
      actions += take(event, at: now)
    case .routesChanged: delivery.routeChanged(random: .random(in: 0...1), at: now)
    case .wake:
      if let due = crossingsDue, due <= now { actions += endCrossings(nil, utcNanoseconds, at: now) }
    case .end:
      actions += write(at: now)
      queue.sync()
      return actions + [.transport(.end)]
    }
    return actions + step(at: now)
  }

  // MARK: Fixes

  private mutating func take(_ location: Location, at now: Instant) -> [Action] {
    newest = (location, now)
    if let trigger = schedule.receive(location, at: now) { append(location, trigger, at: now) }
    let actions = applyDemand()
    return crossings.isEmpty
      ? actions : actions + endCrossings(location, location.timestamp.nanosecondsSince1970, at: now)
  }

  private mutating func append(_ location: Location, _ trigger: QueuedFix.Trigger, region: UInt16 = 0, at now: Instant)
  {
    func known(_ value: Double) -> Double? { value >= 0 ? value : nil }
    queue.append(
      QueuedFix(
        sequence: 0, utcNanoseconds: location.timestamp.nanosecondsSince1970,
        latitudeDegrees: location.coordinate.latitudeDegrees, longitudeDegrees: location.coordinate.longitudeDegrees,
        horizontalAccuracyMetres: known(location.horizontalAccuracyMetres),
        altitudeMetres: location.verticalAccuracyMetres >= 0 ? location.altitudeMetres : nil,
        verticalAccuracyMetres: known(location.verticalAccuracyMetres),
        speedMetresPerSecond: known(location.speedMetresPerSecond), courseDegrees: known(location.courseDegrees),
        trigger: trigger, region: region, isSimulated: location.source?.isSimulatedBySoftware ?? false), at: now)
    // One write for all fixes of a batch, and two writes a second for the fixes of a fast receiver.
    if flushDue == nil { flushDue = max(now, lastFlush + Self.flushTime) }
  }

  /// The service reports a crossing without its place, and may have started this program for it: the next location is requested.
  private mutating func cross(_ name: String, _ isEntry: Bool, at now: Instant) -> [Action] {
    guard regions.number(of: name) != nil, regions.isInside(name) != isEntry else { return [] }
    regions.enter(name, isInside: isEntry)
    if crossings.isEmpty, let newest, now <= newest.received + Self.crossingAge {
      append(crossing: Crossing(region: name, isEntry: isEntry), newest.location, at: now)
      return write(at: now) + [.storeSettings(storedSettings)]
    }
    crossings.append(Crossing(region: name, isEntry: isEntry))
    if crossingsDue == nil { crossingsDue = now + Self.crossingTime }
    // A crossing is safe from the end of the process as a fix is.
    return [.storeSettings(storedSettings), .call(.requestLocation)]
  }

  /// Ends the wait of crossings.
  ///
  /// - Parameter location: nil: none came. The board is at the border then, by the time of this computer.
  private mutating func endCrossings(_ location: Location?, _ utcNanoseconds: Int64, at now: Instant) -> [Action] {
    for crossing in crossings {
      guard let waypoint = regions.number(of: crossing.region).flatMap({ regions.waypoint($0) }) else { continue }
      let border = Location(
        Coordinate(latitudeDegrees: waypoint.latitudeDegrees, longitudeDegrees: waypoint.longitudeDegrees),
        horizontalAccuracyMetres: waypoint.radiusMetres, timestamp: UTCTime(nanosecondsSince1970: utcNanoseconds))
      append(crossing: crossing, location ?? border, at: now)
    }
    crossings = []
    crossingsDue = nil
    // First the queue, then the settings without the crossings: a kill between both repeats a crossing, and loses none.
    return write(at: now) + [.storeSettings(storedSettings)]
  }

  private mutating func append(crossing: Crossing, _ place: Location, at now: Instant) {
    guard let number = regions.number(of: crossing.region) else { return }
    if writer.format == .ownTracks { append(place, crossing.isEntry ? .entry : .exit, region: number, at: now) }
    append(place, .region, region: number, at: now)
  }

  /// A state that differs from the state in the last run is a crossing that no event reported: the board was off, or
  /// the program was not started for it.
  private mutating func determine(_ name: String, _ isInside: Bool, at now: Instant) -> [Action] {
    guard regions.number(of: name) != nil else { return [] }
    if regions.isInside(name) != nil { return cross(name, isInside, at: now) }
    regions.enter(name, isInside: isInside)
    return [.storeSettings(storedSettings)]
  }

  // MARK: The server

  private mutating func take(_ event: TransportEvent, at now: Instant) -> [Action] {
    switch event {
    case .connected:
      delivery.connected(upcoming: queue.upcomingSequence, at: now)
      // HTTP connects with the first request, and a broker may take the connection and no fix.
      return configuration.server.isMQTT && queue.count == 0 ? logged(nil, .server) : []
    case .acknowledged(let sequence):
      delivery.acknowledged(sequence, &queue)
      if settleDue == nil { settleDue = now + Self.settleTime }
      return logged(nil, .server)
    case .refused(let sequence, let reason):
      let name = queue.fix(sequence).map(writer.identifier) ?? "\(sequence)"
      guard delivery.refused(sequence, reason, &queue, at: now) else { return [] }
      loggedLosses.dropped += 1
      return [
        .log("the server refuses the fix \(name) (\(reason)) after \(Delivery.refusalLimit) attempts: it is dropped")
      ]
    case .failed(let failure):
      delivery.failed(failure, random: .random(in: 0...1), at: now)
      return logged(failure.text, .server)
    case .bytes(let count):
      bytesToday += count
      return []
    case .subscribed(let refusal): return logged(refusal, .commands)
    case .command(let message): return take(message, at: now)
    case .ended: return []
    }
  }

  /// Logs the problem of a stage once, until it has another one or none. Each file of the queue may have the problem of a full disk, which
  /// is one.
  private mutating func logged(_ problem: String?, _ stage: Stage) -> [Action] {
    let before = problems[stage]
    problems[stage] = problem
    switch (stage, before, problem) {
    case (_, nil, nil), (.queue, _?, _?), (.permission, _?, _?): return []
    case (.permission, nil, let problem?): return [.log(problem)]
    case (.permission, _?, nil): return [.log("the location service permits positions")]
    case (.queue, _?, nil): return [.log("the queue is written again")]
    case (.server, _?, nil): return [.log("the server takes the fixes again")]
    case (.commands, _?, nil): return [.log("the broker takes the subscription to commands again")]
    case (.commands, let before, let problem?): return before == problem ? [] : [.log(problem)]
    case (_, let before, let problem?): return before == problem ? [] : [.log("\(problem); \(queue.count) fixes wait")]
    }
  }

  private mutating func take(_ message: [UInt8], at now: Instant) -> [Action] {
    let command: RemoteCommand
    do throws(RemoteCommand.Refusal) {
      command = try RemoteCommand(message, allowed: configuration.allowed)
    } catch {
      return refused(error.text, at: now)
    }
    switch command {
    case .reportLocation:
      schedule.request()
      return []
    case .setWaypoints(let waypoints):
      // OwnTracks adds them to those that are set; a name is set once.
      let merged = regions.waypoints.filter { old in !waypoints.contains { $0.name == old.name } } + waypoints
      guard merged.count <= RemoteCommand.waypointLimit else {
        return refused("\(merged.count) waypoints would be set; \(RemoteCommand.waypointLimit) are possible", at: now)
      }
      return setRegions(merged)
    case .clearWaypoints: return setRegions([])
    case .setConfiguration(let interval, let distance):
      override = (interval ?? override.intervalSeconds, distance ?? override.distanceMetres)
      schedule.change(settings, at: now)
      return applySchedule() + [.storeSettings(storedSettings)]
    }
  }

  private mutating func refused(_ reason: String, at now: Instant) -> [Action] {
    if refusalsLogged + Self.refusalPause <= now { loggedRefusals = max(0, loggedRefusals - 1) }
    guard loggedRefusals < Self.refusalBurst else { return [] }
    loggedRefusals += 1
    refusalsLogged = now
    return [.log("a command of the server is not carried out: \(reason)")]
  }

  private mutating func setRegions(_ waypoints: [Waypoint]) -> [Action] {
    var actions: [Action] = []
    for waypoint in regions.waypoints where !waypoints.contains(waypoint) {
      actions.append(.call(.stopMonitoring(region(of: waypoint))))
    }
    let added = waypoints.filter { !regions.waypoints.contains($0) }
    for region in added.map(region(of:)) {
      actions.append(.call(.startMonitoring(region)))
      actions.append(.call(.requestState(region)))
    }
    let former = regions
    regions.set(waypoints)
    // A repeated command does not wear the disk.
    if regions != former { actions.append(.storeSettings(storedSettings)) }
    if writer.format == .ownTracks { actions.append(.transport(.publish(writer.waypoints(regions.waypoints)))) }
    return actions
  }

  private var storedSettings: JSON {
    let waiting = crossings.map { ["region": .string($0.region), "entry": .bool($0.isEntry)] as JSON }
    return JSON(omittingNil: [
      "regions": regions.json, "crossings": waiting.isEmpty ? nil : waiting,
      "intervalSeconds": override.intervalSeconds, "distanceMetres": override.distanceMetres,
    ])
  }

  // MARK: The next step

  private mutating func step(at now: Instant) -> [Action] {
    var actions = showProgress(at: now)
    if schedule.startRequest(at: now) { actions.append(.call(.requestLocation)) }
    if let due = flushDue, due <= now { actions += write(at: now) }
    if let due = settleDue, due <= now { actions += settle(at: now) }
    let failure = delivery.lastFailure
    let next = delivery.actions(queue, at: now)
    // A silent connection is made again at once.
    if let reason = delivery.lastFailure, reason != failure { actions += logged(reason, .server) }
    var isReduced = false
    for action in next {
      switch action {
      case .connect: actions.append(.transport(.connect))
      case .disconnect:
        actions.append(.transport(.disconnect))
        // Nothing comes before the next fix: the files are brought to the disk now, not by a wake-up of their own.
        actions += settle(at: now)
      case .send(let sequence):
        if let payload = payload(sequence) {
          actions.append(.transport(.send(sequence, payload)))
        } else {
          delivery.remove(sequence)
          if settleDue == nil { settleDue = now + Self.settleTime }
          isReduced = true
        }
      }
    }
    // The next fix, or the end of a connection without one.
    return isReduced ? actions + step(at: now) : actions
  }

  /// A line a minute while a backlog is sent. It needs no time of its own: what is sent and acknowledged leads here.
  private mutating func showProgress(at now: Instant) -> [Action] {
    let waiting = queue.count
    guard delivery.state == .connected, waiting >= Self.leastBacklog else {
      defer { progress = nil }
      return delivery.state == .connected && progress?.isShown == true ? [.log("the backlog is sent")] : []
    }
    guard let (before, due, _) = progress else {
      progress = (waiting, now + Self.progressTime, false)
      return []
    }
    guard due <= now else { return [] }
    progress = (waiting, now + Self.progressTime, true)
    return [.log("\(waiting) fixes wait; a minute ago there were \(before)")]
  }

  private mutating func payload(_ sequence: UInt64) -> Payload? {
    guard let fix = queue.fixToSend(sequence) else { return nil }
    if fix.trigger.isTransition {
      guard let region = regions.waypoint(fix.region) else {
        // Its region is long gone.
        queue.acknowledge(sequence)
        return nil
      }
      return writer.transition(fix, region: region)
    }
    return writer.payload(of: fix, battery: battery, regions: regions.namesInside)
  }

  /// Writes what is in memory alone, and brings the files to the disk.
  private mutating func settle(at now: Instant) -> [Action] {
    let actions = write(at: now)
    queue.sync()
    settleDue = nil
    return actions
  }

  private mutating func write(at now: Instant) -> [Action] {
    var actions: [Action] = []
    do throws(FileError) {
      try queue.flush()
      lastFlush = now
      flushDue = nil
      if settleDue == nil { settleDue = now + Self.settleTime }
      // Fixes that the server took from memory were not written.
      if !queue.isUnwritable { actions += logged(nil, .queue) }
    } catch {
      // The fixes stay in memory.
      flushDue = now + Self.writeRetry
      actions += logged("the queue cannot be written: \(error.description)", .queue)
    }
    let losses = queue.losses
    if losses != loggedLosses, lossesDue <= now {
      lossesDue = now + Self.lossesTime
      let (thinned, dropped) = (losses.thinned - loggedLosses.thinned, losses.dropped - loggedLosses.dropped)
      loggedLosses = losses
      if dropped > 0 { actions.append(.log("the queue is full or too old: \(dropped) fixes are lost")) }
      if thinned > 0 { actions.append(.log("the queue is full: \(thinned) fixes within the tolerance are left out")) }
    }
    return actions
  }

  // MARK: Status

  /// HTTP has a connection if the server has taken the last request.
  private var isConnected: Bool {
    configuration.server.isMQTT
      ? delivery.state == .connected : delivery.acknowledged > 0 && delivery.lastFailure == nil
  }

  /// `sextant uplink status --json`, by the contract.
  ///
  /// - Parameter utcNanoseconds: the computer's time; it may be wrong at the boot of a board without a clock.
  func status(utcNanoseconds: Int64) -> JSON {
    var status = UplinkStatus()
    status.isConnected = isConnected
    status.sent = delivery.sent
    status.acknowledged = delivery.acknowledged
    status.bytesToday = bytesToday
    status.lastSuccess = lastSuccess
    status.lastError = delivery.lastFailure
    return status.json(queue, utcNanoseconds: utcNanoseconds)
  }
}

/// The status of an uplink, without what its queue shows.
struct UplinkStatus {
  var isConnected = false
  var sent = 0
  var acknowledged = 0
  var bytesToday: UInt64 = 0
  /// The computer's time of the last acknowledgement, nanoseconds since 1970; nil before the first.
  var lastSuccess: Int64?
  var lastError: String?

  /// - Parameter utcNanoseconds: the computer's time; it may be wrong at the boot of a board without a clock.
  func json<Storage>(_ queue: FixQueue<Storage>, utcNanoseconds: Int64) -> JSON {
    let now = max(utcNanoseconds, queue.latestNanoseconds ?? .min)
    let age = queue.oldest.map { oldest in
      let (age, isTooLong) = now.subtractingReportingOverflow(oldest.utcNanoseconds)
      return isTooLong ? 0 : max(0, age) / 1_000_000_000
    }
    return [
      "connected": .bool(isConnected),
      "queued": .integer(Int64(queue.count)),
      "oldestSeconds": age.map { JSON.integer($0) } ?? .null,
      "sent": .integer(Int64(sent)),
      "acknowledged": .integer(Int64(acknowledged)),
      "thinned": .integer(Int64(queue.losses.thinned)),
      "dropped": .integer(Int64(queue.losses.dropped)),
      "bytesToday": .integer(Int64(clamping: bytesToday)),
      "lastSuccess": lastSuccess.map { JSON.string(UTCTime(nanosecondsSince1970: $0).iso8601) } ?? .null,
      "lastError": lastError.map { JSON.string($0) } ?? .null,
    ]
  }
}

/// The region that the location service monitors.
private func region(of waypoint: Waypoint) -> Region {
  let centre = Coordinate(latitudeDegrees: waypoint.latitudeDegrees, longitudeDegrees: waypoint.longitudeDegrees)
  return Region(waypoint.name, .circle(Circle(centre: centre, radiusMetres: waypoint.radiusMetres)))
}
