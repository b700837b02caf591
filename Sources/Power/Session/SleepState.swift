// SPDX-License-Identifier: Apache-2.0

/// The receiver's sleep, as it was requested and as the session confirms it.
///
///     awake ─ request ─▶ requested ─ confirmed ─▶ asleep
///       ▲                    ▲  │                  │ │
///       │                    └──┼── notAsleep ─────┘ │
///       │                       │     or request     │
///       └────────── end ────────┴────────────────────┘
enum SleepState: Sendable, Hashable, CaseIterable {
  case awake
  /// The request was given to the session; the receiver may still be running, or running again.
  case requested
  /// The session has sent the request and watches the sleep.
  case asleep

  enum Event: Sendable, Hashable, CaseIterable {
    /// Sleep is requested, perhaps once more.
    case request
    /// The session has sent the request.
    case confirmed
    /// The receiver runs although sleep is requested.
    case notAsleep
    /// A wake-up, a refusal, a restart or the loss of the line.
    case end
  }

  mutating func handle(_ event: Event) {
    switch (self, event) {
    case (_, .request): self = .requested
    case (.requested, .confirmed): self = .asleep
    case (.asleep, .notAsleep): self = .requested
    case (_, .end): self = .awake
    case (.awake, .confirmed), (.asleep, .confirmed), (.awake, .notAsleep), (.requested, .notAsleep): break
    }
  }
}
