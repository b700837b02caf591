// SPDX-License-Identifier: Apache-2.0

/// The settings of the engine with their defaults.
public struct PositioningSettings: Hashable, Sendable {
  /// Replaces the times after which a stationary client is paused (SEXTANT_PAUSE_SECONDS).
  public var pauseSeconds: Double?
  /// The number of fixes that a deferral keeps before it delivers them (DF-15).
  public var deferralCapacity = Deferral.defaultCapacity
  /// The path along which a deferral measures its distance.
  public var deferralMeasure = Deferral.Measure.path
  /// The largest radius that is monitored: 1000 km, which no receiver limits (U7).
  public var maximumRegionRadiusMetres = 1_000_000.0
  /// Whether starting a service requests permission implicitly, as on macOS (C1).
  public var startAsksForPermission = false
  /// Whether a program in the background may request permission too, because its prompt is shown somewhere other than
  /// its own terminal. Without it, prompts wait for the foreground (AU-13).
  public var asksInBackground = false

  public init() {}
}

/// The host's sources.
public struct HostCapabilities: Hashable, Codable, Sendable {
  /// A satellite receiver is configured; deferral needs it (DF-3).
  public var hasSatelliteReceiver: Bool
  /// Any source of positions; regions and significant changes need it.
  public var hasSignificantChanges: Bool
  /// A magnetometer, or a receiver with a heading.
  public var hasCompass: Bool
  /// A scan for beacons is possible.
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
