// SPDX-License-Identifier: Apache-2.0

/// The view of the sky.
public enum SkyView: String, CaseIterable, Sendable {
  case open, urban, indoor, none
}

/// The true position, speed and sky at an instant.
public struct Truth: Sendable, Equatable {
  public var latitudeDegrees: Double
  public var longitudeDegrees: Double
  /// The height above mean sea level, metres.
  public var altitudeMetres: Double
  public var northMetresPerSecond: Double
  public var eastMetresPerSecond: Double
  public var sky: SkyView

  /// The speed over ground, metres per second.
  public var speedMetresPerSecond: Double {
    (northMetresPerSecond * northMetresPerSecond + eastMetresPerSecond * eastMetresPerSecond).squareRoot()
  }
}

/// A place on the Earth.
public struct Place: Sendable, Equatable {
  public var latitudeDegrees: Double
  public var longitudeDegrees: Double
  /// The height above mean sea level, metres.
  public var altitudeMetres: Double

  public init(latitudeDegrees: Double, longitudeDegrees: Double, altitudeMetres: Double = 0) {
    self.latitudeDegrees = latitudeDegrees
    self.longitudeDegrees = longitudeDegrees
    self.altitudeMetres = altitudeMetres
  }
}
