// SPDX-License-Identifier: Apache-2.0
import MonotonicTime
import WireBytes

/// Selects one of several sources of corrections, and decides when to connect it.
///
///     off ── needed ──▶ connecting ── corrections ──▶ flowing        not needed: off
///                        ▲  ▲   │ failed              │ failed, stalled, at its end
///                        │  └───┴──── next source ◀───┘
///                        │ a pause is over         │ every source pauses
///                        └────────────── waiting ◀─┘
///
/// The sources are in the order of preference. A source that fails pauses (``CorrectionLink``), and the first source in
/// the order that does not pause replaces it at once. A working source is kept. The value does not use a clock or
/// sockets.
package struct CorrectionSelection: Sendable {
  /// The next step of the I/O code.
  package enum Action: Equatable, Sendable {
    /// Connect to a source, or open it.
    case connect(CorrectionSource)
    case disconnect
    /// A message to the user.
    case report(String)
  }

  /// The state of the corrections, for `sextant status`.
  package enum State: String, Sendable {
    /// No program needs them, or the receiver does not measure.
    case off
    /// Every source pauses after a failure.
    case waiting
    /// A source is being connected to, or has sent no corrections yet.
    case connecting
    case flowing
  }

  /// The maximum number of consecutive redirects (as in the contract of `sextantd`).
  static let longestRedirection = 3

  private let sources: [CorrectionSource]
  private var links: [CorrectionLink]
  /// Sources that have ended: files.
  private var ended: Set<Int> = []
  private var isNeeded = false
  /// The source in use; nil if there is none.
  private var current: Int?
  /// The caster in use, which differs from the source's after a redirect.
  private var target: CorrectionSource?
  private var redirects = 0
  /// Whether corrections have arrived since the connection was made.
  private var isFlowing = false
  /// The source of the last corrections.
  private var lastFlowing: Int?
  /// The station of each source, and the sources whose change of the station was reported.
  private var stations: [Int: Int] = [:]
  private var reportedStations: Set<Int> = []
  /// The mount points that were chosen from source tables, by the sources.
  private var mounts: [Int: String] = [:]
  private var actions: [Action] = []
  /// The source and the failure of the last one that failed; nil while corrections arrive, and after the choice of a mount
  /// point.
  package private(set) var lastFailure: String?

  /// - Parameters:
  ///   - sources: at least one, the preferred one first.
  ///   - random: a seed for the lengths of pauses; nil for exact lengths.
  ///   - silence: the time after which a source without corrections has stalled.
  ///   - now: the current instant.
  package init(
    _ sources: [CorrectionSource], random: UInt64? = nil, silence: Milliseconds = CorrectionLink.silence,
    at now: Instant
  ) {
    self.sources = sources
    links = sources.indices.map { index in
      CorrectionLink(to: sources[index].name, random: random.map { $0 &+ UInt64(index) }, silence: silence, at: now)
    }
  }

  /// The source in use, including a caster after a redirect; otherwise the preferred one that has not ended.
  package var source: CorrectionSource? { target ?? configured }
  /// The same source without a redirect and without a mount point that was chosen by the receiver's position.
  package var configured: CorrectionSource? {
    (current ?? sources.indices.first { !ended.contains($0) }).map { sources[$0] } ?? sources.first
  }
  /// The source that is connected or being connected; nil if there is none.
  package var active: CorrectionSource? { target }

  package var state: State {
    guard isNeeded else { return .off }
    guard current != nil else { return .waiting }
    return isFlowing ? .flowing : .connecting
  }

  /// Whether every source has ended.
  package var isAtEnd: Bool { ended.count == sources.count }

  /// The time at which `wake` is due; nil if nothing is due.
  package var deadline: Instant? {
    guard isNeeded else { return nil }
    if let current { return links[current].deadline }
    return sources.indices.filter { !ended.contains($0) }.map { links[$0].deadline }.min()
  }

  /// The next action; nil if there is nothing to do for now.
  package mutating func nextAction() -> Action? { actions.isEmpty ? nil : actions.removeFirst() }

  /// Sets whether corrections are needed. The preferred source is tried first each time.
  package mutating func set(needed: Bool, at now: Instant) {
    guard needed != isNeeded else { return }
    isNeeded = needed
    if needed {
      ended = []
      return wake(at: now)
    }
    if let current { links[current].stop(at: now) }
    drain()
  }

  /// Performs the actions that are due. A call before the deadline has no effect.
  package mutating func wake(at now: Instant) {
    guard isNeeded else { return }
    if let current {
      links[current].wake(at: now)
      return drain()
    }
    guard let next = sources.indices.first(where: { !ended.contains($0) && now >= links[$0].deadline }) else { return }
    current = next
    target = sources[next]
    redirects = 0
    isFlowing = false
    links[next].wake(at: now)
    drain()
  }

  /// Records that the connection is established; `awaitsReply` as for `CorrectionLink`.
  package mutating func connected(awaitsReply: Bool, at now: Instant) {
    guard let current else { return }
    links[current].connected(awaitsReply: awaitsReply, at: now)
  }

  /// Records that a file or FIFO is open, whose silence has no time limit.
  package mutating func opened() { if let current { links[current].opened() } }

  /// Records that the source has granted the request.
  package mutating func granted(at now: Instant) { if let current { links[current].granted(at: now) } }

  /// Connects to a mount point of the source table of the caster in use.
  ///
  /// - Parameter metres: its distance; nil for the only one, without a position of the receiver.
  package mutating func chose(_ mount: String, metres: Double?, at now: Instant) {
    guard let current, let target else { return }
    let next = target.at(mount: mount)
    self.target = next
    lastFailure = nil
    links[current].moved(at: now)
    actions += [.disconnect, .connect(next)]
    guard mounts.updateValue(mount, forKey: current) != mount else { return }
    let words = metres.map { "nearest mount point with RTCM 3, \(Int(clamping: ($0 / 1000).rounded())) km away" }
    actions.append(.report("\(next.name): the \(words ?? "only mount point with RTCM 3")"))
  }

  /// Records bytes without corrections.
  package mutating func received(_ content: CorrectionLink.Other, at now: Instant) {
    if let current { links[current].received(content, at: now) }
  }

  /// Corrections arrived.
  ///
  /// - Parameter station: the station of the last observations; nil before the first.
  package mutating func received(station: Int?, at now: Instant) {
    guard let current else { return }
    isFlowing = true
    lastFailure = nil
    let isReported = links[current].received(at: now)
    drain()
    if lastFlowing != current, !isReported, sources.count > 1 {
      actions.append(.report("\(sources[current].name): corrections arrive"))
    }
    lastFlowing = current
    guard let station else { return }
    if let earlier = stations[current], earlier != station, reportedStations.insert(current).inserted {
      actions.append(
        .report(
          "\(sources[current].name): the corrections come from station \(station) now, and came from station "
            + "\(earlier); check the mount point unless it serves the nearest of several stations"))
    }
    stations[current] = station
  }

  /// Handles a failed connection attempt or a lost connection.
  ///
  /// - Parameter reason: the text for the user, with the next step if there is one.
  package mutating func failed(_ reason: String, at now: Instant) {
    guard let current else { return }
    links[current].failed(reason, at: now)
    drain()
  }

  /// Handles a caster that does not send the stream: it refuses, or redirects to another address.
  package mutating func refused(_ refusal: NTRIPResponse.Refusal, at now: Instant) {
    guard let current, let target, let location = refusal.location else { return failed(refusal.text, at: now) }
    guard redirects < Self.longestRedirection else {
      return failed("redirects in a circle, or more than \(Self.longestRedirection) times; ask its operator", at: now)
    }
    do throws(NTRIPResponse.Refusal) {
      let next = try target.redirected(to: location)
      redirects += 1
      self.target = next
      links[current].moved(at: now)
      actions += [.disconnect, .connect(next)]
    } catch {
      failed(error.text, at: now)
    }
  }

  /// Handles the end of the connection by the source.
  ///
  /// - Parameter hasReplied: whether it had sent anything.
  package mutating func closed(hasReplied: Bool, at now: Instant) {
    let text =
      isFlowing
      ? "the connection was closed"
      : hasReplied
        ? "the connection was closed before any corrections; check the mount point, and that the account is not in use elsewhere"
        : "the connection was closed without an answer; check host and port, and that the account is not in use elsewhere"
    failed(text, at: now)
  }

  /// Handles the end of a file.
  package mutating func reachedEnd(at now: Instant) {
    guard let current else { return }
    ended.insert(current)
    links[current].stop(at: now)
    actions.append(.report("\(sources[current].name): end of the corrections"))
    drain()
  }

  /// Forwards the actions of the link. After a link has given up, the next source follows with the next `wake`: until
  /// then the caller may still report the end of the same connection.
  private mutating func drain() {
    guard let index = current else { return }
    while let action = links[index].nextAction() {
      switch action {
      case .connect: actions.append(.connect(sources[index]))
      case .disconnect: actions.append(.disconnect)
      case .report(let text): actions.append(.report(text))
      }
    }
    guard links[index].isWaiting else { return }
    if let text = links[index].lastFailure { lastFailure = "\(sources[index].name): \(text)" }
    current = nil
    target = nil
    isFlowing = false
  }
}
