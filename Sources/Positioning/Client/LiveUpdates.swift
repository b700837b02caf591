// SPDX-License-Identifier: Apache-2.0

import MonotonicTime

/// One element of the modern API's stream: the content of a CLLocationUpdate.
public struct LiveUpdate: Hashable, Codable, Sendable {
  /// Nil if there is no location; the diagnostic gives the reason (LV-3).
  public var location: Location?
  /// Whether there are no more updates until the computer moves.
  public var isStationary = false
  /// The reason why there is no location, or no better one.
  public var diagnostic: Diagnostic = []

  public init(location: Location?, isStationary: Bool = false, diagnostic: Diagnostic = []) {
    self.location = location
    self.isStationary = isStationary
    self.diagnostic = diagnostic
  }
}

/// One stream of live updates (rules LV): every fix while moving, one element when stationary, then none until
/// movement.
///
///     moving ──stationary for the configuration's time──▶ stationary, reported once ──a move──▶ moving
public struct LiveUpdates: Sendable {
  /// The raw values equal those of CLLiveUpdateConfiguration.
  public enum Configuration: Int, Codable, Sendable {
    case standard = 0
    case automotiveNavigation = 1
    case otherNavigation = 2
    case fitness = 3
    case airborne = 4

    /// The time and the circle of a stationary stream. They are shorter than the values for pausing, because the stream
    /// resumes without a new start.
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
  /// With reduced accuracy: whether a place is delivered again.
  private var coarse = ReducedAccuracy()
  /// The next sample is delivered in any case.
  private var wantsFresh = false

  init(_ configuration: Configuration) { self.configuration = configuration }

  /// Handles a sample; returns the element, if there is one.
  ///
  /// - Parameters:
  ///   - sample: the location for delivery.
  ///   - actual: the measured location: a coarse one does not show movement.
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
    let isNew = !diagnostic.contains(.accuracyLimited) || coarse.take(sample)
    guard isNew || isStationary != wasStationary else { return nil }
    return LiveUpdate(location: sample.location, isStationary: isStationary, diagnostic: diagnostic)
  }

  /// Handles the absence of a location; returns the element, unless the last one had the same reason.
  ///
  /// Also for a stationary stream, whose silence means that the last location is still valid.
  mutating func unavailable(_ diagnostic: Diagnostic) -> LiveUpdate? {
    guard reported != diagnostic else { return nil }
    reported = diagnostic
    return LiveUpdate(location: nil, diagnostic: diagnostic)
  }

  /// The next sample is delivered, because its accuracy differs from the last one.
  mutating func accuracyChanged() { wantsFresh = true }
}
