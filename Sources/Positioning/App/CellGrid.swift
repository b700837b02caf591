// SPDX-License-Identifier: Apache-2.0

/// The cells of locations with reduced accuracy (AU-19): the centre of a cell is within five kilometres of every place in
/// it.
///
/// The borders of the cells are not in the middle between the centres, and programs do not know the displacement: the
/// moment at which a program gets another cell would show one exact coordinate of the receiver. All programs of a service
/// have the same displacement, which outlives the service: the mean of many borders would show the position too.
public struct CellGrid: Hashable, Sendable {
  static var radiusMetres: Double { 5000 }
  /// The height of a cell in degrees, 5.6 km.
  static var cellDegrees: Double { 0.05 }
  /// The largest displacement in cells, 0.7 km. A corner of a cell is then less than five kilometres from the centre.
  static var largestShift: Double { 0.125 }

  /// The displacement to the south and to the west, in cells.
  public private(set) var rowShift = 0.0
  public private(set) var columnShift = 0.0

  /// The grid without a displacement.
  public init() {}

  /// A grid with a random displacement.
  public init(using random: inout some RandomNumberGenerator) {
    rowShift = Double.random(in: -Self.largestShift...Self.largestShift, using: &random)
    columnShift = Double.random(in: -Self.largestShift...Self.largestShift, using: &random)
  }

  /// A grid with a stored displacement; nil if that is too large.
  public init?(rowShift: Double, columnShift: Double) {
    guard abs(rowShift) <= Self.largestShift, abs(columnShift) <= Self.largestShift else { return nil }
    (self.rowShift, self.columnShift) = (rowShift, columnShift)
  }

  // MARK: Reduction; a reduced value is left as it is

  func reduced(_ sample: Sample) -> Sample { Sample(reduced(sample.location), measured: sample.measured) }

  func reduced(_ location: Location) -> Location {
    let accuracy = location.horizontalAccuracyMetres
    return Location(
      middle(of: location.coordinate),
      horizontalAccuracyMetres: accuracy < 0 ? accuracy : max(Self.radiusMetres, accuracy),
      timestamp: location.timestamp, source: location.source)
  }

  /// Reduces waiting samples: from each cell, keeps the first one of each interval.
  func reduced(_ samples: [Sample]) -> [Sample] {
    var reported: [Sample] = []
    for sample in samples {
      let sample = reduced(sample)
      if let last = reported.last?.location, last.coordinate == sample.location.coordinate {
        let later = sample.location.timestamp.nanosecondsSince1970 - last.timestamp.nanosecondsSince1970
        if later < ReducedAccuracy.interval.count * 1_000_000 { continue }
      }
      reported.append(sample)
    }
    return reported
  }

  func reduced(_ visit: Visit) -> Visit {
    var visit = visit
    visit.coordinate = middle(of: visit.coordinate)
    visit.horizontalAccuracyMetres = max(Self.radiusMetres, visit.horizontalAccuracyMetres)
    return visit
  }

  func middle(of coordinate: Coordinate) -> Coordinate {
    let row = (coordinate.latitudeDegrees / Self.cellDegrees + rowShift).rounded(.down)
    let latitude = min(90, max(-90, (row + 0.5) * Self.cellDegrees))
    // The number of cells in a row is such that a cell, at its widest side (towards the equator), is at most as wide as
    // high.
    let widest = min(abs(row), abs(row + 1)) * Self.cellDegrees
    let columns = max(1, (360 * Trigonometry.cosine(degrees: widest) / Self.cellDegrees).rounded(.up))
    let width = 360 / columns
    let column = (coordinate.longitudeDegrees / width + columnShift).rounded(.down)
    return Coordinate(
      latitudeDegrees: latitude, longitudeDegrees: min(180, max(-180, (column + 0.5) * width)))
  }
}
