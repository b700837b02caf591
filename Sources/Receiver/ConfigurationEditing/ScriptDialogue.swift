// SPDX-License-Identifier: Apache-2.0
import MonotonicTime
import UBX

/// Runs a script with a receiver that may not reply, and decides what a missing reply means.
///
///     command of the script ── no reply ──▶ MON-VER ── reply ─────▶ unknown message: the script continues
///                                              └────── no reply ──▶ counted; the dialogue ends after three in a row
///
/// From then on each poll is sent together with MON-VER, and a missing reply costs no timeout.
///
/// A receiver refuses an unknown CFG message (interface descriptions, "ACK-NAK"), but old firmware and clones do not
/// reply. The reply to MON-VER is as long as the replies to most CFG messages: a line with capacity for the one carries
/// the others.
package struct ScriptDialogue<Script: ReceiverScript>: Sendable {
  /// The next step of the owner of the line.
  package enum Step: Sendable, Equatable {
    case send(Command)
    /// The script is over.
    case over
    /// The receiver does not reply any more.
    case noReply
    /// The receiver replies, and the script does not come to its end.
    case endless
  }

  /// The number of commands in a row without a reply that ends the dialogue.
  private static var mostMissingReplies: Int { 3 }
  /// The time limit of a script. All settings of a receiver with 1500 items take half a minute at 9600 baud.
  package static var timeLimit: Milliseconds { Milliseconds(300_000) }

  package private(set) var script: Script
  private let toleratesSilence: Bool
  private var missingReplies = 0
  private let end: Instant
  /// The script's last poll had no reply, and MON-VER tests whether the receiver replies at all.
  private var isProbing = false
  private var ignoresPolls = false

  /// - Parameters:
  ///   - script: the commands.
  ///   - toleratesSilence: whether the receiver may be away for some time, as after a reset.
  ///   - now: the present instant.
  package init(_ script: Script, toleratesSilence: Bool = false, at now: Instant) {
    end = now + Self.timeLimit
    self.script = script
    self.toleratesSilence = toleratesSilence
  }

  /// The next step at an instant. Without an outcome in between, the result is the same.
  package mutating func next(at now: Instant) -> Step {
    if now >= end { return .endless }
    if missingReplies >= Self.mostMissingReplies, !toleratesSilence { return .noReply }
    if isProbing { return .send(.poll(.monVER).with(attempts: 2)) }
    guard let command = script.next() else { return .over }
    guard ignoresPolls, let identity = Self.polledMessage(command) else { return .send(command) }
    return .send(.poll(identity, Self.selector(command), before: .monVER).with(timeout: command.timeout))
  }

  /// Continues a script that is over, after the line did not get the script's rate.
  package mutating func abandonPortRate() { script.abandonPortRate() }

  /// Takes the outcome of the last command.
  package mutating func receive(_ outcome: Outcome) {
    if isProbing {
      isProbing = false
      guard case .answered = outcome else {
        missingReplies += 1
        return script.receive(.silent)
      }
      missingReplies = 0
      ignoresPolls = true
      return script.receive(ignoredPoll)
    }
    if case .answeredAll(let replies) = outcome, let command = script.next(), let identity = Self.polledMessage(command)
    {
      missingReplies = 0
      return script.receive(Self.reply(to: Self.selector(command), replies[identity]) ?? ignoredPoll)
    }
    if outcome == .silent, !toleratesSilence, !ignoresPolls, let command = script.next(),
      Self.polledMessage(command) != nil
    {
      isProbing = true
      return
    }
    missingReplies = outcome == .silent ? missingReplies + 1 : 0
    script.receive(outcome)
  }

  /// The script's outcome of a poll without a reply.
  private var ignoredPoll: Outcome { script.treatsSilenceAsRefusal ? .refused(.unspecified) : .silent }

  /// The CFG message that a command polls, if its reply is short. Replies to CFG-VALGET are long and may be lost on a
  /// full line.
  private static func polledMessage(_ command: Command) -> MessageIdentity? {
    guard let identity = command.identity, identity.messageClass == 0x06, identity != .cfgVALGET else { return nil }
    return command.answer == .message(identity) ? identity : nil
  }

  private static func selector(_ command: Command) -> [UInt8] { Array(command.bytes[6..<command.bytes.count - 2]) }

  /// The reply, if it begins with the selector and is longer: a line may return the sent bytes, and the reply to an
  /// earlier poll may be late.
  private static func reply(to selector: [UInt8], _ payload: [UInt8]?) -> Outcome? {
    guard let payload, payload.count > selector.count, payload.starts(with: selector) else { return nil }
    return .answered(payload)
  }
}

/// A dialogue with a receiver as a value: it returns the next command, takes its outcome, and is over when `next()`
/// returns nil. The owner of the line sends the commands.
package protocol ReceiverScript: Sendable {
  /// The next command; nil when the script is over. Without an outcome in between, the result is the same.
  mutating func next() -> Command?
  /// Takes the outcome of the last command.
  mutating func receive(_ outcome: Outcome)
  /// Continues a script that is over, after the line did not get the script's rate; a script without one does nothing.
  mutating func abandonPortRate()
  /// Whether a poll without a reply counts as refused if the receiver replies to other polls.
  var treatsSilenceAsRefusal: Bool { get }
  /// The number of commands done, and of all commands as far as they are known.
  var progress: (done: Int, of: Int) { get }
}

extension ReceiverScript {
  package var treatsSilenceAsRefusal: Bool { false }
  package mutating func abandonPortRate() {}
}
