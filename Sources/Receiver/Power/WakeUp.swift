// SPDX-License-Identifier: Apache-2.0
import MonotonicTime
import UBX

/// Wakes a receiver: a byte that is lost, the time of the oscillator's start, then a poll that needs a reply.
///
///     byte, 500 ms, poll ── silent ──▶ again, three times ──▶ byte, reset ─▶ poll ── silent ──▶ does not wake
///            └── reply ──▶ awake
///     any ── garbage at the end ──▶ searching the rate ── frames ──▶ awake
///
/// (Integration manuals, "wake-up by UART RX": the first bytes to a sleeping receiver are always lost.)
struct WakeUp: Sendable {
  enum Step: Equatable { case send(Command), reset(Command), failed }

  private enum Place { case byte, poll, byteBeforeReset, reset, lastPoll, searching, failed }

  /// The cause, which is reported once the receiver is awake.
  let cause: WakeCause
  private var place = Place.byte
  private var attempt = 1
  private let language: (any FamilyLanguage)?

  static var attempts: Int { 3 }
  /// The time from the first edge until the receiver reads.
  static var oscillatorStart: Milliseconds { Milliseconds(500) }
  /// The time from a reset until it reads.
  static var restart: Milliseconds { Milliseconds(1000) }

  /// - Parameter family: the family of another maker's receiver. It is not reset: its first sentence shows that it is awake.
  init(_ cause: WakeCause, family: ReceiverFamily? = nil) {
    self.cause = cause
    language = family?.language
  }

  /// Whether frames show that the receiver is awake: no reply to the wake-up is certain.
  var isJudgedByFrames: Bool { language != nil && place != .byte || place == .searching }

  /// The rate of the line is searched: the receiver is awake.
  mutating func search() { place = .searching }

  /// Returns the next step; `receive` takes the outcome of `.send` and `.reset`.
  func next() -> Step {
    switch place {
    case .byte, .byteBeforeReset:
      return .send(.raw(language?.wakingBytes ?? [0xFF], pause: Self.oscillatorStart))
    case .poll, .lastPoll:
      if let language { return .send(language.wakeUp) }
      return .send(.poll(.monVER).with(attempts: 2))
    case .reset:
      // A controlled software reset, which keeps battery-backed memory (CFG-RST resetMode 1).
      return .reset(Command(.cfgRST, [0, 0, 1, 0], answer: .none).with(pause: Self.restart))
    case .searching, .failed: return .failed
    }
  }

  /// Handles the outcome of the last command. Returns whether the receiver is awake.
  mutating func receive(_ outcome: Outcome) -> Bool {
    if outcome.isReply { return true }
    if language != nil, place == .poll, attempt == Self.attempts {
      place = .failed
      return false
    }
    switch place {
    case .byte: place = .poll
    case .poll where attempt < Self.attempts:
      attempt += 1
      place = .byte
    case .poll: place = .byteBeforeReset
    case .byteBeforeReset: place = .reset
    case .reset: place = .lastPoll
    case .lastPoll, .searching, .failed: place = .failed
    }
    return false
  }
}
