// SPDX-License-Identifier: Apache-2.0
import MonotonicTime

/// The current demand of a client, as input of the power policy. Nil and false mean no demand.
public struct Demand: Hashable, Sendable {
  /// The standard service.
  public struct Standard: Hashable, Sendable {
    /// Metres; negative for the best accuracy.
    public var desiredAccuracyMetres: Double
    /// 0 or less for every sample.
    public var distanceFilterMetres: Double
    public var activity: Activity
    /// Whether automatic pauses are permitted.
    public var mayPause: Bool
    /// Nothing is delivered; only movement must be detected.
    public var isPaused: Bool
    public var deferral: Deferral?
  }

  /// Fixes may stay in the receiver's memory until then.
  public struct Deferral: Hashable, Sendable {
    /// Infinite: never.
    public var remainingMetres: Double
    /// nil: never.
    public var ends: Instant?
    /// False in the foreground, where fixes are delivered live.
    public var mayBatch: Bool
    /// The number of fixes that the client can take at once.
    public var capacity: Int
  }

  /// A request for one location.
  public struct OneShot: Hashable, Sendable {
    public var desiredAccuracyMetres: Double
    public var deadline: Instant
  }

  /// The nearest border of the monitored regions and conditions.
  public struct Border: Hashable, Sendable {
    /// Metres from the newest location to the nearest border; nil if there is no location.
    public var metres: Double?
    /// A crossing is being watched: fixes are needed until it is decided.
    public var isCrossing: Bool
  }

  /// The significant-change service.
  public struct SignificantChange: Hashable, Sendable {
    /// The earliest time of the next event; nil if a fix is needed at once.
    public var nextPossible: Instant?
  }

  public var standard: Standard?
  public var oneShot: OneShot?
  public var significantChange: SignificantChange?
  public var border: Border?
  /// Visits are monitored: a fix every few minutes is enough.
  public var visits = false
  /// Streams of live updates; true while one of them is moving.
  public var live = false
  /// Every stream is stationary: only movement must be detected.
  public var liveIsStationary = false
  /// The compass is needed.
  public var heading = false
  /// The smallest turn that is delivered; 0 or less for every one. Unused without `heading`.
  public var headingFilterDegrees = 1.0
  /// A scan for beacons is needed.
  public var beacons = false

  public init() {}

  /// Whether nothing is needed.
  public var isEmpty: Bool {
    var relevant = self
    if !heading { relevant.headingFilterDegrees = Demand().headingFilterDegrees }
    return relevant == Demand()
  }
}
