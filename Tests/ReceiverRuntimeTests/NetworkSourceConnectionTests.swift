// SPDX-License-Identifier: Apache-2.0
import Glibc
import LinuxIO
import MonotonicTime
import Receiver
import ReceiverStream
import SerialPort
import Testing

@testable import ReceiverRuntime

@Suite("The connection to a source of the network")
struct NetworkSourceConnectionTests {
  private static let epoch = Array(
    ("$GPGGA,123519,4807.038,N,01131.000,E,1,08,0.9,545.4,M,46.9,M,,*47\r\n"
      + "$GPRMC,123519,A,4807.038,N,01131.000,E,022.4,084.4,230394,003.1,W*6A\r\n").utf8)

  /// A connection in virtual time; only lookups and the kernel's loopback interface need real time.
  private final class Scene {
    var poller: Poller
    let connection: ReceiverConnection
    var now = Instant(nanoseconds: 1_000_000_000)
    var events: [ReceiverConnection.Event] = []
    var lastFix: Fix?

    init(_ name: String, intent: SessionSettings.Intent = .serve) throws {
      poller = try Poller()
      connection = ReceiverConnection(
        path: name, settings: SessionSettings(intent: intent, line: .serial), baud: nil,
        token: Poller.Token(rawValue: 1), reference: { nil })
      try connection.open(&poller, at: now)
    }

    /// Waits for events of the kernel until the condition is true. A time limit ends an endless wait.
    func wait(until condition: (Scene) -> Bool) throws -> Bool {
      let limit = SystemClock.monotonic + Milliseconds(60_000)
      while SystemClock.monotonic < limit {
        for event in try poller.wait(deadline: limit.nanoseconds) {
          connection.handle(event, &poller, at: now) { report, _ in lastFix = report.fix }
        }
        takeEvents()
        if condition(self) { return true }
      }
      return false
    }

    /// Advances to the next deadline of the connection.
    func advance() throws {
      now = try #require(connection.deadline)
      connection.wake(&poller, at: now) { report, _ in lastFix = report.fix }
      takeEvents()
    }

    private func takeEvents() { while let event = connection.nextEvent() { events.append(event) } }

    var notices: [String] { events.compactMap { if case .notice(let text) = $0 { text } else { nil } } }
    var failures: [SerialPortError] {
      events.compactMap { if case .unreachable(let error) = $0 { error } else { nil } }
    }
  }

  @Test("A server is connected to, its loss is reported with the reason, and it is connected to again")
  func tcp() throws {
    let server = try LocalServer()
    let scene = try Scene("tcp://127.0.0.1:\(server.port)")
    #expect(try scene.wait { $0.connection.isOpen })
    #expect(scene.connection.isWritable == true && scene.connection.rate == nil)
    #expect(server.accept())
    server.send(Self.epoch)
    #expect(try scene.wait { $0.connection.counters.frames == 2 })
    server.hangUp()
    #expect(try scene.wait { !$0.connection.isOpen })
    #expect(scene.events.contains(.lost(path: scene.connection.path)) && scene.failures.isEmpty)
    #expect(scene.notices.first?.hasSuffix("the server closed the connection") == true, "\(scene.notices)")
    #expect(scene.connection.bytesOfLine == 0)
    try scene.advance()
    #expect(try scene.wait { $0.connection.isOpen })
    // As the counters: bytes of the lost line do not make the new one a line without a valid frame.
    #expect(scene.connection.bytesOfLine == 0 && scene.connection.counters.frames == 0)
    #expect(server.accept())
    server.send(Self.epoch)
    #expect(try scene.wait { $0.connection.counters.frames == 2 })
    let size = UInt64(Self.epoch.count)
    #expect(scene.connection.bytesOfLine == size && scene.connection.bytes == 2 * size)
  }

  @Test(
    "A server that reads nothing gets little more than its own buffer holds, so that what is sent later is not late by minutes"
  )
  func unread() throws {
    let server = try LocalServer()
    let scene = try Scene("tcp://127.0.0.1:\(server.port)")
    #expect(try scene.wait { $0.connection.isOpen })
    #expect(server.accept())
    server.send(Self.epoch)
    #expect(try scene.wait { $0.connection.counters.frames == 2 })
    let bytes = [UInt8](repeating: 0xFF, count: 8_000_000)
    scene.connection.lend(&scene.poller, at: scene.now)
    scene.connection.sendLent(bytes, &scene.poller, at: scene.now)
    let taken = bytes.count - scene.connection.unsentCount
    #expect(taken < 400_000, "\(taken)")
  }

  @Test("A port without a server is reported as refused, and tried again after growing pauses")
  func refused() throws {
    let port = try LocalServer().port
    let scene = try Scene("tcp://127.0.0.1:\(port)")
    var pauses: [UInt64] = []
    for attempt in 1...3 {
      #expect(try scene.wait { $0.failures.count == attempt })
      let due = try #require(scene.connection.deadline)
      pauses.append((due.nanoseconds - scene.now.nanoseconds) / 1_000_000)
      try scene.advance()
    }
    #expect(pauses == [500, 1000, 2000])
    #expect(scene.failures[0].exitCode == 69)
    #expect(scene.failures[0].description.contains("Connection refused"))
  }

