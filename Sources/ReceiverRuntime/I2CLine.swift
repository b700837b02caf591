// SPDX-License-Identifier: Apache-2.0
import MonotonicTime
import Receiver
import SerialPort
import WireBytes

/// Transfers to one device on a bus: `I2CBus`, or its replacement in a test.
protocol I2CTransfers: ~Copyable {
  var path: String { get }
  var address: UInt8 { get }

  /// See `I2CBus.transfer`.
  @_lifetime(span: copy span)
  func transfer(
    writing out: RawSpan, readingInto span: inout MutableRawSpan, count: Int
  ) throws(SerialPortError) -> Bool
}

extension I2CBus: I2CTransfers {}

/// A receiver on an I2C bus: performs the actions of `DDCReader`.
final class I2CLine<Bus: I2CTransfers & ~Copyable>: ReceiverLine {
  let isWritable: Bool
  let receiverPort: ReceiverPortNumber? = .i2c

  private let bus: Bus
  private var reader: DDCReader
  private var fill = IdleFill()
  /// The maximum size of a write, bytes. It is halved if the adapter rejects the write: adapters may have different
  /// limits for writing and reading.
  private var longestWrite = 1024
  private static var leastWrite: Int { 16 }

  /// - Throws: the errors of the bus, and `malformed` if no device replies at the address.
  init(_ bus: consuming Bus, isWritable: Bool, at now: Instant) throws(SerialPortError) {
    self.isWritable = isWritable
    reader = DDCReader(at: now)
    self.bus = bus
    guard try count(at: now) else {
      throw SerialPortError(
        malformed: "no device replies at address 0x\(String(self.bus.address, radix: 16)); check wiring and power, "
          + "and that the receiver's I2C port is enabled (D_SEL)", path: self.bus.path)
    }
  }

  var deadline: Instant? { reader.deadline }

  @_lifetime(span: copy span)
  func read(into span: inout MutableRawSpan, at now: Instant) throws(SerialPortError) -> SerialPort.ReadResult {
    while true {
      switch reader.next(at: now) {
      case .wait: return .wouldBlock
      case .readCount: _ = try count(at: now)
      case .readStream(let count):
        let kept = try readStream(min(count, span.byteCount), into: &span, at: now)
        if kept > 0 { return .bytes(kept) }
      }
    }
  }

  /// Reads the number of available bytes. Returns false if the receiver did not reply.
  private func count(at now: Instant) throws(SerialPortError) -> Bool {
    let register: [UInt8] = [DDCReader.countRegister]
    var bytes: [UInt8] = [0, 0]
    var elements = bytes.mutableSpan
    // Safe: bytes have no invalid bit patterns.
    var span = unsafe elements.mutableBytes
    guard try unsafe bus.transfer(writing: register.span.bytes, readingInto: &span, count: 2) else {
      reader.failed(at: now)
      return false
    }
    reader.counted(Int(span.bytes.bigEndian(0, as: UInt16.self)), at: now)
    return true
  }

  /// Reads a number of bytes of the stream. Returns the number of bytes without fill bytes.
  @_lifetime(span: copy span)
  private func readStream(
    _ count: Int, into span: inout MutableRawSpan, at now: Instant
  ) throws(SerialPortError) -> Int {
    let register: [UInt8] = [DDCReader.streamRegister]
    do {
      guard try unsafe bus.transfer(writing: register.span.bytes, readingInto: &span, count: count) else {
        reader.failed(at: now)
        return 0
      }
    } catch {
      // The limit of the adapter is only known from its error.
      if error.cause == .notSupported, reader.shorten() { return 0 }
      throw error
    }
    reader.received(count, at: now)
    var kept = 0
    for index in 0..<count {
      let byte = span.bytes.u1(index)
      guard fill.keeps(byte) else { continue }
      span.setLittleEndian(byte, at: kept)
      kept += 1
    }
    return kept
  }

  /// Writes a message. A single byte would set the pointer of the register, so it is sent together with the next byte
  /// or with a line feed, which receivers ignore.
  func write(_ bytes: RawSpan, at now: Instant) throws(SerialPortError) -> Int {
    var none: [UInt8] = []
    var elements = none.mutableSpan
    var nowhere = unsafe elements.mutableBytes
    if bytes.byteCount == 0 { return 0 }
    if bytes.byteCount == 1 {
      let pair: [UInt8] = [bytes.u1(0), 0x0A]
      guard try unsafe bus.transfer(writing: pair.span.bytes, readingInto: &nowhere, count: 0) else { return 0 }
      reader.sent(at: now)
      return 1
    }
    while true {
      let count = min(bytes.byteCount, longestWrite)
      // The rest must not be a single byte.
      let taken = bytes.byteCount - count == 1 ? count - 1 : count
      do {
        guard try bus.transfer(writing: bytes.extracting(0..<taken), readingInto: &nowhere, count: 0) else { return 0 }
        reader.sent(at: now)
        return taken
      } catch {
        guard error.cause == .notSupported, longestWrite > Self.leastWrite else { throw error }
        longestWrite /= 2
      }
    }
  }
}
