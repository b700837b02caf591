// SPDX-License-Identifier: Apache-2.0
import WireBytes

/// The smallest, greatest and mean value in each part of a time axis of unknown length. When the axis is full, pairs of
/// parts are merged, so that memory is bounded and no extreme is lost.
package struct Series: Sendable {
  package struct Bucket: Equatable, Sendable {
    package var minimum = Double.infinity
    package var maximum = -Double.infinity
    package var sum = 0.0
    package var count = 0

    package var mean: Double { sum / Double(count) }

    mutating func add(_ other: Bucket) {
      minimum = min(minimum, other.minimum)
      maximum = max(maximum, other.maximum)
      sum += other.sum
      count += other.count
    }
  }

  package static var capacity: Int { 512 }

  /// The length of a part, seconds.
  package private(set) var width = 1.0
  package private(set) var buckets: [Bucket] = []
  /// All values together.
  package private(set) var total = Bucket()

  package init() {}

  /// Adds a finite value at a time of 0 or more, seconds. Other values are ignored.
  package mutating func add(_ value: Double?, at seconds: Double) {
    guard let value, value.isFinite, seconds >= 0, seconds < 1e12 else { return }
    while seconds / width >= Double(Self.capacity) {
      buckets = stride(from: 0, to: buckets.count, by: 2).map { index in
        var bucket = buckets[index]
        if index + 1 < buckets.count { bucket.add(buckets[index + 1]) }
        return bucket
      }
      width *= 2
    }
    let index = Int(clamping: seconds / width)
    while buckets.count <= index { buckets.append(Bucket()) }
    let one = Bucket(minimum: value, maximum: value, sum: value, count: 1)
    buckets[index].add(one)
    total.add(one)
  }
}

/// The points of a track that its picture needs: for each part of the time axis, the first point and the four extremes
/// in each direction.
package struct TrackOutline: Sendable {
  private struct Part: Sendable {
    var first: Point
    var west, east, south, north: Point

    init(_ point: Point) { (first, west, east, south, north) = (point, point, point, point, point) }

    mutating func add(_ other: Part) {
      if other.west.place.x < west.place.x { west = other.west }
      if other.east.place.x > east.place.x { east = other.east }
      if other.south.place.y < south.place.y { south = other.south }
      if other.north.place.y > north.place.y { north = other.north }
    }
  }

  private struct Point: Sendable {
    var seconds: Double
    /// East and north, metres.
    var place: SIMD2<Double>
  }

  static var capacity: Int { 512 }
  private var width = 1.0
  private var parts: [Part?] = []

  package init() {}

  /// Adds a place, metres east and north, at a time of 0 or more, seconds.
  package mutating func add(_ place: SIMD2<Double>, at seconds: Double) {
    guard seconds >= 0, seconds < 1e12 else { return }
    while seconds / width >= Double(Self.capacity) {
      parts = stride(from: 0, to: parts.count, by: 2).map { index in
        guard index + 1 < parts.count, let second = parts[index + 1] else { return parts[index] }
        guard var part = parts[index] else { return second }
        part.add(second)
        return part
      }
      width *= 2
    }
    let index = Int(clamping: seconds / width)
    while parts.count <= index { parts.append(nil) }
    let part = Part(Point(seconds: seconds, place: place))
    if parts[index] == nil { parts[index] = part } else { parts[index]?.add(part) }
  }

  /// The places in the order of their times.
  package var places: [SIMD2<Double>] {
    parts.flatMap { part -> [SIMD2<Double>] in
      guard let part else { return [] }
      return [part.first, part.west, part.east, part.south, part.north].sorted { $0.seconds < $1.seconds }.map(\.place)
    }
  }
}
