/// An accuracy that a client wishes for, metres; the two best ones are below 0, as in Core Location. Any positive value
/// is legal (SU-31).
public enum DesiredAccuracy {
  /// The default.
  public static var best: Double { -1 }
  /// The best there is, whatever it costs.
  public static var bestForNavigation: Double { -2 }

  /// Whether it is one of the two that no number can meet.
  public static func isBest(_ metres: Double) -> Bool { !(metres > 0) }
}
