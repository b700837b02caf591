// SPDX-License-Identifier: Apache-2.0
import MonotonicTime
import Positioning
import Power

/// A policy, a clock, and the policy's actions. The test plays the receiver.
struct Scene {
  private(set) var power: PowerControl
  private(set) var seconds = 0.0
  /// All actions with their times.
  private(set) var actions: [(at: Double, action: PowerAction)] = []
  /// The number of deadlines that were still due after the policy had been called.
  private var circles = 0
  var isSpinning: Bool { circles > 3 }
  static let client = ClientID(1)
  static let other = ClientID(2)

  /// With a receiver, and one client if a demand is given.
  init(
    _ capabilities: ReceiverCapabilities? = .m10, demand: Demand? = nil, change: (inout PowerPolicy) -> Void = { _ in }
  ) {
    var policy = PowerPolicy.standard
    change(&policy)
    power = PowerControl(policy: policy, at: .zero)
    if let capabilities { send(.receiverFound(capabilities)) }
    if let demand { send(.demand(Self.client, demand)) }
  }

  var now: Instant { Instant(nanoseconds: UInt64((seconds * 1e9).rounded())) }

  mutating func send(_ event: PowerEvent) { note(power.handle(event, at: now)) }

  private mutating func note(_ new: [PowerAction]) { actions += new.map { (seconds, $0) } }

  /// Advances the time; the policy is called only at its deadlines.
  mutating func pass(_ length: Double) {
    let end = seconds + length
    var calls = 0
    while let deadline = power.deadline, deadline.seconds(since: .zero) <= end, calls < 10_000 {
      seconds = max(seconds, deadline.seconds(since: .zero))
      note(power.wake(at: now))
      calls += 1
      // A deadline that does not advance would be an endless loop.
      if power.deadline.map({ $0 <= now }) ?? false {
        seconds += 0.01
        circles += 1
      }
    }
    seconds = max(seconds, end)
  }

  /// A fix per second, at this number of metres north of the start, moving north at `speed`; as long as the receiver is
  /// awake, if it follows commands.
  mutating func fixes(
    _ count: Int, north: Double = 0, speed: Double = 0, error: Double = 2.5, isObedient: Bool = true
  ) {
    for index in 0..<count {
      if isObedient, isAsleep || batch != nil { return }
      pass(1)
      fix(north: north + Double(index) * speed, speed: speed, error: error)
    }
  }

  mutating func fix(north: Double = 0, speed: Double = 0, error: Double = 2.5) {
    send(
      .fix(
        FixObservation(
          latitudeDegrees: 47 + north / 111_195, longitudeDegrees: 8, errorMetres: error, speedMetresPerSecond: speed,
          speedErrorMetresPerSecond: 0.1)))
  }

  /// The client's service stops and starts.
  mutating func startAgain(_ demand: inout Demand) {
    demand.startedAt = now
    send(.demand(Self.client, demand))
  }

  /// Epochs without a fix, as long as the receiver is awake.
  mutating func searches(_ count: Int, satellites: Int = 0, strong: Int = 0) {
    for _ in 0..<count where !isAsleep {
      pass(1)
      send(.noFix(SignalObservation(satellites: satellites, strongSatellites: strong)))
    }
  }

  /// Advances the time until the policy wakes the receiver, and answers. Returns the seconds.
  mutating func sleepThrough(limit: Double = 100_000) -> Double {
    let began = seconds
    while isAsleep, seconds - began < limit, let deadline = power.deadline {
      pass(max(deadline.seconds(since: .zero) - seconds, 0.001))
    }
    let slept = seconds - began
    if !isAsleep { send(.wakeConfirmed) }
    return slept
  }

  var mode: PowerMode { power.wanted.mode }
  var isAsleep: Bool { mode.isAsleep }
  var isBackup: Bool { if case .backup = mode { true } else { false } }
  var isCyclic: Bool { if case .cyclicTracking = mode { true } else { false } }
  var isContinuous: Bool { if case .continuous = mode { true } else { false } }
  var batch: WantedState.Batch? { power.wanted.batching }

  var reports: [PowerReport] {
    actions.compactMap { if case .report(let report) = $0.action { report } else { nil } }
  }

  func count(_ report: PowerReport) -> Int { reports.filter { $0 == report }.count }
  func count(_ action: PowerAction) -> Int { actions.filter { $0.action == action }.count }
}

extension Demand {
  static func every(_ seconds: Double) -> Demand { Demand(everySeconds: seconds) }

  static func updates(
    _ accuracy: Accuracy = .best, filter: Double = 0, _ activity: Activity = .other, delivery: Delivery = .live
  ) -> Demand {
    Demand(
      updates: Updates(
        accuracy: accuracy, distanceFilterMetres: filter, activity: activity, delivery: delivery))
  }

  static var paused: Demand { .updates(delivery: .paused) }

  /// A deferral of this many seconds, which begins `from` the start of the clock.
  static func deferring(metres: Double? = nil, seconds: Double? = 600, from start: Double = 0) -> Demand {
    let ends = seconds.map { Instant.zero.moved(by: start + $0) }
    return .updates(delivery: .deferred(Deferral(remainingMetres: metres, ends: ends)))
  }
}
