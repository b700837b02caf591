// SPDX-License-Identifier: Apache-2.0

/// A region that the server has set.
struct Waypoint: Equatable, Sendable {
  /// Its name, and the identity of the region.
  var name: String
  var latitudeDegrees: Double
  var longitudeDegrees: Double
  var radiusMetres: Double
  /// When it was made, seconds since 1970; the server's identity of it.
  var madeSeconds: Int64
}
