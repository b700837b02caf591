// SPDX-License-Identifier: Apache-2.0
import ReceiverStream

/// A point of a track: a fix with a position, and the data of its satellites.
package struct TrackPoint: Equatable, Sendable {
  /// The satellites of a point.
  package struct Satellites: Equatable, Sendable {
    package var inView: Int
    package var used: Int
    /// The mean carrier-to-noise density ratio of the used satellites, dBHz; nil if there are none.
    package var usedSignalDecibelHertz: Double?
  }

  package var fix: Fix
  /// The dilutions computed from the satellites, for those that the receiver does not send.
  package var geometry: Dilutions?
  /// Nil if the receiver does not send satellites.
  package var satellites: Satellites?

  package init(_ fix: Fix, _ sky: borrowing Sky) {
    self.fix = fix
    geometry = fix.hasAllDilutions ? nil : Dilutions(of: sky.satellites)
    satellites = Satellites(sky)
  }

  /// A point without satellites.
  package init(_ fix: Fix) { self.fix = fix }

  package var hdop: Double? { fix.hdop ?? geometry?.hdop }
  package var vdop: Double? { fix.vdop ?? geometry?.vdop }
  package var pdop: Double? { fix.pdop ?? geometry?.pdop }
  package var satellitesUsed: Int? { fix.satellitesUsed ?? satellites?.used }
  package var satellitesInView: Int? { satellites?.inView ?? fix.satellitesInView }

  /// Accuracies that the receiver sent or that follow from its dilutions; an assumed accuracy is not a measured one.
  package var horizontalAccuracyMetres: Double? {
    fix.accuracySource == .assumed ? nil : fix.horizontalAccuracyMetres
  }
  package var verticalAccuracyMetres: Double? {
    fix.accuracySource == .assumed ? nil : fix.verticalAccuracyMetres
  }
}

extension TrackPoint.Satellites {
  /// Nil for an empty sky.
  init?(_ sky: borrowing Sky) {
    guard sky.count > 0 else { return nil }
    (inView, used) = (sky.count, 0)
    var (sum, count) = (0, 0)
    let satellites = sky.satellites
    for index in satellites.indices where satellites[index].isUsed {
      used += 1
      guard satellites[index].signalDecibelHertz > 0 else { continue }
      sum += Int(satellites[index].signalDecibelHertz)
      count += 1
    }
    usedSignalDecibelHertz = count == 0 ? nil : Double(sum) / Double(count)
  }
}

extension Fix {
  /// Whether an update of the assembler belongs to the epoch of this fix, the last one that was reported as new. HNR-PVT reports fixes
  /// while its epoch still gets updates; their times differ by a fraction of a second. A date that arrives in an update, or a new number
  /// of leap seconds, moves the time of the epoch by whole seconds.
  func isUpdated(by update: Fix) -> Bool {
    guard let time else { return true }
    guard let later = update.time else { return false }
    // Both times may be 292 years from 1970.
    let gap = later.nanosecondsSince1970 % 1_000_000_000 - time.nanosecondsSince1970 % 1_000_000_000
    let fraction = (gap + 1_000_000_000) % 1_000_000_000
    return min(fraction, 1_000_000_000 - fraction) < 1_000_000
  }
}
