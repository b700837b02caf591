// SPDX-License-Identifier: Apache-2.0
import MonotonicTime

/// The state of the connection to a source of corrections: when to connect, when to give up, and what to report.
///
///     waiting ─ time ─▶ connecting ─ connected ─▶ open ─ bytes ─▶ open
///        ▲                  │ failed, timeout      │ lost, silent
///        └──── back-off ◀───┴──────────────────────┘
///
/// Each reason of a loss is reported once, until corrections arrive again. The value does not use a clock or sockets.
package struct CorrectionLink: Sendable {
  /// The next step of the I/O code.
  package enum Action: Equatable, Sendable {
    case connect
    case disconnect
    /// A message to the user.
    case report(String)
  }

  /// The pause between two attempts. It doubles from the first to the longest value.
  static let firstPause = Milliseconds(1000)
  static let longestPause = Milliseconds(60_000)
  /// The time limit of an attempt.
  static let connectTimeout = Milliseconds(20_000)
  /// A source without corrections for this time has stalled: they arrive about every second.
  package static let silence = Milliseconds(45_000)

  /// A connection that ends sooner is not reported if the previous ones also ended early.
  static let shortLife = Milliseconds(10_000)
  /// The number of consecutive short connections that are reported like a single loss.
  static let toleratedShortLives = 3

  /// Content that is not corrections.
  package enum Other: Sendable {
    case unknown
    /// Texts and the description of the station.
    case descriptions
  }

  private enum State { case waiting(until: Instant), connecting(until: Instant), open(until: Instant) }

  private var state: State
  private var pause = CorrectionLink.firstPause
  /// The reasons that were reported since corrections arrived.
  private var reported: Set<String> = []
  /// The largest number of reasons: a caster chooses the text of some.
  private static let mostReasons = 4
  /// The time of the last connection, and the number of consecutive connections that ended early.
  private var connectedAt = Instant.zero
  private var shortLives = 0
  private var actions: [Action] = []
  private let name: String
  /// The time of the last corrections of this connection; nil before them.
  private var correctedAt: Instant?
  /// The most useful content that has arrived since, more than an epoch later; nil for no byte.
  private var other: Other?
  /// The longest time between the messages of an epoch, which a description may end.
  private static let epoch = Milliseconds(1000)
  private let silence: Milliseconds
  /// The state of the generator of the pauses' lengths; nil for pauses of exact length.
  private var random: UInt64?

  /// - Parameters:
  ///   - name: the source, for messages.
  ///   - random: a seed with which pauses become up to a quarter longer, so that the clients of a caster that was restarted
  ///     do not return at the same time; nil for pauses of exact length.
  ///   - silence: the time after which it has stalled.
  ///   - now: the current instant.
  package init(
    to name: String, random: UInt64? = nil, silence: Milliseconds = CorrectionLink.silence, at now: Instant
  ) {
    self.name = name
    self.silence = silence
    self.random = random
    state = .waiting(until: now)
  }

  /// The reason of the last failure; nil if there is none.
  package private(set) var lastFailure: String?

  /// Whether no connection is open or attempted.
  package var isWaiting: Bool { if case .waiting = state { true } else { false } }

  /// The time at which `wake` is due.
  package var deadline: Instant {
    switch state {
    case .waiting(let until), .connecting(let until), .open(let until): until
    }
  }

  /// The next action; nil if there is nothing to do for now.
  package mutating func nextAction() -> Action? { actions.isEmpty ? nil : actions.removeFirst() }

  /// Performs the actions that are due. A call before the deadline has no effect.
  package mutating func wake(at now: Instant) {
    guard now >= deadline else { return }
    switch state {
    case .waiting:
      state = .connecting(until: now + Self.connectTimeout)
      (correctedAt, other) = (nil, nil)
      lastFailure = nil
      actions.append(.connect)
    case .connecting: fail("does not reply; check the address and the network", at: now)
    case .open:
      let seconds = silence.count / 1000
      switch other {
      case nil: fail("has sent nothing for \(seconds) s", at: now)
      case .unknown:
        fail(
          "sends bytes that are not RTCM 3 corrections, and none for \(seconds) s; check host, port and mount point",
          at: now)
      case .descriptions:
        fail("describes its station, and has sent no corrections for \(seconds) s; check the mount point", at: now)
      }
    }
  }

  /// Records that the connection is established.
  ///
  /// - Parameters:
  ///   - awaitsReply: whether a request was sent that the source must grant first.
  ///   - now: the current instant.
  package mutating func connected(awaitsReply: Bool = false, at now: Instant) {
    guard case .connecting = state else { return }
    connectedAt = now
    state = awaitsReply ? .connecting(until: now + Self.connectTimeout) : .open(until: now + silence)
  }

  /// Records that the source has granted the request.
  package mutating func granted(at now: Instant) {
    guard case .connecting = state else { return }
    state = .open(until: now + silence)
  }

  /// Records that a source without a time limit for silence is open: a file, or a FIFO that waits for its writer.
  package mutating func opened() { state = .open(until: Instant(nanoseconds: .max)) }

  /// Records bytes without corrections.
  package mutating func received(_ content: Other, at now: Instant) {
    guard other != .descriptions, correctedAt.map({ now > $0 + Self.epoch }) ?? true else { return }
    other = content
  }

  /// Ends the connection, which is not needed for now. The next connection follows after the first pause at the
  /// earliest.
  package mutating func stop(at now: Instant) {
    guard !isWaiting else { return }
    actions.append(.disconnect)
    state = .waiting(until: now + Self.firstPause)
  }

  /// Reconnects to the source at once, because its address has changed.
  package mutating func moved(at now: Instant) {
    guard case .connecting = state else { return }
    state = .connecting(until: now + Self.connectTimeout)
  }

  /// Corrections arrived, or were taken by a target.
  ///
  /// - Parameters:
  ///   - recovery: the text for the user after a reported loss.
  ///   - now: the current instant.
  /// - Returns: whether the text is reported.
  @discardableResult
  package mutating func received(_ recovery: String = "corrections arrive again", at now: Instant) -> Bool {
    (correctedAt, other) = (now, nil)
    if case .open(let until) = state, until.nanoseconds == .max {} else { state = .open(until: now + silence) }
    if now >= connectedAt + Self.shortLife { shortLives = 0 }
    guard shortLives < Self.toleratedShortLives else { return false }
    pause = Self.firstPause
    guard !reported.isEmpty else { return false }
    actions.append(.report("\(name): \(recovery)"))
    reported = []
    return true
  }

  /// Handles a failed connection attempt or a lost connection.
  ///
  /// - Parameters:
  ///   - reason: the text for the user, with the next step if there is one.
  ///   - now: the current instant.
  package mutating func failed(_ reason: String, at now: Instant) {
    if case .waiting = state { return }
    fail(reason, at: now)
  }

  private mutating func fail(_ reason: String, at now: Instant) {
    if case .open = state { shortLives = now < connectedAt + Self.shortLife ? shortLives + 1 : 0 }
    actions.append(.disconnect)
    lastFailure = reason
    if reported.count < Self.mostReasons, reported.insert(reason).inserted {
      actions.append(.report("\(name): \(reason); trying again"))
    }
    state = .waiting(until: now + pause + spread())
    pause = min(pause * 2, Self.longestPause)
  }

  /// Returns up to a quarter of the pause.
  private mutating func spread() -> Milliseconds {
    guard let seed = random else { return Milliseconds(0) }
    // Knuth's MMIX generator; only its upper bits are sufficiently random.
    let next = seed &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
    random = next
    return Milliseconds((next >> 33) % (pause.count / 4 + 1))
  }
}
