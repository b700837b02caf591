// SPDX-License-Identifier: Apache-2.0
import MonotonicTime

/// Polls the identity of a receiver of another maker: one family at a time, and none after one has replied.
struct FamilyIdentification: Sendable {
  private enum Step {
    case probing, keepingAwake, polling(ReceiverDescription, [Command]), starting(ReceiverDescription)
    case done(ReceiverDescription?)
  }

  private let families: [ReceiverFamily]
  /// Whether it is the family for sure: replies are worth waiting for.
  private let isProved: Bool
  private let isLineFull: Bool
  /// Whether its sentences suggest the first of the families, or prove it.
  private let isExpected: Bool
  /// The time of the transmit buffer of a full line (recorded: a reply 5.9 s late).
  static let fullLineTimeout = Milliseconds(6500)
  /// The time for the reply of a family that nothing suggests. A later reply proves the family too.
  private static let unlikelyTimeout = Milliseconds(500)
  /// The time for the reply of a family that the form of the sentences suggests.
  private static let likelyTimeout = Milliseconds(2000)
  private var family = 0
  private var probe = 0
  private var step = Step.probing
  private var isKeptAwake = false
  private var isStarted = false
  /// The polls so far: two families can have one in common.
  private var asked: [[UInt8]] = []

  /// - Parameters:
  ///   - families: the families to try, in this order.
  ///   - isProved: whether sentences or an earlier reply have shown the family.
  ///   - isLineFull: whether the receiver's own messages fill the line, so that replies are late or lost.
  ///   - isExpected: whether the sentences have the form of these families.
  init(_ families: [ReceiverFamily], isProved: Bool, isLineFull: Bool, isExpected: Bool = false) {
    self.isExpected = isProved || isExpected
    self.families = families
    self.isProved = isProved
    self.isLineFull = isLineFull
  }

  /// The same probes with the timeout of a full line; nil where they had it, and for families that nothing suggests.
  var onFullLine: FamilyIdentification? {
    guard !isLineFull, isExpected, description == nil else { return nil }
    return FamilyIdentification(families, isProved: isProved, isLineFull: true, isExpected: isExpected)
  }

  /// Whether a probe had a reply, or this family alone is probed.
  func isAnswered(or family: ReceiverFamily) -> Bool {
    switch step {
    case .probing, .keepingAwake: families == [family]
    case .polling, .starting, .done: true
    }
  }

  /// The description; nil without a reply.
  var description: ReceiverDescription? { if case .done(let found) = step { found } else { nil } }

  /// Starts the engine of the receiver, which is identified. Returns false if its family has no command for that, or it was sent.
  mutating func startEngine() -> Bool {
    guard case .done(let found?) = step, !isStarted, found.family?.language?.engineStart != nil else { return false }
    (step, isStarted) = (.starting(found), true)
    return true
  }

  private var language: (any FamilyLanguage)? { family < families.count ? families[family].language : nil }

  func next() -> Command? {
    switch step {
    case .probing:
      guard let language, var command = probe < language.probes.count ? language.probes[probe] : nil else { return nil }
      // An unknown receiver gets each poll once or twice, in one write: most families are not its own.
      if !isProved {
        command.attempts = min(command.attempts, isLineFull ? 2 : 1)
        if isExpected {
          command.timeout = max(command.timeout, Self.likelyTimeout)
        } else if command.answersAtOnce {
          command.timeout = min(command.timeout, Self.unlikelyTimeout)
        }
        // A damaged byte, or a receiver that is busy, loses one of the two.
        command.bytes += command.bytes
      }
      if isLineFull, isExpected {
        command.attempts = 2
        command.timeout = max(command.timeout, Self.fullLineTimeout)
      }
      return command
    case .keepingAwake: return language?.keepAwake
    case .polling(_, let polls):
      guard var command = polls.first else { return nil }
      if isLineFull {
        command.timeout = max(command.timeout, Self.fullLineTimeout)
        // Its information is not worth two of these times.
        command.attempts = 1
      }
      return command
    case .starting(let found): return found.family?.language?.engineStart
    case .done: return nil
    }
  }

  mutating func receive(_ outcome: Outcome) {
    switch step {
    case .probing:
      guard let language, probe < language.probes.count else { return step = .done(nil) }
      let command = language.probes[probe]
      asked.append(command.bytes)
      if let found = language.description(from: outcome, to: command) ?? other(outcome, command) { return take(found) }
      if case .answered = outcome { return step = .done(command.isAnsweredInBinary ? unread : nil) }
      advance()
    case .keepingAwake:
      (step, probe, isKeptAwake, asked) = (.probing, 0, true, [])
    case .polling(var found, let polls):
      found.family?.language?.complete(&found, from: outcome)
      poll(found, Array(polls.dropFirst()))
    case .starting(let found): step = .done(found)
    case .done: break
    }
  }

  /// Two families have one poll.
  private func other(_ outcome: Outcome, _ command: Command) -> ReceiverDescription? {
    guard case .answered = outcome else { return nil }
    for one in ReceiverFamily.allCases {
      guard let language = one.language, language.probes.contains(where: { $0.bytes == command.bytes }) else {
        continue
      }
      if let found = language.description(from: outcome, to: command) { return found }
    }
    return nil
  }

  /// A receiver whose reply has an unknown form. A frame proves the family; a text can be another maker's.
  private var unread: ReceiverDescription {
    ReceiverDescription(
      family: families[family], model: nil, firmware: nil, hardware: "", capabilities: [.configure, .restart])
  }

  private mutating func take(_ found: ReceiverDescription) {
    poll(found, found.family?.language?.furtherPolls(after: found) ?? [])
  }

  private mutating func poll(_ found: ReceiverDescription, _ polls: [Command]) {
    step = polls.isEmpty ? .done(found) : .polling(found, polls)
  }

  private mutating func advance() {
    repeat {
      probe += 1
      // The family is known, and its processor may be asleep.
      if isProved, !isKeptAwake, let language, probe == language.probes.count, language.keepAwake != nil {
        return step = .keepingAwake
      }
      if let language, probe < language.probes.count { continue }
      (family, probe) = (family + 1, 0)
    } while language.map { probe < $0.probes.count && asked.contains($0.probes[probe].bytes) } ?? false
    if language == nil { step = .done(nil) }
  }
}

extension Command {
  /// Whether the reply follows the poll.
  fileprivate var answersAtOnce: Bool { bytes.first == UInt8(ascii: "$") }
  /// Whether the reply is a frame.
  fileprivate var isAnsweredInBinary: Bool {
    if case .family(let answer) = answer, case .binary? = answer.content { true } else { false }
  }
}
