// SPDX-License-Identifier: Apache-2.0
import Power
import ReceiverSimulator

/// The receiver of a random day: its state, the duration of a start and its collected orbits. It does not depend on
/// the policy; the run applies the policy's actions. Times are seconds of the day.
struct Plant: Sendable {
  /// The power state of the receiver.
  enum State: Hashable, Sendable {
    case standby(until: Double?)
    case off(until: Double?)
    /// The oscillator starts; the receiver neither receives nor sends.
    case starting(until: Double)
    case acquiring
    case tracking
    case cyclic
  }

  /// The probabilities of faults; each is drawn where it applies.
  struct Faults: Hashable, Sendable {
    var ignoresSleep = 0
    var ignoresWake = 0
    var refusesBatching = false
    var refusesCyclic = false
    var cutsReadOut = 0
    var overruns = 0
  }

  private(set) var state = State.off(until: nil)
  let capabilities: ReceiverCapabilities
  /// The first part of the wake-up, in which the oscillator starts.
  static let startSeconds = 0.3
  /// The time from the command until the receiver sleeps.
  static let orderSeconds = 0.1
  /// The factor of the duration of a start between houses.
  static let urbanHotFactor = 2.5
  static let urbanColdFactor = 1.3
  static let orbitsSeconds = 4.0 * 3600
  var faults = Faults()

  private var isReduced = false
  private var period = 1.0
  private var wantsCyclic = false
  private(set) var batch: WantedState.Batch?
  private var collected = 0
  private var lostInBatch = 0
  private var collectedUntil = 0.0
  /// The latest time that the plant was given.
  private var seconds = 0.0
  private var nextEpoch = 0.0
  /// The time of the search's fix under the present sky; infinite without a sky.
  private var fixAt = Double.infinity
  private var searchedSky = Day.SkyView.none
  private var searchBegan = 0.0
  private var collectingOrbitsSince: Double?
  private var cyclicSince: Double?
  private var orbitsAt: Double?
  private(set) var readOutEnds: Double?
  private var random: SeededRandomNumberGenerator
  /// The number of fixes that the batch lost without an injected fault.
  private(set) var overrun = 0
  /// The interval of fixes after forty seconds of tracking, to keep the computation short.
  private static let sparseSeconds = 15.0
  private var trackingSince = 0.0

  init(_ capabilities: ReceiverCapabilities, seed: UInt64) {
    self.capabilities = capabilities
    random = SeededRandomNumberGenerator(seed: seed)
  }

  private mutating func enter(_ new: State, at seconds: Double) {
    self.seconds = max(self.seconds, seconds)
    if new != .tracking { collectingOrbitsSince = nil }
    if new != state { cyclicSince = new == .cyclic ? seconds : nil }
    state = new
  }

  // MARK: Commands

  /// Applies a wanted state; returns false if the receiver ignores the command.
  mutating func apply(_ wanted: WantedState, at seconds: Double) -> Bool {
    switch wanted.mode {
    case .backup(let until):
      if faults.ignoresSleep > 0 {
        faults.ignoresSleep -= 1
        batch = nil
        return false
      }
      return fallAsleep(.standby(until: until.map { Double($0.nanoseconds) / 1e9 }), wanted, at: seconds)
    case .off(let until):
      orbitsAt = capabilities.powerSwitch == .losesMemory ? nil : orbitsAt
      return fallAsleep(.off(until: until.map { Double($0.nanoseconds) / 1e9 }), wanted, at: seconds)
    case .unread: batch = nil
    case .onOff(let periodSeconds): run(periodSeconds, cyclic: false, wanted, at: seconds)
    case .continuous(let every): run(every, cyclic: false, wanted, at: seconds)
    case .cyclicTracking(let every): run(every, cyclic: true, wanted, at: seconds)
    }
    return true
  }

