import MonotonicTime

/// Which port to open for one receiver, and when: at the start, and each time that it comes back, perhaps under another
/// name.
///
///     seeking ──.open──▶ opening ──opened──▶ open
///        ▲                  │                 │
///        └──────failed──────┴─lost, removed───┘
///
/// It has no clock and no file. The one who holds the port tells what happens (``receive(_:at:)`` with each event of a
/// ``DeviceMonitor``, ``opened(_:at:)``, ``failed(_:errno:because:at:)``, ``lost(at:)``), calls ``wake(at:)`` at
/// ``deadline``, and after each of these carries out what ``takeAction()`` gives. Every call is legal at any time.
public struct ReconnectPolicy: Sendable {
  /// What the user asked for.
  public enum Wanted: Sendable, Hashable {
    /// This node, link, or whatever a path leads to; however implausible, the user knows.
    case path(String)
    /// The likeliest receiver there is. Never a port that is not plausibly one.
    case firstReceiver
  }

  /// What the one who holds the port has to do.
  public enum Action: Sendable, Hashable {
    /// Open this path and tell how it went.
    case open(String)
    /// Close this path: its device has gone. Nothing needs to be told.
    case close(String)
    /// Tell the user. One line that begins with the path.
    case report(String)
  }

  /// The port that is open, or was open last; nil before, and for a path that udev knows nothing of.
  public private(set) var port: ReceiverPort?
  /// Whether the port is open.
  public var isOpen: Bool { if case .open = phase { true } else { false } }
  /// When ``wake(at:)`` is due; nil when only an event can change anything.
  public private(set) var deadline: Instant?

  private let wanted: Wanted
  private var phase = Phase.seeking
  /// What is there; what was heard of last comes last.
  private var known: [ReceiverPort] = []
  private var loss: Loss?
  private var attempt: Attempt?
  private var reports = LossReports()
  private var flaps = 0
  /// The path of the last port that was served, and whether its loss was told.
  private var lastPath: String?
  private var isLossReported = false
  private var actions: [Action] = []

  private enum Phase {
    case seeking
    case opening(String)
    case open(String, since: Instant)
  }

  /// Tries of one path that have not succeeded.
  private struct Attempt {
    var path: String
    var notBefore: Instant
    var failures = 0
    var firstFailure: Instant?
    var isReported = false
  }

  /// - Parameters:
  ///   - wanted: what the user asked for.
  ///   - present: the ports that are there: those of the monitor's first events.
  ///   - now: the time.
  public init(wanted: Wanted, present: [ReceiverPort], at now: Instant) {
    self.wanted = wanted
    known = present
    decide(now)
  }

  /// The next thing to do; nil when there is nothing.
  public mutating func takeAction() -> Action? { actions.isEmpty ? nil : actions.removeFirst() }

  /// Something happened to a device.
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
    // Whatever was the matter with the node, it may have changed.
    if let path = attempt?.path, event.port.attributes.isNamed(path) {
      if event.change == .removed { attempt = nil } else { attempt?.notBefore = now }
    }
    decide(now)
  }

  /// The path was opened.
  public mutating func opened(_ path: String, at now: Instant) {
    phase = .open(path, since: now)
    let served = known.last { $0.attributes.isNamed(path) }
    if isLossReported || attempt?.isReported == true { actions.append(.report(words(ofReturnAs: path, served))) }
    port = served
    lastPath = path
    loss = nil
    attempt = nil
    isLossReported = false
    decide(now)
  }

  /// The path could not be opened.
  ///
  /// - Parameters:
  ///   - path: as the action gave it.
  ///   - errno: what the system call left.
  ///   - reason: one line for the user with the cure; told once, and only of what lasts.
  ///   - now: the time.
  public mutating func failed(_ path: String, errno: Int32, because reason: String, at now: Instant) {
    phase = .seeking
    var tried = attempt.flatMap { $0.path == path ? $0 : nil } ?? Attempt(path: path, notBefore: now)
    tried.failures += 1
    tried.firstFailure = tried.firstFailure ?? now
    let isAnnounced = known.contains { $0.attributes.isNamed(path) }
    tried.notBefore = now + (isAnnounced ? RetryPolicy.delay(afterFailures: tried.failures) : RetryPolicy.unannounced)
    // That it is not there was told when it went.
    let isNews = !(isLossReported && Self.absences.contains(errno))
    if let first = tried.firstFailure, !tried.isReported, isNews, now >= first + Self.patience {
      tried.isReported = true
      actions.append(.report("\(reason); trying again"))
    }
    attempt = tried
    decide(now)
  }

  /// The port hung up, or answered that its device has gone. The caller has closed it.
  public mutating func lost(at now: Instant) {
    if case .open(let path, since: _) = phase { lose(path, at: now) }
    decide(now)
  }

  /// The deadline has come.
  public mutating func wake(at now: Instant) { decide(now) }
}

extension ReconnectPolicy {
  /// A failure that lasts for less is not told: permissions follow a node, and others look at what was plugged in.
  private static let patience = Milliseconds(2000)
  /// ENOENT, EIO, ENXIO, ENODEV: the device is not there; errno(3), the same numbers on every architecture of Linux.
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
    let telling = reports.telling(ofLossAt: now)
    if let text = telling.text(path) { actions.append(.report(text)) }
    if telling == .loss { isLossReported = true }
  }

  private func words(ofReturnAs path: String, _ served: ReceiverPort?) -> String {
    guard let before = loss?.port, let served else { return "\(path): open again" }
    switch loss?.match(of: served, wanted: wanted) {
    case .sameSocket, .sameModel, .unlike, nil:
      return "\(path): another receiver (\(served.name ?? "nameless")) in place of \(lastPath ?? before.node)"
    case .moved: return "\(path): the receiver is back, at another socket"
    case .same, .sameAtSocket:
      let isSameName = lastPath == path
      return "\(path): the receiver is back" + (isSameName ? "" : " (it was \(lastPath ?? before.node))")
    }
  }

  /// Looks for what to open, and when to look again.
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

  /// The path that should be open; nil when it is not there.
  private func target(_ now: Instant) -> String? {
    guard let loss else {
      switch wanted {
      case .firstReceiver:
        return ReceiverPorts.sortedByLikelihood(known.filter(\.likelihood.isPlausible)).first?.node
      case .path(let path):
        return known.last { $0.attributes.isNamed(path) }?.node ?? path
      }
    }
    let isPatient = now < loss.at + Loss.grace
    let candidates = known.map { (port: $0, match: loss.match(of: $0, wanted: wanted)) }
      .filter { $0.match.isCertain || $0.match > .unlike && !isPatient }
    guard let best = candidates.map(\.match).max() else { return nil }
    let equals = candidates.filter { $0.match == best }.map(\.port)
    // A stand-in is chosen as the first receiver was; of what is ours, the last that was heard of is alive.
    return best == .sameSocket ? ReceiverPorts.sortedByLikelihood(equals).first?.node : equals.last?.node
  }
}
