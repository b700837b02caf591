// SPDX-License-Identifier: Apache-2.0
import MonotonicTime
import SerialPort
import Testing

@testable import ReceiverRuntime

@Suite("The line of a connection")
struct ReceiverLineTests {
  @Test("A rate that cannot be set because the device is gone is an error")
  func goneLine() throws {
    let terminal = try PseudoTerminal()
    let line = try LineAddress.port(terminal.path).open(access: .readWrite, baud: 9600, at: .zero)
    try line.setBaudRate(115_200)
    #expect(line.baudRate == 115_200)
    _ = consume terminal
    do throws(SerialPortError) {
      try line.setBaudRate(9600)
      Issue.record("the rate was set")
    } catch {
      #expect(error.cause == .gone)
    }
  }
}
