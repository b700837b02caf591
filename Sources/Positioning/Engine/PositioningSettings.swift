/// What may be set, with the values that hold when nothing is.
public struct PositioningSettings: Hashable, Sendable {
  /// Replaces the times after which a still client is paused (SEXTANT_PAUSE_SECONDS).
  public var pauseSeconds: Double?
  /// How many fixes a deferral keeps before it delivers them (DF-15).
  public var deferralCapacity = Deferral.defaultCapacity
  /// What the distance of a deferral is measured along.
  public var deferralMeasure = Deferral.Measure.path
  /// The largest radius that is monitored: 1000 km, which no receiver limits (U7).
  public var maximumRegionRadiusMetres = 1_000_000.0
  /// Whether a start asks for permission by itself, as on macOS (C1).
  public var startAsksForPermission = false

  public init() {}
}

/// What there is to measure with.
public struct HostCapabilities: Hashable, Sendable {
  /// A receiver of satellites is configured; deferral needs it (DF-3).
  public var hasSatelliteReceiver: Bool
  /// Any source of positions; regions and significant changes need it.
  public var hasSignificantChanges: Bool
  /// A magnetometer, or a receiver that tells the heading.
  public var hasCompass: Bool
  /// Beacons can be heard.
  public var hasBluetooth: Bool

  public init(
    hasSatelliteReceiver: Bool, hasSignificantChanges: Bool, hasCompass: Bool, hasBluetooth: Bool
  ) {
    self.hasSatelliteReceiver = hasSatelliteReceiver
    self.hasSignificantChanges = hasSignificantChanges
    self.hasCompass = hasCompass
    self.hasBluetooth = hasBluetooth
  }
}
