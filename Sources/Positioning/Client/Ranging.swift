// SPDX-License-Identifier: Apache-2.0
import MonotonicTime
import ReceiverStream
import WireBytes

/// The beacons that a client ranges, and their proximity (rules BE).
public struct Ranging: Sendable {
  /// The target of ranging: a region, in the old form, or a constraint.
  public enum Target: Hashable, Codable, Sendable {
    case region(Region)
    case constraint(BeaconIdentity)

    /// The identity of the beacons; nil for a region that is not a beacon region.
    public var identity: BeaconIdentity? {
      switch self {
      case .constraint(let identity): identity
      case .region(let region):
        if case .beacon(let identity) = region.shape { identity } else { nil }
      }
    }

    /// Compares attributes, not object identity (BE-6).
    package func isSame(as other: Target) -> Bool {
      switch (self, other) {
      case (.constraint(let a), .constraint(let b)): a == b
      case (.region(let a), .region(let b)): a.identifier == b.identifier && a.shape == b.shape
      default: false
      }
    }
  }

  /// The number of targets of an app above which a further one fails: a program that starts targets in a loop must not
  /// fill the memory of the location service.
  static var limit: Int { 256 }
  /// One report per second (BE-3).
  static var interval: Milliseconds { Milliseconds(1000) }
  /// The time after which a beacon without a sighting is dropped; beacons advertise between ten times a second and once
  /// in a few seconds.
  static var memory: Milliseconds { Milliseconds(10_000) }

  private struct RangedBeacon {
    var sighting: BeaconSighting
    /// Sum and count of the strengths since the last report.
    var sum = 0
    var count = 0

    /// Unknown strengths are excluded.
    mutating func add(_ strength: Int?) {
      guard let strength else { return }
      sum += strength
      count += 1
    }
  }

  private var ranged: [RangedBeacon] = []
  /// The time of the next report; nil if there are no targets.
  private(set) var deadline: Instant?

  init() {}

  /// Handles the start or stop of ranging a target.
  mutating func targetsChanged(_ targets: [Target], at now: Instant) {
    if targets.isEmpty {
      self = Ranging()
    } else if deadline == nil {
      deadline = now + Self.interval
    }
  }

  /// Restarts the reports once ranging is permitted again.
  mutating func restart(_ targets: [Target], at now: Instant) {
    self = Ranging()
    targetsChanged(targets, at: now)
  }

  mutating func receive(_ sighting: BeaconSighting, _ targets: [Target]) {
    guard targets.contains(where: { $0.identity?.matches(sighting) ?? false }) else { return }
    if let index = ranged.firstIndex(where: {
      $0.sighting.uuid == sighting.uuid && $0.sighting.major == sighting.major && $0.sighting.minor == sighting.minor
    }) {
      ranged[index].sighting = sighting
      ranged[index].add(sighting.strengthDecibelMilliwatts)
    } else {
      var new = RangedBeacon(sighting: sighting)
      new.add(sighting.strengthDecibelMilliwatts)
      ranged.append(new)
    }
  }

  /// The report of this second, if it is due; the nearest beacon first.
  mutating func wake(_ targets: [Target], at now: Instant) -> [(target: Target, beacons: [Beacon])] {
    guard let due = deadline, now >= due else { return [] }
    deadline = now + Self.interval
    ranged.removeAll { now.milliseconds(since: $0.sighting.received.instant) >= Self.memory.count }
    let reports = targets.map { target in
      let matching = ranged.filter { target.identity?.matches($0.sighting) ?? false }
      return (target: target, beacons: matching.map(Self.beacon).sorted(by: Self.isNearer))
    }
    for index in ranged.indices {
      ranged[index].sum = 0
      ranged[index].count = 0
    }
    return reports
  }

  private static func isNearer(_ a: Beacon, _ b: Beacon) -> Bool {
    (a.accuracyMetres < 0 ? .infinity : a.accuracyMetres) < (b.accuracyMetres < 0 ? .infinity : b.accuracyMetres)
  }

  private static func beacon(_ ranged: RangedBeacon) -> Beacon {
    let sighting = ranged.sighting
    var beacon = Beacon(
      uuid: sighting.uuid, major: sighting.major, minor: sighting.minor, proximity: .unknown, accuracyMetres: -1,
      strengthDecibelMilliwatts: 0, timestamp: sighting.received.utc)
    if ranged.count > 0 {
      let mean = Double(ranged.sum) / Double(ranged.count)
      let distance = distanceMetres(
        strength: mean, atOneMetre: Double(sighting.strengthAtOneMetreDecibelMilliwatts))
      beacon.strengthDecibelMilliwatts = Int(clamping: mean.rounded())
      beacon.accuracyMetres = distance
      beacon.proximity = distance < 0.5 ? .immediate : distance < 4 ? .near : .far
    }
    return beacon
  }

  /// In free space the strength falls with the square of the distance: 20 dB per decade.
  static func distanceMetres(strength: Double, atOneMetre: Double) -> Double {
    Trigonometry.powerOfTen((atOneMetre - strength) / 20)
  }
}
