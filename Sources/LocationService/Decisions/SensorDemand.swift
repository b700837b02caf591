/// What the computer's own sensors have to give; nil and false: nothing, and nobody asks them.
struct SensorDemand: Hashable, Sendable {
  /// The compass is wanted; the smallest turn that is told, in degrees, 0 for every one.
  var headingFilterDegrees: Double?
  /// An accelerometer is to notice movement.
  var movement = false
  /// Beacons are listened for.
  var beacons = false
  /// A suspend of the computer is of interest: a receiver is open.
  var suspends = false
}
