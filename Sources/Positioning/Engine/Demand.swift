import MonotonicTime

/// What a client needs now: what the power policy is fed with. A plain value; nil and false is nothing.
public struct Demand: Hashable, Sendable {
  /// The standard service.
  public struct Standard: Hashable, Sendable {
    /// Negative: the best there is.
    public var desiredAccuracyMetres: Double
    /// 0 and below: every sample.
    public var distanceFilterMetres: Double
    public var activity: Activity
    /// Whether the service may pause when it makes sense.
    public var mayPause: Bool
    /// Nothing is delivered; movement is looked for.
    public var isPaused: Bool
    public var deferral: Deferral?
  }

  /// Fixes may stay in the receiver's memory until then.
  public struct Deferral: Hashable, Sendable {
    /// Infinite: never.
    public var remainingMetres: Double
    /// nil: never.
    public var ends: Instant?
    /// False in the foreground, where fixes are delivered as they come.
    public var mayBatch: Bool
    /// How many fixes the client can be given at once.
    public var capacity: Int
  }

  /// A request for one location.
  public struct OneShot: Hashable, Sendable {
    public var desiredAccuracyMetres: Double
    public var deadline: Instant
  }

  /// The border of the monitored region or condition that is nearest.
  public struct Border: Hashable, Sendable {
    /// Metres from the newest location to the nearest border; nil while no location is known.
    public var metres: Double?
    /// A crossing is being watched: fixes are needed until it is decided.
    public var isCrossing: Bool
  }

  /// The significant-change service.
  public struct SignificantChange: Hashable, Sendable {
    /// No event before this; nil: a fix is wanted at once.
    public var nextPossible: Instant?
  }

  public var standard: Standard?
  public var oneShot: OneShot?
  public var significantChange: SignificantChange?
  public var border: Border?
  /// Places where one stays are looked for: a fix every few minutes does.
  public var visits = false
  /// Streams of live updates; true while one of them is moving.
  public var live = false
  /// Every stream stands still: movement is looked for.
  public var liveIsStationary = false
  /// The compass is wanted.
  public var heading = false
  /// The smallest turn that is told; 0 and below: every one. Without `heading` it means nothing.
  public var headingFilterDegrees = 1.0
  /// Beacons are listened for.
  public var beacons = false

  public init() {}

  /// Whether nothing is needed.
  public var isEmpty: Bool {
    var relevant = self
    if !heading { relevant.headingFilterDegrees = Demand().headingFilterDegrees }
    return relevant == Demand()
  }
}
