// SPDX-License-Identifier: Apache-2.0
import MonotonicTime

/// Whether frames are received, and which fault of the line was reported: once, not for each byte or second of it.
///
///     none ─ receive ─▶ receiving ─ lose ─▶ lost ─ receive ─▶ regained ─ settle ─▶ receiving
struct LineHealth {
  enum Fault { case silent, notUnderstood }

  private enum Contact {
    case none, receiving
    /// It was lost; the receiver may have been reset meanwhile.
    case lost
    /// It is back; the configuration is not checked yet.
    case regained
  }

  private enum Report {
    case none
    case reported(Fault)
    case recovering(Fault, until: Instant)
  }

  /// The time for which frames have to be received before a fault is over: a noisy line comes and goes.
  private static let recovery = Milliseconds(3000)

  private var contact = Contact.none
  private var report = Report.none
  private var startsCountFrom = Instant.zero
  private var hadBootText = false
  private var warning: String?
  private(set) var lastFrame: Instant
  /// When the receiver was last told to send again: the silence before that was desired.
  private(set) var silenceEnded = Instant.zero
  /// Polls in a row that a known and silent receiver did not reply to.
  private(set) var failedPolls = 0

  init(at now: Instant) { lastFrame = now }

  var isReceiving: Bool { contact == .receiving || contact == .regained }
  var wasLost: Bool { contact == .lost || contact == .regained }

  var fault: Fault? {
    switch report {
    case .none: nil
    case .reported(let fault), .recovering(let fault, _): fault
    }
  }

  /// When the fault is over, if frames are received until then.
  var recoveredAt: Instant? { if case .recovering(_, let until) = report { until } else { nil } }

  /// A frame was received.
  mutating func receive(at now: Instant) {
    lastFrame = now
    switch contact {
    case .none: contact = .receiving
    case .lost: contact = .regained
    case .receiving, .regained: break
    }
  }

  /// The frames came after a time without any: a reported fault ends soon.
  mutating func recover(at now: Instant) {
    if let fault { report = .recovering(fault, until: now + Self.recovery) }
  }

  mutating func endSilence(at now: Instant) { silenceEnded = now }

  mutating func lose() {
    contact = .lost
    interruptRecovery()
  }

  /// Frames that follow come from an awake receiver.
  mutating func stopReceiving() { contact = wasLost ? .lost : .none }

  /// The receiver has its configuration, whatever happened before.
  mutating func settle() { contact = isReceiving ? .receiving : .none }

  /// Returns whether no fault was reported before.
  mutating func begin(_ fault: Fault) -> Bool {
    defer { report = .reported(fault) }
    return self.fault == nil
  }

  mutating func interruptRecovery() { if let fault { report = .reported(fault) } }

  /// Returns whether the fault is over by now; true once.
  mutating func endFault(at now: Instant) -> Bool {
    guard let recoveredAt, now >= recoveredAt else { return false }
    report = .none
    return true
  }

  mutating func countFailedPoll() { failedPolls += 1 }
  mutating func clearFailedPolls() { failedPolls = 0 }

  /// Notes a warning of the receiver. Returns whether it is another one than the last.
  mutating func note(warning: String) -> Bool {
    defer { self.warning = warning }
    return self.warning != warning
  }

  /// Texts of a start can be replies until then.
  mutating func ignoreStarts(until instant: Instant) { startsCountFrom = instant }

  /// - Parameter bootText: whether these frames contain boot text.
  /// - Returns: whether it begins with them.
  mutating func detectStart(_ bootText: Bool, at now: Instant) -> Bool {
    defer { hadBootText = bootText }
    return bootText && !hadBootText && now >= startsCountFrom
  }
}
