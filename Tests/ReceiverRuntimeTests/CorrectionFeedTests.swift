// SPDX-License-Identifier: Apache-2.0
import Glibc
import LinuxIO
import MonotonicTime
import Receiver
import ReceiverSimulator
import ReceiverStream
import SerialPort
import TestSupport
import Testing

@testable import ReceiverRuntime

@Suite("The feed of corrections")
struct CorrectionFeedTests {
  private static let token = Poller.Token(rawValue: 4)

  /// A frame with this message number.
  private static func frame(_ number: Int, mark: UInt8 = 0) -> [UInt8] {
    var payload = [UInt8](repeating: mark, count: 24)
    payload[0] = UInt8(number >> 4)
    payload[1] = UInt8(number & 15) << 4
    return Wire.rtcm3(payload)
  }
  private static let frames = frame(1005) + frame(1077, mark: 3)

  /// A unique name in the folder for temporary files.
  private static func temporary(_ name: String) -> String {
    "/tmp/sextant-test-\(getpid())-\(UInt32.random(in: 0...UInt32.max))-\(name)"
  }

  @Test("The frames of a file are written to the receiver, and its end is reported once")
  func file() throws {
    let path = Self.temporary("corrections.rtcm3")
    try UserFile.replace(path, with: "")
    defer { UserFile.remove(path) }
    let stream = unsafe fopen(path, "w")
    _ = unsafe Self.frames.withUnsafeBytes { unsafe fwrite($0.baseAddress, 1, $0.count, stream) }
    _ = unsafe fclose(stream)
    let scene = try RuntimeScene(.f9p)
    let feed = CorrectionFeed([.file(path)], token: Self.token, at: scene.now)
    try feed.open(&scene.poller, at: scene.now)
    scene.feed = feed
    let isGiven = try scene.run(30) { $0.written.occurrences(of: Self.frames) == 1 }
    #expect(isGiven)
    _ = try scene.run(2)
    #expect(scene.written.occurrences(of: Self.frame(1005)) == 1)
    #expect(scene.feedReports == ["\(path): end of the corrections"])
  }

  @Test("The frames of a FIFO are written to the receiver as they arrive, without damaged bytes")
  func fifo() throws {
    try Self.withFIFO { scene, write in
      var damaged = Self.frame(1087)
      damaged[8] ^= 1
      for piece in [damaged, Self.frames] { write(piece) }
      let isGiven = try scene.run(5) { $0.written.occurrences(of: Self.frames) == 1 }
      #expect(isGiven)
      #expect(scene.written.occurrences(of: damaged) == 0)
    }
  }

  /// Runs a test with a steady receiver whose corrections come from a FIFO, and a function that writes to it.
  private static func withFIFO(_ body: (RuntimeScene, _ write: ([UInt8]) -> Void) throws -> Void) throws {
    let path = temporary("fifo")
    try #require(unsafe mkfifo(path, 0o600) == 0)
    defer { UserFile.remove(path) }
    let scene = try RuntimeScene(.f9p)
    let feed = CorrectionFeed([.fifo(path)], token: token, at: scene.now)
    try feed.open(&scene.poller, at: scene.now)
    scene.feed = feed
    let writer = unsafe Glibc.open(path, O_WRONLY | O_NONBLOCK)
    try #require(writer >= 0)
    defer { Glibc.close(writer) }
    _ = try scene.run(20) { $0.connection.isSteady }
    try body(scene) { bytes in
      _ = unsafe bytes.withUnsafeBytes { unsafe Glibc.write(writer, $0.baseAddress, $0.count) }
    }
  }

