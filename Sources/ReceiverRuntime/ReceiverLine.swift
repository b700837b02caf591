import MonotonicTime
import Receiver
import SerialPort

/// The line to a receiver as the connection holds it: a port that tells when it is ready, or a line that has to be asked
/// at its times.
enum ReceiverLine: ~Copyable {
  case port(SerialPort)
  case polled(any PolledLine)

  /// Opens what the name says. `baud` is for lines that have a rate.
  init(
    opening address: LineAddress, access: SerialPort.Access, baud: UInt32?, at now: Instant
  ) throws(SerialPortError) {
    switch address {
    case .port(let path): self = .port(try SerialPort(opening: path, access: access, baud: baud))
    case .i2c(let bus, let address):
      self = .polled(
        try I2CLine(try I2CBus(opening: bus, address: address), isWritable: access == .readWrite, at: now))
    case .replay(let file, let speed): self = .polled(try ReplayLine(opening: file, speed, at: now))
    case .simulator(let scenario):
      throw SerialPortError(
        malformed: "the simulator is not a line; open the pseudo-terminal that `sextant simulate` prints",
        path: "sim:\(scenario)")
    }
  }

  /// The descriptor to wait for; nil for a line that is asked.
  var fileDescriptor: Int32? {
    switch self {
    case .port(let port): port.fileDescriptor
    case .polled: nil
    }
  }

  /// When a line that is asked is to be asked; nil for a port.
  var deadline: Instant? {
    switch self {
    case .port: nil
    case .polled(let line): line.deadline
    }
  }

  /// The line's rate; nil where there is none.
  var baudRate: UInt32? {
    switch self {
    case .port(let port): port.kind.hasLineSettings ? port.baudRate : nil
    case .polled(let line): line.givenRate
    }
  }

  /// Whether the line's rate is what others have made it: it is followed, and not looked for.
  var isRateGiven: Bool {
    switch self {
    case .port: false
    case .polled(let line): line.givenRate != nil
    }
  }

  /// The line of a recording, which goes on while its receiver is away.
  var replayed: ReplayLine? {
    switch self {
    case .port: nil
    case .polled(let line): line as? ReplayLine
    }
  }

  /// What the session takes the line for where it has no rate.
  var kindWithoutRate: SessionSettings.Line {
    switch self {
    case .port: .withoutRate(nil)
    case .polled(let line): .withoutRate(line.receiverPort)
    }
  }

  var isWritable: Bool {
    switch self {
    case .port(let port): port.isWritable
    case .polled(let line): line.isWritable
    }
  }

  /// Reads what is there now; see `SerialPort.read`.
  @_lifetime(span: copy span)
  func read(into span: inout MutableRawSpan, at now: Instant) throws(SerialPortError) -> SerialPort.ReadResult {
    switch self {
    case .port(let port): try port.read(into: &span)
    case .polled(let line): try line.read(into: &span, at: now)
    }
  }

  /// Writes what the line takes now; see `SerialPort.write`.
  func write(_ bytes: RawSpan, at now: Instant) throws(SerialPortError) -> Int {
    switch self {
    case .port(let port): try port.write(bytes)
    case .polled(let line): try line.write(bytes, at: now)
    }
  }

  /// Forgets what came and was not read.
  func discardInput() {
    switch self {
    case .port(let port): try? port.discardInput()
    case .polled: break
    }
  }

  /// Sets the rate, and forgets what came at the old one.
  func setBaudRate(_ rate: UInt32) {
    switch self {
    case .port(let port):
      // What came at this rate is right.
      if port.baudRate == rate { return }
      // A rate that the hardware does not have is passed over by the search.
      try? port.setBaudRate(rate)
      try? port.discardInput()
    case .polled: break
    }
  }
}

/// A line that does not tell when there are bytes: it is read at its `deadline`.
protocol PolledLine: AnyObject {
  /// When it is to be read.
  var deadline: Instant? { get }
  var isWritable: Bool { get }
  /// The port of the receiver that is at the line's other end, where the line is enough to know it.
  var receiverPort: ReceiverPortNumber? { get }
  /// The rate that the line has by itself, in baud, which may change with each read; nil where there is none.
  var givenRate: UInt32? { get }

  /// Reads what is there now; `wouldBlock` when there is no more, and `deadline` says when to come back.
  @_lifetime(span: copy span)
  func read(into span: inout MutableRawSpan, at now: Instant) throws(SerialPortError) -> SerialPort.ReadResult
  /// Writes what the line takes; the number of bytes from the start that it took.
  func write(_ bytes: RawSpan, at now: Instant) throws(SerialPortError) -> Int
}
