// SPDX-License-Identifier: Apache-2.0
import MonotonicTime
import TestSupport
import Testing

@testable import Receiver

/// Recorded receivers of other makers: the probes that a recording has a reply to identify the receiver, and its replies to
/// other requests are judged as the family's.
@Suite(
  "Dialogues of other makers", .tags(.corpus), .enabled(if: Corpus.isWanted, "needs the recorded dialogues"))
struct FamilyDialogueTests {
  /// Sends the probes to a recording. Returns the description.
  private static func identify(_ name: String, as family: ReceiverFamily) throws -> ReceiverDescription? {
    let dialogue = try Dialogue(name)
    var identification = FamilyIdentification([family], isProved: true, isLineFull: false)
    for _ in 0..<10 {
      guard let command = identification.next() else { break }
      identification.receive(outcome(of: command, in: dialogue))
    }
    return identification.description
  }

  /// The outcome of a command by what the recording has behind the same bytes.
  private static func outcome(of command: Command, in dialogue: Dialogue) -> Outcome {
    guard let at = dialogue.lines.firstIndex(where: { $0.isSent && contains($0.bytes, command.bytes) }) else {
      return .silent
    }
    var request = RequestInFlight(command, earliest: .zero)
    _ = request.wake(at: .zero, backlog: Milliseconds(0), bitRate: nil)
    var scanner = ReplyScanner()
    var outcome: Outcome?
    // A reply can be in the source's order before the request that was sent meanwhile.
    for line in dialogue.lines[at...] where !line.isSent {
      let bytes = line.bytes
      unsafe scanner.receive(bytes.span.bytes) { frame, _ in
        if outcome == nil { outcome = request.receive(frame, at: .zero) }
      }
      if let outcome { return outcome }
    }
    return .silent
  }

  private static func contains(_ bytes: [UInt8], _ part: [UInt8]) -> Bool {
    guard !part.isEmpty, bytes.count >= part.count else { return false }
    return (0...bytes.count - part.count).contains { Array(bytes[$0..<$0 + part.count]) == part }
  }

  @Test("Each recorded receiver is identified")
  func identify() throws {
    let quectel = try #require(try Self.identify("quectel-LG290P/rate-460800-to-115200", as: .quectel))
    #expect(quectel.model == "LG290P" && quectel.firmware == "LG290P03AANR02A01S" && quectel.vendor == "Quectel")
    let v6 = try #require(try Self.identify("casic-AT632/identify", as: .casic))
    #expect(v6.model == "AT362-AT6668-6T-30" && v6.firmware == "URANUS6,V6.3.0.0" && v6.vendor == "CASIC")
    let v5 = try #require(try Self.identify("casic-ATGM332D-5N71/identify-full-line", as: .casic))
    #expect(v5.vendor == "CASIC" && v5.model == nil)
    let allystar = try #require(try Self.identify("allystar-TAU951M/rate-115200-to-19200", as: .allystar))
    #expect(allystar.model == "HD9510" && allystar.firmware == "3.018.2acec91c" && allystar.vendor == "Allystar")
    let unicore = try #require(try Self.identify("unicore-UM980/read-configuration", as: .unicore))
    #expect(unicore.model == "UM980" && unicore.firmware == "Build17548" && unicore.vendor == "Unicore")
    let septentrio = try #require(try Self.identify("septentrio-mosaic-G5/identify-usb", as: .septentrio))
    #expect(septentrio.vendor == "Septentrio")
  }

  @Test("The settings of an LG290P are read, and its acknowledgement of a message is understood")
  func quectel() throws {
    let dialogue = try Dialogue("quectel-LG290P/rate-460800-to-115200")
    let language = Quectel()
    let receiver = try #require(try Self.identify("quectel-LG290P/rate-460800-to-115200", as: .quectel))
    func read(_ kind: ReceiverValue.Kind) -> ReceiverValue? {
      let replies = language.polls(of: kind).map { command -> [UInt8]? in
        if case .answered(let reply) = Self.outcome(of: command, in: dialogue) { reply } else { nil }
      }
      return language.value(kind, from: replies, on: receiver)
    }
    #expect(read(.period) == .period(100))
    #expect(read(.constellations) == .constellations([.gps, .glonass, .galileo, .beiDou, .qzss, .navIC]))
    let messages = try Dialogue("quectel-LG290P/messages")
    let value = ReceiverValue.messages([SentenceRate("GGA", 1)])
    let commands = try #require(language.commands(setting: value, from: nil, on: receiver))
    #expect(Self.outcome(of: commands[0], in: messages) == .acknowledged)
  }
}