  @Test(
    "A line that accepts nothing for a minute has less than a burst to send; the oldest corrections are dropped, with a report"
  )
  func cloggedLine() throws {
    try Self.withFIFO { scene, write in
      scene.isClogged = true
      var most = 0
      for mark in 0..<60 as Range<UInt8> {
        let burst = (0..<16).flatMap { _ in Self.frame(1077, mark: mark) }
        write(burst)
        _ = try scene.run(1) {
          most = max(most, $0.connection.unsentCount)
          return false
        }
      }
      #expect(most > 0 && most < 1024, "\(most)")
      #expect(scene.feedReports.count { $0.contains("the line is too slow") } == 1, "\(scene.feedReports)")
      // Then the newest are sent, none older than ten seconds.
      scene.isClogged = false
      let sent = scene.written.count
      _ = try scene.run(5)
      #expect(Array(scene.written[sent...]).occurrences(of: Self.frame(1077, mark: 59)) == 16)
      #expect(Array(scene.written[sent...]).occurrences(of: Self.frame(1077, mark: 45)) == 0)
    }
  }

  @Test("A file that is not a FIFO is refused with the next step")
  func noFIFO() throws {
    var poller = try Poller()
    let feed = CorrectionFeed([.fifo("/dev/null")], token: Self.token, at: .zero)
    #expect(throws: SerialPortError.self) { try feed.open(&poller, at: .zero) }
  }

  @Test("A caster gets the request and the position that it waits for, and its corrections reach the receiver")
  func caster() throws {
    let caster = try LocalServer()
    let scene = try RuntimeScene(.f9p)
    #expect(try scene.run(90) { $0.connection.isSteady && $0.lastFix?.hasPosition == true })
    let source = CorrectionSource.ntrip(host: "127.0.0.1", port: caster.port, mount: "NEAR", credentials: "me:secret")
    let feed = CorrectionFeed([source], token: Self.token, at: scene.now)
    try feed.open(&scene.poller, at: scene.now)
    scene.feed = feed
    // A thread looks up the address of the host, which needs real time; the rest does not.
    for event in try scene.poller.wait(deadline: SystemClock.monotonic.nanoseconds + 10_000_000_000) {
      feed.handle(event, &scene.poller, at: scene.now)
    }
    #expect(try scene.run(5) { _ in caster.accept() })
    #expect(try scene.run(5) { _ in caster.received().contains("\r\n\r\n") })
    #expect(caster.text.hasPrefix("GET /NEAR HTTP/1.1\r\n"))
    #expect(caster.text.contains("Authorization: Basic bWU6c2VjcmV0\r\n"))
    // The caster sends no corrections before it has the position.
    caster.send(Array("ICY 200 OK\r\n\r\n".utf8) + Self.frame(1029) + Self.frame(1033))
    #expect(try scene.run(4) { _ in caster.received().contains("$GPGGA") } == false)
    #expect(try scene.run(3) { _ in caster.received().contains("$GPGGA") })
    caster.send(Self.frames)
    #expect(try scene.run(5) { $0.written.occurrences(of: Self.frames) == 1 })
    #expect(scene.feedReports.isEmpty, "\(scene.feedReports)")
    caster.hangUp()
    #expect(try scene.run(5) { !$0.feedReports.isEmpty })
    #expect(scene.feedReports.count == 1 && scene.feedReports[0].hasSuffix("trying again"), "\(scene.feedReports)")
  }

  @Test("A caster that closes the connection behind its status line has refused")
  func refusal() throws {
    let caster = try LocalServer()
    let scene = try RuntimeScene(.f9p)
    let source = CorrectionSource.ntrip(host: "127.0.0.1", port: caster.port, mount: "NEAR", credentials: "me:wrong")
    let feed = CorrectionFeed([source], token: Self.token, at: scene.now)
    try feed.open(&scene.poller, at: scene.now)
    scene.feed = feed
    for event in try scene.poller.wait(deadline: SystemClock.monotonic.nanoseconds + 10_000_000_000) {
      feed.handle(event, &scene.poller, at: scene.now)
    }
    #expect(try scene.run(5) { _ in caster.accept() })
    #expect(try scene.run(5) { _ in caster.received().contains("\r\n\r\n") })
    caster.send(Array("HTTP/1.0 401 Unauthorized\r\n".utf8))
    caster.hangUp()
    #expect(try scene.run(5) { !$0.feedReports.isEmpty })
    #expect(
      scene.feedReports == ["\(source.name): does not accept this user and password; check them; trying again"])
  }
}
