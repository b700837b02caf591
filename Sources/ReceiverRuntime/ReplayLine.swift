// SPDX-License-Identifier: Apache-2.0
import MonotonicTime
import Receiver
import SerialPort

/// A file that is played as the line of a receiver: performs the actions of `Replay`. The line has the rates in the
/// recording. During a disconnection in the recording `read` throws `gone`, and `resume` returns when it ends.
final class ReplayLine: ReceiverLine {
  let isWritable = false
  private(set) var givenRate: UInt32?

  /// The state of a disconnected receiver.
  enum Resumption { case awaited, back, never }

  private let file: SerialPort
  private var replay: Replay
  private var buffer = [UInt8](repeating: 0, count: 65_536)
  /// Bytes that are due and did not fit into the reader's buffer.
  private var remainder: ArraySlice<UInt8> = []
  private var isAway = false

  /// - Throws: the errors of `SerialPort`; `malformed` for an invalid recording, and for a path that is not a file.
  init(opening path: String, _ speed: Replay.Speed, at now: Instant) throws(SerialPortError) {
    let file = try SerialPort(opening: path, access: .readOnly, baud: nil)
    guard file.kind == .file else {
      throw SerialPortError(
        malformed: "is not a file; name a recording, or name the device without replay:", path: path)
    }
    self.file = file
    replay = Replay(speed: speed, at: now)
    try load()
    // The first rate has the same time as the first bytes.
    while remainder.isEmpty, let event = replay.play(at: now) { take(event) }
  }

  var deadline: Instant? { remainder.isEmpty && !replay.isEnded ? replay.deadline : .zero }

  @_lifetime(span: copy span)
  func read(into span: inout MutableRawSpan, at now: Instant) throws(SerialPortError) -> SerialPort.ReadResult {
    while remainder.isEmpty, !isAway {
      try load()
      guard let event = replay.play(at: now) else { return replay.isEnded ? .endOfInput : .wouldBlock }
      take(event)
    }
    if isAway { throw SerialPortError(gone: file.path) }
    let count = min(remainder.count, span.byteCount)
    for index in 0..<count {
      span.storeBytes(of: remainder[remainder.startIndex + index], toByteOffset: index, as: UInt8.self)
    }
    remainder = remainder.dropFirst(count)
    return .bytes(count)
  }

  /// Continues the recording while the receiver is disconnected.
  func resume(at now: Instant) -> Resumption {
    while isAway {
      // An unreadable recording ends at this point.
      do { try load() } catch { return .never }
      guard let event = replay.play(at: now) else { return replay.isEnded ? .never : .awaited }
      take(event)
      // Bytes during a disconnection are not received.
      if isAway { remainder = [] }
    }
    return .back
  }

  private func take(_ event: Replay.Event) {
    switch event {
    case .bytes(let bytes): remainder = bytes[...]
    case .rate(let rate): givenRate = rate
    case .lost: isAway = true
    case .opened: isAway = false
    }
  }

  func write(_ bytes: RawSpan, at now: Instant) throws(SerialPortError) -> Int { bytes.byteCount }

  /// Reads the part of the file that the replay needs.
  private func load() throws(SerialPortError) {
    // The buffer is moved out while it is read, to avoid a copy.
    var buffer: [UInt8] = []
    swap(&buffer, &self.buffer)
    defer { swap(&buffer, &self.buffer) }
    while replay.needsInput {
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
    // Safe: bytes have no invalid bit patterns.
    var room = unsafe span.mutableBytes
    return try file.read(into: &room)
  }
}