  private mutating func fallAsleep(_ sleep: State, _ wanted: WantedState, at seconds: Double) -> Bool {
    enter(sleep, at: seconds + Self.orderSeconds)
    isReduced = wanted.reducedConstellations
    batch = nil
    return true
  }

  private mutating func run(_ every: Int, cyclic: Bool, _ wanted: WantedState, at seconds: Double) {
    period = Double(every)
    wantsCyclic = cyclic && capabilities.currents.cyclic != nil
    isReduced = wanted.reducedConstellations
    switch state {
    case .standby, .off: wake(at: seconds)
    case .starting, .acquiring: break
    case .tracking, .cyclic: enter(wantsCyclic ? .cyclic : .tracking, at: seconds)
    }
    if wanted.batching != batch {
      batch = wanted.batching
      collected = 0
      lostInBatch = 0
      collectedUntil = seconds
      readOutEnds = nil
    }
    nextEpoch = min(nextEpoch, seconds + period)
  }

  /// Wakes the receiver with bytes on its line, or with its supply.
  mutating func wake(at seconds: Double) {
    switch state {
    case .standby, .off:
      if faults.ignoresWake > 0 {
        faults.ignoresWake -= 1
        return
      }
      enter(.starting(until: seconds + Self.startSeconds), at: seconds)
    case .starting, .acquiring, .tracking, .cyclic: break
    }
  }

  mutating func reset(at seconds: Double) {
    faults.ignoresWake = 0
    orbitsAt = nil
    batch = nil
    enter(.starting(until: seconds + 1), at: seconds)
  }

  /// A spontaneous restart.
  mutating func reboot(at seconds: Double) {
    batch = nil
    readOutEnds = nil
    wantsCyclic = false
    enter(.starting(until: seconds + 1), at: seconds)
  }

  /// Cuts the supply: no current flows, and only the memory on the backup supply is kept.
  mutating func unplug(at seconds: Double) {
    batch = nil
    readOutEnds = nil
    wantsCyclic = false
    enter(.off(until: nil), at: seconds)
  }

  // MARK: Internal events

  enum Occurrence: Sendable {
    case woke
    case fix
    case noFix(satellites: Int, strong: Int)
    case readOut(count: Int, lost: Int)
    case readOutCut
  }

  /// The time of the next internal event.
  var next: Double {
    if let readOutEnds { return readOutEnds }
    switch state {
    case .standby(let until), .off(let until): return until ?? .infinity
    case .starting(let until): return until
    case .acquiring: return batch == nil ? min(nextEpoch, max(fixAt, seconds)) : max(fixAt, seconds)
    case .tracking, .cyclic: return batch == nil ? nextEpoch : .infinity
    }
  }

  /// Advances the time to `next` or earlier.
  mutating func advance(to seconds: Double, in day: Day) -> Occurrence? {
    self.seconds = max(self.seconds, seconds)
    let sky = day.sky(at: seconds)
    collect(until: seconds, sky)
    if let ends = readOutEnds, ends <= seconds { return endReadOut() }
    switch state {
    case .standby(let until?) where until <= seconds, .off(let until?) where until <= seconds:
      enter(.starting(until: seconds + Self.startSeconds), at: seconds)
      return nil
    case .starting(let until) where until <= seconds:
      enter(.acquiring, at: seconds)
      beginSearch(at: seconds, sky)
      return .woke
    case .acquiring: return acquire(at: seconds, sky)
    case .tracking, .cyclic: return track(at: seconds, sky)
    default: return nil
    }
  }

  private mutating func beginSearch(at seconds: Double, _ sky: Day.SkyView) {
    searchBegan = seconds
    searchedSky = sky
    nextEpoch = seconds + 1
    let holdSeconds = isReduced ? PowerPolicy.standard.orbitsReducedSeconds : Self.orbitsSeconds
    let isHot = orbitsAt.map { seconds - $0 < holdSeconds } ?? false
    let typical = isHot ? capabilities.startTimes.hotSeconds : capabilities.startTimes.coldSeconds
    switch sky {
    case .open: fixAt = seconds + typical + random.exponential(mean: isHot ? 0.15 : 2)
    case .urban:
      fixAt =
        seconds + typical * (isHot ? Self.urbanHotFactor : Self.urbanColdFactor)
        + random.exponential(mean: isHot ? 1 : 4)
    case .none: fixAt = .infinity
    }
  }

