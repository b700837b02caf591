import MonotonicTime
import Receiver
import UBX

/// A script and a receiver that may be silent: decides what silence means.
///
///     script's command ── silent ──▶ MON-VER ── answered ──▶ it does not know the message: the script goes on
///                                        └───── silent ────▶ counted; after three in a row it is given up
///
/// From then on MON-VER stands right behind each question, and nothing is waited for in vain.
///
/// A receiver refuses a CFG message that it does not know (interface descriptions, "ACK-NAK"), but old firmware and clones
/// say nothing. The answer to MON-VER is as long as that to most CFG messages: a line that has room for the one has it for
/// the others.
public struct ScriptDialogue<Script: ReceiverScript>: Sendable {
  /// What to do.
  public enum Step: Sendable, Equatable {
    case send(Command)
    /// The script has nothing more to say.
    case over
    /// The receiver does not answer any more.
    case noAnswer
  }

  /// Commands in a row without an answer after which the receiver is given up.
  private static var mostSilences: Int { 3 }

  public private(set) var script: Script
  private let survivesSilence: Bool
  private var silences = 0
  /// The script's last question had no answer, and it is asked whether the receiver is there at all.
  private var isDoubting = false
  private var passesOverQuestions = false

  /// - Parameters:
  ///   - script: what is said.
  ///   - survivesSilence: whether the receiver may be gone for some time: after a reset.
  public init(_ script: Script, survivesSilence: Bool = false) {
    self.script = script
    self.survivesSilence = survivesSilence
  }

  /// What to do next. Asking again without an outcome in between gives the same.
  public mutating func next() -> Step {
    if silences >= Self.mostSilences, !survivesSilence { return .noAnswer }
    if isDoubting {
      var command = Command.poll(.monVER)
      command.attempts = 2
      return .send(command)
    }
    guard let command = script.next() else { return .over }
    guard passesOverQuestions, let identity = Self.question(command) else { return .send(command) }
    var together = Command.poll(identity, Self.selector(command), before: .monVER)
    together.patience = command.patience
    return .send(together)
  }

  /// How the last command ended.
  public mutating func receive(_ outcome: Outcome) {
    if isDoubting {
      isDoubting = false
      guard case .answered = outcome else {
        silences += 1
        return script.receive(.silent)
      }
      silences = 0
      passesOverQuestions = true
      return script.receive(passedOver)
    }
    if case .answeredAll(let answers) = outcome, let command = script.next(), let identity = Self.question(command) {
      silences = 0
      return script.receive(Self.answer(to: Self.selector(command), answers[identity]) ?? passedOver)
    }
    if outcome == .silent, !survivesSilence, !passesOverQuestions, let command = script.next(),
      Self.question(command) != nil
    {
      isDoubting = true
      return
    }
    silences = outcome == .silent ? silences + 1 : 0
    script.receive(outcome)
  }

  /// What the script is told of a question that the receiver passed over.
  private var passedOver: Outcome { script.takesSilenceForRefusal ? .refused(.unspecified) : .silent }

  /// The CFG message that a command asks for, where its answer is short; those to CFG-VALGET are long, and a full line
  /// loses them.
  private static func question(_ command: Command) -> MessageIdentity? {
    guard let identity = command.identity, identity.messageClass == 0x06, identity != .cfgVALGET else { return nil }
    return command.answer == .message(identity) ? identity : nil
  }

  private static func selector(_ command: Command) -> [UInt8] { Array(command.bytes[6..<command.bytes.count - 2]) }

  /// The answer that begins with what was asked for, and is more than that: a line may send back what it gets, and the
  /// answer to an earlier question may be late.
  private static func answer(to selector: [UInt8], _ payload: [UInt8]?) -> Outcome? {
    guard let payload, payload.count > selector.count, payload.starts(with: selector) else { return nil }
    return .answered(payload)
  }
}
