// SPDX-License-Identifier: Apache-2.0
import LinuxIO
import MonotonicTime
import Receiver
import ReceiverSimulator
import SerialPort
import Testing

@testable import sextant

@Suite("A simulated receiver on a pseudo-terminal")
struct SimulateTests {
  private static let token = Poller.Token(rawValue: 1)
  private func at(_ milliseconds: UInt64) -> Instant { Instant(nanoseconds: 1_000_000_000 + milliseconds * 1_000_000) }

  private func receiver(_ model: ReceiverModel = .m9, speed: Double = 1) throws -> SimulatedReceiver {
    let line = VirtualLine(model: model, startUTCSeconds: 1_780_000_000, startingAt: at(0))
    return try SimulatedReceiver(line, link: "", speed: speed, now: at(0))
  }

  /// Reads the bytes at the node.
  private func read(_ port: borrowing SerialPort) throws -> [UInt8] {
    var buffer = [UInt8](repeating: 0, count: 65_536)
    var span = buffer.mutableSpan
    var bytes = unsafe span.mutableBytes
    guard case .bytes(let count) = try port.read(into: &bytes) else { return [] }
    return Array(buffer[..<count])
  }

  @Test("The node has the rate of the receiver, and its output can be read; at another rate it is garbage")
  func rates() throws {
    var poller = try Poller()
    let receiver = try receiver()
    _ = try receiver.wake(&poller, token: Self.token, at: at(0))
    let port = try SerialPort(opening: try #require(receiver.path), access: .readWrite, baud: nil)
    #expect(port.baudRate == 38400)
    _ = try receiver.wake(&poller, token: Self.token, at: at(2900))
    #expect(String(decoding: try read(port), as: UTF8.self).contains("$GNTXT,01,01,02,u-blox AG"))
    try port.setBaudRate(9600)
    _ = try receiver.wake(&poller, token: Self.token, at: at(3900))
    let garbage = try read(port)
    #expect(!garbage.isEmpty && !String(decoding: garbage, as: UTF8.self).contains("$GN"))
  }

  @Test("A request that is read after a change of the rate is understood, as it was sent before it")
  func requestBeforeRateChange() throws {
    var poller = try Poller()
    let receiver = try receiver()
    let port = try SerialPort(opening: try #require(receiver.path), access: .readWrite, baud: nil)
    _ = try receiver.wake(&poller, token: Self.token, at: at(2900))
    let request: [UInt8] = [0xB5, 0x62, 0x0A, 0x04, 0, 0, 0x0E, 0x34]  // UBX-MON-VER, the poll
    #expect(try unsafe port.write(request.span.bytes) == request.count)
    try port.setBaudRate(9600)
    _ = try receiver.wake(&poller, token: Self.token, at: at(3000))
    try port.setBaudRate(38_400)
    _ = try read(port)
    _ = try receiver.wake(&poller, token: Self.token, at: at(3200))
    #expect(String(decoding: try read(port), as: UTF8.self).contains("FWVER=SPG 4.04"))
  }

  @Test("At an unplug the node hangs up; another one follows")
  func unplug() throws {
    var poller = try Poller()
    let receiver = try receiver()
    _ = try receiver.wake(&poller, token: Self.token, at: at(0))
    var line = try #require(receiver.device as? VirtualLine)
    line.inject(.unplug(for: Milliseconds(1000)), at: at(500))
    receiver.device = line
    #expect(try receiver.wake(&poller, token: Self.token, at: at(510)) == .unplugged)
    #expect(receiver.path == nil)
    #expect(receiver.deadline == at(1500))
    let change = try receiver.wake(&poller, token: Self.token, at: at(1500))
    let path = try #require(receiver.path)
    #expect(change == .pluggedIn(path))
  }

  @Test("The time of the simulator may be faster")
  func speed() throws {
    let receiver = try receiver(speed: 10)
    #expect(receiver.deviceTime(at: at(100)) == at(1000))
    // It starts after a quarter of a second.
    #expect(receiver.deadline == at(25))
  }

  @Test("A recording is sent epoch by epoch, completely, and then ends")
  func replay() {
    let seconds = VirtualLine.recording(startUTCSeconds: 1_780_000_000, seconds: 5)
    let bytes = [1, 2, 3] + seconds.flatMap(\.self)
    var replay = ReplayedDevice(bytes, startingAt: at(0))
    var received: [UInt8] = []
    var arrivals: [UInt64] = []
    while let due = replay.deadline {
      replay.advance(to: due)
      let more = replay.takeReceived()
      if more.starts(with: Array("$GNRMC".utf8)) { arrivals.append(due.milliseconds(since: at(0))) }
      received += more
    }
    #expect(received == bytes)
    #expect(replay.isFinished)
    #expect(arrivals == [1000, 2000, 3000, 4000])
  }

  /// A recording of 100 bytes a second: at 9600 baud, found at 38400 after a second, unplugged from 2.5 to 4.5 seconds.
  private static func recording() -> [UInt8] {
    var writer = RecordingWriter(capacity: 1_000_000)
    func at(_ milliseconds: UInt64) -> Arrival {
      Arrival(Instant(nanoseconds: milliseconds * 1_000_000), utcNanoseconds: 0)
    }
    let text = Array(repeating: UInt8(ascii: "U"), count: 100)
    _ = writer.add(.header, text: RecordingHeader(device: "/dev/ttyUSB0", baud: 9600).text, at(0))
    _ = unsafe writer.add(.data, text.span.bytes, at(500))
    _ = writer.add(rate: 38_400, at(1000))
    _ = unsafe writer.add(.data, text.span.bytes, at(1500))
    _ = writer.add(.lost, text: "", at(2500))
    _ = writer.add(.opened, text: "/dev/ttyUSB1", at(4500))
    _ = unsafe writer.add(.data, text.span.bytes, at(5000))
    _ = writer.add(.end, text: "", at(5500))
    return (0..<writer.pending.byteCount).map { unsafe writer.pending.unsafeLoad(fromByteOffset: $0, as: UInt8.self) }
  }

  @Test("The rates and unplugs of a recording are repeated", arguments: [9600, 38_400] as [UInt32])
  func recordedMarks(_ hostRate: UInt32) throws {
    let device = try ReplayedRecording(Self.recording(), startingAt: at(0))
    #expect(device.hostRate == 9600)
    device.hostRate = hostRate
    var whole: [UInt64] = []
    var gone: [UInt64] = []
    for tick in stride(from: 0, through: 6000, by: 100) as StrideThrough<UInt64> {
      device.advance(to: at(tick))
      let bytes = device.takeReceived()
      if bytes.count == 100, bytes.allSatisfy({ $0 == UInt8(ascii: "U") }) { whole.append(tick) }
      if !device.isPresent { gone.append(tick) }
    }
    #expect(whole == (hostRate == 9600 ? [500] : [1500, 5000]))
    #expect(gone.first == 2500 && gone.last == 4400)
    #expect(device.isFinished)
  }

  @Test("A recording without times is sent as one epoch")
  func noTimes() {
    #expect(RecordedEpoch.split(Array("hello".utf8)).map(\.bytes) == [Array("hello".utf8)])
  }

  @Test("An invalid scenario is refused with its name and line")
  func scenarioFile() {
    #expect {
      try Scenario.read("/dev/null")
    } throws: { error in
      (error as? CommandFailure)?.exitCode == 65 && "\(error)".contains("/dev/null: the scenario is empty")
    }
  }
}
