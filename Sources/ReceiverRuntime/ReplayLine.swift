import MonotonicTime
import Receiver
import Recording
import SerialPort

/// A file that is played as if a receiver spoke: carries out what `Replay` decides. A recording's line has the rates that the
/// recorder gave it, and where the receiver was gone it is gone again: `read` throws `gone`, and `resume` says when it is back.
final class ReplayLine: PolledLine {
  let isWritable = false
  let receiverPort: ReceiverPortNumber? = nil
  private(set) var givenRate: UInt32?

  /// What becomes of a receiver that is away.
  enum Resumption { case awaited, back, never }

  private let file: SerialPort
  private var replay: Replay
  private var buffer = [UInt8](repeating: 0, count: 65_536)
  /// Bytes that are due and did not fit into what they were read into.
  private var recovery: ArraySlice<UInt8> = []
  private var isAway = false

  /// - Throws: what `SerialPort` throws; `malformed` for a recording that cannot be read, or what is no file.
  init(opening path: String, _ speed: Replay.Speed, at now: Instant) throws(SerialPortError) {
    let file = try SerialPort(opening: path, access: .readOnly, baud: nil)
    guard file.kind == .file else {
      throw SerialPortError(
        malformed: "is no file; name a recording, or watch the device without replay:", path: path)
    }
    self.file = file
    replay = Replay(speed: speed, at: now)
    try load()
    // The rate that it begins with stands at the same time as its first bytes.
    while recovery.isEmpty, let event = replay.play(at: now) { take(event) }
  }

  var deadline: Instant? { recovery.isEmpty && !replay.isEnded ? replay.deadline : .zero }

  @_lifetime(span: copy span)
  func read(into span: inout MutableRawSpan, at now: Instant) throws(SerialPortError) -> SerialPort.ReadResult {
    while recovery.isEmpty, !isAway {
      try load()
      guard let event = replay.play(at: now) else { return replay.isEnded ? .endOfInput : .wouldBlock }
      take(event)
    }
    if isAway { throw SerialPortError(gone: file.path) }
    let count = min(recovery.count, span.byteCount)
    for index in 0..<count {
      span.storeBytes(of: recovery[recovery.startIndex + index], toByteOffset: index, as: UInt8.self)
    }
    recovery = recovery.dropFirst(count)
    return .bytes(count)
  }

  /// Plays on while the receiver is away.
  func resume(at now: Instant) -> Resumption {
    while isAway {
      // A recording that cannot be read on is at its end.
      do { try load() } catch { return .never }
      guard let event = replay.play(at: now) else { return replay.isEnded ? .never : .awaited }
      take(event)
      // Nobody was there to say them.
      if isAway { recovery = [] }
    }
    return .back
  }

  private func take(_ event: Replay.Event) {
    switch event {
    case .bytes(let bytes): recovery = bytes[...]
    case .rate(let rate): givenRate = rate
    case .lost: isAway = true
    case .opened: isAway = false
    }
  }

  func write(_ bytes: RawSpan, at now: Instant) throws(SerialPortError) -> Int { bytes.byteCount }

  /// Gives the replay what it wants of the file.
  private func load() throws(SerialPortError) {
    // Taken out for as long as it is looked into, and not copied.
    var buffer: [UInt8] = []
    swap(&buffer, &self.buffer)
    defer { swap(&buffer, &self.buffer) }
    while replay.wantsMore {
      let result = try read(into: &buffer)
      do {
        guard case .bytes(let count) = result, count > 0 else { return try replay.finish() }
        try unsafe replay.receive(buffer.span.bytes.extracting(0..<count))
      } catch {
        throw SerialPortError(malformed: error.description, path: file.path)
      }
    }
  }

  private func read(into buffer: inout [UInt8]) throws(SerialPortError) -> SerialPort.ReadResult {
    var span = buffer.mutableSpan
    // Bytes have no invalid bit patterns.
    var room = unsafe span.mutableBytes
    return try file.read(into: &room)
  }
}
