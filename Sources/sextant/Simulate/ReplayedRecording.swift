// SPDX-License-Identifier: Apache-2.0
import MonotonicTime
import Receiver
import ReceiverSimulator

/// A recording of `sextant record` as a device: its bytes arrive at their times and at the rates of the line, and
/// disconnections are repeated. Bytes that are written to the device are ignored.
///
/// At another rate than the recording's, its bytes are garbage. Bytes that were recorded at a wrong rate are garbage
/// already.
final class ReplayedRecording: SimulatedDevice {
  var hostRate: UInt32
  private(set) var isPresent = true

  private var replay: Receiver.Replay
  private let file: [UInt8]
  /// The offset of the first byte that the replay does not have yet.
  private var offset = 0
  /// The rate of the line, baud; nil without a rate.
  private var rate: UInt32?
  private var received: [UInt8] = []

  /// The number of bytes that the replay gets at a time.
  private static let piece = 65_536

  /// - Parameters:
  ///   - file: the complete recording.
  ///   - now: the start of the replay.
  /// - Throws: `RecordingError` for an invalid recording.
  init(_ file: [UInt8], startingAt now: Instant) throws(RecordingError) {
    self.file = file
    replay = Receiver.Replay(speed: .times(1), at: now)
    hostRate = 38_400
    try load()
    play(by: now)
    if let rate { hostRate = rate }
  }

  /// Whether bytes are a recording, and not plain bytes of a receiver.
  static func isRecording(_ bytes: [UInt8]) -> Bool { bytes.starts(with: [0x89, 0x53, 0x58]) }

  /// Whether all bytes were sent.
  var isFinished: Bool { replay.isEnded && received.isEmpty }

  var deadline: Instant? { received.isEmpty ? replay.deadline : .zero }

  func send(_ bytes: [UInt8], at now: Instant) {}

  func advance(to now: Instant) { play(by: now) }

  func takeReceived() -> [UInt8] {
    defer { received = [] }
    return received
  }

  private func play(by now: Instant) {
    while let event = replay.play(at: now) {
      switch event {
      case .bytes(let bytes): arrive(bytes)
      case .rate(let next): rate = next
      case .lost:
        isPresent = false
        // Bytes in transit are lost with the node.
        received = []
      case .opened: isPresent = true
      }
      // The header was valid at the start; damaged parts after it are skipped.
      try? load()
    }
  }

  private func arrive(_ bytes: [UInt8]) {
    guard let rate, !UARTResampling.agree(rate, hostRate) else {
      received += bytes
      return
    }
    received += UARTResampling.receive(bytes, sentAt: rate, readAt: hostRate).bytes
  }

  private func load() throws(RecordingError) {
    while replay.needsInput {
      guard offset < file.count else { return try replay.finish() }
      let end = min(offset + Self.piece, file.count)
      let piece = Array(file[offset..<end])
      offset = end
      try unsafe replay.receive(piece.span.bytes)
    }
  }
}
