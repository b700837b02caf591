import MonotonicTime
import ReceiverSimulator
import Recording
import SimulatorRuntime

/// A recording of `sextant record` as a device: its bytes come when they came, at the rates that the line had, and where the
/// receiver was gone it is gone again. What is written to it is passed over.
///
/// At another rate than the recording's, its bytes are garbage. Bytes that were recorded while a wrong rate was tried are
/// what they were: garbage at that rate.
final class ReplayedRecording: SimulatedDevice {
  var hostRate: UInt32
  private(set) var isPresent = true

  private var replay: Recording.Replay
  private let file: [UInt8]
  /// Where the part of the file begins that the replay does not have yet.
  private var given = 0
  /// The rate that the line had; nil where there is none.
  private var rate: UInt32?
  private var received: [UInt8] = []

  /// What is given to the replay at a time, bytes.
  private static let piece = 65_536

  /// - Parameters:
  ///   - file: the whole recording.
  ///   - now: when it begins.
  /// - Throws: `RecordingError` for one that cannot be read.
  init(_ file: [UInt8], startingAt now: Instant) throws(RecordingError) {
    self.file = file
    replay = Recording.Replay(speed: .times(1), at: now)
    hostRate = 38_400
    try load()
    play(by: now)
    if let rate { hostRate = rate }
  }

  /// Whether bytes are a recording, and not plain bytes of a receiver.
  static func isRecording(_ bytes: [UInt8]) -> Bool { bytes.starts(with: [0x89, 0x53, 0x58]) }

  /// Whether all was sent.
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
        // What was on its way is lost with the node.
        received = []
      case .opened: isPresent = true
      }
      // The head was read when it was opened; a part that is damaged further on is passed over.
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
    while replay.wantsMore {
      guard given < file.count else { return try replay.finish() }
      let end = min(given + Self.piece, file.count)
      let piece = Array(file[given..<end])
      given = end
      try unsafe replay.receive(piece.span.bytes)
    }
  }
}
