// SPDX-License-Identifier: Apache-2.0
import NMEA
import ReceiverStream
import UBX

/// The measured stages. Each stage includes the work of the one before it.
enum Stage: String, CaseIterable {
  /// Finds frames and verifies their checksums.
  case frames
  /// Reads every field of every typed sentence, and of NAV-PVT and NAV-SAT.
  case fields
  /// Decodes bytes to fixes: the stream, the fields, the epochs.
  case fix

  /// Whether the stage applies to the input.
  func suits(_ input: BenchInput) -> Bool {
    switch self {
    case .frames: input.counters.frames > 0
    case .fields, .fix: input.counters.nmeaFrames + input.counters.ubxFrames > 0
    }
  }

  /// Processes the input once; returns the number of frames.
  func run(_ bytes: [UInt8], _ state: inout StageState) -> Int {
    switch self {
    case .frames: state.frames(bytes)
    case .fields: state.fields(bytes)
    case .fix: state.fix(bytes)
    }
  }
}

/// The state that the stages reuse from run to run.
struct StageState: ~Copyable {
  private var assembler = EpochAssembler()
  private var stream = FrameStream()
  private var sum = FieldSum()

  mutating func frames(_ bytes: [UInt8]) -> Int {
    var count = 0
    var cursor = unsafe FrameCursor(bytes.span.bytes)
    while let frame = cursor.next() { count &+= frame.bytes.byteCount > 0 ? 1 : 0 }
    return count
  }

  mutating func fields(_ bytes: [UInt8]) -> Int {
    var count = 0
    var cursor = unsafe FrameCursor(bytes.span.bytes)
    while let frame = cursor.next() {
      count &+= 1
      sum.add(frame)
    }
    keep(sum.value)
    return count
  }

  mutating func fix(_ bytes: [UInt8]) -> Int {
    let before = stream.counters.frames
    var latitude = 0.0
    unsafe stream.receive(bytes.span.bytes) { frame in
      assembler.receive(frame) { report, _ in latitude += report.fix.latitudeDegrees ?? 0 }
    }
    keep(latitude)
    return Int(stream.counters.frames - before)
  }
}
