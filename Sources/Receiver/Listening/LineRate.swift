// SPDX-License-Identifier: Apache-2.0
import MonotonicTime

/// The rate of a session's line, in baud, and how much data it carries.
struct LineRate {
  enum Origin {
    /// This session found it.
    case own
    /// The session before raised it to this rate; the receiver may have lost that.
    case inherited(UInt32)
    /// A killed program raised it.
    case recovered
  }

  private enum Raise {
    case none
    /// Once the line is quiet, and at the latest then: bytes on their way, and those that wait in the receiver, are lost.
    case due(by: Instant)
    /// A raised rate did not outlive a sleep.
    case abandoned
  }

  /// After a change, an adapter still delivers bytes of the old rate for this time.
  static var staleBytes: Milliseconds { Milliseconds(150) }
  /// The silence between two epochs in which the rate is raised.
  private static let quiet = Milliseconds(150)
  private static let longestWaitForQuiet = Milliseconds(5000)

  /// Nil for a line without a rate.
  private(set) var current: UInt32?
  private(set) var load = LineLoad()
  private var origin: Origin
  private var raise = Raise.none
  private var setAt = Instant.zero
  private var lastRead: Instant?
  private var bytesThisBurst = 0
  /// Those of its longest burst.
  private var bytesThisEpoch = 0
  /// Nil before the first epoch.
  private var bytesPerEpoch: Int?

  init(_ rate: UInt32?, _ origin: Origin) {
    current = rate
    self.origin = origin
  }

  // MARK: The rate

  var isRecovered: Bool { if case .recovered = origin { true } else { false } }
  var inherited: UInt32? { if case .inherited(let raised) = origin { raised } else { nil } }
  mutating func confirm() { origin = .own }

  /// The line is set to `rate`.
  mutating func set(_ rate: UInt32, at now: Instant) {
    current = rate
    load.restart()
    setAt = now
  }

  /// Frames are received at `rate`.
  mutating func find(_ rate: UInt32) { current = rate }

  /// Whether bytes received now were sent at the current rate.
  func isSettled(at now: Instant) -> Bool { now >= setAt + Self.staleBytes }

  // MARK: Raising it

  var isRaiseDue: Bool { if case .due = raise { true } else { false } }
  var isRaiseAbandoned: Bool { if case .abandoned = raise { true } else { false } }

  func raiseAt(lastByte: Instant) -> Instant? {
    if case .due(let by) = raise { min(by, lastByte + Self.quiet) } else { nil }
  }

  mutating func scheduleRaise(from now: Instant) { raise = .due(by: now + Self.longestWaitForQuiet) }
  mutating func cancelRaise() { if isRaiseDue { raise = .none } }
  mutating func abandonRaise() { raise = .abandoned }

  // MARK: Its data

  var hasEpochs: Bool { bytesPerEpoch != nil }
  /// The time that the receiver needs for what it sends before a reply.
  var backlog: Milliseconds { RequestInFlight.time(of: min(bytesPerEpoch ?? 600, 4096), current) }

  mutating func receive(bytes count: Int, at now: Instant) {
    load.receive(bytes: count, at: now)
    defer { lastRead = now }
    // Bytes that waited before the line was opened are of many epochs.
    guard let lastRead else { return }
    // Two bursts can come between the ends of two epochs: the first known by the next burst, the second by its last message.
    if now >= lastRead + Listener.epochSilence { bytesThisBurst = 0 }
    bytesThisBurst += count
    bytesThisEpoch = max(bytesThisEpoch, bytesThisBurst)
  }

  mutating func finishEpoch() {
    bytesPerEpoch = max((bytesPerEpoch ?? 600) / 2, min(bytesThisEpoch, 8192))
    (bytesThisEpoch, bytesThisBurst) = (0, 0)
  }

  /// Another receiver may be on the line, which sends replies alone.
  mutating func forgetEpochs() { bytesPerEpoch = nil }

  mutating func measureLoad(at now: Instant) { load.measure(at: now) }
}
