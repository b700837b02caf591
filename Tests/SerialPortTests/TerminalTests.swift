// SPDX-License-Identifier: Apache-2.0
import LinuxIO
import MonotonicTime
import Testing

@testable import SerialPort

@Suite("A terminal")
struct TerminalTests {
  @Test("All 256 byte values pass unchanged in both directions")
  func rawBytes() throws {
    let device = try PseudoTerminal()
    let port = try SerialPort(opening: device.path, access: .readWrite, baud: nil)
    #expect(port.kind == .pseudoTerminal)
    #expect(try device.send(everyByte) == 256)
    #expect(try port.bytes(256) == everyByte)
    #expect(try port.send(everyByte) == 256)
    #expect(try device.bytes(256) == everyByte)
  }

  @Test("A line with echo and canonical mode is raw while it is open")
  func cookedLine() throws {
    let device = try PseudoTerminal()
    try Cooked.settings.apply(to: device.fileDescriptor)
    let port = try SerialPort(opening: device.path, access: .readWrite, baud: nil)
    #expect(try device.send(everyByte) == 256)
    #expect(try port.bytes(256) == everyByte)
    #expect(try port.send([1]) == 1)
    #expect(try device.bytes(1) == [1], "what the device sent is not echoed to it")
  }

  @Test("Bytes that waited at another rate are discarded; at the same rate they are received", arguments: [4800, nil])
  func waitingBytes(_ baud: UInt32?) throws {
    let device = try PseudoTerminal()
    do {
      let port = try SerialPort(opening: device.path, access: .readWrite, baud: nil)
      #expect(try device.send([1, 2, 3]) == 3)
      #expect(try awaitEvents(of: port.fileDescriptor).contains(.readable(line)))
    }
    let port = try SerialPort(opening: device.path, access: .readWrite, baud: baud)
    #expect(try device.send([4]) == 1)
    #expect(try port.bytes(baud == nil ? 4 : 1) == (baud == nil ? [1, 2, 3, 4] : [4]))
  }

  @Test("The settings are restored on close")
  func restored() throws {
    let device = try PseudoTerminal()
    try Cooked.settings.apply(to: device.fileDescriptor)
    let before = try LineSettings(of: device.fileDescriptor)
    do {
      let port = try SerialPort(opening: device.path, access: .readWrite, baud: 115_200)
      try port.setReadThreshold(minimum: 100, timeoutDeciseconds: 3)
      #expect(try LineSettings(of: device.fileDescriptor) != before)
    }
    #expect(try LineSettings(of: device.fileDescriptor) == before)
  }

  @Test("A rate that is refused while opening leaves the line unchanged")
  func restoredAfterFailure() throws {
    let device = try PseudoTerminal()
    try Cooked.settings.apply(to: device.fileDescriptor)
    let before = try LineSettings(of: device.fileDescriptor)
    let path = device.path
    let error = failure { () throws(SerialPortError) in
      _ = try SerialPort(opening: path, access: .readWrite, baud: 0)
    }
    #expect(error?.cause == .unsupportedBaudRate(requested: 0, offered: nil))
    #expect(error?.exitCode == 64)
    #expect(try LineSettings(of: device.fileDescriptor) == before)
  }

  @Test(
    "Any rate is set, also one without a termios constant",
    arguments: [
      4800, 9600, 38_400, 115_200, 250_000, 460_800, 921_600, 123_456,
    ] as [UInt32])
  func rates(rate: UInt32) throws {
    let device = try PseudoTerminal()
    let port = try SerialPort(opening: device.path, access: .readWrite, baud: rate)
    #expect(port.baudRate == rate)
    #expect(device.baudRate == rate)
    try port.setBaudRate(57_600)
    #expect(port.baudRate == 57_600)
    try port.setBaudRate(rate)
    #expect(device.baudRate == rate)
  }

  @Test("Without a rate the line keeps its rate")
  func rateStays() throws {
    let device = try PseudoTerminal()
    let found = device.baudRate
    let port = try SerialPort(opening: device.path, access: .readWrite, baud: nil)
    #expect(port.baudRate == found)
  }

  @Test("A read of an empty line would block, also after a change of the rate")
  func wouldBlock() throws {
    let device = try PseudoTerminal()
    let port = try SerialPort(opening: device.path, access: .readWrite, baud: nil)
    #expect(try port.readOnce() == .wouldBlock)
    try port.setReadThreshold(minimum: 0, timeoutDeciseconds: 0)
    #expect(try port.readOnce() == .wouldBlock, "a policy of nothing must not read like a hang-up")
  }

