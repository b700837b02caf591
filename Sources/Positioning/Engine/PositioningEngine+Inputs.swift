import MonotonicTime
import ReceiverStream

/// What is measured.
extension PositioningEngine {
  /// A fix; one without a position, or outside its receiver's limits, is none.
  ///
  /// - Parameters:
  ///   - fix: what the receiver told.
  ///   - source: what is known of its origin.
  ///   - measured: when, for what comes from a receiver's memory; nil: now.
  ///   - now: the present instant.
  public mutating func receive(
    _ fix: Fix, source: Location.Source? = nil, measured: Instant? = nil, at now: Moment
  ) {
    guard let location = Location(fix, received: now.utc, source: source) else { return }
    receive(location, measured: measured, at: now)
  }

  /// A location of any origin.
  public mutating func receive(_ location: Location, measured: Instant? = nil, at now: Moment) {
    let actual = Sample(location, measured: measured ?? now.instant)
    // Without permission nothing is retrieved, so nothing is remembered of it.
    guard authorization.status.isAuthorized, actual.accuracyMetres >= 0,
      cache.accept(actual, isRemembered: measured != nil && batchEnds != nil)
    else { return }
    let permissions = permissions
    if permissions.delivery(.waking, allowsBackground: nil) != .none {
      if authorization.accuracy == .full { monitor(actual) }
      if hasDelegate { visit(actual) }
    }
    let sample = reducedIfNeeded(actual)
    for index in clients.indices {
      clients[index].receive(sample, actual: actual, at: now.instant, &outputs)
    }
    receiveForStreams(sample, actual: actual, permissions, at: now.instant)
  }

  /// When one comes and goes is found with what was measured, and told of where one may know (AU-19).
  private mutating func visit(_ actual: Sample) {
    guard let visit = visits.receive(actual) else { return }
    let told = authorization.accuracy == .reduced ? ReducedAccuracy.reduced(visit) : visit
    outputs.append(.store(.visits))
    for client in clients { client.emit(.didVisit(told), &outputs) }
  }

  private mutating func monitor(_ sample: Sample) {
    crossings { regions, body in regions.receive(sample, body) }
    for index in monitors.indices where monitors[index].receive(sample) {
      outputs.append(.monitorHasEvent(monitors[index].name))
    }
  }

  private mutating func receiveForStreams(
    _ sample: Sample, actual: Sample, _ permissions: Permissions, at now: Instant
  ) {
    guard !streams.isEmpty, permissions.delivery(.standard, allowsBackground: nil) == .deliver else { return }
    streamOutage.fixArrived(at: now)
    let diagnostic: Diagnostic = authorization.accuracy == .reduced ? .accuracyLimited : []
    for index in streams.indices {
      if let update = streams[index].updates.receive(sample, actual: actual, diagnostic: diagnostic) {
        outputs.append(.live(streams[index].id, update))
      }
    }
  }

  /// Whether regions and conditions may be looked at now (AU-19, RG-20).
  var mayMonitor: Bool {
    authorization.accuracy == .full && permissions.delivery(.waking, allowsBackground: nil) != .none
  }

  /// Whether there is a delegate. Before, and while there is none, nothing is found that would be told to nobody: what
  /// became of regions and visits meanwhile the fixes show that come then (BG-5).
  var hasDelegate: Bool { clients.indices.contains { clients[$0].delegate != nil } }

  /// Feeds the regions, and tells every manager of what was crossed (RG-10, RG-11).
  mutating func crossings(_ feed: (inout Regions, (Regions.Crossing) -> Void) -> Bool) {
    guard hasDelegate else { return }
    var crossed: [Regions.Crossing] = []
    guard feed(&regions, { crossed.append($0) }) else { return }
    outputs.append(.store(.regions))
    for crossing in crossed {
      let region = crossing.region
      for client in clients {
        switch crossing.state {
        case .inside: if region.notifiesOnEntry { client.emit(.didEnter(region), &outputs) }
        case .outside: if region.notifiesOnExit { client.emit(.didExit(region), &outputs) }
        case .unknown: break
        }
        client.emit(.didDetermineState(crossing.state, region), &outputs)
      }
    }
  }

