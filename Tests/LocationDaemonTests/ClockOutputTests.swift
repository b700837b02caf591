// SPDX-License-Identifier: Apache-2.0
import Glibc
import LinuxIO
import Receiver
import ReceiverStream
import SystemPackage
import TestSupport
import Testing

@testable import sextantd

@Suite("Samples for time daemons")
struct ClockOutputTests {
  private static let sample = TimeSample(
    source: .pulse, real: UTCTime(nanosecondsSince1970: 1_795_532_400_000_000_000),
    system: UTCTime(nanosecondsSince1970: 1_795_532_399_250_000_789), leap: .insertion, precision: -20)

  @Test(
    "The message for chronyd has the stamp in microseconds, the rest in the offset, the leap second, and its magic number"
  )
  func sock() {
    let message = Self.sample.sockMessage
    // struct timeval of this platform, double, four int.
    let word = MemoryLayout<Int>.size
    #expect(message.count == 2 * word + 8 + 16)
    func integer(_ offset: Int, _ size: Int) -> UInt64 {
      (0..<size).reduce(0) { $0 | UInt64(message[offset + $1]) << (8 * UInt64($1)) }
    }
    #expect(integer(0, word) == 1_795_532_399)
    #expect(integer(word, word) == 250_000)
    let offset = Double(bitPattern: integer(2 * word, 8))
    // The sum of stamp and offset is the receiver's time.
    #expect(abs(offset - 0.75) < 1e-9)
    let rest = (0..<4).map { integer(2 * word + 8 + 4 * $0, 4) }
    #expect(rest == [0, 1, 0, 0x534F_434B])
  }

  @Test("The source of a port's pulses is found by the kernel's attribute, and a source of another port is not taken")
  func source() throws {
    let folder = try TemporaryFolder()
    let port = try folder.file("ttyGPS")
    // Links to folders, as in /sys/class.
    let own = try TemporaryFolder()
    let other = try TemporaryFolder()
    let classes = try TemporaryFolder()
    _ = try own.file("path", Array((port + "\n").utf8))
    _ = try other.file("path", Array("/dev/other\n".utf8))
    _ = try classes.link("pps1", to: other.path)
    _ = try classes.link("pps2", to: own.path)
    #expect(PulseSource.node(ofPort: port, root: classes.path) == "/dev/pps2")
    #expect(PulseSource.node(ofPort: "/dev/none", root: classes.path) == nil)
  }

  @Test("A source that does not exist, or is none, is refused at its opening")
  func refused() throws {
    let folder = try TemporaryFolder()
    for path in ["\(folder.path)/absent", try folder.file("plain")] {
      #expect(throws: (any Error).self) { try PulseSource(path: path).start {} }
    }
  }

  @Test("A line without a carrier has no pulses, and its descriptor stays the caller's")
  func withoutCarrier() throws {
    let folder = try TemporaryFolder()
    let descriptor = unsafe open(try folder.file("plain"), O_RDONLY | O_CLOEXEC)
    defer { close(descriptor) }
    let source = PulseSource(path: "/dev/none")
    #expect(throws: Errno.inappropriateIOCTLForDevice) { try source.start(carrierOf: descriptor) {} }
    #expect(throws: Errno.badFileDescriptor) { try source.start(carrierOf: -1) {} }
    #expect(fcntl(descriptor, F_GETFD) >= 0)
  }
}
