// SPDX-License-Identifier: Apache-2.0
import Power

// Comparison of the promises to the day's clients with their results.
extension Metrics {
  /// Adds the records of the clients.
  ///
  /// - Parameter departures: The departures of paused clients that were not detected by the end.
  mutating func judge(_ clients: [DayClient], on day: Day, unnoticed departures: [Double]) {
    movementsMissed = departures.filter { day.seconds - $0 > 300 }.count
    for client in clients {
      fixesDelivered += client.delivered
      fixesLate += client.late
      worstStalenessSeconds = max(worstStalenessSeconds, client.worstStaleness)
      judgeCrossings(client, on: day)
    }
  }

  /// Compares the reported crossings with the true ones that lasted.
  private mutating func judgeCrossings(_ client: DayClient, on day: Day) {
    guard case .region(let centre, let radius) = client.script.request else { return }
    var reported = client.crossings[...]
    for crossing in day.crossings(centre, radius) {
      if let first = reported.first, first - crossing < 300 {
        worstCrossingSeconds = max(worstCrossingSeconds ?? 0, first - crossing)
        if first - crossing > PowerPolicy.standard.crossingSeconds { fixesLate += 1 }
        reported.removeFirst()
      } else {
        crossingsMissed += 1
      }
    }
  }
}

extension Day {
  /// The times of the true crossings of a border.
  fileprivate func crossings(_ centre: Path.Place, _ radius: Double) -> [Double] {
    var crossings: [Double] = []
    var inside = path.place(at: 0).metres(to: centre) < radius
    var time = 0.0
    while time < seconds {
      let isInside = path.place(at: time).metres(to: centre) < radius
      if isInside != inside { crossings.append(time) }
      inside = isInside
      time += 0.5
    }
    return crossings
  }
}
