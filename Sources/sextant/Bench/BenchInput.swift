import ReceiverSimulator
import ReceiverStream

/// Bytes to measure with.
struct BenchInput {
  var name: String
  var bytes: [UInt8]
  /// What the bytes consist of.
  var counters: StreamCounters

  init(name: String, bytes: [UInt8]) {
    self.name = name
    self.bytes = bytes
    var stream = FrameStream()
    unsafe stream.receive(bytes.span.bytes) { _ in }
    stream.finish { _ in }
    counters = stream.counters
  }

  /// A recording, without the comment lines that some begin with.
  init(file: String) throws {
    var input = try StreamInput(opening: file)
    var bytes: [UInt8] = []
    while try input.next({ piece in
      bytes.reserveCapacity(bytes.count + piece.byteCount)
      for index in 0..<piece.byteCount { bytes.append(unsafe piece.unsafeLoad(fromByteOffset: index, as: UInt8.self)) }
    }) {}
    guard !bytes.isEmpty else {
      throw CommandFailure(exitCode: CommandFailure.noInput, description: "\(file): is empty; name a recording")
    }
    self.init(name: file, bytes: bytes)
  }

  /// Ten minutes of the simulator, by protocol and mixed.
  static func simulated() -> [BenchInput] {
    let mixed = VirtualLine.recording(startUTCSeconds: 1_767_225_600, seconds: 600).flatMap(\.self)
    var nmea: [UInt8] = []
    var ubx: [UInt8] = []
    var stream = FrameStream()
    unsafe stream.receive(mixed.span.bytes) { frame in
      for index in 0..<frame.bytes.byteCount {
        let byte = unsafe frame.bytes.unsafeLoad(fromByteOffset: index, as: UInt8.self)
        if frame.kind == .ubx { ubx.append(byte) } else { nmea.append(byte) }
      }
    }
    return [
      BenchInput(name: "simulated NMEA", bytes: nmea), BenchInput(name: "simulated UBX", bytes: ubx),
      BenchInput(name: "simulated NMEA and UBX", bytes: mixed),
    ]
  }
}
