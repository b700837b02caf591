import MonotonicTime
import Receiver
import SerialPort
import WireBytes

/// A bus with one device, to which bytes are written and from which bytes are read: `I2CBus`, or what stands for it in a test.
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

/// A receiver on an I2C bus: carries out what `DDCReader` decides.
final class I2CLine<Bus: I2CTransfers & ~Copyable>: PolledLine {
  let isWritable: Bool
  let receiverPort: ReceiverPortNumber? = .i2c
  let givenRate: UInt32? = nil

  private let bus: Bus
  private var reader: DDCReader
  private var fill = IdleFill()
  /// The longest write, bytes: halved where the adapter does less, which need not be as much as it reads.
  private var longestWrite = 1024
  private static var leastWrite: Int { 16 }

  /// - Throws: what the bus throws, and `malformed` when nothing answers at the address.
  init(_ bus: consuming Bus, isWritable: Bool, at now: Instant) throws(SerialPortError) {
    self.isWritable = isWritable
    reader = DDCReader(at: now)
    self.bus = bus
    guard try count(at: now) else {
      throw SerialPortError(
        malformed: "nothing answers at address 0x\(String(self.bus.address, radix: 16)); check wiring and power, "
          + "and that the receiver's I2C port is on (D_SEL)", path: self.bus.path)
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

  /// Asks how much there is. False when the receiver did not answer.
  private func count(at now: Instant) throws(SerialPortError) -> Bool {
    let register: [UInt8] = [DDCReader.countRegister]
    var bytes: [UInt8] = [0, 0]
    var elements = bytes.mutableSpan
    // Bytes have no invalid bit patterns.
    var span = unsafe elements.mutableBytes
    guard try unsafe bus.transfer(writing: register.span.bytes, readingInto: &span, count: 2) else {
      reader.failed(at: now)
      return false
    }
    reader.counted(Int(span.bytes.bigEndian(0, as: UInt16.self)), at: now)
    return true
  }

  /// Reads so many bytes of the stream; what is left of them without the fill.
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
      // The adapter's longest transfer is not told but by its refusal.
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

  /// Writes a message. A single byte would set the register's pointer: it goes with the next ones, or with a line feed,
  /// which is nothing to a receiver.
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
      // What is left must not be a single byte.
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
