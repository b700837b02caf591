import MonotonicTime
import ReceiverStream

/// What a receiver that has just started is helped with.
extension ReceiverSession {
  /// The time by the computer's clock.
  func time(at now: Instant) -> UTCTime? {
    reference.map { time in
      UTCTime(nanosecondsSince1970: time.nanosecondsSince1970 + Int64(now.nanoseconds - openedAt.nanoseconds))
    }
  }

  /// The receiver has started: what is known is to be given to it once it is configured.
  mutating func prepareAssisting(at now: Instant) {
    guard let assistance = settings.assistance, let description else { return }
    assisting = Assisting(assistance, to: description, at: time(at: now))
  }

  mutating func startAssisting(at now: Instant) -> Bool {
    guard let time = time(at: now), let some = assisting else { return false }
    guard let command = some.next(at: time) else {
      endAssisting()
      if some.given + some.refused > 0 {
        actions.append(.report(.assisted(given: some.given, refused: some.refused)))
      }
      return false
    }
    isAssistingInFlight = true
    begin(command)
    return true
  }

  /// What was changed for it is put back with the rest.
  mutating func endAssisting() {
    for found in assisting?.found ?? [] where !memory.found.contains(where: { $0.setting.isOfSame(found.setting) }) {
      memory.found.append(found)
    }
    assisting = nil
    isAssistingInFlight = false
  }
}
