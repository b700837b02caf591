// SPDX-License-Identifier: Apache-2.0

import MonotonicTime
import WireBytes

/// Decides which port to open for one receiver, and when: at the start, and each time that the receiver returns,
/// perhaps under another name.
///
///     seeking ──.open──▶ opening ──opened──▶ open
///        ▲                  │                 │
///        └──────failed──────┴─lost, removed───┘
///
/// The value does not use a clock or files. The owner of the port passes the events (``receive(_:at:)`` with each event
/// of a ``DeviceMonitor``, ``opened(_:at:)``, ``failed(_:errno:because:at:)``, ``lost(at:)``), calls ``wake(at:)`` at
/// ``deadline``, and performs the actions of ``takeAction()`` after each of these. Every call is valid in every state.
public struct ReconnectPolicy: Sendable {
  /// The user's choice.
  public enum Wanted: Sendable, Hashable {
    /// This node, link or other path, even if implausible.
    case path(String)
    /// The most likely receiver. Implausible ports are never opened.
    case firstReceiver
  }

  /// An action of the owner of the port.
  public enum Action: Sendable, Hashable {
    /// Open this path and report the result.
    case open(String)
    /// Close this path: its device was removed. No result is reported.
    case close(String)
    /// Report to the user: one line that begins with the path.
    case report(String)
  }

  /// The open port, or the last one; nil before the first, and for a path without udev attributes.
  public private(set) var port: ReceiverPort?
  /// Whether the port is open.
  public var isOpen: Bool { if case .open = phase { true } else { false } }
  /// The time at which ``wake(at:)`` is due; nil if only an event can change the state.
  public private(set) var deadline: Instant?

  private let wanted: Wanted
  private let monitor: MonitorSource?
  private var phase = Phase.seeking
  /// The present ports, the most recently reported last.
  private var known: [ReceiverPort] = []
  private var loss: Loss?
  private var attempt: Attempt?
  private var reports = LossReports()
  private var flaps = 0
  /// The path of the last open port, and whether its loss was reported.
  private var lastPath: String?
  private var isLossReported = false
  private var actions: [Action] = []

  private enum Phase {
    case seeking
    case opening(String)
    case open(String, since: Instant)
  }

  /// Failed attempts to open one path.
  private struct Attempt {
    var path: String
    var notBefore: Instant
    var failures = 0
    var firstFailure: Instant?
    var isReported = false
  }

  /// - Parameters:
  ///   - wanted: the user's choice.
  ///   - present: the present ports, from the first events of the monitor.
  ///   - monitor: the source of the monitor's events. With udev the return of an absent device is awaited; nil if it is not known.
  ///   - now: the time.
  public init(wanted: Wanted, present: [ReceiverPort], monitor: MonitorSource? = nil, at now: Instant) {
    self.wanted = wanted
    self.monitor = monitor
    known = present
    decide(now)
  }

  /// The next action; nil if there is none.
  public mutating func takeAction() -> Action? { actions.isEmpty ? nil : actions.removeFirst() }

  /// Handles an event of a device.
  public mutating func receive(_ event: DeviceEvent, at now: Instant) {
    let node = event.port.node
    known.removeAll { $0.node == node }
    if event.change == .removed {
      loss?.otherNodes.remove(node)
    } else {
      known.append(event.port)
    }
    switch (event.change, phase) {
    case (.removed, .open(let path, since: _)) where event.port.attributes.isNamed(path):
      actions.append(.close(path))
      lose(path, at: now)
    case (_, .open(let path, since: _)) where event.change != .removed && event.port.attributes.isNamed(path):
      port = event.port
    default: break
    }
    // The event may have changed the reason of a failure.
    if let path = attempt?.path, event.port.attributes.isNamed(path) {
      if event.change == .removed { attempt = nil } else { attempt?.notBefore = now }
    }
    decide(now)
  }

