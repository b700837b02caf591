// SPDX-License-Identifier: Apache-2.0
import MonotonicTime
import ReceiverStream
import SerialPort

/// Decides when to look for other programs that read part of a line's bytes: whenever frames are damaged after valid
/// ones.
struct OtherReaders {
  /// The shortest time between two searches, which read all of /proc.
  private static let interval = Milliseconds(10_000)

  private var damage: UInt64 = 0
  private var nextSearch = Instant.zero
  private var named: [PortHolder] = []

  /// Returns whether the stream was damaged since the last call, and a search is due.
  mutating func takeDue(_ counters: StreamCounters, at now: Instant) -> Bool {
    let before = damage
    damage = counters.skippedBytes + counters.badChecksums + counters.brokenSentences
    guard damage > before, counters.frames > 0, now >= nextSearch else { return false }
    nextSearch = now + Self.interval
    return true
  }

  /// Returns a message with the programs and the next step; nil if there are none, or if they were already named.
  mutating func text(for holders: [PortHolder], _ path: String) -> String? {
    defer { named = holders }
    guard !holders.isEmpty, holders != named else { return nil }
    let names = holders.map(\.description).joined(separator: ", ")
    return "\(path): \(names) reads the port too and takes part of its bytes; stop that program, or choose another port"
  }
}
