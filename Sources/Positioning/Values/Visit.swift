// SPDX-License-Identifier: Apache-2.0
import ReceiverStream

/// A place where the computer stayed: the content of a CLVisit.
public struct Visit: Hashable, Codable, Sendable {
  /// Nil if before the monitoring began.
  public var arrival: UTCTime?
  /// Nil while the visit continues.
  public var departure: UTCTime?
  public var coordinate: Coordinate
  /// The radius of the place.
  public var horizontalAccuracyMetres: Double

  public init(arrival: UTCTime?, departure: UTCTime?, coordinate: Coordinate, horizontalAccuracyMetres: Double) {
    self.arrival = arrival
    self.departure = departure
    self.coordinate = coordinate
    self.horizontalAccuracyMetres = horizontalAccuracyMetres
  }
}
