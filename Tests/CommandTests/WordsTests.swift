// SPDX-License-Identifier: Apache-2.0
import Receiver
import Testing

@testable import sextant

@Suite("Words of commands")
struct WordsTests {
  @Test("The limits of a sleep are reported, the shortest one of the receiver")
  func sleeps() throws {
    for (strings, shortest) in [
      (["ROM CORE 3.01", "000A0000", "FWVER=SPG 3.01", "PROTVER=18.00"], 5),
      (["family=Airoha", "", "LC76G", "1", "standby", "timedSleep"], 5),
      (["family=Airoha", "", "LC86G", "1", "timedSleep"], 10),
    ] {
      let receiver = try #require(ReceiverDescription(strings: strings))
      #expect(PowerRequest(["sleep", "2"])?.remarks(for: receiver).first?.contains("sleeps \(shortest) s") == true)
      for words in [["sleep", "\(shortest)"], ["sleep", "0"], ["sleep", "1036800"], ["status"], ["off", "2"]] {
        #expect(PowerRequest(words)?.remarks(for: receiver) == [] && PowerRequest.sleepProblem(words) == nil)
      }
    }
    let teseo = try #require(
      ReceiverDescription(strings: ["family=STMicroelectronics", "", "STA8041", "4.6", "timedSleep"]))
    #expect(PowerRequest(["sleep", "99999"])?.remarks(for: teseo) == [])
    #expect(
      PowerRequest(["sleep", "200000"])?.remarks(for: teseo).first?.contains("sleeps 99999 s, the longest") == true)
    for seconds in ["1036801", "1100000", "-1", "soon", "nan", "inf"] {
      #expect(PowerRequest.sleepProblem(["sleep", seconds])?.contains("1036800 seconds (12 days)") == true)
    }
  }

  @Test(
    "A sleep that loses settings is announced",
    arguments: [("ROM SPG 5.10", "34.10", true), ("ROM CORE 3.01", "18.00", false)])
  func lostSettings(firmware: String, version: String, loses: Bool) throws {
    let strings = [firmware, "000A0000", "FWVER=\(firmware)", "PROTVER=\(version)"]
    let receiver = try #require(ReceiverDescription(strings: strings))
    let remarks = try #require(PowerRequest(["sleep", "0"])?.remarks(for: receiver))
    #expect(remarks.contains { $0.contains("configure save") } == loses && remarks.count == (loses ? 1 : 0))
    #expect(PowerRequest(["wake"])?.remarks(for: receiver) == [])
  }

  @Test("A receiver that has run for a shorter time than the command was asleep")
  func uptime() {
    var payload = [UInt8](repeating: 0, count: 16)
    payload[12] = 0xE8
    payload[13] = 3
    #expect(Uptime.seconds(.answered(payload)) == 1)
    #expect(Uptime.seconds(.silent) == nil && Uptime.seconds(.answered([])) == nil)
    #expect(Uptime.state(1, elapsed: 4).contains("it was asleep"))
    #expect(!Uptime.state(3.2, elapsed: 4).contains("asleep"))
    #expect(Uptime.state(60, elapsed: 4) == Uptime.state(nil, elapsed: 4))
  }

  @Test("Only a terminal with cursor control is drawn on")
  func terminals() {
    for kind in [nil, "", "dumb", "unknown"] { #expect(!placesCursor(kind)) }
    for kind in ["xterm", "xterm-256color", "linux", "vt100", "screen"] { #expect(placesCursor(kind)) }
  }

  @Test("Many names are printed as the first ones and a number")
  func names() {
    #expect(NameList.text(["a", "b"]) == "a, b")
    #expect(NameList.text((1...200).map { "\($0)" }) == "1, 2, 3, 4, 5, 6, 7, 8 and 192 more")
  }
}
