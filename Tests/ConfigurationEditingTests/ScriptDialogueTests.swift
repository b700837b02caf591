// SPDX-License-Identifier: Apache-2.0
import MonotonicTime
import ReceiverSimulator
import Testing
import UBX

@testable import Receiver

@Suite("Missing replies while a script runs")
struct ScriptDialogueTests {
  /// Polls three CFG messages.
  private struct Polls: ReceiverScript {
    var outcomes: [Outcome] = []
    var treatsSilenceAsRefusal = true
    private static let names: [MessageIdentity] = [.cfgRATE, .cfgNAV5, .cfgTP5]

    func next() -> Command? { outcomes.count < 3 ? .poll(Self.names[outcomes.count]) : nil }
    mutating func receive(_ outcome: Outcome) { outcomes.append(outcome) }
    var progress: (done: Int, of: Int) { (outcomes.count, 3) }
  }

  private static func next(_ dialogue: inout ScriptDialogue<Polls>) -> Command? {
    if case .send(let command) = dialogue.next(at: .zero) { command } else { nil }
  }

  @Test("An ignored poll is distinguished from a receiver that is gone, and the next ones cost no timeout")
  func ignoredPoll() {
    var dialogue = ScriptDialogue(Polls(), at: .zero)
    #expect(Self.next(&dialogue) == .poll(.cfgRATE))
    dialogue.receive(.silent)
    #expect(Self.next(&dialogue)?.identity == .monVER)
    dialogue.receive(.answered([1, 2, 3]))
    #expect(dialogue.script.outcomes == [.refused(.unspecified)])
    #expect(Self.next(&dialogue)?.answer == .messages([.monVER, .cfgNAV5]))
    dialogue.receive(.answeredAll([.monVER: [1], .cfgNAV5: [7, 8]]))
    dialogue.receive(.answeredAll([.monVER: [1]]))
    #expect(dialogue.script.outcomes == [.refused(.unspecified), .answered([7, 8]), .refused(.unspecified)])
    #expect(dialogue.next(at: .zero) == .over)
  }

  @Test("A receiver that does not reply to MON-VER either is given up after three polls")
  func gone() {
    var dialogue = ScriptDialogue(Polls(), at: .zero)
    var sent = 0
    while let command = Self.next(&dialogue), sent < 20 {
      sent += 1
      #expect(sent.isMultiple(of: 2) == (command.identity == .monVER))
      dialogue.receive(.silent)
    }
    #expect(sent == 6)
    #expect(dialogue.next(at: .zero) == .noReply)
    #expect(dialogue.script.outcomes == [.silent, .silent, .silent])
  }

  /// A script that never ends because the receiver reports wrong values.
  private struct Endless: ReceiverScript {
    func next() -> Command? { .poll(.cfgRATE) }
    mutating func receive(_ outcome: Outcome) {}
    var progress: (done: Int, of: Int) { (0, 1) }
  }

  @Test("A dialogue without an end is given up after its time, however fast the receiver replies")
  func endless() {
    var dialogue = ScriptDialogue(Endless(), at: .zero)
    var now = Instant.zero
    while case .send = dialogue.next(at: now) {
      dialogue.receive(.answered([1]))
      now = now + Milliseconds(100)
    }
    #expect(dialogue.next(at: now) == .endless)
    #expect(now == Instant.zero + ScriptDialogue<Endless>.timeLimit)
  }

  @Test("A script that handles silence receives it")
  func silence() {
    var dialogue = ScriptDialogue(Polls(treatsSilenceAsRefusal: false), at: .zero)
    dialogue.receive(.silent)
    dialogue.receive(.answered([1]))
    #expect(dialogue.script.outcomes == [.silent])
  }

  @Test("The echo of a poll is not a reply, nor is the reply to another poll")
  func echo() {
    var dialogue = ScriptDialogue(Polls(), at: .zero)
    dialogue.receive(.silent)
    dialogue.receive(.answered([1]))
    dialogue.receive(.answeredAll([.monVER: [1], .cfgNAV5: []]))
    #expect(dialogue.script.outcomes.last == .refused(.unspecified))
  }
}
