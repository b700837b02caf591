// SPDX-License-Identifier: Apache-2.0
import MonotonicTime

/// Limits the number of bytes that are read from a source of corrections per second. Corrections of all systems are a
/// few kilobytes per second; a source that sends at network speed would use a whole core. Unread bytes stay in the
/// network, which makes the source wait.
package struct ReadAllowance: Sendable {
  /// Bytes a second.
  package static let bytes = 131_072
  static let period = Milliseconds(1000)

  private var begin = Instant.zero
  private var used = 0

  package init() {}

  /// Records that bytes were read. Returns the time of the next read; nil for at once.
  package mutating func read(_ count: Int, at now: Instant) -> Instant? {
    if now >= begin + Self.period { (begin, used) = (now, 0) }
    used += count
    return used >= Self.bytes ? begin + Self.period : nil
  }
}
