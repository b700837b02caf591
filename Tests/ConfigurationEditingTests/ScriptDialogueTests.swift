import ConfigurationEditing
import MonotonicTime
import ReceiverSimulator
import Testing
import UBX

@testable import Receiver

@Suite("What silence means while a script is carried out")
struct ScriptDialogueTests {
  /// Asks for three CFG messages.
  private struct Questions: ReceiverScript {
    var outcomes: [Outcome] = []
    var takesSilenceForRefusal = true
    private static let names: [MessageIdentity] = [.cfgRATE, .cfgNAV5, .cfgTP5]

    func next() -> Command? { outcomes.count < 3 ? .poll(Self.names[outcomes.count]) : nil }
    mutating func receive(_ outcome: Outcome) { outcomes.append(outcome) }
    var progress: (done: Int, of: Int) { (outcomes.count, 3) }
  }

  private static func said(_ dialogue: inout ScriptDialogue<Questions>) -> Command? {
    if case .send(let command) = dialogue.next() { command } else { nil }
  }

  @Test("A question that is passed over is told from a receiver that is gone, and the next ones are not waited for")
  func passedOver() {
    var dialogue = ScriptDialogue(Questions())
    #expect(Self.said(&dialogue) == .poll(.cfgRATE))
    dialogue.receive(.silent)
    #expect(Self.said(&dialogue)?.identity == .monVER)
    dialogue.receive(.answered([1, 2, 3]))
    #expect(dialogue.script.outcomes == [.refused(.unspecified)])
    #expect(Self.said(&dialogue)?.answer == .messages([.monVER, .cfgNAV5]))
    dialogue.receive(.answeredAll([.monVER: [1], .cfgNAV5: [7, 8]]))
    dialogue.receive(.answeredAll([.monVER: [1]]))
    #expect(dialogue.script.outcomes == [.refused(.unspecified), .answered([7, 8]), .refused(.unspecified)])
    #expect(dialogue.next() == .over)
  }

  @Test("Who does not answer MON-VER either is given up after three questions")
  func gone() {
    var dialogue = ScriptDialogue(Questions())
    var said = 0
    while let command = Self.said(&dialogue), said < 20 {
      said += 1
      #expect(said.isMultiple(of: 2) == (command.identity == .monVER))
      dialogue.receive(.silent)
    }
    #expect(said == 6)
    #expect(dialogue.next() == .noAnswer)
    #expect(dialogue.script.outcomes == [.silent, .silent, .silent])
  }

  @Test("A script that acts upon silence hears of it")
  func silence() {
    var dialogue = ScriptDialogue(Questions(takesSilenceForRefusal: false))
    dialogue.receive(.silent)
    dialogue.receive(.answered([1]))
    #expect(dialogue.script.outcomes == [.silent])
  }

  @Test("A line that sends back what it gets has not answered; the answer to another question neither")
  func echo() {
    var dialogue = ScriptDialogue(Questions())
    dialogue.receive(.silent)
    dialogue.receive(.answered([1]))
    dialogue.receive(.answeredAll([.monVER: [1], .cfgNAV5: []]))
    #expect(dialogue.script.outcomes.last == .refused(.unspecified))
  }
}
