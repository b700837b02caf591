import MonotonicTime
import ReceiverStream

/// The newest location of the system, which every manager sees before any start (rules LC).
struct LocationCache: Sendable {
  /// nil only if no location was ever retrieved (LC-1).
  private(set) var newest: Location?
  private var measured: Instant?
  /// The newest of what came from a receiver's memory.
  private var remembered: UTCTime?

  /// - Parameter restored: what an earlier run of any program stored (LC-3).
  init(restored: Location? = nil) { newest = restored }

  /// The newest location with its instant. One of an earlier run is as old as the clock.
  var sample: Sample? { newest.map { Sample($0, measured: measured ?? .zero) } }

  /// The newest location if it was measured in this run, for what asks for its age (RQ-15).
  var aged: Sample? { measured == nil ? nil : sample }

  /// Another program has stored a location: it is the newest of the system, if it is newer than what is known (LC-2).
  mutating func learn(_ location: Location) {
    if let newest, location.timestamp <= newest.timestamp { return }
    newest = location
    measured = nil
  }

  /// When this program measured the newest location; nil: another one did, or an earlier run.
  var measuredHere: Instant? { measured }

  /// Takes a sample, unless it is of the past: with several receivers a slower one may tell of an earlier time, and is
  /// heard if it is more accurate (SU-19). An epoch that is told twice is taken once.
  ///
  /// - Parameter isRemembered: it comes from a receiver's memory, in which the order is right: it is of the past, and
  ///   is taken although newer ones are known.
  mutating func accept(_ sample: Sample, isRemembered: Bool = false) -> Bool {
    if isRemembered { return acceptRemembered(sample) }
    if let newest, let measured, sample.measured <= measured || sample.location.timestamp == newest.timestamp {
      guard sample.accuracyMetres >= 0,
        newest.horizontalAccuracyMetres < 0 || sample.accuracyMetres < newest.horizontalAccuracyMetres
      else { return false }
    }
    if sample.measured > measured ?? .zero, let remembered, sample.location.timestamp < remembered {
      // The receiver's time has stepped back: what its memory holds from now on bears the new time.
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
