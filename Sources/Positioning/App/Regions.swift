// SPDX-License-Identifier: Apache-2.0
import MonotonicTime
import ReceiverStream

/// The regions of an app, which all its managers share (rules RG).
public struct Regions: Sendable {
  /// A region with its state, as it is stored between runs (RG-17).
  public struct Record: Hashable, Sendable {
    public var region: Region
    public var state: RegionState
    /// The client's own margin (RG-24).
    public var marginMetres: Double?

    public init(_ region: Region, state: RegionState, marginMetres: Double? = nil) {
      self.region = region
      self.state = state
      self.marginMetres = marginMetres
    }
  }

  /// A border that was crossed.
  struct Crossing: Hashable, Sendable {
    var region: Region
    /// The side after the crossing.
    var state: RegionState
  }

  /// The limit of RG-5.
  public static var limit: Int { 20 }

  private struct Entry {
    var record: Record
    var watch: RegionWatch
  }

  /// The largest radius that is monitored; negative if monitoring is not supported (RG-7).
  package let maximumRadiusMetres: Double
  private var entries: [Entry] = []

  init(maximumRadiusMetres: Double, restored: [Record] = [], at now: Instant) {
    self.maximumRadiusMetres = maximumRadiusMetres
    entries = restored.prefix(Self.limit).map { record in
      Entry(
        record: record,
        watch: RegionWatch(record.region.shape, marginMetres: record.marginMetres, state: record.state, at: now))
    }
  }

  /// The monitored regions, in the order of registration.
  public var monitored: [Region] { entries.map(\.record.region) }

  /// The records to store; they change with a registration and with a state.
  public var records: [Record] {
    entries.map { Record($0.record.region, state: $0.watch.state, marginMetres: $0.record.marginMetres) }
  }

  /// Whether nothing is monitored.
  public var isEmpty: Bool { entries.isEmpty }

  /// Starts to monitor a region, which replaces any region with the same identifier (RG-2).
  ///
  /// - Throws: `regionMonitoringFailure` for a region that is too large, has an invalid centre, or exceeds the limit.
  mutating func start(_ region: Region, marginMetres: Double? = nil, at now: Instant) throws(PositioningError) {
    guard isPossible(region.shape) else { throw .regionMonitoringFailure }
    let entry = Entry(
      record: Record(region, state: .unknown, marginMetres: marginMetres),
      watch: RegionWatch(region.shape, marginMetres: marginMetres, at: now))
    if let index = entries.firstIndex(where: { $0.record.region.isSame(as: region) }) {
      entries[index] = entry
      return
    }
    guard entries.count < Self.limit else { throw .regionMonitoringFailure }
    entries.append(entry)
  }

  /// Whether a circle has a valid centre and is not too large (RG-6).
  func isPossible(_ shape: Region.Shape) -> Bool { shape.isPossible(maximumRadiusMetres: maximumRadiusMetres) }

  /// Stops monitoring a region. Returns false for an identifier that is not monitored (RG-9).
  mutating func stop(_ region: Region) -> Bool {
    guard let index = entries.firstIndex(where: { $0.record.region.isSame(as: region) }) else { return false }
    entries.remove(at: index)
    return true
  }

  /// Whether a region with this identifier is monitored.
  func monitors(_ region: Region) -> Bool { entries.contains { $0.record.region.isSame(as: region) } }

  /// The state of a region; `unknown` if it is not monitored.
  public func state(of region: Region) -> RegionState {
    entries.first { $0.record.region.isSame(as: region) }?.watch.state ?? .unknown
  }

  /// Sets the state of a region, whose crossing was reported before it was stored.
  mutating func assume(_ state: RegionState, of region: Region, at now: Instant) {
    guard let index = entries.firstIndex(where: { $0.record.region.isSame(as: region) }) else { return }
    let record = entries[index].record
    entries[index].watch = RegionWatch(record.region.shape, marginMetres: record.marginMetres, state: state, at: now)
  }

  var deadline: Instant? {
    var next: Instant?
    for index in entries.indices { next = Instant.earlier(next, entries[index].watch.deadline) }
    return next
  }

  /// Monitoring is permitted again after a break.
  mutating func restart(at now: Instant) {
    for index in entries.indices { entries[index].watch.restart(at: now) }
  }

  /// Each function passes its input to all regions; `body` receives every crossing. Returns whether any state changed.
  @discardableResult
  mutating func receive(_ sample: Sample, _ body: (Crossing) -> Void) -> Bool {
    update(body) { watch in watch.receive(sample) }
  }

  @discardableResult
  mutating func receive(_ sighting: BeaconSighting, _ body: (Crossing) -> Void) -> Bool {
    update(body) { watch in watch.receive(sighting) }
  }

  @discardableResult
  mutating func wake(at now: Instant, _ body: (Crossing) -> Void) -> Bool {
    update(body) { watch in watch.wake(at: now) }
  }

  @inline(__always)
  private mutating func update(_ body: (Crossing) -> Void, _ change: (inout RegionWatch) -> Bool) -> Bool {
    var hasChanged = false
    for index in entries.indices {
      let before = entries[index].watch.state
      let hasCrossed = change(&entries[index].watch)
      let after = entries[index].watch.state
      hasChanged = hasChanged || before != after
      if hasCrossed { body(Crossing(region: entries[index].record.region, state: after)) }
    }
    return hasChanged
  }

  /// The monitored circles, smaller ones first: the order in which they get resources (RG-23).
  public var circlesBySize: [Circle] {
    var circles: [Circle] = []
    for entry in entries {
      if case .circle(let circle) = entry.record.region.shape { circles.append(circle) }
    }
    return circles.sorted { $0.radiusMetres < $1.radiusMetres }
  }

  /// Whether no fix has shown the side of a circle.
  var hasUnknownCircle: Bool { entries.contains { !$0.record.region.shape.isBeacon && $0.watch.state == .unknown } }

  /// Whether a scan for beacons is necessary.
  public var hasBeacons: Bool { entries.contains { $0.record.region.shape.isBeacon } }

  /// The nearest border of the circles.
  func nearestBorder(from point: SurfacePoint) -> (metres: Double, isCrossing: Bool)? {
    entries.lazy.map(\.watch).nearestBorder(from: point)
  }
}
