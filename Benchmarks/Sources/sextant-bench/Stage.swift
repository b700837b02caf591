import NMEA
import ReceiverStream
import UBX

/// What is measured: each stage does all that the one before it does.
enum Stage: String, CaseIterable {
  /// Frames found and their checksums verified.
  case frames
  /// Every field of every sentence that is typed, and of NAV-PVT and NAV-SAT, read.
  case fields
  /// Bytes to fixes: the stream, the fields, the epochs.
  case fix

  /// Whether the stage has something to do with the input.
  func suits(_ input: BenchInput) -> Bool {
    switch self {
    case .frames: input.counters.frames > 0
    case .fields, .fix: input.counters.nmeaFrames + input.counters.ubxFrames > 0
    }
  }

  /// Goes through the input once; how many frames there were.
  func run(_ bytes: [UInt8], _ state: inout StageState) -> Int {
    switch self {
    case .frames: state.frames(bytes)
    case .fields: state.fields(bytes)
    case .fix: state.fix(bytes)
    }
  }
}

/// What the stages keep from run to run.
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
