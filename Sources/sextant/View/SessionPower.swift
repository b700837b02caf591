// SPDX-License-Identifier: Apache-2.0
import Messages
import MonotonicTime
import Power
import Receiver
import ReceiverRuntime
import WireBytes

/// The power state of the shown receiver: of the command's own session, or by the status of the location service.
struct SessionPower {
  /// Whether the last epoch had a position.
  var hasPosition = false

  private enum Session {
    case searching, awake, disconnected
    case asleep
  }

  private static let statusInterval = Milliseconds(2000)
  private static let eventInterval = Milliseconds(1000)

  private let isOfService: Bool
  private let hasReceiver: Bool
  private let device: String
  private var session = Session.searching
  private var due = Instant.zero

  init(_ choice: Source.Choice) {
    isOfService = choice.service?.isServed == true
    device = choice.source.name
    if case .simulator = choice.source {
      hasReceiver = true
    } else if choice.service != nil {
      hasReceiver = true
    } else {
      hasReceiver = !choice.source.isSimulated && !choice.source.isStandardInput
    }
  }

  /// When ``work(_:_:at:)`` is due.
  var deadline: Instant? { hasReceiver ? due : nil }

  mutating func receive(
    _ event: ReceiverConnection.Event, _ connection: ReceiverConnection, _ page: ViewPage, at now: Instant
  ) {
    switch event {
    case .lost: session = .disconnected
    case .opened: session = .searching
    case .session(.rateFound), .session(.back), .session(.awake): session = .awake
    case .session(.asleep): session = .asleep
    case .session(.silent): session = .searching
    default: return
    }
    due = now
  }

  /// Shows the state each second.
  mutating func work(_ page: ViewPage, _ connection: ReceiverConnection, at now: Instant) {
    guard hasReceiver, now >= due else { return }
    guard page.sockets.pages > 0 else {
      page.power.pause(at: now)
      return
    }
    due = now + (isOfService ? Self.statusInterval : Self.eventInterval)
    let pages = page.sockets.pages
    let own = PowerTimeline.Demand(who: "sextant view (\(pages) page\(pages == 1 ? "" : "s"))", what: "full rate")
    if isOfService {
      readStatus(page, connection, own, at: now)
    } else {
      if connection.isOpen, connection.isDetected, session == .searching { session = .awake }
      page.power.demands = [own]
      let (state, isAwake, reason) = words
      page.power.set(
        state, isAwake: isAwake, reason: reason,
        milliamperes: currents(connection, session == .asleep ? .asleep : .awake),
        utc: ViewPage.utc, at: now)
    }
    if let event = page.power.event(at: now) { page.sockets.publish(event) }
  }

  private var words: (String, isAwake: Bool, String) {
    switch session {
    case .disconnected: ("absent", false, "the receiver is disconnected")
    case .searching: ("awake", true, "the receiver is being searched at its line")
    case .asleep: ("asleep", false, "it was put to sleep")
    case .awake:
      hasPosition
        ? ("tracking", true, "a page is open, which needs each fix")
        : ("acquisition", true, "a page is open, and the receiver has no position yet")
    }
  }

  /// The current now, and always on, by the data sheet of the family; nil for a receiver that is not identified.
  private func currents(_ connection: ReceiverConnection, _ state: PowerStatus) -> (now: Double, alwaysOn: Double)? {
    guard let description = connection.description, session != .disconnected else { return nil }
    let receiver = ReceiverCapabilities(description, port: connection.port)
    let alwaysOn = hasPosition ? receiver.currents.tracking : receiver.currents.acquisition
    switch state {
    case .absent, .identifying, .suspended: return nil
    case .awake, .batching, .waking, .unread: return (alwaysOn, alwaysOn)
    case .saving: return (receiver.currents.cyclic ?? alwaysOn, alwaysOn)
    case .asleep, .asleepUntilTimer, .asleepBetweenChecks, .asleepWithoutSky:
      return (receiver.standbyMilliamperes, alwaysOn)
    }
  }

  /// Shows the state by org.sextant.Location.GetStatus.
  private func readStatus(
    _ page: ViewPage, _ connection: ReceiverConnection, _ own: PowerTimeline.Demand, at now: Instant
  ) {
    guard var client = try? ServiceClient(path: ServiceClient.socketPath),
      case .success(let reply, _)? = try? client.ask(
        VarlinkCall("org.sextant.Location.GetStatus"), within: Milliseconds(500), startingWithin: Milliseconds(500),
        isSlow: {}),
      let status = reply["status"], case .array(let receivers)? = status["receivers"]
    else {
      return page.power.set(
        "unknown", isAwake: true, reason: "the location service gives no status",
        milliamperes: nil, utc: ViewPage.utc, at: now)
    }
    let receiver = receivers.first { $0["device"]?.string == device } ?? receivers.first ?? .empty
    let state = receiver["state"]?.string ?? "unknown"
    let isAsleep = state.includes("sleep")
    page.power.demands = Self.demands(status)
    if page.power.demands.isEmpty { page.power.demands = [own] }
    page.power.set(
      state, isAwake: !isAsleep && state != PowerStatus.absent.rawValue, reason: receiver["reason"]?.string,
      milliamperes: currents(connection, PowerStatus(rawValue: state) ?? (isAsleep ? .asleep : .awake)),
      utc: ViewPage.utc, at: now)
  }

  private static func demands(_ status: JSON) -> [PowerTimeline.Demand] {
    guard case .array(let programs)? = status["programs"] else { return [] }
    return programs.flatMap { program -> [PowerTimeline.Demand] in
      guard case .array(let demands)? = program["demands"] else { return [] }
      return demands.compactMap(\.string).map { .init(who: program["name"]?.string ?? "", what: $0) }
    }
  }
}
