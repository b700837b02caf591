import MonotonicTime
import UBX

/// What is said to a receiver, and what it is to answer.
public struct Command: Sendable, Equatable {
  /// What comes back.
  public enum Answer: Sendable, Equatable {
    /// Nothing: CFG-RST, RXM-PMREQ, LOG-RETRIEVEBATCH, sentences, wake-up bytes.
    case none
    /// ACK-ACK or ACK-NAK for the command's own class and id.
    case acknowledgement
    /// The message of this class and id; ACK-NAK for the command is a refusal, where the class has one.
    case message(MessageIdentity)
    /// All of these messages, of which the first is the one that counts: the others are waited for only a little, for
    /// receivers that do not have them.
    case messages([MessageIdentity])
    /// A message of this class and id again and again.
    case list(MessageIdentity, ListEnd)
    /// MGA-ACK for the command's message (interface descriptions, "MGA-ACK-DATA0").
    case assistance
  }

  /// What ends a list. Where it does not come, the list ends with the receiver's silence about it.
  public enum ListEnd: Sendable, Equatable {
    /// MGA-ACK for the command, with the number of messages (interface descriptions, MGA-DBD).
    case assistanceAcknowledgement
    /// As many messages as this.
    case count(Int)
  }

  /// Class and id; nil for what is no UBX frame.
  public var identity: MessageIdentity?
  public var bytes: [UInt8]
  public var answer: Answer
  /// How often it is said before the receiver counts as silent.
  public var attempts = 4
  /// What to leave between the answer and the next command: a receiver that starts its port anew drops bytes.
  public var pause = Milliseconds(0)
  /// For how long the answer is waited for at the first attempt, apart from the bytes' time on the line.
  public var patience = Milliseconds(250)
  /// What is said in the same breath before it: who refuses that refuses the command.
  package var companions: [MessageIdentity] = []

  /// A UBX message.
  public init(_ identity: MessageIdentity, _ payload: [UInt8] = [], answer: Answer) {
    self.identity = identity
    self.bytes = frameBytes(identity, payload)
    self.answer = answer
  }

  /// A question: the message of the same class and id comes back.
  public static func poll(_ identity: MessageIdentity, _ selector: [UInt8] = []) -> Command {
    Command(identity, selector, answer: .message(identity))
  }

  /// Several questions in one breath: on a line that is full each answer waits behind all that is queued before it.
  public static func polls(_ identities: [MessageIdentity]) -> Command {
    var command = Command(raw: identities.flatMap { frameBytes($0, []) })
    command.answer = .messages(identities)
    return command
  }

  /// A question so often in one breath that one of the answers finds room on a line that is full.
  ///
  /// - Parameter answers: what is waited for, the one that counts first: the question's, where nothing else is said.
  package static func poll(
    _ identity: MessageIdentity, _ selector: [UInt8], times: Int, answers: [MessageIdentity]? = nil
  ) -> Command {
    var command = Command(raw: Array(repeatElement(frameBytes(identity, selector), count: times).joined()))
    command.answer = .messages(answers ?? [identity])
    return command
  }

  /// A question with another one behind it that every receiver answers: where the answer to `sentinel` comes and none to
  /// the question, it was passed over.
  package static func poll(_ identity: MessageIdentity, _ selector: [UInt8], before sentinel: MessageIdentity)
    -> Command
  {
    var command = Command(raw: frameBytes(identity, selector) + frameBytes(sentinel, []))
    command.answer = .messages([sentinel, identity])
    return command
  }

  /// Bytes that are no UBX frame; nothing comes back.
  public static func raw(_ bytes: [UInt8], pause: Milliseconds = Milliseconds(0)) -> Command {
    var command = Command(raw: bytes)
    command.pause = pause
    return command
  }

  private init(raw bytes: [UInt8]) {
    identity = nil
    self.bytes = bytes
    answer = .none
  }
}

/// How a command ended.
public enum Outcome: Sendable, Equatable {
  /// It was said and has no answer.
  case sent
  case acknowledged
  /// ACK-NAK, or MGA-ACK with this code of why not (0 for ACK-NAK).
  case refused(code: UInt8)
  /// The payload that came back.
  case answered([UInt8])
  /// The payloads that came back to several questions.
  case answeredAll([MessageIdentity: [UInt8]])
  /// The payloads of a list.
  case listed([[UInt8]])
  /// No answer to any attempt.
  case silent
}
