// SPDX-License-Identifier: Apache-2.0
import MonotonicTime
import Receiver

/// The receiver's presence and identity, as far as the session has reported them.
///
///     absent ─ epoch ─▶ unidentified ─ identified ─▶ identified
///        │                   │                           │
///        └───────────────────┴── plain, configured ──────┴──▶ plain, configured
///
///     plain ◀─ resume ─ unread ◀─ pause ─ plain, configured
///     plain, unread ─ configured ─▶ configured          absent ─ identified ─▶ identified
///     every state ─ lost ─▶ absent
enum ReceiverPresence: Sendable, Equatable {
  case absent
  /// Epochs arrive from a receiver that has not sent its version.
  case unidentified(since: Instant)
  /// It has sent its version: its configuration follows.
  case identified
  /// It takes no commands, or is not configured yet.
  case plain
  /// Its line is not read.
  case unread
  case configured(Configured)

  /// A receiver whose session has applied its first configuration.
  struct Configured: Sendable, Equatable {
    /// The session's own configuration, on which all others rest.
    var base: DesiredConfiguration
    /// The number of settings that the receiver refuses in any case.
    var usualRefusals: Int
    /// Constellations that are switched off where fewer will do.
    var spareConstellations: [DesiredConfiguration.Constellation]
  }

  enum Event: Sendable, Equatable {
    case epoch(Instant)
    case identified
    case plain
    case configured(Configured)
    /// The line is no longer read, or is read again.
    case pause, resume
    case lost
  }

  mutating func handle(_ event: Event) {
    switch (self, event) {
    case (.absent, .epoch(let now)): self = .unidentified(since: now)
    case (.absent, .identified), (.unidentified, .identified): self = .identified
    case (.absent, .plain), (.unidentified, .plain), (.identified, .plain): self = .plain
    case (_, .configured(let configured)): self = .configured(configured)
    case (.plain, .pause), (.configured, .pause): self = .unread
    case (.unread, .resume): self = .plain
    case (_, .lost): self = .absent
    case (_, .epoch), (_, .identified), (_, .plain), (_, .pause), (_, .resume): break
    }
  }

  /// Whether the policy works with the receiver.
  var isPresent: Bool {
    switch self {
    case .plain, .unread, .configured: true
    case .absent, .unidentified, .identified: false
    }
  }

  var configuration: Configured? { if case .configured(let configured) = self { configured } else { nil } }
}
