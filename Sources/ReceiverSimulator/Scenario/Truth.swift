/// How much of the sky the antenna sees.
public enum SkyView: String, CaseIterable, Sendable {
  case open, urban, indoor, none
}

/// What is really so at a moment.
public struct Truth: Sendable, Equatable {
  public var latitudeDegrees: Double
  public var longitudeDegrees: Double
  /// Above mean sea level.
  public var altitudeMetres: Double
  public var northMetresPerSecond: Double
  public var eastMetresPerSecond: Double
  public var sky: SkyView

  /// Over ground.
  public var speedMetresPerSecond: Double {
    (northMetresPerSecond * northMetresPerSecond + eastMetresPerSecond * eastMetresPerSecond).squareRoot()
  }
}

/// A place on the Earth.
public struct Place: Sendable, Equatable {
  public var latitudeDegrees: Double
  public var longitudeDegrees: Double
  /// Above mean sea level.
  public var altitudeMetres: Double

  public init(latitudeDegrees: Double, longitudeDegrees: Double, altitudeMetres: Double = 0) {
    self.latitudeDegrees = latitudeDegrees
    self.longitudeDegrees = longitudeDegrees
    self.altitudeMetres = altitudeMetres
  }
}