  @Test("A full output buffer takes no bytes")
  func fullOutput() throws {
    let device = try PseudoTerminal()
    let port = try SerialPort(opening: device.path, access: .readWrite, baud: nil)
    let block = [UInt8](repeating: 0x55, count: 65_536)
    var total = 0
    while true {
      let taken = try port.send(block)
      if taken == 0 { break }
      total += taken
    }
    #expect(total > 0)
    #expect(try device.bytes(total).count == total)
  }

  @Test("A removed device is gone, after its last bytes were read")
  func hangUp() throws {
    let device = try PseudoTerminal()
    let port = try SerialPort(opening: device.path, access: .readWrite, baud: 9600)
    _ = consume device
    let events = try awaitEvents(of: port.fileDescriptor)
    #expect(events.contains(.hangUp(line)))
    let reading = failure { () throws(SerialPortError) in _ = try port.readOnce() }
    #expect(reading?.cause == .gone)
    #expect(reading?.exitCode == 74)
    let writing = failure { () throws(SerialPortError) in _ = try port.send([1]) }
    #expect(writing?.cause == .gone)
    let setting = failure { () throws(SerialPortError) in try port.setBaudRate(4800) }
    #expect(setting?.cause == .gone)
    #expect(port.baudRate == nil)
  }

  @Test("A port opened for reading refuses to write")
  func readOnly() throws {
    let device = try PseudoTerminal()
    let port = try SerialPort(opening: device.path, access: .readOnly, baud: nil)
    #expect(port.isWritable == false)
    let error = failure { () throws(SerialPortError) in _ = try port.send([1]) }
    #expect(error?.cause == .notSupported)
    #expect(try device.send([7]) == 1)
    #expect(try port.bytes(1) == [7])
  }

  @Test("Earlier input can be discarded")
  func discard() throws {
    let device = try PseudoTerminal()
    let port = try SerialPort(opening: device.path, access: .readWrite, baud: nil)
    #expect(try device.send([1, 2, 3]) == 3)
    #expect(try awaitEvents(of: port.fileDescriptor) == [.readable(line)])
    try port.discardInput()
    #expect(try port.readOnce() == .wouldBlock)
  }

  @Test("Below the minimum a poller is not notified; the bytes can be read nevertheless")
  func readThreshold() throws {
    let device = try PseudoTerminal()
    let port = try SerialPort(opening: device.path, access: .readWrite, baud: nil)
    try port.setReadThreshold(minimum: 100, timeoutDeciseconds: 0)
    var poller = try Poller()
    try poller.add(port.fileDescriptor, token: line)
    #expect(try device.send([UInt8](repeating: 1, count: 99)) == 99)
    #expect(try poller.wait(deadline: SystemClock.monotonic.nanoseconds) == [.timeout])
    #expect(try device.send([2]) == 1)
    #expect(try poller.wait(deadline: generousDeadline()) == [.readable(line)])
    #expect(try port.available().count == 100, "one read takes all, though the kernel reads 64 bytes at a time")
    #expect(try device.send([3]) == 1)
    // The kernel delivers the byte at its own time; only a read shows its arrival.
    var late: [UInt8] = []
    while late.isEmpty { late = try port.available() }
    #expect(late == [3])
  }

  @Test("A smaller minimum notifies a poller of bytes that have arrived already")
  func smallerMinimum() throws {
    let device = try PseudoTerminal()
    let port = try SerialPort(opening: device.path, access: .readWrite, baud: nil)
    try port.setReadThreshold(minimum: 100, timeoutDeciseconds: 0)
    var poller = try Poller()
    try poller.add(port.fileDescriptor, token: line)
    #expect(try device.send([1, 2, 3]) == 3)
    #expect(try poller.wait(deadline: SystemClock.monotonic.nanoseconds) == [.timeout])
    try port.setReadThreshold(minimum: 1, timeoutDeciseconds: 0)
    #expect(try poller.wait(deadline: generousDeadline()) == [.readable(line)])
  }

  @Test("Properties that a pseudo-terminal lacks are nil, and not errors")
  func absent() throws {
    let device = try PseudoTerminal()
    let port = try SerialPort(opening: device.path, access: .readWrite, baud: nil)
    #expect(port.lineErrors() == nil)
    #expect(port.modemLines == nil)
    #expect(try port.setLowLatency(true) == false)
    #expect(try port.unsentByteCount() == 0)
    try port.drain()
    try port.sendBreak()
  }
}

/// The default settings of a terminal: canonical mode with echo.
private enum Cooked {
  static var settings: LineSettings {
    get throws {
      let untouched = try Syscalls.openPseudoTerminal()
      return try LineSettings(of: untouched.number)
    }
  }
}