  @Test("A server that closes with a word about another client is held, and one that only closes is not")
  func closes() throws {
    for (text, code) in [("Port already in use\r\n", Int32(75)), ("", 69)] {
      let server = try LocalServer()
      let scene = try Scene("tcp://127.0.0.1:\(server.port)")
      #expect(try scene.wait { $0.connection.isOpen })
      #expect(server.accept())
      server.send(Array(text.utf8))
      server.hangUp()
      #expect(try scene.wait { !$0.failures.isEmpty })
      #expect(scene.failures.map(\.exitCode) == [code])
    }
  }

  @Test("A device that gpsd has is watched, and the source takes no bytes")
  func gpsd() throws {
    let server = try LocalServer()
    let scene = try Scene("gpsd://127.0.0.1:\(server.port)/dev/ttyACM0")
    #expect(try scene.wait { _ in server.accept() })
    server.send(Array(#"{"class":"VERSION","proto_major":3}"#.utf8) + [13, 10])
    #expect(try scene.wait { _ in server.received().contains("?DEVICES;") })
    server.send(Array(#"{"class":"DEVICES","devices":[{"path":"/dev/ttyACM0"}]}"#.utf8) + [13, 10])
    #expect(try scene.wait { _ in server.received().contains(#""raw":2,"device":"/dev/ttyACM0""#) })
    server.send(Array(#"{"class":"WATCH","enable":true,"raw":2}"#.utf8) + [13, 10] + Self.epoch)
    #expect(try scene.wait { $0.connection.isOpen })
    try scene.advance()
    #expect(scene.connection.counters.frames == 2)
    #expect(scene.connection.isWritable == false && scene.failures.isEmpty)
    #expect(scene.notices.count == 1 && scene.notices[0].contains("neither configured nor put to sleep"))
  }

  @Test("gpsd without the device is reported with the devices that it has")
  func absentDevice() throws {
    let server = try LocalServer()
    let scene = try Scene("gpsd://127.0.0.1:\(server.port)/dev/ttyACM7")
    #expect(try scene.wait { _ in server.accept() })
    let list =
      #"{"class":"VERSION","proto_major":3}"# + "\n" + #"{"class":"DEVICES","devices":[{"path":"/dev/ttyS0"}]}"#
    server.send(Array(list.utf8) + [10])
    #expect(try scene.wait { !$0.failures.isEmpty })
    #expect(scene.failures[0].description.hasSuffix("gpsd has no device /dev/ttyACM7; it has /dev/ttyS0"))
    #expect(scene.failures[0].exitCode == 69)
  }

  @Test("Datagrams are the bytes of a receiver, also an empty one and one that is longer than a read")
  func udp() throws {
    let sender = try DatagramSender()
    let scene = try Scene("udp://127.0.0.1:\(sender.port)", intent: .readOnly)
    #expect(try scene.wait { $0.connection.isOpen })
    #expect(scene.connection.isWritable == false)
    sender.send([])
    var long: [UInt8] = []
    while long.count < 40_000 { long += Self.epoch }
    sender.send(long)
    let frames = UInt64(long.count / Self.epoch.count * 2)
    #expect(
      try scene.wait {
        while $0.connection.deadline == .zero { try? $0.advance() }
        return $0.connection.counters.frames == frames
      })
    #expect(scene.connection.counters.skippedBytes == 0)
  }

  @Test("A port at which another program receives is held")
  func usedPort() throws {
    let sender = try DatagramSender()
    let first = try Scene("udp://127.0.0.1:\(sender.port)")
    #expect(try first.wait { $0.connection.isOpen })
    let second = try Scene("udp://127.0.0.1:\(sender.port)")
    #expect(try second.wait { !$0.failures.isEmpty })
    #expect(second.failures.map(\.exitCode) == [75])
  }

  @Test("The end of a connection closes the socket that is being connected")
  func end() throws {
    let scene = try Scene("tcp://127.0.0.1:\(try LocalServer().port)")
    scene.connection.finish(&scene.poller, at: scene.now)
    #expect(scene.connection.isEnded && scene.connection.deadline == nil)
  }
}

/// Sends datagrams to a free port of this machine.
private final class DatagramSender {
  private let socket: Int32
  private var address: sockaddr_in
  let port: UInt16

  /// The port is free: the kernel has given it to a socket that is closed again.
  init() throws {
    address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    let probe = Glibc.socket(AF_INET, Int32(SOCK_DGRAM.rawValue), 0)
    let sender = Glibc.socket(AF_INET, Int32(SOCK_DGRAM.rawValue), 0)
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let isBound = unsafe withUnsafeMutablePointer(to: &address) { pointer in
      unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { common in
        unsafe bind(probe, common, length) == 0 && getsockname(probe, common, &length) == 0
      }
    }
    close(probe)
    port = UInt16(bigEndian: address.sin_port)
    socket = sender
    try #require(isBound)
  }

  deinit { close(socket) }

  func send(_ bytes: [UInt8]) {
    let length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let socket = socket
    _ = unsafe withUnsafePointer(to: &address) { pointer in
      unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { common in
        unsafe bytes.withUnsafeBytes { unsafe sendto(socket, $0.baseAddress, $0.count, 0, common, length) }
      }
    }
  }
}
