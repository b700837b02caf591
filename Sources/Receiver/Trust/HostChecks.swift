// SPDX-License-Identifier: Apache-2.0
import MonotonicTime
import ReceiverStream
import WireBytes

// The checks of a host on the epochs of a receiver. The limits are far from what vehicles and surroundings do
// (docs/reference/trust.md).

extension Fix {
  /// The position for comparisons: three-dimensional or flat, within the receiver's limits, with its accuracy; nil for others.
  fileprivate var place: (metres: SIMD3<Double>, accuracy: Double)? {
    guard hasPosition, isWithinLimits, kind != .deadReckoning, kind != .surveyed, quality != .manual,
      let accuracy = horizontalAccuracyMetres, accuracy.isFinite, accuracy < MovementCheck.worstAccuracyMetres
    else { return nil }
    var level = self
    // The horizontal distance counts, and heights of two kinds differ by the geoid.
    level.ecefMetres = nil
    level.heightAboveEllipsoidMetres = 0
    return level.earthCentredMetres.map { ($0, accuracy) }
  }
}

private func distance(_ a: SIMD3<Double>, _ b: SIMD3<Double>) -> Double { ((a - b) * (a - b)).sum().squareRoot() }

/// A jump that no vehicle makes.
///
/// A first fix after a cold start, a receiver without sky and one that gets corrections jump as well: a jump counts after
/// ``steadyEpochs`` epochs without one, and beyond the accuracies of both positions.
struct MovementCheck: Sendable {
  static let worstAccuracyMetres = 100.0
  /// The fastest speed without a statement of the receiver, m/s: receivers for civil use give no position above it.
  static let fastestMetresPerSecond = 515.0
  /// The largest step of a position by multipath, corrections and another solution.
  static let toleranceMetres = 100.0
  static let steadyEpochs = 5
  /// The longest time between two positions that are compared.
  static let longestStep = Milliseconds(10_000)

  private var last: (place: SIMD3<Double>, accuracy: Double, speed: Double, at: Instant)?
  private var steady = 0

  /// Returns the reason for doubt, if the position jumped.
  mutating func receive(_ fix: Fix, at now: Instant) -> String? {
    guard let (place, accuracy) = fix.place else { return nil }
    let speed = max(0, fix.speedMetresPerSecond ?? 0)
    defer { last = (place, accuracy, speed, now) }
    guard let last, now.milliseconds(since: last.at) <= Self.longestStep.count else {
      steady = 0
      return nil
    }
    let seconds = max(1, now.seconds(since: last.at))
    let fastest = max(Self.fastestMetresPerSecond, 2 * max(speed, last.speed))
    let step = distance(place, last.place)
    guard step > seconds * fastest + Self.toleranceMetres + 3 * (accuracy + last.accuracy) else {
      steady += 1
      return nil
    }
    let wasSteady = steady >= Self.steadyEpochs
    steady = 0
    guard wasSteady else { return nil }
    return "the position jumped by \(Int(clamping: step.rounded())) m within \(Int(clamping: seconds.rounded(.up))) s"
  }
}

/// Time against the computer's clocks: a jump against the one that never steps, and a difference to a synchronised one.
struct ClockCheck: Sendable {
  /// The least jump or difference, seconds. Lines and busy computers delay an epoch, and leap seconds are learnt late.
  static let leastSeconds = 5.0
  static let steadyEpochs = 10

  private var offset: Double?
  private var steady = 0
  private var differing = 0

  /// Returns the reason for doubt.
  mutating func receive(_ fix: Fix, computerTime: UTCTime?, at now: Instant) -> String? {
    guard let time = fix.time, fix.timeIsResolved else { return nil }
    let seconds = Double(time.nanosecondsSince1970) / 1e9
    let offset = seconds - Double(now.nanoseconds) / 1e9
    let jump = self.offset.map { offset - $0 } ?? 0
    self.offset = offset
    var reason: String?
    if abs(jump) > Self.leastSeconds {
      if steady >= Self.steadyEpochs { reason = "the receiver's time jumped by \(Self.text(jump))" }
      steady = 0
    } else {
      steady += 1
    }
    guard let computerTime else {
      differing = 0
      return reason
    }
    let difference = seconds - Double(computerTime.nanosecondsSince1970) / 1e9
    differing = abs(difference) > Self.leastSeconds ? differing + 1 : 0
    if differing >= Self.steadyEpochs {
      reason = reason ?? "the receiver's time differs from the computer's clock by \(Self.text(difference))"
    }
    return reason
  }

  private static func text(_ seconds: Double) -> String { "\(Int(clamping: seconds.rounded())) s" }
}

/// A rise of all satellites' signals together, as from one transmitter. Buildings and tunnels weaken signals by
/// different amounts, and the strength before is then low.
struct SignalCheck: Sendable {
  static let leastSatellites = 6
  /// The least rise of every satellite, dB.
  static let leastRise = 6
  /// The least strength of every satellite before the rise, dBHz.
  static let leastStrength: UInt8 = 33
  /// The time within which the signals rise.
  static let span = Milliseconds(10_000)

  private var history: [(at: Instant, strengths: [UInt16: UInt8])] = []

  /// Returns the reason for doubt.
  mutating func receive(_ sky: borrowing Sky, at now: Instant) -> String? {
    // One sky a second is enough, however fast the receiver is.
    if let last = history.last, now.milliseconds(since: last.at) < 900 { return nil }
    var strengths: [UInt16: UInt8] = [:]
    let list = sky.satellites
    for index in list.indices where list[index].signalDecibelHertz > 0 && list[index].number > 0 {
      strengths[UInt16(list[index].system.rawValue) << 8 | UInt16(list[index].number)] = list[index].signalDecibelHertz
    }
    history.removeAll { now.milliseconds(since: $0.at) > Self.span.count }
    guard strengths.count >= Self.leastSatellites else {
      history = []
      return nil
    }
    defer { history.append((now, strengths)) }
    for earlier in history {
      let common = earlier.strengths.filter { strengths[$0.key] != nil }
      // A satellite that rises, sets or is hidden says nothing about the others.
      guard common.count >= Self.leastSatellites, common.count * 4 >= earlier.strengths.count * 3,
        common.values.allSatisfy({ $0 >= Self.leastStrength })
      else { continue }
      let rises = common.map { Int(strengths[$0.key] ?? 0) - Int($0.value) }
      guard let least = rises.min(), least >= Self.leastRise else { continue }
      return "the signals of \(common.count) satellites rose together by \(least) dB or more"
    }
    return nil
  }
}

/// Two receivers of the same computer whose positions disagree.
struct ComparisonCheck: Sendable {
  /// The distance between antennas on one vehicle, and what multipath adds.
  static let toleranceMetres = 500.0
  static let steadyEpochs = 10
  private var differing = 0

  /// Returns the reason for doubt.
  mutating func receive(_ fix: Fix, _ other: Fix) -> String? {
    guard let (place, accuracy) = fix.place, let (otherPlace, otherAccuracy) = other.place else { return nil }
    let apart = distance(place, otherPlace)
    differing = apart > Self.toleranceMetres + 3 * (accuracy + otherAccuracy) ? differing + 1 : 0
    guard differing >= Self.steadyEpochs else { return nil }
    return "another receiver of this computer reports a position \(Int(clamping: (apart / 1000).rounded())) km away"
  }
}
