/// Learns with which message a receiver ends an epoch, so that the epoch can be closed when that message is there and
/// not only when the next epoch begins.
///
/// A receiver writes its messages in a fixed order. The message before one with a new time was the last of its epoch;
/// when the same message ended two epochs in a row, it is believed. It is no longer believed when a message of the same
/// epoch comes behind it.
struct EpochEnd: Sendable {
  /// Names a message's place in the receiver's order: its id, and which in a row of its like it is.
  typealias Key = UInt64

  private var candidate: Key?
  private var confirmations = 0

  /// Whether `key` is known to end epochs.
  func isEnd(_ key: Key) -> Bool { confirmations >= 2 && candidate == key }

  /// An epoch ended with `key`.
  mutating func learn(_ key: Key) {
    if candidate == key {
      confirmations = min(confirmations + 1, 3)
    } else {
      candidate = key
      confirmations = 1
    }
  }

  /// The end was believed and was none.
  mutating func forget() {
    candidate = nil
    confirmations = 0
  }
}
