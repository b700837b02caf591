// SPDX-License-Identifier: Apache-2.0
import MonotonicTime

/// `requestState` (RG-12).
extension PositioningEngine {
  /// Answers at once if the state is known, or if no fix can show it: a region that is not monitored, or regions that may
  /// not be watched now, whose last side is unreliable. Otherwise the answer waits for the first fix.
  mutating func requestState(of region: Region, by index: Int, at now: Instant) {
    let state = mayMonitor ? regions.state(of: region) : .unknown
    if state == .unknown, mayMonitor, regions.monitors(region) {
      stateRequests.add(region, by: clients[index].id, at: now)
    } else {
      clients[index].emit(.didDetermineState(state, region), &outputs)
    }
  }

  /// Answers the requests whose region now has a state. Crossings are reported earlier, and only for regions that
  /// already had a state.
  mutating func answerStateRequests() {
    guard !stateRequests.isEmpty else { return }
    let regions = regions
    report(stateRequests.answers { regions.state(of: $0) })
  }

  /// Reports `unknown` for the requests that have timed out.
  mutating func wakeStateRequests(at now: Instant) { report(stateRequests.wake(at: now)) }

  /// Ends monitoring. A request without an answer gets `unknown`.
  mutating func stopMonitoring(_ region: Region) {
    guard regions.stop(region) else { return }
    awaitedRegions.removeAll { $0.region.isSame(as: region) }
    outputs.append(.store(.regions))
    report(stateRequests.end(region))
  }

  private mutating func report(_ answers: [StateRequests.Answer]) {
    for answer in answers {
      guard let client = clients.first(where: { $0.id == answer.client }) else { continue }
      client.emit(.didDetermineState(answer.state, answer.region), &outputs)
    }
  }
}
