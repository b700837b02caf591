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

  @Test("Messages of programs are dropped while a line takes none, and before the receiver is ready for them")
  func droppedMessages() throws {
    let message = [UInt8](repeating: 0xFF, count: 100)
    func accepted(_ scene: RuntimeScene) throws -> Int {
      try (0..<3000).count { index in
        if index % 10 == 0 { _ = try scene.run(0.1) }
        return scene.connection.send(message, &scene.poller, at: scene.now)
      }
    }
    let scene = try RuntimeScene(.m10)
    var count = 0
    while scene.connection.send(message, &scene.poller, at: scene.now), count < 3000 { count += 1 }
    #expect(count == 41)
    #expect(try scene.run(20) { $0.connection.isSteady })
    #expect(try scene.run(20) { $0.connection.isReadyForStream && $0.written.occurrences(of: message) >= count })
    scene.isClogged = true
    // The kernel's buffers of a pseudo-terminal hold some kilobytes.
    #expect(try accepted(scene) < 300)
    #expect(scene.connection.unsentCount < 4096 + message.count && !scene.connection.isReadyForStream)
  }
}
