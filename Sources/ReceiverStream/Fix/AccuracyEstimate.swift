extension Fix {
  /// The user-equivalent range error that turns a dilution of precision into metres, one standard deviation, for
  /// receivers that say no accuracy. Autonomous: GPS Standard Positioning Service performance with ionosphere and
  /// multipath of an open sky; the others by what each method corrects.
  static func rangeErrorMetres(_ quality: Quality) -> Double {
    switch quality {
    case .rtkFixed: 0.02
    case .rtkFloat: 0.3
    case .differential, .preciseService: 2
    case .estimated: 15
    case .unknown, .autonomous, .manual, .simulated: 5
    }
  }

  /// The dilution that is assumed when a receiver does not say it either: a fair sky.
  static var assumedHorizontalDilution: Double { 2 }
  static var assumedVerticalDilution: Double { 3 }

  /// Fills in what accuracy the receiver left out, and says so in `accuracySource`.
  mutating func estimateAccuracy() {
    guard hasPosition, accuracySource != .receiver else { return }
    let error = Self.rangeErrorMetres(quality)
    // Under an open sky the vertical dilution is half as much again as the horizontal one; the two make up that of the position.
    let horizontal = hdop ?? pdop.map { $0 / (1 + 1.5 * 1.5).squareRoot() }
    horizontalAccuracyMetres = error * (horizontal ?? Self.assumedHorizontalDilution)
    verticalAccuracyMetres =
      heightAboveSeaLevelMetres ?? heightAboveEllipsoidMetres == nil
      ? nil : error * (vdop ?? horizontal.map { $0 * 1.5 } ?? Self.assumedVerticalDilution)
    accuracySource = horizontal == nil ? .assumed : .estimated
  }
}
