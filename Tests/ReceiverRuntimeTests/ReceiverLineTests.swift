// SPDX-License-Identifier: Apache-2.0
import MonotonicTime
import Receiver
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

  @Test(
    "A terminal that is hung up, with the rate 0, gets a rate when it is opened, and the receiver is found",
    arguments: [
      SessionSettings.Intent.identify, .serve, .readOnly,
    ])
  func hungUpTerminal(intent: SessionSettings.Intent) throws {
    let scene = try RuntimeScene(.m8, intent: intent, terminalRate: 0)
    #expect(scene.events.isEmpty && scene.connection.rate == BaudRateSearch.rates[0])
    #expect(scene.connection.lineRate == BaudRateSearch.rates[0])
    #expect(try scene.run(30) { $0.connection.isDetected })
    // The session that follows a pause begins at the rate of the terminal.
    scene.connection.listen(false, &scene.poller, at: scene.now)
    try scene.setTerminalRate(0)
    scene.connection.listen(true, &scene.poller, at: scene.now)
    #expect(scene.connection.lineRate == BaudRateSearch.rates[0])
    #expect(try scene.run(30) { $0.connection.isDetected })
  }
}
