// SPDX-License-Identifier: Apache-2.0
import ReceiverStream

/// Divides a track into segments, using the times of its points. A line between two points is drawn only if the
/// receiver reported positions in between.
package struct TrackSteps: Sendable {
  package enum Step: Equatable, Sendable {
    /// The point continues the segment.
    case next
    /// The point begins a segment: time steps back, or forward by more than `longestGap`.
    case begin
    /// The point is less than `lateness` older than the previous one: an epoch after newer fixes of HNR-PVT. It is
    /// skipped.
    case late
  }

  /// The longest time between two points of a segment, ns.
  static var longestGap: Int64 { 60_000_000_000 }
  static var lateness: Int64 { 1_000_000_000 }

  private var last: Int64?
  private var isFirst = true

  package init() {}

  /// The relation of the next point to the segment. A point without a time continues the segment.
  package mutating func step(to time: UTCTime?) -> Step {
    defer { isFirst = false }
    guard let time = time?.nanosecondsSince1970 else { return isFirst ? .begin : .next }
    guard let last else {
      self.last = time
      return isFirst ? .begin : .next
    }
    let gap = time - last
    if gap < 0, gap > -Self.lateness { return .late }
    self.last = time
    return gap < 0 || gap > Self.longestGap ? .begin : .next
  }
}

/// Collects the points of a segment for formats that write times and values separately from the line. At most
/// `capacity` points are held: a longer segment is written in parts, each of which begins with the last point of the
/// previous part.
struct TrackPart: Sendable {
  static var capacity: Int { 512 }

  private var steps = TrackSteps()
  private var points: [TrackPoint] = []
  /// Whether the first point is also in the previous part.
  private var isContinued = false

  /// Handles the next point. Returns the part that is complete without it, if there is one.
  mutating func add(_ point: TrackPoint) -> [TrackPoint]? {
    let step = steps.step(to: point.fix.time)
    if step == .late { return nil }
    defer { points.append(point) }
    if step == .begin {
      defer { (points, isContinued) = ([], false) }
      return open
    }
    guard points.count == Self.capacity else { return nil }
    defer { (points, isContinued) = ([points[Self.capacity - 1]], true) }
    return points
  }

  /// The points that are not in a part yet.
  var open: [TrackPoint]? { points.isEmpty || (isContinued && points.count == 1) ? nil : points }
}
