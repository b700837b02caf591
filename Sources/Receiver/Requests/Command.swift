// SPDX-License-Identifier: Apache-2.0

import MonotonicTime
import UBX

/// Bytes for a receiver, and the reply to them.
public struct Command: Sendable, Equatable {
  /// The expected reply.
  public enum Answer: Sendable, Equatable {
    /// No reply: CFG-RST, RXM-PMREQ, LOG-RETRIEVEBATCH, sentences, wake-up bytes.
    case none
    /// ACK-ACK or ACK-NAK for the command's own class and id.
    case acknowledgement
    /// The message of this class and id; or ACK-NAK for the command, a refusal, in classes that have it.
    case message(MessageIdentity)
    /// All of these messages. The first one counts: the others get only a short time, for receivers without them.
    case messages([MessageIdentity])
    /// Several messages of this class and id.
    case list(MessageIdentity, ListEnd)
    /// MGA-ACK for the command's message (interface descriptions, "MGA-ACK-DATA0").
    case assistance
    /// The reply of a receiver of another maker.
    case family(FamilyAnswer)
  }

  /// The end of a list. Without it, silence ends the list.
  public enum ListEnd: Sendable, Equatable {
    /// MGA-ACK for the command, with the number of messages (interface descriptions, MGA-DBD).
    case assistanceAcknowledgement
    /// The number of messages.
    case count(Int)
  }

  /// Class and id; nil for bytes that are not a UBX frame.
  public var identity: MessageIdentity?
  public var bytes: [UInt8]
  public var answer: Answer
  /// How often the command is sent before the receiver counts as silent.
  public var attempts = 4
  /// The time between the reply and the next command: a receiver that restarts its port drops bytes.
  public var pause = Milliseconds(0)
  /// The time for the reply to the first attempt, without the time of the bytes on the line.
  public var timeout = Milliseconds(250)
  /// Messages in the same write whose refusal is a refusal of the command.
  package var companions: [MessageIdentity] = []

  /// The time after which a command without a reply is given up, without the time of its bytes: each attempt waits longer than the last.
  var longestSilence: Milliseconds { timeout * UInt64(attempts * (attempts + 1) / 2) }

  /// Whether it may write settings to battery-backed memory: CFG-CFG, or CFG-VALSET and CFG-VALDEL with that layer.
  var storesSettings: Bool {
    bytes.indices.contains { at in
      let isConfiguration = bytes[at...].starts(with: [UBXFrame.sync1, UBXFrame.sync2, 0x06])
      guard isConfiguration, at + 7 < bytes.count else { return false }
      return switch bytes[at + 3] {
      case 0x09: true
      case 0x8A, 0x8C: bytes[at + 7] & 0b10 != 0
      default: false
      }
    }
  }

  /// A UBX message.
  public init(_ identity: MessageIdentity, _ payload: [UInt8] = [], answer: Answer) {
    self.identity = identity
    self.bytes = frameBytes(identity, payload)
    self.answer = answer
  }

  /// Returns a poll: its reply is the message of the same class and id.
  public static func poll(_ identity: MessageIdentity, _ selector: [UInt8] = []) -> Command {
    Command(identity, selector, answer: .message(identity))
  }

  /// Returns several polls in one write: on a full line each reply waits behind the queue.
  public static func polls(_ identities: [MessageIdentity]) -> Command {
    var command = Command(raw: identities.flatMap { frameBytes($0, []) })
    command.answer = .messages(identities)
    return command
  }

  /// Returns a poll that is repeated in one write, so that one of the replies finds room on a full line.
  ///
  /// - Parameter answers: the awaited replies, the one that counts first; nil for that to the poll.
  package static func poll(
    _ identity: MessageIdentity, _ selector: [UInt8], times: Int, answers: [MessageIdentity]? = nil
  ) -> Command {
    var command = Command(raw: Array(repeatElement(frameBytes(identity, selector), count: times).joined()))
    command.answer = .messages(answers ?? [identity])
    return command
  }

  /// Returns a poll with a second one after it that every receiver replies to: if only `sentinel` has a reply, the receiver
  /// ignored the first.
  package static func poll(
    _ identity: MessageIdentity, _ selector: [UInt8], before sentinel: MessageIdentity
  ) -> Command {
    var command = Command(raw: frameBytes(identity, selector) + frameBytes(sentinel, []))
    command.answer = .messages([sentinel, identity])
    return command
  }

  /// Returns a command of bytes that are not a UBX frame, without a reply.
  public static func raw(_ bytes: [UInt8], pause: Milliseconds = Milliseconds(0)) -> Command {
    Command(raw: bytes).with(pause: pause)
  }

  /// Returns the command with another number of attempts, and other times; nil leaves one as it is.
  package func with(attempts: Int? = nil, timeout: Milliseconds? = nil, pause: Milliseconds? = nil) -> Command {
    var command = self
    command.attempts = attempts ?? command.attempts
    command.timeout = timeout ?? command.timeout
    command.pause = pause ?? command.pause
    return command
  }

  /// Bytes as they are, without a reply that is waited for.
  package init(raw bytes: [UInt8]) {
    identity = nil
    self.bytes = bytes
    answer = .none
  }
}

/// The outcome of a command.
public enum Outcome: Sendable, Equatable {
  /// It was sent and has no reply.
  case sent
  case acknowledged
  /// ACK-NAK or MGA-ACK.
  case refused(Refusal)
  /// The payload of the reply.
  case answered([UInt8])
  /// The payloads of the replies to several polls.
  case answeredAll([MessageIdentity: [UInt8]])
  /// The payloads of a list.
  case listed([[UInt8]])
  /// No reply to any attempt.
  case silent
  /// The results of tasks, in their order (`ReceiverSession.perform`).
  case performed([ReceiverTask.Result])

  /// Whether the receiver replied to one poll: a refusal shows that it is there too.
  public var isReply: Bool {
    switch self {
    case .acknowledged, .refused, .answered: true
    case .sent, .answeredAll, .listed, .silent, .performed: false
    }
  }

  /// The reason of a refusal, by the infoCode of MGA-ACK (interface descriptions, MGA-ACK-DATA0).
  public enum Refusal: Sendable, Hashable {
    /// ACK-NAK has no reason.
    case unspecified
    case noTime, unknownVersion, wrongSize, notStored, notReady, unknownType
    case unknown(UInt8)
    /// Receivers of other makers: they do not have it, it has a wrong parameter, or it failed.
    case unsupported, invalid, failed

    init(_ code: UInt8) {
      switch code {
      case 0: self = .unspecified
      case 1: self = .noTime
      case 2: self = .unknownVersion
      case 3: self = .wrongSize
      case 4: self = .notStored
      case 5: self = .notReady
      case 6: self = .unknownType
      default: self = .unknown(code)
      }
    }
  }
}
