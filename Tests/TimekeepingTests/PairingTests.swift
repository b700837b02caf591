// SPDX-License-Identifier: Apache-2.0
import MonotonicTime
import Receiver
import ReceiverStream
import TestSupport
import Testing

@Suite("Pulses and seconds") struct PairingTests {
  private static let second = World.second
  private static let millisecond: Int64 = 1_000_000

  /// A minute of a receiver: epochs and pulses at random, in the order of their arrival.
  private static func run(_ seed: UInt64) -> World {
    var random = SeededRandomNumberGenerator(seed: seed)
    var world = World()
    world.drift = Int64.random(in: -100...100, using: &random)
    // The system's clock may be years off.
    world.systemAhead =
      Int64.random(in: -100_000_000...1_000_000, using: &random) * second
      + Int64.random(in: 0..<second, using: &random)
    let period = [second, second, second / 5, second / 10].randomElement(using: &random)!
    let shortest = Int64.random(in: 0...700 * millisecond, using: &random)
    let scatter = Int64.random(in: 0...150 * millisecond, using: &random)
    let phase = Int64.random(in: 0..<20, using: &random) * 50 * millisecond
    var events: [(at: Int64, event: (inout World) -> Void)] = []
    for time in stride(from: World.start + phase / period * period, to: World.start + 60 * second, by: Int(period))
    where Int.random(in: 0..<20, using: &random) > 0 {
      let delay = shortest + Int64.random(in: 0...scatter, using: &random)
      events.append((time + delay, { $0.epoch(of: time, delay: delay) }))
    }
    for time in stride(from: World.start, to: World.start + 60 * second, by: Int(second))
    where Int.random(in: 0..<20, using: &random) > 0 {
      let latency = Int64.random(in: 10_000...300 * millisecond, using: &random)
      let edge = time + Int64.random(in: 0...100_000, using: &random)
      events.append((edge, { $0.pulse(at: edge, readAfter: latency) }))
    }
    for _ in 0..<Int.random(in: 0...5, using: &random) {
      let noise = World.start + Int64.random(in: 0..<60 * second, using: &random)
      events.append((noise, { $0.pulse(at: noise) }))
    }
    // The system's clock is set.
    for _ in 0..<Int.random(in: 0...2, using: &random) {
      let step = Int64.random(in: -5 * second...5 * second, using: &random)
      events.append((World.start + Int64.random(in: 0..<60 * second, using: &random), { $0.systemAhead += step }))
    }
    for entry in events.sorted(by: { $0.at < $1.at }) { entry.event(&world) }
    return world
  }

  @Test("a pulse never gets the wrong second, whatever its phase, the delay of messages, noise and steps of the clock")
  func neverWrong() {
    var pulses = 0
    for seed in 0..<400 {
      let world = Self.run(UInt64(seed))
      for (sample, at) in world.pulseSamples {
        let error = sample.real.nanosecondsSince1970 - at
        #expect(abs(error) <= 20 * Self.millisecond, "seed \(seed): \(error) ns")
      }
      pulses += world.pulseSamples.count
    }
    // Most of 400 minutes.
    #expect(pulses > 400 * 35)
  }

  @Test("a sample of messages is late by the shortest delay at most, and by nothing once pulses have measured it")
  func messages() {
    var world = World()
    for index in 0..<20 as Range<Int64> {
      world.epoch(of: World.start + index * Self.second, delay: (60 + index % 5) * Self.millisecond)
    }
    let first = world.samples.last!.sample
    #expect(first.precision == -1)
    #expect(abs(first.offsetSeconds + 0.06) < 0.001)
    for index in 20..<40 as Range<Int64> {
      world.pulse(at: World.start + index * Self.second)
      world.epoch(of: World.start + index * Self.second, delay: (60 + index % 5) * Self.millisecond)
    }
    let last = world.samples.last!.sample
    #expect(last.source == .messages)
    #expect(abs(last.offsetSeconds) < 0.001)
    #expect(last.precision <= -6)
    #expect(abs(world.reference.delaySeconds! - 0.06) < 0.001)
  }

  @Test(
    "without pulses the offset is late by the shortest delay, and the precision allows for any delay up to the next epoch",
    arguments: [(1, -1), (2, -2), (4, -3), (5, -3), (10, -4)], [0, 10, 35, 60, 90] as [Int64])
  func delayWithoutPulses(_ rate: (hertz: Int64, precision: Int8), _ delay: Int64) {
    var world = World()
    let period = Self.second / rate.hertz
    for index in 0..<30 as Range<Int64> {
      // The delay varies with the number of satellites.
      world.epoch(of: World.start + index * period, delay: delay * Self.millisecond + index % 7 * 1_000_000)
    }
    #expect(world.samples.count >= 2 && world.pulseSamples.isEmpty)
    for (sample, _) in world.samples.dropFirst() {
      #expect(abs(sample.offsetSeconds + Double(delay) / 1000) < 0.002)
      #expect(sample.precision == rate.precision)
      let error = -sample.offsetSeconds
      let limit = 2 * Double(sign: .plus, exponent: Int(sample.precision), significand: 1)
      #expect(error <= limit, "twice the stated error")
    }
    #expect(world.reference.delaySeconds == nil)
  }

