// SPDX-License-Identifier: Apache-2.0
import MonotonicTime

/// Requests for the state of monitored regions whose side no fix has shown yet (RG-12); each gets one answer.
///
///     waiting ──the state is known──▶ answered
///     waiting ──30 s, or the end of monitoring──▶ answered with `unknown`
///
/// Programs make the request as soon as monitoring has started, which is before the first fix. An answer at that time
/// would always be `unknown`.
struct StateRequests: Sendable {
  /// The time after which `unknown` is the answer, equal to an outage's (SU-17).
  static var timeout: Milliseconds { Milliseconds(30_000) }
  /// The number of waiting requests above which `unknown` is the answer at once: a program that makes requests in a loop
  /// must not fill the memory of the location service.
  static var limit: Int { 256 }

  private struct Request {
    var client: ClientID
    var region: Region
    /// The time at which `unknown` is the answer.
    var due: Instant
  }
  private var requests: [Request] = []

  var isEmpty: Bool { requests.isEmpty }
  var isFull: Bool { requests.count >= Self.limit }

  /// The time of the next `unknown`.
  var deadline: Instant? { requests.lazy.map(\.due).min() }

  /// Whether a request waits for a circle: a fix is needed now.
  var needsFix: Bool { requests.contains { !$0.region.shape.isBeacon } }

  /// Adds a request.
  mutating func add(_ region: Region, by client: ClientID, at now: Instant) {
    requests.append(Request(client: client, region: region, due: now + Self.timeout))
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

  /// Removes the requests for a region that is no longer monitored, and returns their answers.
  mutating func end(_ region: Region) -> [Answer] { unknown { $0.region.isSame(as: region) } }

  /// Advances the time: removes the requests that have timed out, and returns their answers.
  mutating func wake(at now: Instant) -> [Answer] { unknown { now >= $0.due } }

  private mutating func unknown(_ isEnded: (Request) -> Bool) -> [Answer] {
    let ended = requests.filter(isEnded)
    requests.removeAll(where: isEnded)
    return ended.map { Answer(client: $0.client, region: $0.region, state: .unknown) }
  }
}
