// SPDX-License-Identifier: Apache-2.0
import MonotonicTime
import ReceiverStream

/// Measurements.
extension PositioningEngine {
  /// Handles a fix. A fix without a position, or outside its receiver's limits, is ignored.
  ///
  /// - Parameters:
  ///   - fix: the receiver's fix.
  ///   - source: its origin, if known.
  ///   - measured: the instant of its measurement if it comes from a receiver's memory; nil for now.
  ///   - now: the current instant.
  public mutating func receive(
    _ fix: Fix, source: Location.Source? = nil, measured: Instant? = nil, at now: Moment
  ) {
    guard let location = Location(fix, received: now.utc, source: source) else { return }
    receive(location, measured: measured, at: now)
  }

  /// Handles a location of any origin.
  public mutating func receive(_ location: Location, measured: Instant? = nil, at now: Moment) {
    let actual = Sample(location, measured: measured ?? now.instant)
    // Without permission, locations are neither delivered nor cached.
    let isRemembered = measured != nil && batchEnds != nil
    guard authorization.status.isAuthorized, actual.accuracyMetres >= 0,
      cache.accept(actual, isRemembered: isRemembered)
    else { return }
    let permissions = permissions
    if permissions.delivery(.waking, allowsBackground: nil) != .none {
      if authorization.accuracy == .full { monitor(actual) }
      if hasDelegate { visit(actual) }
    }
    let sample = reducedIfNeeded(actual)
    for index in clients.indices {
      clients[index].receive(sample, actual: actual, isRemembered: isRemembered, at: now.instant, &outputs)
    }
    receiveForStreams(sample, actual: actual, at: now.instant)
  }

  /// Visits are detected with the measured location, and reported if the app's accuracy permits it (AU-19).
  private mutating func visit(_ actual: Sample) {
    guard let visit = visits.receive(actual) else { return }
    let reported = authorization.accuracy == .reduced ? settings.cells.reduced(visit) : visit
    outputs.append(.store(.visits))
    for client in clients { client.emit(.didVisit(reported), &outputs) }
  }

  private mutating func monitor(_ sample: Sample) {
    crossings { regions, body in regions.receive(sample, body) }
    for index in monitors.indices where monitors[index].receive(sample) {
      outputs.append(.monitorHasEvent(monitors[index].name))
    }
  }

  private mutating func receiveForStreams(_ sample: Sample, actual: Sample, at now: Instant) {
    guard !streams.isEmpty, deliversToStreams else { return }
    streamOutage.fixArrived(at: now)
    let diagnostic: Diagnostic = authorization.accuracy == .reduced ? .accuracyLimited : []
    for index in streams.indices {
      if let update = streams[index].updates.receive(sample, actual: actual, diagnostic: diagnostic) {
        outputs.append(.live(streams[index].id, update))
      }
    }
  }

  /// Whether regions and conditions may be evaluated now (AU-19, RG-20).
  var mayMonitor: Bool {
    authorization.accuracy == .full && permissions.delivery(.waking, allowsBackground: nil) != .none
  }

  /// Whether there is a delegate. Without a delegate no region or visit events are emitted; later fixes show the
  /// changes of that time (BG-5).
  var hasDelegate: Bool { clients.indices.contains { clients[$0].services.delegate != nil } }

  /// Passes an input to the regions, and reports crossings to every manager (RG-10, RG-11).
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
    answerStateRequests()
  }

  /// Handles a receiver that became idle as planned, or searches again.
  public mutating func sourceBecame(_ activity: SourceActivity, at now: Instant) {
    self.activity = activity
    for index in clients.indices { clients[index].sourceBecame(activity, at: now) }
    streamOutage.sourceBecame(activity, at: now)
  }

  /// Handles the start of a read of a receiver's memory: its fixes arrive through `receive` with their instants of
  /// measurement, and deferrals do not time out during the read.
  public mutating func batchBegins(until limit: Instant) { batchEnds = limit }

  /// Handles the end of a read of the receiver's memory.
  public mutating func batchEnded(at now: Moment) {
    batchEnds = nil
    wake(at: now)
  }

  /// Handles movement detected by another source, such as an accelerometer or a change of network: paused services
  /// resume.
  public mutating func movementNoticed(at now: Instant) {
    // Clients whose delivery is blocked do not resume now; the first fix after the block shows whether they have moved.
    for index in clients.indices where clients[index].standardDelivery == .deliver {
      let action = clients[index].pausing.movementNoticed(at: now)
      clients[index].carryOut(action, at: now, &outputs)
    }
  }

  // MARK: Heading

  /// Handles a heading, for every manager with the service.
  public mutating func receive(_ sample: HeadingSample) {
    // The declination of the exact place would show a line through it with reduced accuracy (AU-19).
    let degrees = cache.newest.map {
      declination.degrees(at: settings.cells.middle(of: $0.coordinate), on: sample.timestamp)
    }
    for index in clients.indices { clients[index].receive(sample, declinationDegrees: degrees, &outputs) }
  }

  /// Handles the loss of the heading.
  public mutating func headingFailed() {
    for index in clients.indices where clients[index].asksForHeading && clients[index].heading.failed() {
      clients[index].fail(.headingFailure, &outputs)
    }
  }

  /// Handles a compass that needs calibration.
  public mutating func calibrationWanted() {
    for index in clients.indices
    where clients[index].asksForHeading && clients[index].heading.calibrationWanted() == .ask {
      clients[index].emit(.shouldDisplayHeadingCalibration, &outputs)
    }
  }

  /// Handles a completed calibration of the compass.
  public mutating func calibrated() {
    for index in clients.indices where clients[index].heading.calibrated() == .hide {
      outputs.append(.hideCalibration(clients[index].id))
    }
  }

  // MARK: Beacons

  /// Handles an advertisement of a beacon.
  public mutating func receive(_ sighting: BeaconSighting) {
    for index in clients.indices where clients[index].isRanging {
      clients[index].ranging.receive(sighting, clients[index].services.rangedTargets)
    }
    guard mayMonitor else { return }
    crossings { regions, body in regions.receive(sighting, body) }
    for index in monitors.indices where monitors[index].receive(sighting) {
      outputs.append(.monitorHasEvent(monitors[index].name))
    }
  }

  /// Handles the loss of Bluetooth while beacons are ranged: the clients get an error, and ranging continues when
  /// Bluetooth is back.
  public mutating func rangingFailed() {
    for client in clients {
      for target in client.services.rangedTargets {
        client.emit(.rangingDidFail(target, .rangingUnavailable), &outputs)
      }
    }
  }

  /// Handles the resumption of the scan for beacons: the time without scanning does not count as silence.
  public mutating func beaconScanResumed(at now: Instant) {
    // If monitoring is not permitted, the watch restarts with the permission; the obstacle has already been reported.
    guard mayMonitor else { return }
    regions.restart(at: now)
    for index in monitors.indices { monitors[index].restart(at: now) }
  }
}

/// The declination at the centre of a cell of reduced accuracy, on the ellipsoid, computed once for each cell and day: it
/// changes by less than 0.1° in both, outside the polar regions.
struct Declination: Sendable {
  private var known: (centre: Coordinate, day: Day, degrees: Double)?

  mutating func degrees(at centre: Coordinate, on time: UTCTime) -> Double {
    if let known, known.day == time.day, known.centre == centre { return known.degrees }
    let degrees = MagneticModel.field(at: centre, year: MagneticModel.year(of: time)).declinationDegrees
    known = (centre, time.day, degrees)
    return degrees
  }
}