  /// Feeds some seconds of pulses and epochs.
  private static func serve(
    _ world: inout World, _ seconds: Range<Int64>, pulsePeriod: Int64 = second, phase: Int64 = 0,
    isResolved: Bool = true, accuracySeconds: Double? = nil
  ) {
    for time in stride(from: seconds.lowerBound * second, to: seconds.upperBound * second, by: Int(pulsePeriod)) {
      world.pulse(at: World.start + time + phase)
      guard time.isMultiple(of: second) else { continue }
      world.epoch(
        of: World.start + time, delay: 80 * millisecond, isResolved: isResolved, accuracySeconds: accuracySeconds)
    }
  }

  @Test("pulses of another rate than 1 Hz are refused", arguments: [2, 4, 5, 10])
  func rate(_ hertz: Int64) {
    var world = World()
    Self.serve(&world, 0..<60, pulsePeriod: Self.second / hertz)
    #expect(world.pulseSamples.isEmpty)
    #expect(world.reference.refusals[.jitter, default: 0] > 30)
  }

  @Test("a pulse without a fix, or of an inaccurate time, is refused")
  func withoutFix() {
    var world = World()
    Self.serve(&world, 0..<10, isResolved: false)
    Self.serve(&world, 10..<20, accuracySeconds: 0.01)
    #expect(world.pulseSamples.isEmpty)
    #expect(world.reference.refusals[.noTime] != nil)
    #expect(world.reference.refusals[.inaccurate] != nil)
    Self.serve(&world, 20..<30, accuracySeconds: 1e-7)
    #expect(world.pulseSamples.count == 9)
  }

  @Test("a pulse in a gap between the possible seconds is refused")
  func phase() {
    var world = World()
    // Messages come 80 ms after the second, so a pulse 150 ms after it does not belong to any second.
    Self.serve(&world, 0..<20, phase: 150 * Self.millisecond)
    #expect(world.pulseSamples.isEmpty)
    #expect(world.reference.refusals[.phase, default: 0] > 10)
  }

  @Test("epochs that a stalled process reads late give no sample")
  func stall() {
    var world = World()
    Self.serve(&world, 0..<10)
    let before = world.samples.count
    // Five seconds of epochs are read at once.
    for index in 10..<15 as Range<Int64> {
      world.epoch(of: World.start + index * Self.second, delay: (15 - index) * Self.second)
    }
    #expect(world.samples.count == before)
    Self.serve(&world, 16..<30)
    for (sample, at) in world.pulseSamples { #expect(sample.real.nanosecondsSince1970 == at) }
    #expect(world.pulseSamples.count > 15)
  }

  @Test("while a line sends what has piled up, each epoch with less delay, there is no sample")
  func backlog() {
    var world = World()
    for (index, delay) in [1900, 1700, 1500, 1200, 900, 600, 300].enumerated() {
      world.epoch(of: World.start + Int64(index) * Self.second, delay: Int64(delay) * Self.millisecond)
    }
    #expect(world.samples.isEmpty)
    for index in 7..<12 as Range<Int64> {
      world.epoch(of: World.start + index * Self.second, delay: 80 * Self.millisecond)
    }
    #expect(world.samples.count == 3)
  }

  @Test("after a jump of the system's clock the next pulse has the new offset, and the jitter excludes the jump")
  func clockJump() {
    var world = World()
    Self.serve(&world, 0..<20)
    world.systemAhead = 3600 * Self.second
    Self.serve(&world, 20..<30)
    let last = world.pulseSamples.last!.sample
    #expect(last.offsetSeconds == -3600)
    #expect(world.reference.jitterSeconds(of: .pulse) == 0)
  }

  @Test("a pulse that is read more than half a second late, or before its stamp, is refused")
  func lateReading() {
    var world = World()
    Self.serve(&world, 0..<10)
    let before = world.samples.count
    world.pulse(at: World.start + 10 * Self.second, readAfter: 600 * Self.millisecond)
    world.pulse(at: World.start + 11 * Self.second, readAfter: -1)
    #expect(world.samples.count == before)
    #expect(world.reference.refusals[.stale] == 2)
  }
}
