// SPDX-License-Identifier: Apache-2.0
import MonotonicTime
import Receiver
import ReceiverStream
import TestSupport
import Testing

/// A receiver and a computer in virtual time. Times are nanoseconds of true time, which counts every second.
struct World {
  /// True time and UTC are the same before a leap second.
  static let start: Int64 = 1_795_532_400 * 1_000_000_000
  static let second: Int64 = 1_000_000_000

  /// The raw clock's rate error, parts per million.
  var drift: Int64 = 0
  /// The amount by which the system's clock is ahead of true time.
  var systemAhead: Int64 = 0
  /// The instant of an inserted second, 23:59:60; nil if there is none.
  var insertion: Int64?
  /// The instant of a deleted second: 00:00:00, right after 23:59:58.
  var deletion: Int64?
  var reference = ClockReference()
  var samples: [(sample: TimeSample, at: Int64)] = []

  func reading(at time: Int64) -> ClockReading {
    let elapsed = time - Self.start
    return ClockReading(
      raw: Instant(nanoseconds: UInt64(5_000_000_000_000 + elapsed + elapsed / 1_000_000 * drift)),
      system: UTCTime(nanosecondsSince1970: time + systemAhead))
  }

  /// The time that a receiver sends, in POSIX seconds.
  func utc(at time: Int64) -> UTCTime {
    var posix = time
    if let insertion, time >= insertion + Self.second { posix -= Self.second }
    if let deletion, time >= deletion { posix += Self.second }
    return UTCTime(nanosecondsSince1970: posix)
  }

  mutating func epoch(of time: Int64, delay: Int64, isResolved: Bool = true, accuracySeconds: Double? = nil) {
    let reading = reading(at: time + delay)
    let epoch = ClockReference.Epoch(
      utc: utc(at: time), firstByte: reading.raw, isResolved: isResolved, accuracySeconds: accuracySeconds)
    if let sample = reference.receive(epoch, at: reading) { samples.append((sample, time + delay)) }
  }

  mutating func pulse(at time: Int64, readAfter latency: Int64 = 100_000) {
    let edge = UTCTime(nanosecondsSince1970: time + systemAhead)
    if let sample = reference.receive(Pulse(edge: edge, reading: reading(at: time + latency))) {
      samples.append((sample, time))
    }
  }

  var pulseSamples: [(sample: TimeSample, at: Int64)] { samples.filter { $0.sample.source == .pulse } }
}