  /// Records that the path was opened.
  public mutating func opened(_ path: String, at now: Instant) {
    phase = .open(path, since: now)
    let served = known.last { $0.attributes.isNamed(path) }
    if isLossReported || attempt?.isReported == true { actions.append(.report(returnNotice(for: path, served))) }
    port = served
    lastPath = path
    loss = nil
    attempt = nil
    isLossReported = false
    decide(now)
  }

  /// Records that the path could not be opened.
  ///
  /// - Parameters:
  ///   - path: the path of the action.
  ///   - errno: the errno of the system call.
  ///   - reason: one line for the user with the next step. It is reported once, and only if the failure lasts.
  ///   - now: the time.
  public mutating func failed(_ path: String, errno: Int32, because reason: String, at now: Instant) {
    phase = .seeking
    var tried = attempt.flatMap { $0.path == path ? $0 : nil } ?? Attempt(path: path, notBefore: now)
    tried.failures += 1
    tried.firstFailure = tried.firstFailure ?? now
    let isAnnounced = known.contains { $0.attributes.isNamed(path) }
    // A message may be under way during the first attempts.
    let isAwaited =
      monitor?.announces(path) == true && Self.absences.contains(errno)
      && now >= (tried.firstFailure ?? now) + Self.reportDelay
    tried.notBefore =
      now
      + (isAnnounced
        ? RetryPolicy.delay(afterFailures: tried.failures)
        : isAwaited ? RetryPolicy.awaited : RetryPolicy.unannounced)
    // The absence was reported as a loss.
    let isUnreported = !(isLossReported && Self.absences.contains(errno))
    if let first = tried.firstFailure, !tried.isReported, isUnreported, now >= first + Self.reportDelay {
      tried.isReported = true
      actions.append(.report("\(reason); trying again"))
    }
    attempt = tried
    decide(now)
  }

  /// Records that the port hung up, or that its device is absent. The owner has closed it.
  public mutating func lost(at now: Instant) {
    if case .open(let path, since: _) = phase { lose(path, at: now) }
    decide(now)
  }

  /// Performs the actions that are due.
  public mutating func wake(at now: Instant) { decide(now) }
}

extension ReconnectPolicy {
  /// The time that a failure must last to be reported: permissions follow a node, and other programs probe new devices.
  private static let reportDelay = Milliseconds(2000)
  /// ENOENT, EIO, ENXIO, ENODEV: the device is absent; errno(3), the same numbers on every architecture of Linux.
  private static let absences: Set<Int32> = [2, 5, 6, 19]

  private mutating func lose(_ path: String, at now: Instant) {
    guard case .open(_, let since) = phase else { return }
    phase = .seeking
    flaps = now < since + RetryPolicy.flap ? flaps + 1 : 0
    attempt = Attempt(path: path, notBefore: now + RetryPolicy.delay(afterFlaps: flaps))
    if let port {
      let others = known.filter { $0.node != port.node }
      loss = Loss(
        at: now, port: port, others: Set(others.map(\.identity)), otherNodes: Set(others.map(\.node)))
    }
    let report = reports.report(ofLossAt: now)
    if let text = report.text(path) { actions.append(.report(text)) }
    if report == .loss { isLossReported = true }
  }

  private func returnNotice(for path: String, _ served: ReceiverPort?) -> String {
    guard let before = loss?.port, let served else { return "\(path): open again" }
    switch loss?.match(of: served, wanted: wanted) {
    case .substitute, .presentBefore, .unlike, nil:
      return "\(path): another receiver (\(served.name ?? "nameless")) in place of \(lastPath ?? before.node)"
    case .moved: return "\(path): the receiver is back at another socket"
    case .same, .sameAtSocket:
      let isSameName = lastPath == path
      return "\(path): the receiver is back" + (isSameName ? "" : " (it was \(lastPath ?? before.node))")
    }
  }

  /// Decides which port to open, and when to decide again.
  private mutating func decide(_ now: Instant) {
    deadline = nil
    guard case .seeking = phase else { return }
    if let loss, now < loss.at + Loss.grace { deadline = loss.at + Loss.grace }
    guard let path = target(now) else { return }
    if let attempt, attempt.path == path, now < attempt.notBefore {
      deadline = Instant.earlier(deadline, attempt.notBefore)
      return
    }
    deadline = nil
    phase = .opening(path)
    actions.append(.open(path))
  }

