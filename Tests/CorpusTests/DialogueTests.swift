// SPDX-License-Identifier: Apache-2.0
import ReceiverSimulator
import TestSupport
import Testing

/// A request to which the simulator replies differently from the recorded receiver, with the reason.
struct DialogueDifference {
  var recording: String
  /// The number of the request, from 0 on.
  var request: Int
  var recorded: Set<ReplyKind>
  var simulated: Set<ReplyKind>
  var reason: String

  /// All remaining requests.
  static let all: [DialogueDifference] = [
    DialogueDifference(
      recording: "ublox-LEA-M8T/read-gnss-and-pulse", request: 2, recorded: [.record],
      simulated: [.record, .acknowledged], reason: "the recording ends within the acknowledgement"),
    DialogueDifference(
      recording: "ublox-NEO-F10T/show-config", request: 2, recorded: [.record, .acknowledged], simulated: [.refused],
      reason: "a timing product: the simulated NEO-F10N has no items of the time mode"),
  ]

  /// Folders of receivers that are not u-blox ones: FamilySimulatorReplayTests replay them.
  static let withoutModel = [
    "allystar-", "casic-", "quectel-", "septentrio-", "unicore-",
  ]
}

@Suite("Recorded dialogues", .tags(.corpus), .enabled(if: Corpus.isWanted, "needs the recorded dialogues"))
struct DialogueTests {
  @Test("The simulator replies with the recorded kinds of replies", arguments: Corpus.dialogues)
  func replies(name: String) throws {
    let dialogue = try Dialogue(name)
    let recorded = RecordedRequest.list(dialogue.events)
    guard let model = SimulatorReplay.model(of: dialogue) else {
      let isKnown = DialogueDifference.withoutModel.contains { name.hasPrefix($0) }
      #expect(isKnown || recorded.isEmpty, "no simulated model for \(name)")
      return
    }
    var replay = SimulatorReplay(dialogue, model)
    let simulated = try replay.run()
    try #require(simulated.count == recorded.count)
    var listed = DialogueDifference.all.filter { $0.recording == name }
    for (index, (real, ours)) in zip(recorded, simulated).enumerated() where real.kindsInTime != ours.kinds {
      let found = listed.firstIndex {
        $0.request == index && $0.recorded == real.kindsInTime && $0.simulated == ours.kinds
      }
      #expect(
        found != nil,
        "request \(index), \(String(real.identity, radix: 16)): recorded \(real.kindsInTime), simulated \(ours.kinds)")
      if let found { listed.remove(at: found) }
    }
    #expect(listed.isEmpty, "no longer different: \(listed)")
  }

  @Test("At least 98 of 100 requests have the recorded kinds of replies")
  func share() throws {
    var (total, same) = (0, 0)
    for name in Corpus.dialogues {
      let dialogue = try Dialogue(name)
      guard let model = SimulatorReplay.model(of: dialogue) else { continue }
      var replay = SimulatorReplay(dialogue, model)
      let recorded = RecordedRequest.list(dialogue.events)
      let agreeing = zip(recorded, try replay.run()).count { $0.kindsInTime == $1.kinds }
      print("\(name): \(agreeing) of \(recorded.count)")
      total += recorded.count
      same += agreeing
    }
    print("all dialogues: \(same) of \(total)")
    #expect(total > 0 && same * 100 >= total * 98, "\(same) of \(total)")
  }

  @Test("Bytes read at a wrong rate do not hide the message behind them", arguments: ["$", "$GN", "x$\u{1}$"])
  func noise(text: String) {
    var pieces = Pieces()
    let poll = Wire.ubx(0x0A, 0x04, [1, 2])
    let found = pieces.take(Array(text.utf8) + poll + Array("$GNTXT,a\r\n".utf8))
    #expect(found == [.garbage(Array(text.utf8)), .message(0x0A04, [1, 2]), .sentence("$GNTXT,a")])
  }
}
