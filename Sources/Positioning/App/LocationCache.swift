// SPDX-License-Identifier: Apache-2.0
import MonotonicTime
import ReceiverStream

/// The newest location of the system, which every manager has before it starts a service (rules LC).
struct LocationCache: Sendable {
  /// Nil only if there was never a location (LC-1).
  private(set) var newest: Location?
  private var measured: Instant?
  /// The newest location from a receiver's memory.
  private var remembered: UTCTime?

  /// - Parameter restored: the location that an earlier run of any program stored (LC-3).
  init(restored: Location? = nil) { newest = restored }

  /// The newest location with its instant. The age of a location from an earlier run is determined with the clock.
  var sample: Sample? { newest.map { Sample($0, measured: measured ?? .zero) } }

  /// The newest location if it was measured in this run, where the age matters (RQ-15).
  var aged: Sample? { measured == nil ? nil : sample }

  /// Accepts a location that another program has stored, if it is newer (LC-2).
  mutating func learn(_ location: Location) {
    if let newest, location.timestamp <= newest.timestamp { return }
    newest = location
    measured = nil
  }

  /// The time at which this program measured the newest location; nil if another program or an earlier run measured it.
  var measuredHere: Instant? { measured }

  /// Accepts a sample, unless it is old: with several receivers a slower one may report an earlier time, which is
  /// accepted if it is more accurate (SU-19). A repeated epoch is accepted once.
  ///
  /// - Parameter isRemembered: the sample comes from a receiver's memory, in time order: it is accepted even after
  ///   newer ones.
  mutating func accept(_ sample: Sample, isRemembered: Bool = false) -> Bool {
    if isRemembered { return acceptRemembered(sample) }
    if let newest, let measured, sample.measured <= measured || sample.location.timestamp == newest.timestamp {
      guard sample.accuracyMetres >= 0,
        newest.horizontalAccuracyMetres < 0 || sample.accuracyMetres < newest.horizontalAccuracyMetres
      else { return false }
    }
    if sample.measured > measured ?? .zero, let remembered, sample.location.timestamp < remembered {
      // The receiver's time has stepped back: later samples of its memory have the new time.
      self.remembered = sample.location.timestamp
    }
    newest = sample.location
    measured = sample.measured
    return true
  }

  private mutating func acceptRemembered(_ sample: Sample) -> Bool {
    let time = sample.location.timestamp
    guard time > remembered ?? UTCTime(nanosecondsSince1970: .min), time != newest?.timestamp else { return false }
    remembered = time
    if sample.measured > measured ?? .zero {
      newest = sample.location
      measured = sample.measured
    }
    return true
  }
}