  /// The path that should be open; nil if it is absent.
  private func target(_ now: Instant) -> String? {
    guard let loss else {
      switch wanted {
      case .firstReceiver:
        return ReceiverPorts.sortedByLikelihood(known.filter(\.likelihood.isPlausible)).first?.node
      case .path(let path):
        return known.last { $0.attributes.isNamed(path) }?.node ?? path
      }
    }
    let isInGrace = now < loss.at + Loss.grace
    let candidates = known.map { (port: $0, match: loss.match(of: $0, wanted: wanted)) }
      .filter { $0.match.isCertain || $0.match > .unlike && !isInGrace }
    guard let best = candidates.map(\.match).max() else { return nil }
    let equals = candidates.filter { $0.match == best }.map(\.port)
    // A substitute is chosen like the first receiver. Of several matches the most recently reported one is present.
    return best == .substitute ? ReceiverPorts.sortedByLikelihood(equals).first?.node : equals.last?.node
  }
}

/// The loss of a connected receiver, with the data to recognise it when it returns.
struct Loss {
  /// The time after which a substitute may be opened if the user's choice allows it.
  static let grace = Milliseconds(3000)

  let at: Instant
  let port: ReceiverPort
  /// The identities of the other ports at the time of the loss. None of these is the receiver at another socket.
  let others: Set<DeviceIdentity>
  /// Their nodes, as long as they are present.
  var otherNodes: Set<String>

  /// How certain it is that a port is the lost receiver. Higher values are better.
  enum DeviceMatch: Int, Comparable {
    case unlike
    /// Another device that the user's choice allows.
    case substitute
    /// The same identity, but present before the loss: a maker with the same serial number in all devices.
    case presentBefore
    /// The same kind of device without a serial number at another socket.
    case moved
    /// The same identity.
    case same
    /// The same identity at the same socket.
    case sameAtSocket

    static func < (one: DeviceMatch, other: DeviceMatch) -> Bool { one.rawValue < other.rawValue }

    /// Whether the port is opened at once.
    var isCertain: Bool { self >= .moved }
  }

  func match(of candidate: ReceiverPort, wanted: ReconnectPolicy.Wanted) -> DeviceMatch {
    if case .path(let path) = wanted, port.attributes.links.contains(path) {
      // A link of udev identifies a device or a socket.
      if candidate.attributes.links.contains(path) {
        return candidate.attributes.path == port.attributes.path ? .sameAtSocket : .same
      }
      if path.includes("/by-path/") { return .unlike }
    }
    let isNew = !otherNodes.contains(candidate.node)
    if port.identity.matches(candidate.attributes) {
      if let socket = port.attributes.path, socket == candidate.attributes.path { return .sameAtSocket }
      return isNew ? .same : .presentBefore
    }
    if isNew, !others.contains(candidate.identity), isMoved(candidate) { return .moved }
    return isAllowedSubstitute(candidate, wanted) ? .substitute : .unlike
  }

  private func isMoved(_ candidate: ReceiverPort) -> Bool {
    guard case .usbPath(_, let interface) = port.identity, case .usbPath(_, interface) = candidate.identity else {
      return false
    }
    return candidate.vendorID == port.vendorID && candidate.productID == port.productID
      && candidate.attributes.product == port.attributes.product
  }

  private func isAllowedSubstitute(_ candidate: ReceiverPort, _ wanted: ReconnectPolicy.Wanted) -> Bool {
    switch wanted {
    case .firstReceiver: candidate.likelihood.isPlausible
    // The named node, unless an implausible device such as a modem has it now.
    case .path(let path): candidate.attributes.isNamed(path) && candidate.likelihood.isPlausible
    }
  }
}

/// Decides when to reopen a port without udev events, such as a pseudo-terminal or a port on a bus, and which losses to
/// report.
public struct PathRetry: Sendable {
  /// The time of the next attempt; nil while the port is open, and before its first loss.
  public private(set) var due: Instant?

