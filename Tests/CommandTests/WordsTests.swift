import Receiver
import Testing

@testable import sextant

@Suite("What commands are told, and tell")
struct WordsTests {
  @Test("The bounds of a sleep are named")
  func sleeps() {
    #expect(PowerRequest(["sleep", "2"])?.remark?.contains("it sleeps 5 s") == true)
    for words in [["sleep", "5"], ["sleep", "0"], ["sleep", "1036800"], ["status"], ["off", "2"]] {
      #expect(
        PowerRequest(words) != nil && PowerRequest(words)?.remark == nil && PowerRequest.sleepProblem(words) == nil)
    }
    for seconds in ["1036801", "1100000", "-1", "soon", "nan", "inf"] {
      #expect(PowerRequest.sleepProblem(["sleep", seconds])?.contains("1036800 (12 days) at the most") == true)
    }
  }

  @Test("A receiver that runs for a shorter time than it is asked was asleep")
  func uptime() {
    var payload = [UInt8](repeating: 0, count: 16)
    payload[12] = 0xE8
    payload[13] = 3
    #expect(Uptime.seconds(.answered(payload)) == 1)
    #expect(Uptime.seconds(.silent) == nil && Uptime.seconds(.answered([])) == nil)
    #expect(Uptime.state(1, asked: 4).contains("it had slept"))
    #expect(!Uptime.state(3.2, asked: 4).contains("slept"))
    #expect(Uptime.state(60, asked: 4) == Uptime.state(nil, asked: 4))
  }

  @Test("Only a terminal that places its cursor is drawn on")
  func terminals() {
    for kind in [nil, "", "dumb", "unknown"] { #expect(!placesCursor(kind)) }
    for kind in ["xterm", "xterm-256color", "linux", "vt100", "screen"] { #expect(placesCursor(kind)) }
  }

  @Test("Many names are the first ones and a number")
  func names() {
    #expect(NameList.text(["a", "b"]) == "a, b")
    #expect(NameList.text((1...200).map { "\($0)" }) == "1, 2, 3, 4, 5, 6, 7, 8 and 192 more")
  }
}
