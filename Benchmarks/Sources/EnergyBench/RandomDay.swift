// SPDX-License-Identifier: Apache-2.0
import MonotonicTime
import Positioning
import Power
import ReceiverSimulator

/// A random day: demands, ways, sky, receiver and faults are drawn from a seed, and the invariants are checked.
///
/// The invariants: the policy never loops; it never sleeps without an end or a wake-up source; every request has a
/// fix in bounded time as soon as sky and receiver allow, or a reported reason; it does not flap; each report is made
/// once; a batch never overruns; no power is saved before the first fix.
public struct RandomDay {
  private let seed: UInt64
  private var random: SeededRandomNumberGenerator

  public init(seed: UInt64) {
    self.seed = seed
    random = SeededRandomNumberGenerator(seed: seed)
  }

  /// Runs the day; returns the violated invariants in order.
  public func run() -> [String] {
    var drawn = self
    let day = drawn.day()
    let clients = drawn.clients()
    let capabilities = drawn.capabilities()
    let isHonest = !drawn.random.oneIn(4)
    var run = Run(day: day, clients: clients, capabilities: capabilities, policy: .standard, seed: seed)
    run.disturbances = drawn.disturbances(isHonest: isHonest)[...]
    let rules = DayRules(isHonest: isHonest, capabilities: capabilities)
    run.onEvent = { rules.receive($0, at: $1) }
    run.onAction = { rules.receive($0, at: $1) }
    run.onStep = { rules.check($0) }
    run.runDay()
    rules.close(run)
    return rules.violations
  }

  private static let receivers: [ReceiverCapabilities] = [
    .m6, .m8, .m8Batching, .m9, .m10, .m10SPG500, .f9, .f10, .x20, .plainNMEA, .plainNMEA.with(.losesMemory),
  ]

  private mutating func capabilities() -> ReceiverCapabilities {
    var capabilities = random.element(of: Self.receivers)
    if random.oneIn(6), capabilities.backup != nil { capabilities.backup?.wakesByLine = false }
    return capabilities
  }

  private mutating func day() -> Day {
    var path = Path()
    for _ in 0..<random.int(0...8) {
      path.rest(for: random.exponential(mean: 7200))
      path.go(
        to: Path.Place(east: random.number(in: -20_000...20_000), north: random.number(in: -20_000...20_000)),
        speed: random.element(of: [1.3, 4, 12, 25]))
    }
    var sky: [(fromSeconds: Double, sky: Day.SkyView)] = []
    var time = random.exponential(mean: 20_000)
    while time < 86_400 {
      sky.append((time, random.element(of: [.open, .open, .urban, .none])))
      time += random.exponential(mean: 8000)
    }
    return Day(name: "random", seconds: 86_400, path: path, sky: sky, clients: [], hasAccelerometer: random.oneIn(4))
  }

  private mutating func clients() -> [RandomClient.Script] { (0..<random.int(0...4)).map { _ in client() } }

  private mutating func client() -> RandomClient.Script {
    let from = random.oneIn(2) ? 0 : random.number(in: 0...80_000)
    let until = random.oneIn(2) ? .infinity : from + random.exponential(mean: 15_000)
    return RandomClient.Script(fromSeconds: from, untilSeconds: until, request: request())
  }

  private mutating func request() -> RandomClient.Request {
    switch random.int(0...6) {
    case 0: .demand(Demand(everySeconds: random.number(in: 5...3600)))
    case 1: .demand(Demand(significantChange: true))
    case 2: .demand(Demand(oneShot: .best))
    case 3:
      .region(
        centre: Path.Place(east: random.number(in: -20_000...20_000), north: random.number(in: -20_000...20_000)),
        radiusMetres: random.number(in: 50...2000))
    case 4:
      .deferring(
        updates(), metres: random.oneIn(2) ? nil : random.number(in: 100...5000),
        seconds: random.oneIn(4) ? nil : random.number(in: 10...1800))
    default: random.oneIn(3) ? .demand(Demand(updates: updates())) : .whileMoving(updates())
    }
  }

  private mutating func updates(delivery: Demand.Delivery = .live) -> Demand.Updates {
    Demand.Updates(
      accuracy: random.element(of: [.navigation, .best, .metres(10), .metres(100), .metres(1000), .metres(3000)]),
      distanceFilterMetres: random.oneIn(2) ? 0 : random.number(in: 5...1000),
      activity: random.element(of: Activity.allCases), delivery: delivery)
  }

  private mutating func disturbances(isHonest: Bool) -> [(seconds: Double, disturbance: Run.Disturbance)] {
    var list: [(seconds: Double, disturbance: Run.Disturbance)] = []
    var time = random.exponential(mean: 15_000)
    while time < 86_400 {
      list.append((time, isHonest || random.oneIn(3) ? fault() : .event(nonsense())))
      time += random.exponential(mean: isHonest ? 15_000 : 3000)
    }
    return list
  }

  private mutating func fault() -> Run.Disturbance {
    switch random.int(0...5) {
    case 0: return .reboot
    case 1: return .unplug(seconds: random.exponential(mean: 600))
    case 2: return .event(.movementHint(.network))
    default:
      var faults = Plant.Faults()
      if random.oneIn(2) { faults.ignoresSleep = random.int(1...5) }
      if random.oneIn(2) { faults.ignoresWake = random.int(1...8) }
      faults.refusesBatching = random.oneIn(5)
      faults.refusesCyclic = random.oneIn(5)
      if random.oneIn(3) { faults.cutsReadOut = random.int(1...4) }
      if random.oneIn(5) { faults.overruns = random.int(1...2) }
      return .faults(faults)
    }
  }

  /// Any event, true or false.
  private mutating func nonsense() -> PowerEvent {
    switch random.int(0...15) {
    case 0:
      .fix(
        FixObservation(
          latitudeDegrees: random.number(in: -90...90), longitudeDegrees: random.number(in: -180...180),
          errorMetres: random.number(in: 0...500)))
    case 1: .noFix(SignalObservation(satellites: random.int(0...20), strongSatellites: random.int(0...20)))
    case 2: .wakeConfirmed
    case 3: .wakeFailed
    case 4: .refused(random.element(of: Refusal.allCases))
    case 5: .batchRetrieved(count: random.int(0...600), lost: random.int(0...3))
    case 6: .retrievalCut
    case 7: .rebooted
    case 8: .orbits(usableSeconds: random.number(in: -1...20_000))
    case 9: .movementHint(.accelerometer)
    case 10: .accelerometer(isPresent: random.oneIn(2))
    case 11: .hostSuspending
    case 12: .hostResumed(suspendedSeconds: random.number(in: 0...30_000))
    case 13: .entered(.backup(until: nil))
    case 14: .entered(.continuous(everySeconds: 1))
    default:
      .demand(
        ClientID(random.int(90...92)),
        random.oneIn(2) ? nil : Demand(updates: updates(delivery: random.oneIn(4) ? .paused : .live)))
    }
  }
}
