import MonotonicTime
import ReceiverStream

/// What follows from what was heard.
extension ReceiverSession {
  var looksAtEvidence: Bool { evidence.verdict != .uBlox && memory.description == nil }

  mutating func take(_ heard: inout ReceivedFrames, epochs: Int, at now: Instant) {
    evidence = heard.evidence
    watch = heard.watch
    request = heard.request
    if epochs > 0 {
      hasHadEpoch = true
      bytesPerEpoch = max(bytesPerEpoch / 2, min(bytesThisEpoch, 8192))
      bytesThisEpoch = 0
    }
    if heard.frames > 0 {
      if !isHeard { becomeHeard(at: now) }
      lastFrame = now
    }
    if let outcome = heard.outcome { finishRequest(outcome, at: now) }
    if heard.frames > 0 { noticeReturnOfRate(at: now) }
    if let version = heard.version, memory.description == nil, case .listening = stage, settings.intent != .readOnly {
      retryAt = nil
      stage = .identifying(Identification(lateAnswer: version, port: port, rate: rate))
    }
    for payload in heard.batch { takeBatched(payload, at: now) }
    if heard.frames > 0 { noticeWaking(at: now) }
    // In on/off operation it starts anew for each fix.
    let isStart = heard.sawBootText && !sawBootText && desired?.powerSave?.sleepsBetweenFixes != true
    if heard.isLost || isStart && isSteady { configurationLost(at: now) }
    sawBootText = heard.sawBootText
  }

  mutating func becomeHeard(at now: Instant) {
    isHeard = true
    settleInheritedRate()
    memory.rate = rate
    trouble.hear(at: now)
    guard endBy == nil else { return }
    if case .searching = stage { stage = .listening(askAt: nil) }
    retryAt = nil
  }

  /// Tells of trouble once, until the receiver was heard again for a while.
  mutating func tell(_ kind: LineTrouble.Kind, _ report: SessionReport) {
    if trouble.begin(kind) { actions.append(.report(report)) }
  }

  mutating func reportIfBack(at now: Instant) {
    if trouble.isOver(at: now) { actions.append(.report(.back)) }
  }

  mutating func configurationLost(at now: Instant) {
    guard endBy == nil, case .steady = stage, desired != nil, description != nil else { return }
    watch = nil
    isChecking = true
    if retrieval != nil {
      // What it was sending is gone with it.
      if current == nil { interruptRequest() }
      cutRetrieval()
    }
    startConfiguring(at: now)
  }
}
