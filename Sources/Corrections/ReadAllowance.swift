// SPDX-License-Identifier: Apache-2.0
import MonotonicTime

/// The number of bytes that are read of a source of corrections in a second. Corrections of all systems are a few kilobytes a
/// second; a source that sends as fast as the network does would cost a core. What is not read stays in the network, which
/// makes the source wait.
package struct ReadAllowance: Sendable {
  /// Bytes a second.
  package static let bytes = 131_072
  static let period = Milliseconds(1000)

  private var begin = Instant.zero
  private var used = 0

  package init() {}

  /// Notes that bytes were read. Returns when the next read may be; nil for at once.
  package mutating func read(_ count: Int, at now: Instant) -> Instant? {
    if now >= begin + Self.period { (begin, used) = (now, 0) }
    used += count
    return used >= Self.bytes ? begin + Self.period : nil
  }
}
