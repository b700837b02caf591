import MonotonicTime

/// The connection to a source of corrections: when to connect, when to give up, what to tell.
///
///     waiting ─ time ─▶ connecting ─ connected ─▶ open ─ bytes ─▶ open
///        ▲                  │ failed, no answer     │ lost, silent
///        └──── back-off ◀───┴───────────────────────┘
///
/// A loss is told once, until bytes come again. It has no clock and no socket.
public struct CorrectionLink: Sendable {
  /// What to do.
  public enum Action: Equatable, Sendable {
    case connect
    case disconnect
    /// Tell the user.
    case report(String)
  }

  /// Between two attempts: doubled from the first to the longest.
  static let firstPause = Milliseconds(1000)
  static let longestPause = Milliseconds(60_000)
  /// For how long a connection is tried.
  static let patience = Milliseconds(20_000)
  /// Without a byte for so long, a source is taken to be gone: corrections come every second or so.
  static let silence = Milliseconds(60_000)

  /// A connection that ends sooner was none worth telling of, if it was so with the ones before.
  static let shortLife = Milliseconds(10_000)
  /// So many short ones are believed to be accidents.
  static let forgivenLives = 3

  private enum State { case waiting(until: Instant), connecting(until: Instant), open(until: Instant) }

  private var state: State
  private var pause = CorrectionLink.firstPause
  private var isReported = false
  /// When the connection was made, and how many in a row ended soon.
  private var connectedAt = Instant.zero
  private var shortLives = 0
  private var actions: [Action] = []
  private let name: String

  /// - Parameters:
  ///   - name: the source, for the user.
  ///   - now: the present instant.
  public init(to name: String, at now: Instant) {
    self.name = name
    state = .waiting(until: now)
  }

  /// When `wake` is due.
  public var deadline: Instant {
    switch state {
    case .waiting(let until), .connecting(let until), .open(let until): until
    }
  }

  /// What to do next; nil when there is nothing more for now.
  public mutating func nextAction() -> Action? { actions.isEmpty ? nil : actions.removeFirst() }

  /// The deadline has come, or another time.
  public mutating func wake(at now: Instant) {
    guard now >= deadline else { return }
    switch state {
    case .waiting:
      state = .connecting(until: now + Self.patience)
      actions.append(.connect)
    case .connecting: fail("does not answer; is the address right, and the network up?", at: now)
    case .open: fail("has sent nothing for \(Self.silence.count / 1000) s", at: now)
    }
  }

  /// The connection is there.
  ///
  /// - Parameters:
  ///   - isAsked: whether it was asked for something, and has to answer before it sends corrections.
  ///   - now: the present instant.
  public mutating func connected(isAsked: Bool = false, at now: Instant) {
    guard case .connecting = state else { return }
    connectedAt = now
    state = isAsked ? .connecting(until: now + Self.patience) : .open(until: now + Self.silence)
  }

  /// What was asked for is granted.
  public mutating func granted(at now: Instant) {
    guard case .connecting = state else { return }
    state = .open(until: now + Self.silence)
  }

  /// Corrections came.
  public mutating func received(at now: Instant) {
    state = .open(until: now + Self.silence)
    if now >= connectedAt + Self.shortLife { shortLives = 0 }
    guard shortLives < Self.forgivenLives else { return }
    pause = Self.firstPause
    if isReported { actions.append(.report("\(name): corrections come again")) }
    isReported = false
  }

  /// The connection could not be made, or is lost.
  ///
  /// - Parameters:
  ///   - reason: for the user, with the cure where there is one.
  ///   - now: the present instant.
  public mutating func failed(_ reason: String, at now: Instant) {
    if case .waiting = state { return }
    fail(reason, at: now)
  }

  private mutating func fail(_ reason: String, at now: Instant) {
    if case .open = state { shortLives = now < connectedAt + Self.shortLife ? shortLives + 1 : 0 }
    actions.append(.disconnect)
    if !isReported { actions.append(.report("\(name): \(reason); trying again")) }
    isReported = true
    state = .waiting(until: now + pause)
    pause = min(pause * 2, Self.longestPause)
  }
}
