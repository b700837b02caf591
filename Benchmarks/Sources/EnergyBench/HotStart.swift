// SPDX-License-Identifier: Apache-2.0
import PowerControl
import ReceiverSimulator

extension Day {
  /// The first five minutes of clients with which the receiver saves power soon.
  static var firstMinutes: [Day] {
    let still = { (name: String, request: Request) in
      Day(name: name, seconds: 300, path: Path(), clients: [Client(request)])
    }
    let deferral = Demand.Deferral(untilTravelledMetres: nil, timeoutSeconds: 600)
    return [
      still("check-every-15-min", .demand(Demand(everySeconds: 900))),
      still("significant-changes", .demand(Demand(significantChange: true))),
      still("ten-metres", .demand(Demand(updates: Demand.Updates(accuracy: .metres(10), pausing: .never)))),
      still(
        "deferral", .deferring(Demand.Updates(accuracy: .best, activity: .fitness, pausing: .never, deferral: deferral))
      ),
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
  ///
  /// - Parameter baud: the configured rate of the line; nil for the receiver's default.
  public func hotStarts(_ capabilities: ReceiverCapabilities, baud: UInt32?) -> [HotStartRow] {
    guard let model = Self.simulated[capabilities.name] else { return [] }
    return Day.firstMinutes.map { day in
      let metrics = { (polls: Bool) in
        ChainRun(day: day, model: model, policy: policy, seed: seed, baud: baud, isHot: true, pollsOrbits: polls)
          .runDay()
      }
      return HotStartRow(
        model: capabilities.name, scenario: day.name, silent: metrics(false), reporting: metrics(true))
    }
  }
}
