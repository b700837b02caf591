// SPDX-License-Identifier: Apache-2.0
import MonotonicTime
import Receiver
import SerialPort
import Testing
import UBX

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

  @Test("A paused line is read for the time of a command, which has its outcome in time, and is then paused again")
  func commandWhilePaused() throws {
    let scene = try RuntimeScene(.m10, intent: .identify)
    #expect(try scene.run(20) { $0.connection.isSteady && $0.lastFix != nil })
    _ = try scene.run(2)
    scene.connection.listen(false, &scene.poller, at: scene.now)
    func isUnread() throws -> Bool {
      let (bytes, deadline) = (scene.connection.bytes, scene.connection.deadline)
      _ = try scene.run(60)
      return scene.connection.bytes == bytes && deadline == nil && scene.connection.deadline == nil
    }
    #expect(try isUnread())
    // Bytes without a reply, a poll with one, a request to which the receiver has none, and settings.
    #expect(scene.connection.send([0xFF], &scene.poller, at: scene.now))
    _ = try scene.run(0.1)
    #expect(try isUnread())
    for (command, isAnswered) in [(Command.poll(.monVER), true), (.poll(MessageIdentity(0x0A, 0x7F)), false)] {
      let ticket = try #require(scene.connection.submit(command, &scene.poller, at: scene.now))
      var outcome: Outcome?
      _ = try scene.run(10) { scene in
        for case .finished(ticket, let found) in scene.events { outcome = found }
        return outcome != nil
      }
      if isAnswered { #expect(outcome?.isReply == true) } else { #expect(outcome == .silent) }
      #expect(try isUnread())
    }
    var desired = try #require(scene.connection.desired)
    desired.measurementPeriodMilliseconds = 2000
    let sent = scene.written.count
    scene.connection.set(desired, &scene.poller, at: scene.now)
    #expect(try scene.run(20) { $0.connection.isSteady && $0.connection.deadline == nil && $0.written.count > sent })
    #expect(try isUnread())
    #expect(!scene.events.contains(.session(.silent)) && !scene.events.contains(.session(.notUnderstood)))
    scene.connection.listen(true, &scene.poller, at: scene.now)
    #expect(try scene.run(20) { $0.connection.isSteady })
  }
}
