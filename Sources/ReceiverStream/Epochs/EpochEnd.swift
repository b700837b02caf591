// SPDX-License-Identifier: Apache-2.0

/// Learns the message with which a receiver ends its epochs. So an epoch can be closed at that message, and not only at
/// the start of the next epoch.
///
/// A receiver writes its messages in a fixed order. The message before one with a new time was the last of its epoch.
/// After it ended two epochs in a row it is used as the end. It is no longer used after a message of the same epoch
/// followed it.
struct EpochEnd: Sendable {
  /// The place of a message in the receiver's order: its id, and its number in a run of the same id.
  typealias Key = UInt64

  private var candidate: Key?
  private var confirmations = 0

  /// Whether `key` usually ends epochs.
  func isEnd(_ key: Key) -> Bool { confirmations >= 2 && candidate == key }

  /// Records that an epoch ended with `key`.
  mutating func learn(_ key: Key) {
    if candidate == key {
      confirmations = min(confirmations + 1, 3)
    } else {
      candidate = key
      confirmations = 1
    }
  }

  /// Records that the learned end was wrong.
  mutating func forget() {
    candidate = nil
    confirmations = 0
  }
}
