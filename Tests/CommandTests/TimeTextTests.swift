// SPDX-License-Identifier: Apache-2.0
import Messages
import Testing

@testable import sextant

@Suite("Text of `sextant time`") struct TimeTextTests {
  private static func text(_ time: String) throws -> [String] {
    Time.text(of: try JSON(parsing: Array(time.utf8))).split(separator: "\n").map(String.init)
  }

  @Test("a clock that is off names the policy that switches it on")
  func off() throws {
    let lines = try Self.text(#"{"policy":"off","state":"off"}"#)
    #expect(lines.count == 1 && lines[0].contains("time = continuous"))
  }

  @Test("the text has offset, jitter, source of the pulses, refusals, and who reads the samples")
  func pulses() throws {
    let lines = try Self.text(
      #"""
      {"policy":"every 10 min","state":"pulses","receiver":"/dev/ttyS1","isProgram":false,"pulseDevice":"/dev/pps0",
       "pulse":{"offset":-0.0000012345,"jitter":2.0e-7,"leap":"insertion"},"messageDelay":0.0705,
       "refusals":[{"reason":"settling","count":3}],
       "outputs":[{"name":"/run/chrony.ttyS1.sock","source":"pulse","isRead":true},
                  {"name":"NTP3","source":"pulse","isRead":false}]}
      """#)
    #expect(
      lines == [
        "time: every 10 min, pulses, /dev/ttyS1",
        "pulses: offset -1.235 µs, jitter 0.200 µs, from /dev/pps0, leap second: insertion",
        "message delay: 70.500 ms",
        "refused pulses: 3 settling",
        "/run/chrony.ttyS1.sock (pulse): read",
        "NTP3 (pulse): nobody reads it",
      ])
  }

  @Test("the time of a program at a pseudo-terminal is not presented as satellite time")
  func program() throws {
    let lines = try Self.text(#"{"policy":"continuous","state":"messages","isProgram":true}"#)
    #expect(lines.contains { $0.contains("pseudo-terminal") })
    let others = try Self.text(#"{"policy":"continuous","state":"messages","isProgram":false}"#)
    #expect(others == ["time: continuous, messages"])
  }
}
