// SPDX-License-Identifier: Apache-2.0
import MonotonicTime
import ReceiverStream

/// Whether a receiver is polled for its identity: by its frames, and by how earlier polls ended.
struct IdentityPolling {
  private enum State {
    case open
    /// Frames are received, and the last poll had no reply.
    case unanswered
    /// Another make, or one without replies: nothing is sent until the frames show a u-blox receiver.
    case passive(wasPolled: Bool)
  }

  private(set) var evidence = VendorEvidence()
  private var state = State.open
  /// The port whose UBX output was switched on; nil if it was not.
  var switchedPort: ReceiverPortNumber?
  /// When the polls of u-blox receivers began.
  var polledAt = Instant.zero
  /// Whether the sentences showed nothing about the maker then.
  var wasPolledUnknown = false
  /// Whether the receiver has sent more than replies since the line was opened, or since the receiver was lost.
  var hasOutput = false
  /// Whether the last round of polls had no reply, from a receiver whose frames are received.
  var hasNoReply = false
  /// The families that the sentences' form suggested when they were probed: it can suggest others later. Nil before that.
  var probedLikely: [ReceiverFamily]?
  var hasProbedLikely: Bool { probedLikely != nil }
  /// Whether all families of other makers were probed, or the one that is proved.
  var hasProbedFamilies = false
  /// A reply to MON-VER that names no generation: other makers reply to it in part.
  var doubtful: Identification?
  /// Whether the receiver is identified as if it were unknown: the known one, which was here before or is in the crash-recovery
  /// record, did not reply to a round of polls.
  private(set) var doubtsKnown = false

  var isUnanswered: Bool {
    switch state {
    case .open, .passive(wasPolled: false): false
    case .unanswered, .passive(wasPolled: true): true
    }
  }

  var isPassive: Bool { if case .passive = state { true } else { false } }

  mutating func update(_ evidence: VendorEvidence) {
    // The family is known only now: it is probed once more.
    if self.evidence.family == nil, evidence.family != nil { hasProbedFamilies = false }
    self.evidence = evidence
  }

  /// Returns whether the receiver may be polled.
  mutating func resume() -> Bool {
    if isPassive {
      guard evidence.verdict == .uBlox || evidence.family?.language != nil && !hasProbedFamilies else { return false }
      state = isUnanswered ? .unanswered : .open
    }
    return true
  }

  mutating func stop() { state = .passive(wasPolled: isUnanswered) }

  mutating func finish(isUnanswered: Bool) {
    state = isPassive ? .passive(wasPolled: isUnanswered) : isUnanswered ? .unanswered : .open
  }

  /// The receiver had no reply to any probe before: nothing is sent until its frames show a family.
  mutating func keepUnanswered() {
    (probedLikely, hasProbedFamilies, state) = ([], true, .passive(wasPolled: true))
  }

  /// The known receiver had no reply: another one may be on the line.
  mutating func doubtKnown() { (doubtsKnown, probedLikely, hasProbedFamilies, doubtful) = (true, nil, false, nil) }

  /// The known receiver is polled first in the next round.
  mutating func trustKnown() { doubtsKnown = false }

  /// Another receiver may be on the line now.
  mutating func reset() {
    evidence = VendorEvidence()
    hasOutput = false
    doubtsKnown = false
    switchedPort = nil
    hasNoReply = false
    probedLikely = nil
    hasProbedFamilies = false
    doubtful = nil
    finish(isUnanswered: false)
  }
}