  private var reports = LossReports()
  private var openedAt: Instant?
  private var flaps = 0
  private var isLossReported = false

  public init() {}

  /// Records that the port is open.
  ///
  /// - Parameters:
  ///   - path: its name in the report.
  ///   - now: the time.
  /// - Returns: the report of the return after a reported loss; nil if there is none.
  public mutating func opened(_ path: String, at now: Instant) -> String? {
    due = nil
    openedAt = now
    defer { isLossReported = false }
    return isLossReported ? "\(path): the receiver is back" : nil
  }

  /// Records that the port could not be opened.
  ///
  /// - Parameters:
  ///   - now: the time.
  ///   - pause: the time until the next attempt; nil for the usual one.
  public mutating func failed(at now: Instant, pause: Milliseconds? = nil) {
    due = now + (pause ?? RetryPolicy.unannounced)
  }

  /// Records that the port hung up or failed.
  ///
  /// - Parameters:
  ///   - path: its name in the report.
  ///   - now: the time.
  /// - Returns: the report; nil if there is none.
  public mutating func lost(_ path: String, at now: Instant) -> String? {
    let isFlap = openedAt.map { now < $0 + RetryPolicy.flap } ?? false
    flaps = isFlap ? flaps + 1 : 0
    due = now + max(RetryPolicy.unannounced, RetryPolicy.delay(afterFlaps: flaps))
    let report = reports.report(ofLossAt: now)
    isLossReported = report == .loss
    return report.text(path)
  }
}

/// The delays before reopening a port that could not be opened, or that hangs up repeatedly.
package struct RetryPolicy {
  /// The first delay: udev sets the group of a new node within it.
  static let first = Milliseconds(50)
  /// The longest delay: a receiver is opened within two seconds after it is ready, with few wake-ups.
  static let longest = Milliseconds(1500)
  /// The interval of attempts for a path without udev events, such as a simulator's pseudo-terminal.
  static let unannounced = Milliseconds(500)
  /// The interval of attempts for an absent device whose return udev reports: they find it after a lost message.
  package static let awaited = Milliseconds(10_000)
  /// The delay after a hang-up, which precedes udev's message: the node may still be the old one.
  static let afterHangUp = Milliseconds(100)
  /// A port that was open for a shorter time is flapping.
  static let flap = Milliseconds(1000)
  /// The longest delay for a flapping port.
  static let longestAfterFlap = Milliseconds(5000)

  /// The delay after a number of failures in a row, from 1.
  static func delay(afterFailures failures: Int) -> Milliseconds {
    min(first * (1 << UInt64(min(failures - 1, 10))), longest)
  }

  /// The delay after a hang-up, depending on the number of consecutive short connections.
  static func delay(afterFlaps flaps: Int) -> Milliseconds {
    min(afterHangUp * (1 << UInt64(min(flaps, 10))), longestAfterFlap)
  }
}

/// Limits the reports of losses: a loose cable is not reported each second.
struct LossReports: Sendable {
  enum Report {
    case loss, looseConnection, nothing

    /// The line for the user; nil if there is none.
    func text(_ path: String) -> String? {
      switch self {
      case .loss: "\(path): the receiver is gone; waiting for it to come back"
      case .looseConnection:
        "\(path): the receiver disconnects repeatedly; check its cable and its supply (reported once)"
      case .nothing: nil
      }
    }
  }

  /// The time in which losses are counted.
  static let window = Milliseconds(60_000)
  /// The number of losses in this time that are reported individually.
  static let tolerated = 3

  private var recent: [Instant] = []
  private var isQuiet = false

  mutating func report(ofLossAt now: Instant) -> Report {
    recent.removeAll { $0 + Self.window <= now }
    recent.append(now)
    if recent.count <= Self.tolerated {
      isQuiet = false
      return .loss
    }
    recent.removeFirst()
    defer { isQuiet = true }
    return isQuiet ? .nothing : .looseConnection
  }
}
