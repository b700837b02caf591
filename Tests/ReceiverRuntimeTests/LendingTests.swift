// SPDX-License-Identifier: Apache-2.0
import MonotonicTime
import Receiver
import ReceiverSimulator
import SerialPort
import Testing

@testable import ReceiverRuntime

@Suite("A line that is lent to another program")
struct LendingTests {
  /// CFG-UART1-BAUDRATE of the interface descriptions.
  private static let rateKey: UInt32 = 0x4052_0001

  /// A UBX frame of class, id, length and payload.
  private static func frame(_ body: [UInt8]) -> [UInt8] {
    var (first, second): (UInt8, UInt8) = (0, 0)
    for byte in body {
      first &+= byte
      second &+= first
    }
    return [0xB5, 0x62] + body + [first, second]
  }

  @Test("The receiver gets the program's bytes alone, and is found again at the rate that the program gave it")
  func rateChange() throws {
    let scene = try RuntimeScene(.m10, intent: .identify)
    #expect(try scene.run(20) { $0.connection.isSteady })
    let before = try #require(scene.connection.lineRate)
    let rate: UInt32 = before == 115_200 ? 57_600 : 115_200
    scene.connection.lend(&scene.poller, at: scene.now)
    #expect(scene.connection.isLent && scene.connection.unsentCount == 0)
    let sent = scene.written.count
    #expect(try !scene.run(5) { $0.written.count > sent })
    // UBX-CFG-VALSET in volatile memory.
    let item = [Self.rateKey, rate].flatMap { value in (0..<4).map { UInt8(truncatingIfNeeded: value >> ($0 * 8)) } }
    let request = Self.frame([0x06, 0x8A, 12, 0, 0, 1, 0, 0] + item)
    scene.connection.sendLent(request, &scene.poller, at: scene.now)
    _ = try scene.run(1)
    #expect(Array(scene.written.dropFirst(sent)) == request)
    #expect(scene.connection.isDrained)
    scene.connection.setLineRate(rate)
    #expect(scene.connection.lineRate == rate)
    scene.connection.takeBack(&scene.poller, at: scene.now)
    #expect(!scene.connection.isLent && scene.connection.lineRate == before)
    #expect(try scene.run(30) { $0.connection.isSteady && $0.connection.rate == rate })
  }

  @Test("A character has its usual form after the program, and a line that is not lent cannot be set")
  func character() throws {
    let scene = try RuntimeScene(.m10, intent: .identify)
    let found = try #require(scene.connection.character)
    #expect(found == .usual)
    var other = found
    other.hasTwoStopBits = true
    scene.connection.setCharacter(other)
    scene.connection.setLineRate(57_600)
    scene.connection.sendLent([1], &scene.poller, at: scene.now)
    #expect(scene.connection.character == found && scene.connection.lineRate != 57_600)
    scene.connection.lend(&scene.poller, at: scene.now)
    scene.connection.setCharacter(other)
    #expect(scene.connection.character == other)
    // A pseudo-terminal has no modem lines.
    scene.connection.switchModemLines(.requestToSend, on: true)
    #expect(scene.connection.modemLines == nil)
    scene.connection.discardUnsent()
    scene.connection.discardReceived()
    scene.connection.takeBack(&scene.poller, at: scene.now)
    #expect(scene.connection.character == .usual)
  }

  @Test("A lent line ends like a new session")
  func end() throws {
    let scene = try RuntimeScene(.m10, intent: .identify)
    #expect(try scene.run(20) { $0.connection.isSteady })
    scene.connection.lend(&scene.poller, at: scene.now)
    scene.connection.finish(&scene.poller, at: scene.now)
    #expect(!scene.connection.isLent)
    #expect(try scene.run(20) { $0.connection.isEnded })
  }
}