  /// The receiver went to rest by plan, or searches again.
  public mutating func sourceBecame(_ activity: SourceActivity, at now: Instant) {
    self.activity = activity
    for index in clients.indices { clients[index].sourceBecame(activity, at: now) }
    streamOutage.sourceBecame(activity, at: now)
  }

  /// A receiver's memory is being read: its fixes come through `receive` with the instants they were measured at, and
  /// deferrals do not end by time before they are in.
  public mutating func batchBegins(until limit: Instant) { batchEnds = limit }

  /// The receiver's memory was read to its end.
  public mutating func batchEnded(at now: Moment) {
    batchEnds = nil
    wake(at: now)
  }

  /// Something else saw movement: an accelerometer, another network. Paused services go on.
  public mutating func movementNoticed(at now: Instant) {
    // Who is told nothing now is not told of that either; the first fix shows whether it has moved.
    for index in clients.indices where clients[index].standardDelivery == .deliver {
      let action = clients[index].pausing.movementNoticed(at: now)
      clients[index].carryOut(action, at: now, &outputs)
    }
  }

  // MARK: Heading

  /// A heading, for every manager that wants it.
  public mutating func receive(_ sample: HeadingSample) {
    let degrees = cache.newest.map { declination.degrees(at: $0, on: sample.timestamp) }
    for index in clients.indices { clients[index].receive(sample, declinationDegrees: degrees, &outputs) }
  }

  /// The heading cannot be told now.
  public mutating func headingFailed() {
    for index in clients.indices where clients[index].asksForHeading && clients[index].heading.failed() {
      clients[index].fail(.headingFailure, &outputs)
    }
  }

  /// The compass wishes to be calibrated.
  public mutating func calibrationWanted() {
    for index in clients.indices
    where clients[index].asksForHeading && clients[index].heading.calibrationWanted() == .ask {
      clients[index].emit(.shouldDisplayHeadingCalibration, &outputs)
    }
  }

  /// The compass is calibrated.
  public mutating func calibrated() {
    for index in clients.indices where clients[index].heading.calibrated() == .hide {
      outputs.append(.hideCalibration(clients[index].id))
    }
  }

  // MARK: Beacons

  /// An advertisement of a beacon was heard.
  public mutating func receive(_ sighting: BeaconSighting) {
    for index in clients.indices where clients[index].isRanging {
      clients[index].ranging.receive(sighting)
    }
    guard mayMonitor else { return }
    crossings { regions, body in regions.receive(sighting, body) }
    for index in monitors.indices where monitors[index].receive(sighting) {
      outputs.append(.monitorHasEvent(monitors[index].name))
    }
  }

  /// Bluetooth went away while beacons are ranged: who ranges is told, and goes on when it is back.
  public mutating func rangingFailed() {
    for client in clients {
      for target in client.ranging.targets { client.emit(.rangingDidFail(target, .rangingUnavailable), &outputs) }
    }
  }

  /// Beacons are listened for again: the silence before says nothing of who was near.
  public mutating func beaconScanResumed(at now: Instant) {
    // Where nothing may be monitored, permission that comes looks again; what stands in its way was told already.
    guard mayMonitor else { return }
    regions.restart(at: now)
    for index in monitors.indices { monitors[index].restart(at: now) }
  }
}

/// The declination where one is, computed anew after ten kilometres or a day: it changes by less than 0.1° in both, outside
/// the polar regions.
struct Declination: Sendable {
  private var known: (point: SurfacePoint, day: Day, degrees: Double)?

  mutating func degrees(at location: Location, on time: UTCTime) -> Double {
    let point = SurfacePoint(location.coordinate)
    if let known, known.day == time.day, known.point.distanceMetres(to: point) < 10_000 { return known.degrees }
    let degrees =
      MagneticModel.field(
        at: location.coordinate, heightMetres: location.ellipsoidalAltitudeMetres, year: MagneticModel.year(of: time)
      ).declinationDegrees
    known = (point, time.day, degrees)
    return degrees
  }
}
