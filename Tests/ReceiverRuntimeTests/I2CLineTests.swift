// SPDX-License-Identifier: Apache-2.0
import MonotonicTime
import ReceiverSimulator
import Testing
import WireBytes

@testable import ReceiverRuntime
@testable import SerialPort

@Suite("A receiver on I2C")
struct I2CLineTests {
  /// The registers of a receiver (interface descriptions, "DDC"): 0xFD and 0xFE have the number of bytes, 0xFF the
  /// stream, which is 0xFF if it is empty. A write of more than one byte is a message.
  private final class Registers: I2CTransfers {
    let path = "/dev/i2c-9"
    let address: UInt8 = 0x42
    var stream: [UInt8] = []
    var isThere = true
    /// The maximum size of a transfer of the adapter, bytes.
    var longest = 65_535
    var longestWrite = 65_535
    private(set) var written: [[UInt8]] = []
    private(set) var transfers = 0
    private var register: UInt8 = 0xFF

    @_lifetime(span: copy span)
    func transfer(
      writing out: RawSpan, readingInto span: inout MutableRawSpan, count: Int
    ) throws(SerialPortError) -> Bool {
      transfers += 1
      if count > longest || out.byteCount > longestWrite {
        throw SerialPortError(cause: .notSupported, operation: .read, path: path, errno: 95)
      }
      guard isThere else { return false }
      if out.byteCount == 1 { register = out.u1(0) }
      if out.byteCount > 1 { written.append((0..<out.byteCount).map { out.u1($0) }) }
      for index in 0..<count {
        span.setLittleEndian(next(), at: index)
      }
      return true
    }

    private func next() -> UInt8 {
      switch register {
      case 0xFD:
        register = 0xFE
        return UInt8(truncatingIfNeeded: stream.count >> 8)
      case 0xFE:
        register = 0xFF
        return UInt8(truncatingIfNeeded: stream.count)
      default: return stream.isEmpty ? 0xFF : stream.removeFirst()
      }
    }
  }

  private static func at(_ milliseconds: UInt64) -> Instant { Instant(nanoseconds: milliseconds * 1_000_000) }

  /// All bytes that the line has at a time.
  private static func read(_ line: I2CLine<Registers>, room: Int = 4096, at now: Instant) throws -> [UInt8] {
    var all: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: room)
    while true {
      var elements = buffer.mutableSpan
      // Safe: bytes have no invalid bit patterns.
      var span = unsafe elements.mutableBytes
      guard case .bytes(let count) = try line.read(into: &span, at: now) else { return all }
      all += buffer[..<count]
    }
  }

  private static func write(_ bytes: [UInt8], to line: I2CLine<Registers>, at now: Instant) throws -> Int {
    try unsafe line.write(bytes.span.bytes, at: now)
  }

  @Test("The stream is complete and without fill", arguments: [64, 4096])
  func stream(room: Int) throws {
    let sent = VirtualLine.recording(startUTCSeconds: 1_780_000_000, seconds: 3)
    let registers = Registers()
    let line = try I2CLine(registers, isWritable: true, at: Self.at(0))
    var got: [UInt8] = []
    for tick in 0..<400 {
      let now = Self.at(UInt64(tick) * 10)
      if tick.isMultiple(of: 100), tick / 100 < sent.count { registers.stream += sent[tick / 100] }
      if let due = line.deadline, now >= due { got += try Self.read(line, room: room, at: now) }
    }
    #expect(got == sent.flatMap(\.self))
    #expect(registers.transfers < 400, "\(registers.transfers)")
  }

  @Test("A message is written as it is, and a single byte with a line feed after it")
  func messages() throws {
    let registers = Registers()
    let line = try I2CLine(registers, isWritable: true, at: Self.at(0))
    #expect(try Self.write([0xB5, 0x62, 0x0A, 0x04, 0, 0, 0x0E, 0x34], to: line, at: Self.at(1)) == 8)
    #expect(try Self.write([0xFF], to: line, at: Self.at(2)) == 1)
    #expect(registers.written == [[0xB5, 0x62, 0x0A, 0x04, 0, 0, 0x0E, 0x34], [0xFF, 0x0A]])
  }

  @Test("A missing device at the address is reported with the next step")
  func noDevice() throws {
    let registers = Registers()
    registers.isThere = false
    #expect {
      _ = try I2CLine(registers, isWritable: true, at: Self.at(0))
    } throws: { error in
      "\(error)".contains("0x42") && "\(error)".contains("check wiring")
    }
  }

  @Test("A receiver that does not reply for a while takes nothing, and continues later")
  func absent() throws {
    let registers = Registers()
    let line = try I2CLine(registers, isWritable: true, at: Self.at(0))
    registers.isThere = false
    #expect(try Self.read(line, at: Self.at(2000)) == [])
    #expect(try Self.write([1, 2, 3], to: line, at: Self.at(2000)) == 0)
    registers.isThere = true
    registers.stream = Array("$GNTXT".utf8)
    var got: [UInt8] = []
    for tick in 0..<300 {
      let now = Self.at(2000 + UInt64(tick) * 10)
      if let due = line.deadline, now >= due { got += try Self.read(line, at: now) }
    }
    #expect(got == Array("$GNTXT".utf8))
  }

  @Test(
    "An adapter with short writes gets a message in pieces, none of a single byte", arguments: [61, 63, 64, 128])
  func shortWrites(length: Int) throws {
    let registers = Registers()
    registers.longestWrite = 61
    let line = try I2CLine(registers, isWritable: true, at: Self.at(0))
    let message = (0..<length).map { UInt8(truncatingIfNeeded: $0) }
    var rest = message[...]
    while !rest.isEmpty { rest = rest.dropFirst(try Self.write(Array(rest), to: line, at: Self.at(1))) }
    #expect(registers.written.flatMap(\.self) == message)
    #expect(registers.written.allSatisfy { $0.count > 1 })
  }

  @Test("An adapter with short transfers gets short reads")
  func shortTransfers() throws {
    let sent = VirtualLine.recording(startUTCSeconds: 1_780_000_000, seconds: 1).flatMap(\.self)
    let registers = Registers()
    let line = try I2CLine(registers, isWritable: true, at: Self.at(0))
    registers.longest = 100
    registers.stream = sent
    var got: [UInt8] = []
    for tick in 0..<300 {
      let now = Self.at(UInt64(tick) * 10)
      if let due = line.deadline, now >= due { got += try Self.read(line, at: now) }
    }
    #expect(got == sent)
  }
}
