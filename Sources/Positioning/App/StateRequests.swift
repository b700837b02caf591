// SPDX-License-Identifier: Apache-2.0
import MonotonicTime

/// Requests for the state of monitored regions whose side no fix has shown yet (RG-12).
///
///     waiting ──the state is known──▶ answered
///     waiting ──30 s──▶ `unknown` reported ──the state is known──▶ answered
///
/// Programs make the request as soon as monitoring has started, which is before the first fix. An answer at that time
/// would always be `unknown`.
struct StateRequests: Sendable {
  /// The time after which `unknown` is reported, equal to an outage's (SU-17).
  static var patience: Milliseconds { Milliseconds(30_000) }

  private struct Request {
    var client: ClientID
    var region: Region
    /// The time at which `unknown` is reported; nil once it was.
    var due: Instant?
  }
  private var requests: [Request] = []

  var isEmpty: Bool { requests.isEmpty }

  /// The time of the next `unknown`.
  var deadline: Instant? { requests.lazy.compactMap(\.due).min() }

  /// Whether a request waits for a circle: a fix is needed now.
  var needsFix: Bool { requests.contains { $0.due != nil && !$0.region.shape.isBeacon } }

  /// Adds a request. A pending request for the same region has the same answer.
  mutating func add(_ region: Region, by client: ClientID, at now: Instant) {
    let same = requests.firstIndex { $0.client == client && $0.region.isSame(as: region) }
    guard let same else {
      return requests.append(Request(client: client, region: region, due: now + Self.patience))
    }
    requests[same].region = region
    requests[same].due = requests[same].due ?? now + Self.patience
  }

  /// Removes the requests of a manager.
  mutating func remove(_ client: ClientID) { requests.removeAll { $0.client == client } }

  /// An answer to a manager's request.
  struct Answer {
    var client: ClientID
    var region: Region
    var state: RegionState
  }

  /// Removes the requests whose region has a state, and returns their answers.
  mutating func answers(_ state: (Region) -> RegionState) -> [Answer] {
    let answers = requests.map { Answer(client: $0.client, region: $0.region, state: state($0.region)) }
    let isWaiting = zip(requests, answers).filter { $0.1.state == .unknown }
    requests = isWaiting.map(\.0)
    return answers.filter { $0.state != .unknown }
  }

  /// Removes the requests for a region that is no longer monitored; requests without a report get `unknown`.
  mutating func end(_ region: Region) -> [Answer] {
    let ended = requests.filter { $0.region.isSame(as: region) }
    requests.removeAll { $0.region.isSame(as: region) }
    return ended.filter { $0.due != nil }.map { Answer(client: $0.client, region: $0.region, state: .unknown) }
  }

  /// Advances the time, and returns the reports of `unknown` that are due.
  mutating func wake(at now: Instant) -> [Answer] {
    var answers: [Answer] = []
    for index in requests.indices {
      guard let due = requests[index].due, now >= due else { continue }
      requests[index].due = nil
      answers.append(Answer(client: requests[index].client, region: requests[index].region, state: .unknown))
    }
    return answers
  }
}
