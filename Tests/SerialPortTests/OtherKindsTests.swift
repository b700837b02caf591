// SPDX-License-Identifier: Apache-2.0
import Glibc
import LinuxIO
import TestSupport
import Testing

@testable import SerialPort

@Suite("Ports other than terminals")
struct OtherKindsTests {
  @Test("A file is read to its end, and takes no bytes")
  func file() throws {
    let folder = try TemporaryFolder()
    let path = try folder.file("recording.ubx", everyByte)
    let port = try SerialPort(opening: path, access: .readWrite, baud: 9600)
    #expect(port.kind == .file)
    #expect(port.isWritable == false)
    #expect(port.baudRate == nil)
    #expect(try port.bytes(256) == everyByte)
    #expect(try port.readOnce() == .endOfInput)
    #expect(failure { () throws(SerialPortError) in _ = try port.send([1]) }?.cause == .notSupported)
    #expect(failure { () throws(SerialPortError) in try port.setBaudRate(9600) }?.cause == .notSupported)
  }

  @Test("Two programs may read one file")
  func sharedFile() throws {
    let folder = try TemporaryFolder()
    let path = try folder.file("recording.ubx", [1, 2, 3])
    let first = try SerialPort(opening: path, access: .readOnly, baud: nil)
    let second = try SerialPort(opening: path, access: .readOnly, baud: nil)
    #expect(try first.bytes(3) == second.bytes(3))
  }

  @Test("A FIFO outlives its writers")
  func fifo() throws {
    let folder = try TemporaryFolder()
    let path = try folder.fifo("receiver")
    let port = try SerialPort(opening: path, access: .readWrite, baud: nil)
    #expect(port.kind == .fifo)
    #expect(port.isWritable == false)
    for byte in UInt8(1)...3 {
      do {
        let writer = try Syscalls.open(path, O_WRONLY | O_NONBLOCK)
        // Bytes have no padding that a raw view could show.
        let written = try unsafe Syscalls.write(writer.number, [byte].span.bytes)
        #expect(written == 1)
      }
      #expect(try port.bytes(1) == [byte])
      #expect(try port.readOnce() == .wouldBlock)
    }
  }

  @Test("A second reader of a FIFO is refused")
  func fifoTwice() throws {
    let folder = try TemporaryFolder()
    let path = try folder.fifo("receiver")
    let port = try SerialPort(opening: path, access: .readOnly, baud: nil)
    #expect(failureOpening(port.path)?.exitCode == 75)
  }

  @Test("A character device without settings is read and written")
  func characterDevice() throws {
    let port = try SerialPort(opening: "/dev/zero", access: .readWrite, baud: 9600)
    #expect(port.kind == .characterDevice)
    #expect(port.isWritable == true)
    #expect(port.baudRate == nil)
    #expect(try port.send([1, 2]) == 2)
    #expect(try port.available() == [UInt8](repeating: 0, count: 4096))
  }

  @Test("A read into an empty span returns no bytes and is not an end")
  func noRoom() throws {
    let folder = try TemporaryFolder()
    let port = try SerialPort(opening: try folder.file("a", [1]), access: .readOnly, baud: nil)
    var nothing: [UInt8] = []
    #expect(try port.readOnce(&nothing) == .bytes(0))
    #expect(try port.bytes(1) == [1])
  }

  @Test("The link of a pseudo-terminal leads to it, replaces an old one, and is removed with it")
  func link() throws {
    let folder = try TemporaryFolder()
    let path = "\(folder.path)/ttyGNSS"
    try Syscalls.link("/dev/pts/99999", at: path)
    do {
      var device = try PseudoTerminal()
      try device.link(at: path)
      let port = try SerialPort(opening: path, access: .readWrite, baud: nil)
      #expect(port.kind == .pseudoTerminal)
      #expect((try? Syscalls.target(ofLink: path)) == device.path)
    }
    #expect(folder.names.isEmpty)
  }

  @Test("Another link replaces the first; the same link stays")
  func links() throws {
    let folder = try TemporaryFolder()
    var device = try PseudoTerminal()
    for name in ["a", "b", "b"] {
      try device.link(at: "\(folder.path)/\(name)")
      #expect(folder.names == [name])
    }
    #expect((try? Syscalls.target(ofLink: "\(folder.path)/b")) == device.path)
  }

  @Test("A link that cannot be made keeps the previous one")
  func previousLinkStays() throws {
    let folder = try TemporaryFolder()
    var device = try PseudoTerminal()
    try device.link(at: "\(folder.path)/a")
    #expect(throws: SerialPortError.self) { try device.link(at: "\(folder.path)/none/b") }
    #expect(folder.names == ["a"] && device.linkPath == "\(folder.path)/a")
  }

  /// Drivers use different errors for a node that is not a terminal: random(4) EINVAL.
  @Test("Operations of a line are not supported by other ports", arguments: ["/dev/random", "/dev/full"])
  func noLine(path: String) throws {
    let port = try SerialPort(opening: path, access: .readOnly, baud: nil)
    let failures = [
      failure { () throws(SerialPortError) in try port.setBaudRate(9600) },
      failure { () throws(SerialPortError) in _ = try port.unsentByteCount() },
      failure { () throws(SerialPortError) in try port.setReadThreshold(minimum: 1, timeoutDeciseconds: 0) },
      failure { () throws(SerialPortError) in try port.discardInput() },
      failure { () throws(SerialPortError) in try port.drain() },
      failure { () throws(SerialPortError) in try port.sendBreak() },
      failure { () throws(SerialPortError) in try port.switchModemLines(.requestToSend, on: true) },
    ]
    for failure in failures { #expect(failure?.cause == .notSupported) }
  }

  @Test("A path with a NUL character is refused, and not cut")
  func pathWithNUL() throws {
    let folder = try TemporaryFolder()
    let path = try folder.file("a", [1])
    guard case .malformed = failureOpening(path + "\0b")?.cause else { return #expect(Bool(false), "it was opened") }
    var device = try PseudoTerminal()
    #expect(throws: SerialPortError.self) { try device.link(at: "\(folder.path)/l\0ink") }
    #expect(throws: SerialPortError.self) { _ = try I2CBus(opening: "/dev/null\0", address: 0x42) }
    #expect(folder.names == ["a"])
  }

  @Test("A link does not replace another file")
  func linkRefused() throws {
    let folder = try TemporaryFolder()
    let path = try folder.file("precious", [1])
    var device = try PseudoTerminal()
    do {
      try device.link(at: path)
      Issue.record("the file was replaced")
    } catch {
      #expect(error.errno == EEXIST)
    }
    #expect((try? UserFile.readBytes(path)) == [1])
  }
}
