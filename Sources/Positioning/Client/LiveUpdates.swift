import MonotonicTime

/// One element of the modern API's stream: the content of a CLLocationUpdate.
public struct LiveUpdate: Hashable, Sendable {
  /// nil: there is none to report, and the diagnostic says why (LV-3).
  public var location: Location?
  /// Nothing more comes until the computer moves.
  public var isStationary = false
  /// Why there is no location, or none better.
  public var diagnostic: Diagnostic = []

  public init(location: Location?, isStationary: Bool = false, diagnostic: Diagnostic = []) {
    self.location = location
    self.isStationary = isStationary
    self.diagnostic = diagnostic
  }
}

/// One stream of live updates (rules LV): every fix while moving, one element when still, silence until movement.
///
///     moving ──still for the configuration's time──▶ stationary, told once ──a move──▶ moving
public struct LiveUpdates: Sendable {
  /// The raw values are those of CLLiveUpdateConfiguration.
  public enum Configuration: Int, Sendable {
    case standard = 0
    case automotiveNavigation = 1
    case otherNavigation = 2
    case fitness = 3
    case airborne = 4

    /// How long within which circle is stationary. Shorter than the times of pausing, as the stream goes on by itself and
    /// nobody has to start it again.
    var threshold: Pausing.Threshold? {
      switch self {
      case .standard: Pausing.Threshold(seconds: 60, radiusMetres: 30)
      case .automotiveNavigation: Pausing.Threshold(seconds: 120, radiusMetres: 50)
      case .otherNavigation: Pausing.Threshold(seconds: 120, radiusMetres: 100)
      case .fitness: Pausing.Threshold(seconds: 60, radiusMetres: 20)
      case .airborne: nil
      }
    }
  }

  let configuration: Configuration
  private(set) var isStationary = false
  private var stationary = StationaryDetector()
  private var reported: Diagnostic?
  /// With reduced accuracy: whether a place is told again.
  private var coarse = ReducedAccuracy()
  /// The next sample is told in any case.
  private var wantsFresh = false

  init(_ configuration: Configuration) { self.configuration = configuration }

  /// Takes a sample; the element, if there is one.
  ///
  /// - Parameters:
  ///   - sample: what may be told.
  ///   - actual: what was measured: whether the device moves does not show in a coarse one.
  mutating func receive(_ sample: Sample, actual: Sample, diagnostic: Diagnostic) -> LiveUpdate? {
    guard sample.accuracyMetres >= 0 else { return nil }
    let isAwaited = reported != nil || wantsFresh
    reported = nil
    wantsFresh = false
    if isAwaited { coarse.reset() }
    let wasStationary = isStationary
    if let threshold = configuration.threshold {
      let hasMoved = stationary.receive(actual, radiusMetres: threshold.radiusMetres)
      if wasStationary, !hasMoved, !isAwaited { return nil }
      let stationarySeconds = stationary.anchor.map { actual.measured.seconds(since: $0.measured) } ?? 0
      isStationary = stationarySeconds >= threshold.seconds
    }
    let isNew = !diagnostic.contains(.accuracyLimited) || coarse.isNew(sample)
    guard isNew || isStationary != wasStationary else { return nil }
    return LiveUpdate(location: sample.location, isStationary: isStationary, diagnostic: diagnostic)
  }

  /// There is no location to report; the element, unless this reason was the last thing said.
  ///
  /// Who stands still is told as well: its silence means that the last location holds.
  mutating func unavailable(_ diagnostic: Diagnostic) -> LiveUpdate? {
    guard reported != diagnostic else { return nil }
    reported = diagnostic
    return LiveUpdate(location: nil, diagnostic: diagnostic)
  }

  /// The next sample is told, as it is not what the last one was.
  mutating func accuracyChanged() { wantsFresh = true }
}
