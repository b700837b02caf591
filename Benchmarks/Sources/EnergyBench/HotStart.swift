// SPDX-License-Identifier: Apache-2.0
import Positioning
import Power
import ReceiverSimulator

extension Day {
  /// The first five minutes of clients with which the receiver saves power soon.
  static var firstMinutes: [Day] {
    let still = { (name: String, request: Request) in
      Day(name: name, seconds: 300, path: Path(), clients: [Client(request)])
    }
    return [
      still("visits", .visits), still("significant-changes", .significantChanges),
      still("ten-metres", .updates(Updates(accuracyMetres: 10, mayPause: false))),
      still("deferral", .updates(Updates(activity: .fitness, mayPause: false, deferralSeconds: 600))),
    ]
  }
}

/// The first minutes of a receiver that has time, position and orbits, through the session, the line and a simulated
/// receiver: without its report of the orbits, and with it.
public struct HotStartRow: Sendable {
  public var model: String
  public var scenario: String
  public var silent: Metrics
  public var reporting: Metrics
}

extension EnergyBench {
  /// Runs the first five minutes after a hot start; empty for a receiver that is not simulated.
  public func hotStarts(_ capabilities: ReceiverCapabilities) -> [HotStartRow] {
    guard let model = Self.simulated[capabilities.name] else { return [] }
    return Day.firstMinutes.map { day in
      let metrics = { (polls: Bool) in
        DayRun(day: day, model: model, policy: policy, seed: seed, baud: baud, isHot: true, pollsOrbits: polls)
          .runDay()
      }
      return HotStartRow(
        model: capabilities.name, scenario: day.name, silent: metrics(false), reporting: metrics(true))
    }
  }
}
