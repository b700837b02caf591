// SPDX-License-Identifier: Apache-2.0
import LinuxIO
import MonotonicTime
import SerialPort

/// Sends the stream of a base station to a caster or another server: performs the actions of `CorrectionLink` and
/// `PushConnection` on the thread of the poller.
package final class CorrectionPush {
  /// A target that has not taken this many bytes is too slow, and is connected anew.
  private static let mostUnsent = 65_536

  private let target: PushTarget
  private let token: Poller.Token
  private var link: CorrectionLink
  private var form = PushConnection.Form.post
  private var dialogue: PushConnection?
  private var host: HostConnection?
  private var reports: [String] = []
  /// Whether the target has taken the stream over an earlier connection.
  private var hasBegun = false
  /// The number of bytes of the stream that the target has taken since the start.
  package private(set) var bytes: UInt64 = 0

  /// - Parameter token: the token of the socket in the events of the poller.
  package init(to target: PushTarget, token: Poller.Token, at now: Instant) {
    (self.target, self.token) = (target, token)
    link = CorrectionLink(to: target.name, random: .random(in: 0...UInt64.max), at: now)
  }

  /// The time at which `work` is due.
  package var deadline: Instant? { .earlier(link.deadline, host?.deadline) }

  /// Whether the target takes the stream.
  package var isFlowing: Bool { dialogue?.isGranted ?? false }

  /// Returns the next line for the user, or nil.
  package func nextReport() -> String? { reports.isEmpty ? nil : reports.removeFirst() }

  /// Sends frames of the base, and drops them without a connection: a rover cannot use old observations.
  package func send(_ frames: [UInt8], _ poller: inout Poller, at now: Instant) {
    guard let host, let dialogue, dialogue.isGranted, !frames.isEmpty else { return }
    if host.unsent.count + frames.count <= Self.mostUnsent {
      bytes += UInt64(frames.count)
      write(dialogue.encode(frames), &poller, at: now)
    } else {
      link.failed("reads too slowly", at: now)
    }
    perform(&poller, at: now)
  }

  /// Handles an event of the poller, which may concern another descriptor.
  package func handle(_ event: Poller.Event, _ poller: inout Poller, at now: Instant) {
    switch event {
    case .woken, .readable(token), .writable(token), .hangUp(token): break
    default: return
    }
    if host?.isStreaming == true {
      if event != .writable(token), event != .woken { read(at: now) }
      write([], &poller, at: now)
    } else {
      host?.handle(event, &poller, at: now)
      continueConnecting(&poller, at: now)
    }
    perform(&poller, at: now)
  }

  /// Performs the actions that are due. Call it after each round of events.
  package func work(_ poller: inout Poller, at now: Instant) {
    link.wake(at: now)
    if let host, let due = host.deadline, now >= due {
      host.wake(&poller, at: now)
      continueConnecting(&poller, at: now)
    }
    perform(&poller, at: now)
  }

  package func close(_ poller: inout Poller) {
    host?.close(&poller)
    host = nil
    dialogue = nil
  }

  private func perform(_ poller: inout Poller, at now: Instant) {
    while let action = link.nextAction() {
      switch action {
      case .connect:
        host = HostConnection(
          to: target.host, port: target.port, .stream(awaitsReply: false), token: token, &poller, at: now)
      case .disconnect: close(&poller)
      case .report(let text): reports.append(text)
      }
    }
  }

  private func continueConnecting(_ poller: inout Poller, at now: Instant) {
    guard let host else { return }
    if let failure = host.attempt.failure { return link.failed(failure.text, at: now) }
    guard host.isStreaming else { return }
    let dialogue = PushConnection(to: target, form, version: SextantVersion.text)
    self.dialogue = dialogue
    link.connected(awaitsReply: !dialogue.isGranted, at: now)
    if dialogue.isGranted { begin(at: now) }
    write(dialogue.request, &poller, at: now)
  }

  /// The target takes the stream, and has nothing to send itself.
  private func begin(at now: Instant) {
    link.opened()
    let words = hasBegun ? "the corrections are taken again" : "the corrections are taken"
    // A new connection after a loss that was not reported is not news.
    if !link.received(words, at: now), !hasBegun { reports.append("\(target.name): \(words)") }
    hasBegun = true
  }

  private func read(at now: Instant) {
    guard let host, let dialogue else { return }
    do {
      guard try host.read({ receive($0, at: now) }) == .endOfInput else { return }
      if dialogue.isGranted { return link.failed("the connection was closed", at: now) }
      refused(dialogue.closedBeforeGrant, at: now)
    } catch {
      link.failed("the connection is lost (\(error.reason))", at: now)
    }
  }

  private func receive(_ bytes: RawSpan, at now: Instant) {
    guard var dialogue, !dialogue.isGranted else { return }
    do {
      try dialogue.receive(bytes)
      self.dialogue = dialogue
      if dialogue.isGranted { begin(at: now) }
    } catch {
      refused(error, at: now)
    }
  }

  /// The other form of the request follows with the next connection.
  private func refused(_ refusal: PushConnection.Refusal, at now: Instant) {
    form = refusal.mayFallBack && form == .post ? .source : .post
    link.failed(form == .source ? "\(refusal.text); version 1 of NTRIP is next" : refusal.text, at: now)
  }

  private func write(_ bytes: [UInt8], _ poller: inout Poller, at now: Instant) {
    do { try host?.send(bytes, &poller) } catch { link.failed("the connection is lost (\(error.reason))", at: now) }
  }
}
