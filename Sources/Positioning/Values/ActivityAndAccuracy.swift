// SPDX-License-Identifier: Apache-2.0

/// The user's activity; the raw values equal those of CLActivityType.
public enum Activity: Int, Codable, Sendable, CaseIterable {
  case other = 1
  case automotiveNavigation = 2
  case fitness = 3
  case otherNavigation = 4
  case airborne = 5
}

/// The desired accuracy of a client in metres; the two best ones are below 0, as in Core Location. Any positive value
/// is valid (SU-31).
public enum DesiredAccuracy {
  /// The default.
  public static var best: Double { -1 }
  /// The best accuracy at any cost.
  public static var bestForNavigation: Double { -2 }

  /// Whether it is one of the two best accuracies, which no measured accuracy satisfies.
  public static func isBest(_ metres: Double) -> Bool { !(metres > 0) }
}
