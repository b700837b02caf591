// SPDX-License-Identifier: Apache-2.0
import NMEA
import Receiver
import ReceiverStream
import UBX
import WireBytes

import func Glibc.cos
import func Glibc.sin

/// A place on earth.
package struct Truth: Equatable, Sendable {
  package var latitudeDegrees: Double
  package var longitudeDegrees: Double
  /// Above the ellipsoid of WGS 84; nil for the mean height.
  package var heightMetres: Double?

  package init(latitudeDegrees: Double, longitudeDegrees: Double, heightMetres: Double? = nil) {
    self.latitudeDegrees = latitudeDegrees
    self.longitudeDegrees = longitudeDegrees
    self.heightMetres = heightMetres
  }

  /// Metres east and north from here, on the plane that touches the ellipsoid of WGS 84. Within 10 km of this place the
  /// error is below 1 in 1000.
  package func offset(latitudeDegrees latitude: Double, longitudeDegrees longitude: Double) -> SIMD2<Double> {
    let radians = Double.pi / 180
    let square = 0.006_694_379_990_14
    let sine = sin(latitudeDegrees * radians)
    let bend = 1 - square * sine * sine
    let normal = 6_378_137 / bend.squareRoot()
    var turn = longitude - longitudeDegrees
    if turn > 180 { turn -= 360 } else if turn < -180 { turn += 360 }
    return SIMD2(
      turn * radians * normal * cos(latitudeDegrees * radians),
      (latitude - latitudeDegrees) * radians * normal * (1 - square) / bend)
  }
}

/// The deviations of positions from their mean, or from a true place.
///
/// The mean is exact. Quantiles are exact up to `capacity` positions; beyond that they come from a uniform sample of
/// this size (reservoir sampling, J. Vitter 1985, algorithm R, with a fixed seed): the rank of a quantile then has a
/// standard error of at most 0.2 %, which is 0.3 % of a CEP50 and of a CEP95 of normally distributed positions.
package struct PositionDeviation: Sendable {
  package static var capacity: Int { 65_536 }

  /// The results, metres.
  package struct Result: Equatable, Sendable {
    package var count: Int
    /// The distances that contain half, and 95 %, of the positions.
    package var cep50, cep95: Double
    /// East, north and up from the origin: the mean, or the error of the mean if there is a truth.
    package var mean: SIMD3<Double>
    /// The deviation from the mean or the truth that contains 95 % of the heights; nil if there are no heights.
    package var height95: Double?
    /// Positions for the picture, from the centre.
    package var sample: [SIMD2<Double>]
    package var greatest: Double
  }

  private let truth: Truth?
  private var origin: Truth?
  private var originHeight: Double?
  private var count = 0
  private var sum = SIMD2<Double>()
  private var heights = 0
  private var heightSum = 0.0
  private var sample: [SIMD3<Double>] = []
  private var state: UInt64 = 0x9E37_79B9_7F4A_7C15

  package init(truth: Truth? = nil) {
    self.truth = truth
    origin = truth
    originHeight = truth?.heightMetres
  }

  /// Adds a position. Returns its place, metres east and north from the origin: the truth, or the first position.
  @discardableResult
  package mutating func add(latitudeDegrees: Double, longitudeDegrees: Double, heightMetres: Double?) -> SIMD2<Double> {
    let origin = self.origin ?? Truth(latitudeDegrees: latitudeDegrees, longitudeDegrees: longitudeDegrees)
    self.origin = origin
    let place = origin.offset(latitudeDegrees: latitudeDegrees, longitudeDegrees: longitudeDegrees)
    var up = Double.nan
    if let heightMetres, heightMetres.isFinite {
      originHeight = originHeight ?? heightMetres
      up = heightMetres - (originHeight ?? 0)
      heights += 1
      heightSum += up
    }
    count += 1
    sum += place
    let point = SIMD3(place, up)
    if sample.count < Self.capacity {
      sample.append(point)
    } else {
      // Xorshift (G. Marsaglia 2003); the remainder's bias is below 1 in 2^30.
      state ^= state << 13
      state ^= state >> 7
      state ^= state << 17
      let place = state % UInt64(count)
      if place < UInt64(Self.capacity) { sample[Int(place)] = point }
    }
    return place
  }

  /// Nil if there are no positions.
  package var result: Result? {
    guard count > 0 else { return nil }
    let mean = sum / Double(count)
    let meanUp = heights > 0 ? heightSum / Double(heights) : .nan
    let centre = truth == nil ? mean : SIMD2()
    let centreUp = truth?.heightMetres == nil ? meanUp : 0
    let distances = sample.map { point in
      let offset = SIMD2(point.x, point.y) - centre
      return (offset * offset).sum().squareRoot()
    }.sorted()
    let ups = sample.filter { !$0.z.isNaN }.map { abs($0.z - centreUp) }.sorted()
    let step = max(1, sample.count / 1500)
    return Result(
      count: count, cep50: Self.quantile(distances, 0.5), cep95: Self.quantile(distances, 0.95),
      mean: SIMD3(mean, meanUp), height95: ups.isEmpty ? nil : Self.quantile(ups, 0.95),
      sample: stride(from: 0, to: sample.count, by: step).map { SIMD2(sample[$0].x, sample[$0].y) - centre },
      greatest: distances[distances.count - 1])
  }

  /// The smallest value that this number of values does not exceed (nearest rank).
  static func quantile(_ sorted: [Double], _ share: Double) -> Double {
    sorted[min(sorted.count - 1, max(0, Int(clamping: (Double(sorted.count) * share).rounded(.up)) - 1))]
  }
}