  private mutating func acquire(at seconds: Double, _ sky: Day.SkyView) -> Occurrence? {
    if sky != searchedSky { beginSearch(at: seconds, sky) }
    if fixAt <= seconds {
      enter(wantsCyclic ? .cyclic : .tracking, at: seconds)
      // Signals are received from the time of a hot start on, also if the fix waits for orbits.
      collectingOrbitsSince = min(seconds, searchBegan + capabilities.startTimes.hotSeconds)
      trackingSince = seconds
      nextEpoch = seconds + period
      return batch == nil ? .fix : nil
    }
    guard nextEpoch <= seconds else { return nil }
    nextEpoch = seconds + 1
    // A visible satellite is received within a second or two of the search.
    let seen = seconds - searchBegan >= 0.9
    switch sky {
    case .open: return .noFix(satellites: seen ? 9 : 0, strong: seen ? 8 : 0)
    case .urban: return .noFix(satellites: seen ? 7 : 0, strong: seen ? 5 : 0)
    case .none: return .noFix(satellites: 0, strong: 0)
    }
  }

  private mutating func track(at seconds: Double, _ sky: Day.SkyView) -> Occurrence? {
    if sky == .none {
      enter(.acquiring, at: seconds)
      beginSearch(at: seconds, sky)
      return batch == nil ? .noFix(satellites: 0, strong: 0) : nil
    }
    if state == .tracking {
      let since = collectingOrbitsSince ?? seconds
      collectingOrbitsSince = since
      if seconds - since >= 30 { orbitsAt = seconds }
    } else if let orbitsAt, let cyclicSince, seconds - cyclicSince >= 1800 {
      // The receiver renews them about every half hour.
      self.orbitsAt = max(orbitsAt, seconds - 1800)
    }
    guard batch == nil, nextEpoch <= seconds else { return nil }
    let isSparse = seconds - trackingSince > 40
    nextEpoch = seconds + max(period, isSparse ? Self.sparseSeconds : 0)
    return .fix
  }

  // MARK: The batch

  private mutating func collect(until seconds: Double, _ sky: Day.SkyView) {
    guard let batch else { return }
    let epochs = Int((seconds - collectedUntil) / period)
    guard epochs > 0 else { return }
    collectedUntil += Double(epochs) * period
    guard sky != .none else { return }
    collected += epochs
    if collected > batch.epochs {
      lostInBatch += collected - batch.epochs
      overrun += collected - batch.epochs
      collected = batch.epochs
    }
  }

  /// At 115200 baud a stored fix takes 9.4 ms.
  mutating func readOut(at seconds: Double, in day: Day) {
    collect(until: seconds, day.sky(at: seconds))
    guard batch != nil, readOutEnds == nil else { return }
    if faults.overruns > 0 {
      faults.overruns -= 1
      lostInBatch += 3
    }
    readOutEnds = seconds + 0.1 + Double(collected) * 0.0094
  }

  private mutating func endReadOut() -> Occurrence {
    readOutEnds = nil
    if faults.cutsReadOut > 0 {
      faults.cutsReadOut -= 1
      return .readOutCut
    }
    defer {
      collected = 0
      lostInBatch = 0
    }
    return .readOut(count: collected, lost: lostInBatch)
  }

  /// Whether there is a fix in the current state and under the current sky.
  var hasFix: Bool { state == .tracking || state == .cyclic }

  var isAsleep: Bool {
    switch state {
    case .standby, .off: true
    case .starting, .acquiring, .tracking, .cyclic: false
    }
  }
}
