import MonotonicTime
import UBX

/// Wakes a receiver: a byte that is lost, the time that its oscillator needs, then a question that has to be answered.
///
///     byte, 500 ms, question ── silent ──▶ again, three times ──▶ byte, reset ─▶ question ── silent ──▶ does not wake
///            └── answered ──▶ awake
///
/// (Integration manuals, "wake-up by UART RX": the first bytes to a sleeping receiver are always lost.)
struct WakeUp: Sendable {
  enum Step: Equatable { case send(Command), reset(Command), failed }

  private enum Place { case byte, question, byteBeforeReset, reset, lastQuestion, failed }

  /// Why it is woken, which is told when it is awake.
  let cause: WakeCause
  private var place = Place.byte
  private var attempt = 1

  static var attempts: Int { 3 }
  /// From the first edge until the receiver reads.
  static var oscillatorStart: Milliseconds { Milliseconds(500) }
  /// From a reset until it reads.
  static var restart: Milliseconds { Milliseconds(1000) }

  init(_ cause: WakeCause) { self.cause = cause }

  /// What to do next; after `.send` and `.reset` the outcome is received.
  func next() -> Step {
    switch place {
    case .byte, .byteBeforeReset: return .send(.raw([0xFF], pause: Self.oscillatorStart))
    case .question, .lastQuestion:
      var command = Command.poll(.monVER)
      command.attempts = 2
      return .send(command)
    case .reset:
      // A controlled software reset that leaves what is kept in battery-backed memory (CFG-RST resetMode 1).
      var command = Command(.cfgRST, [0, 0, 1, 0], answer: .none)
      command.pause = Self.restart
      return .reset(command)
    case .failed: return .failed
    }
  }

  /// How the last command ended; whether the receiver is awake.
  mutating func receive(_ outcome: Outcome) -> Bool {
    if case .answered = outcome { return true }
    switch place {
    case .byte: place = .question
    case .question where attempt < Self.attempts:
      attempt += 1
      place = .byte
    case .question: place = .byteBeforeReset
    case .byteBeforeReset: place = .reset
    case .reset: place = .lastQuestion
    case .lastQuestion, .failed: place = .failed
    }
    return false
  }
}
