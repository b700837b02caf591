// SPDX-License-Identifier: Apache-2.0
import MonotonicTime
import ReceiverStream

/// The reaction to received frames.
extension ReceiverSession {
  mutating func startReceiving() -> ReceivedFrames {
    ReceivedFrames(
      evidence: identity.evidence, sent: sent, watch: watch, request: requests.inFlight, orbits: orbits,
      observed: observesOutput ? observed.takeOut() : familyWatch?.observed.takeOut(),
      arriving: observesOutput ? arriving : nil,
      epoch: epochPeriod,
      collectsEvidence: identity.evidence.verdict != .uBlox && expected == nil)
  }

  mutating func take(_ received: inout ReceivedFrames, at now: Instant) {
    identity.update(received.evidence)
    sent = received.sent
    if received.hasOutput { identity.hasOutput = true }
    watch = received.watch
    requests.update(received.request)
    orbits = received.orbits
    if let messages = received.arriving { arriving = messages }
    if let output = received.observed {
      if observesOutput { observed = output } else { familyWatch?.observed = output }
    }
    if received.epochs > 0 { line.finishEpoch() }
    let hasFrames = received.frames > 0 || received.familyFrames > 0
    let isAfterPause = hasFrames && isAfterPause(at: now)
    if hasFrames {
      if !isReceiving { confirmRate(at: now) }
      health.receive(at: now)
    }
    if received.isPeriodic, !expectsSilence { health.receivePeriodic(at: now) }
    if let outcome = received.outcome { finishRequest(outcome, at: now) }
    if hasFrames { handle(.frames, at: now) }
    if let version = received.version, settings.intent != .readOnly { handle(.version(version), at: now) }
    for payload in received.batch {
      batch.receive(logBATCH: payload, keeps: settings.intent != .readOnly, at: now)
    }
    if let warning = received.warning, health.note(warning: warning) { report(.warned(warning)) }
    // In on/off operation the receiver starts anew for each fix.
    let isStart = health.detectStart(received.sawBootText, at: now) && desired?.powerSave?.sleepsBetweenFixes != true
    // A receiver of another maker that starts while it gets its settings loses the first of them.
    let isConfigured = isSteady || stage.name == .configuring && description?.family != nil
    // A check after a pause of the line is not a false alarm of the sentences.
    if isAfterPause { falseAlarms -= 1 }
    if received.isConfigurationLost || isAfterPause || isStart && isConfigured { handle(.configurationLost, at: now) }
    watchFamily(at: now)
  }

  /// Frames are received again.
  private mutating func confirmRate(at now: Instant) {
    // A receiver that lost power while the line was away has its own rate again, and another receiver has another one. One that
    // was about to change its rate may send at the old one for a while: its reply decides.
    if let raised = line.inherited, rate == raised || rate != memory.foundRate {
      if rate != raised { memory.foundRate = nil }
      line.confirm()
    }
    if line.inherited == nil { memory.rate = rate }
    health.recover(at: now)
    if !end.isRequested { retry.cancel() }
  }
}
