// SPDX-License-Identifier: Apache-2.0
import NMEA

extension Fix {
  /// The user-equivalent range error, metres, one standard deviation: it converts a dilution of precision to metres for
  /// receivers that send no accuracy. Autonomous: GPS Standard Positioning Service performance with ionosphere and
  /// multipath of an open sky. Other methods: derived from the errors that each corrects.
  static func rangeErrorMetres(_ quality: Quality) -> Double {
    switch quality {
    case .rtkFixed: 0.02
    case .rtkFloat: 0.3
    case .differential, .preciseService: 2
    case .estimated: 15
    case .unknown, .autonomous, .manual, .simulated: 5
    }
  }

  /// The assumed dilution if the receiver does not send one: typical reception.
  static var assumedHorizontalDilution: Double { 2 }
  static var assumedVerticalDilution: Double { 3 }

  /// Estimates missing accuracies, and sets `accuracySource`.
  package mutating func estimateAccuracy() {
    guard hasPosition, accuracySource != .receiver else { return }
    let error = Self.rangeErrorMetres(quality)
    // Under an open sky the vertical dilution is 1.5 times the horizontal one. Together they are the dilution of the
    // position.
    let horizontal = hdop ?? pdop.map { $0 / (1 + 1.5 * 1.5).squareRoot() }
    horizontalAccuracyMetres = error * (horizontal ?? Self.assumedHorizontalDilution)
    verticalAccuracyMetres =
      heightAboveSeaLevelMetres ?? heightAboveEllipsoidMetres == nil
      ? nil : error * (vdop ?? horizontal.map { $0 * 1.5 } ?? Self.assumedVerticalDilution)
    accuracySource = horizontal == nil ? .assumed : .estimated
  }
}
